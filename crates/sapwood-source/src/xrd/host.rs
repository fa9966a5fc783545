//! A server: the sessions with it, and what was learnt about it.

use super::caller::Caller;
use super::conn::Conn;
use super::failure::Broken;
use super::plan::{self, VECTOR};
use super::sockets::{self, Endpoint};
use super::state::Core;
use super::watch;
use crate::counters::Counters;
use crate::dial;
use crate::lock;
use crate::meter::Meter;
use crate::redirect::{Peer, Scope};
use sapwood_span::defect::caught_async;
use sapwood_span::{Error, ErrorKind};
use sapwood_xrd::auth::Identity;
use sapwood_xrd::{Pipelining, Refusal, SecretBytes, Session, SessionOptions, code};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The XRootD servers that a [`Hosts`](crate::Hosts) knows.
#[derive(Default)]
pub(crate) struct Servers(Mutex<HashMap<Key, Arc<Host>>>);

/// Sessions are never shared between different users or different trust settings.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub host: String,
    pub port: u16,
    pub tls: bool,
    pub user: String,
    pub token: Option<Vec<u8>>,
    pub login_token: String,
    pub ca_dir: Option<PathBuf>,
}

impl Servers {
    /// The server of this name, for this user.
    pub(crate) fn get(&self, key: Key, identity: Identity, max: usize) -> Arc<Host> {
        let new = |key: &Key| Arc::new(Host::new(key.clone(), identity, max));
        let mut hosts = lock(&self.0);
        if let Some(host) = hosts.get(&key) {
            return Arc::clone(host);
        }
        let host = new(&key);
        hosts.insert(key, Arc::clone(&host));
        host
    }
}

/// What was learnt about a server.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub tls: bool,
    pub eager: Pipelining,
    /// Authentication that it accepted, or that is tried on a guess.
    pub auth: Option<String>,
    /// A session has been established with these settings.
    pub proven: bool,
    /// It checks pages with CRC32C.
    pub pages: bool,
    /// Ranges in a vector read, and bytes in one of them; none: not queried yet.
    pub vector: Option<(u32, u32)>,
}

/// Requests for bulk in flight per session: the next one arrives before the previous one ends.
pub(super) const DEPTH: usize = 5;

/// Whether a host at this distance, as far as known, is near: waiting for it costs less than what saves round trips.
pub(super) fn is_near(distance: Option<Duration>) -> bool {
    distance.is_none_or(|t| t < Duration::from_millis(5))
}

/// One server.
pub(crate) struct Host {
    key: Key,
    identity: Identity,
    max: usize,
    known: Mutex<Known>,
    pool: Mutex<Pool>,
    peer: Peer,
    pub meter: Arc<Mutex<Meter>>,
}

pub(super) struct Pool {
    /// The process that owns the sessions: a forked child must not use its parent's, nor wait for what the parent
    /// began.
    process: u32,
    pub(super) conns: Vec<Arc<Conn>>,
    /// Bulk in flight, by session.
    pub(super) bulk: HashMap<u64, usize>,
    pub(super) dialing: usize,
    /// Requests for bulk that wait for a session.
    pub(super) queued: usize,
    pub(super) failed: Option<Broken>,
    /// Signals that a session is free, or cannot be had.
    pub(super) freed: Arc<Notify>,
    /// The first session is being opened: others wait for it.
    pub(super) first: Arc<tokio::sync::Mutex<()>>,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            process: std::process::id(),
            conns: Vec::new(),
            bulk: HashMap::new(),
            dialing: 0,
            queued: 0,
            failed: None,
            freed: Arc::default(),
            first: Arc::default(),
        }
    }
}

impl Host {
    fn new(key: Key, identity: Identity, max: usize) -> Self {
        let eager = if key.tls { Pipelining::WithLogin } else { Pipelining::WithHandshake };
        let known =
            Known { tls: key.tls, eager, auth: Some("unix".to_owned()), proven: false, pages: false, vector: None };
        let (known, pool, meter) = (Mutex::new(known), Mutex::default(), Arc::default());
        Self { key, identity, max: max.max(1), known, pool, peer: Peer::default(), meter }
    }

