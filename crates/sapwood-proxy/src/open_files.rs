//! Files that are open at origins: each once, for all clients with the same credential.

use crate::clients::Clients;
use crate::common::Common;
use crate::failure::Failure;
use crate::place::Place;
use crate::version::{OpenVersion, open};
use sapwood_span::sync::lock;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// How often files that no client has open are closed.
const SWEEP: Duration = Duration::from_secs(1);
/// Files known at once, at most; beyond it, those that no client has open are dropped at once.
const MOST: usize = 4096;

/// All files that are open.
pub(crate) struct OpenFiles {
    common: Arc<Common>,
    /// By URL and credential. The keys hold credentials.
    entries: Mutex<HashMap<String, Arc<Entry>>>,
    sweeping: AtomicBool,
    pub clients: Clients,
    /// The runtime for requests to origins.
    runtime: OnceLock<Handle>,
}

/// One file, for clients with the same credential.
#[derive(Default)]
struct Entry {
    /// Locked during a request to an origin: the others wait for its response.
    state: tokio::sync::Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The version that the origin confirmed last.
    current: Option<Arc<OpenVersion>>,
    /// The origin's last failure, and when it occurred.
    failed: Option<(Instant, Failure)>,
}

impl State {
    /// The version, if the origin confirmed it recently, or after this moment.
    fn valid(&self, fresh: Duration, asked: Instant) -> Option<Arc<OpenVersion>> {
        let is_valid = |version: &&Arc<OpenVersion>| {
            let then = version.confirmed();
            !version.is_changed() && !version.is_doubtful() && (then >= asked || then.elapsed() < fresh)
        };
        self.current.as_ref().filter(is_valid).cloned()
    }
}

impl OpenFiles {
    pub(crate) fn new(common: Arc<Common>) -> Arc<Self> {
        Arc::new(Self {
            common,
            entries: Mutex::default(),
            sweeping: AtomicBool::new(false),
            clients: Clients::default(),
            runtime: OnceLock::new(),
        })
    }

    /// The current version at these places: queries them, unless that was done a moment ago with the same credential.
    pub(crate) async fn open(self: &Arc<Self>, places: Vec<Place>) -> Result<Arc<OpenVersion>, Failure> {
        self.sweep_from_now_on();
        self.runtime.get_or_init(Handle::current);
        let asked = Instant::now();
        let key = places.iter().map(Place::key).collect::<Vec<_>>().join("\n");
        let entry = {
            let mut entries = lock(&self.entries);
            if entries.len() >= MOST {
                entries.retain(|_, entry| !entry.is_idle(Duration::ZERO));
            }
            Arc::clone(entries.entry(key).or_default())
        };
        if let Some(version) = entry.state.try_lock().ok().and_then(|state| state.valid(self.common.fresh, asked)) {
            return Ok(version);
        }
        let common = Arc::clone(&self.common);
        // in a separate task: others may be waiting for it when this client leaves
        let opening = tokio::spawn(async move { entry.open(&places, &common, asked).await });
        opening.await.unwrap_or_else(|_| Err(Failure::Failed("the proxy was stopped".to_owned())))
    }

    /// Compares the last bytes of all files, so that they may be kept: before the end. Must not be called on the
    /// runtime for origins.
    pub(crate) fn settle(&self, limit: Duration) {
        let Some(runtime) = self.runtime.get() else { return };
        let entries: Vec<Arc<Entry>> = lock(&self.entries).values().cloned().collect();
        let current = |entry: &Arc<Entry>| entry.state.try_lock().ok().and_then(|state| state.current.clone());
        let versions: Vec<Arc<OpenVersion>> = entries.iter().filter_map(current).collect();
        let all = async move {
            for version in versions {
                version.compare_now().await;
            }
        };
        // what is not compared by then is not kept
        let _ = runtime.block_on(async { tokio::time::timeout(limit, all).await });
    }

    /// Closes files that no client has open, as long as the proxy runs.
    fn sweep_from_now_on(self: &Arc<Self>) {
        if self.sweeping.swap(true, Relaxed) {
            return;
        }
        let table: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                let Some(table) = table.upgrade() else { return };
                let fresh = table.common.fresh;
                table.clients.sweep();
                lock(&table.entries).retain(|_, entry| !entry.is_idle(fresh));
            }
        });
    }
}

impl Entry {
    /// No client has the file open or waits for it, and the origin's answer is too old.
    fn is_idle(self: &Arc<Self>, fresh: Duration) -> bool {
        if Arc::strong_count(self) > 1 {
            return false;
        }
        let Ok(state) = self.state.try_lock() else { return false };
        let is_open = |version: &Arc<OpenVersion>| Arc::strong_count(version) > 1;
        state.current.as_ref().is_none_or(|version| !is_open(version) && version.confirmed().elapsed() >= fresh)
    }

    async fn open(&self, places: &[Place], common: &Arc<Common>, asked: Instant) -> Result<Arc<OpenVersion>, Failure> {
        let mut state = self.state.lock().await;
        if let Some(version) = state.valid(common.fresh, asked) {
            return Ok(version);
        }
        if let Some((then, failure)) = &state.failed
            && *then >= asked
        {
            return Err(failure.clone());
        }
        let began = Instant::now();
        state.current.iter().for_each(|old| old.let_go());
        match open(places, common).await {
            Ok(new) => {
                // an open version already knows the server, and what others requested
                let fits = |old: &Arc<OpenVersion>| old.id == new.id && !old.is_changed() && !old.is_doubtful();
                let kept = state.current.take().filter(fits);
                kept.iter().for_each(|old| old.take_over(&new));
                let version = kept.unwrap_or(new);
                version.confirm(began);
                state.current = Some(Arc::clone(&version));
                state.failed = None;
                Ok(version)
            }
            Err(failure) => {
                state.failed = Some((began, failure.clone()));
                if matches!(
                    failure,
                    Failure::NotFound | Failure::Denied(_) | Failure::Refused(_) | Failure::Unauthorized { .. }
                ) {
                    state.current = None;
                }
                Err(failure)
            }
        }
    }
}