    /// How near it is.
    pub(crate) fn scope(&self) -> Scope {
        self.peer.scope()
    }

    pub(super) fn pool(&self) -> MutexGuard<'_, Pool> {
        let mut pool = lock(&self.pool);
        if pool.process != std::process::id() {
            // if dropped, the sessions would be ended for the parent as well
            std::mem::forget(std::mem::take(&mut *pool));
        }
        pool
    }

    pub(crate) fn known(&self) -> Known {
        lock(&self.known).clone()
    }

    /// Remembers how large vector reads may be.
    pub(crate) fn vector(&self, limits: (u32, u32)) {
        lock(&self.known).vector = Some(limits);
    }

    /// A vector read was too large although the server allowed it, or stated no limit: smaller from now on. Returns
    /// whether that is possible.
    pub(crate) fn shrink(&self) -> bool {
        let mut known = lock(&self.known);
        let (ranges, bytes) = known.vector.unwrap_or(VECTOR);
        known.vector = Some(plan::usable(Some(ranges / 4), Some((bytes / 4).max(plan::SHORTEST))));
        ranges > 1
    }

    /// Whether the last failure shows how to retry at once.
    pub(crate) fn adapt(&self, broken: &Broken) -> bool {
        let mut known = lock(&self.known);
        match &broken.refusal {
            Some(Refusal::TlsWanted) if !known.tls => {
                (known.tls, known.eager) = (true, Pipelining::WithLogin);
                true
            }
            Some(Refusal::PipeliningRefused) if known.eager != Pipelining::None => {
                known.eager = Pipelining::None;
                true
            }
            // A new server may break off when too much is sent at once.
            None if !known.proven && known.eager == Pipelining::WithHandshake && !broken.stalled && !broken.last => {
                known.eager = Pipelining::None;
                true
            }
            _ => false,
        }
    }

    /// A request was answered over this session: remembers the details of its login.
    pub(crate) fn proves(&self, conn: &Conn) {
        let Some(accepted) = lock(&conn.core.state).accepted.clone() else { return };
        let pages = conn.has_flag(code::server::PAGES);
        let mut known = lock(&self.known);
        known.pages = pages;
        if !known.proven {
            known.proven = true;
            known.auth = accepted;
            known.eager = if known.tls { Pipelining::WithLogin } else { Pipelining::WithHandshake };
        }
    }

    /// Sessions worth using for bulk, besides the one that is kept free of it.
    pub(crate) fn streams(&self) -> usize {
        let busy = self.pool().bulk.len();
        self.streams_of(busy)
    }

    pub(super) fn streams_of(&self, busy: usize) -> usize {
        let most = self.most_sessions() - 1;
        lock(&self.meter).streams(busy, most)
    }

    /// Connections that may be logins. Near servers reserve some for data links, which save logins and opens; far ones
    /// get sessions only, as vector reads need them to share slow start.
    pub(super) fn most_sessions(&self) -> usize {
        if self.is_near() { self.max - self.max / 4 } else { self.max }
    }

    /// Ranges in one vector read now, at most as many as the server accepts.
    pub(crate) fn ranges_at_once(&self, most: u32) -> u32 {
        let sent = self.pool().conns.iter().map(|c| c.sent()).max().unwrap_or(0);
        if self.is_near() { most } else { plan::sent_at_once(most, sent) }
    }

    /// How many more data links there may be.
    pub(crate) fn spare_data_links(&self) -> usize {
        let open: usize = self.pool().conns.iter().map(|c| c.data_links()).sum();
        (self.max - self.most_sessions()).saturating_sub(open)
    }

    pub(crate) fn is_near(&self) -> bool {
        is_near(lock(&self.meter).distance())
    }

    /// Opens sessions in the background until there are this many for bulk, and one more that is kept free.
    pub(crate) fn warm(self: &Arc<Self>, bulk: usize, caller: &Caller, time_limit: Duration) {
        if !caller.is_ours() && Handle::try_current().is_err() {
            return;
        }
        let mut pool = self.pool();
        let most = self.most_sessions().min(bulk.min(self.streams_of(pool.bulk.len())) + 1);
        for _ in pool.conns.len() + pool.dialing..most {
            self.dial_aside(&mut pool, caller, time_limit);
        }
    }

    pub(super) fn dial_aside(self: &Arc<Self>, pool: &mut Pool, caller: &Caller, time_limit: Duration) {
        pool.dialing += 1;
        let guard = Dialing(Arc::clone(self));
        let caller = caller.clone();
        let handle = caller.handle();
        handle.spawn(async move {
            let dialed = async { Ok(guard.0.dial(&caller, time_limit).await) };
            let result = caught_async(dialed).await.unwrap_or_else(|defect| Err(Broken::new(defect).finally()));
            let mut pool = guard.0.pool();
            match result {
                Ok(conn) => pool.conns.push(conn),
                Err(broken) => pool.failed = Some(broken),
            }
        });
    }

    /// Opens a session. Its login may still be in progress when it is returned: requests can be made.
    pub(crate) async fn dial(self: &Arc<Self>, caller: &Caller, time_limit: Duration) -> Result<Arc<Conn>, Broken> {
        let known = self.known();
        let Key { host, port, .. } = &self.key;
        let connected = timeout(time_limit, dial::tcp(host, *port)).await.unwrap_or_else(|_| {
            let what = format!("no connection to {} within {time_limit:.0?}", dial::authority(host, *port));
            Err(Error::new(ErrorKind::Timeout, what).with_remedy("check the address and the network"))
        });
        let (stream, round_trip) = connected.map_err(Broken::new)?;
        Counters::add(&caller.counters.connections, 1);
        lock(&self.meter).connected(round_trip);
        let mut eager = known.eager;
        if eager == Pipelining::WithHandshake && caller.cautious && !known.proven {
            eager = Pipelining::WithLogin;
        }
        let at_once = eager == Pipelining::WithHandshake;
        let trust = || caller.options.hosts.tls(self.key.ca_dir.as_deref()).map_err(|e| Broken::new(e).finally());
        let tls = if at_once { None } else { Some(trust()?) };
        let session = Session::new(SessionOptions {
            identity: self.identity.clone(),
            pid: std::process::id(),
            login_token: SecretBytes::from(self.key.login_token.as_str()),
            tls: known.tls,
            eager,
            guess: known.auth,
        });
        let core = Core::new(session, eager, caller.options.progress_timeout, Arc::clone(&self.meter));
        let address = stream.peer_addr().ok().map(|a| a.ip());
        self.peer.set(address);
        let way = Endpoint { host: host.clone(), port: *port, tls, address };
        let link = sockets::run(Arc::downgrade(&core), 0, stream, way.clone(), at_once);
        let handle = caller.handle();
        let tasks = [handle.spawn(link), handle.spawn(watch::run(Arc::downgrade(&core), way.clone()))];
        lock(&core.state).tasks.extend(tasks.iter().map(tokio::task::JoinHandle::abort_handle));
        Ok(Conn::new(core, way))
    }
}

impl Pool {
    /// Drops ended sessions. Where one ended in silence idle ones are dropped, too: it is unknown which of them still
    /// work.
    pub(super) fn sift(&mut self) {
        let doubtful = self.conns.iter().any(|c| c.fell_silent());
        self.conns.retain(|c| c.is_alive() && !(doubtful && c.is_idle()));
    }
}

/// Keeps the count of sessions being opened correct even if the runtime is shut down meanwhile.
struct Dialing(Arc<Host>);

impl Drop for Dialing {
    fn drop(&mut self) {
        let mut pool = self.0.pool();
        pool.dialing = pool.dialing.saturating_sub(1);
        pool.freed.notify_waiters();
    }
}
