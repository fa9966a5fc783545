//! State shared by all files of a proxy.

use crate::blocks::Blocks;
use crate::branch_usage::BranchUsage;
use crate::mapped::Mapped;
use crate::memory_limit::Memory;
use crate::metrics::Metrics;
use crate::options::ProxyOptions;
use crate::place::Place;
use sapwood_engine::local_cache::{FileId, Store};
use sapwood_source::{Hosts, S3Options};
use sapwood_span::sync::lock;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Bytes in flight of all fetches together, in KiB.
const IN_FLIGHT: usize = 64 << 10;
/// For this long, an origin that failed is tried after the others.
const FAILING: Duration = Duration::from_secs(30);
/// Hosts with separate connections, at most: those contacted with credentials, and those named by clients.
const MOST_HOSTS: usize = 64;

/// State shared by all files of a proxy.
pub(crate) struct Common {
    pub metrics: Arc<Metrics>,
    pub fresh: Duration,
    pub connect_timeout: Duration,
    pub progress_timeout: Duration,
    pub ca_dir: Option<PathBuf>,
    /// Bytes of fetches in flight, in KiB.
    pub in_flight: Semaphore,
    /// Bytes that may be fetched ahead for one handle, and for all together.
    pub prefetch: u64,
    pub memory_for_prefetch: u64,
    pub habits: BranchUsage,
    /// Counts the baskets known of all trees.
    pub mapped: Arc<Mapped>,
    /// Clients for which something may be fetched ahead.
    pub readers: AtomicU64,
    memory: Arc<Memory>,
    store: Option<Store>,
    /// Bytes by version, as long as it is open.
    blocks: Mutex<HashMap<FileId, Weak<Blocks>>>,
    /// How S3 stores are read, unless a client has keys of its own.
    pub s3: S3Options,
    /// Whether its own credentials are used for clients without any.
    pub shares_credentials: bool,
    hosts: Hosts,
    /// Connections are never shared by different credentials; the one used last is at the end.
    own_hosts: Mutex<VecDeque<(String, Hosts)>>,
    failing: Mutex<HashMap<String, Instant>>,
    /// The servers of the proxy's own origins.
    origins: Vec<String>,
    number: AtomicU64,
}

impl Common {
    /// `origins`: their servers.
    pub(crate) fn new(options: &ProxyOptions, origins: Vec<String>, store: Option<Store>) -> Arc<Self> {
        Arc::new(Self {
            metrics: Arc::default(),
            fresh: options.fresh,
            connect_timeout: options.connect_timeout,
            progress_timeout: options.progress_timeout,
            ca_dir: options.ca_dir.clone(),
            in_flight: Semaphore::new(IN_FLIGHT),
            prefetch: options.prefetch,
            memory_for_prefetch: options.memory / 2,
            mapped: Arc::default(),
            readers: AtomicU64::new(0),
            habits: BranchUsage::new(options.cache_directory.as_deref().filter(|_| store.is_some())),
            memory: Arc::new(Memory::new(options.memory)),
            store,
            blocks: Mutex::default(),
            s3: options.s3.clone(),
            shares_credentials: options.share_credentials,
            hosts: Hosts::default(),
            own_hosts: Mutex::default(),
            failing: Mutex::default(),
            origins,
            number: AtomicU64::new(0),
        })
    }

    /// A number for a file that is opened at an origin.
    pub(crate) fn number(&self) -> u64 {
        self.number.fetch_add(1, Relaxed)
    }

    /// The bytes of a version, shared by all that have it open.
    pub(crate) async fn blocks(&self, id: &FileId, is_kept: bool) -> Arc<Blocks> {
        let known = |blocks: &HashMap<FileId, Weak<Blocks>>| blocks.get(id).and_then(Weak::upgrade);
        if let Some(blocks) = known(&lock(&self.blocks)) {
            return blocks;
        }
        let stored = match self.store.clone().filter(|_| is_kept) {
            Some(store) => {
                let id = id.clone();
                let open = move || {
                    let file = store.file(&id);
                    file.validated();
                    (store, file)
                };
                tokio::task::spawn_blocking(open).await.ok()
            }
            None => None,
        };
        let new = Blocks::new(id.version.size, stored, Arc::clone(&self.memory));
        let mut blocks = lock(&self.blocks);
        // another task may have been faster
        if let Some(blocks) = known(&blocks) {
            return blocks;
        }
        blocks.retain(|_, blocks| blocks.strong_count() > 0);
        blocks.insert(id.clone(), Arc::downgrade(&new));
        new
    }

    /// The connections for requests to a place.
    pub(crate) fn hosts_for(&self, place: &Place) -> Hosts {
        if place.route.redirects.is_none() && !place.shown.is_secret() {
            return self.hosts.clone();
        }
        let key = place.url_of_server();
        let mut own = lock(&self.own_hosts);
        let known = own.iter().position(|(known, _)| *known == key).and_then(|at| own.remove(at));
        let hosts = known.map_or_else(Hosts::default, |(_, hosts)| hosts);
        own.push_back((key, hosts.clone()));
        while own.len() > MOST_HOSTS {
            own.pop_front();
        }
        hosts
    }

    /// These places, with those last whose origin has failed lately.
    pub(crate) fn by_health<'a>(&self, places: &'a [Place]) -> Vec<&'a Place> {
        let failing = lock(&self.failing);
        let is_failing =
            |place: &&Place| failing.get(&place.route.target.server()).is_some_and(|since| since.elapsed() < FAILING);
        let (last, mut first): (Vec<&Place>, Vec<&Place>) = places.iter().partition(is_failing);
        first.extend(last);
        first
    }

    /// An origin has responded.
    pub(crate) fn healthy(&self, server: &str) {
        lock(&self.failing).remove(server);
    }

    /// An origin has failed.
    pub(crate) fn failing(&self, server: &str) {
        let mut failing = lock(&self.failing);
        failing.retain(|_, since| since.elapsed() < FAILING);
        failing.insert(server.to_owned(), Instant::now());
    }

    /// One of the proxy's own origins, if all of them have failed lately.
    pub(crate) fn failing_origin(&self) -> Option<&str> {
        let failing = lock(&self.failing);
        let fails = |origin: &&String| failing.get(*origin).is_some_and(|since| since.elapsed() < FAILING);
        if self.origins.iter().all(|origin| fails(&origin)) { self.origins.last().map(String::as_str) } else { None }
    }

    /// Warnings of the store.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.store.as_ref().map(Store::warnings).unwrap_or_default()
    }

    /// Waits until received bytes are in the store.
    pub(crate) fn flush(&self) {
        self.store.iter().for_each(Store::flush);
        self.habits.save();
    }
}
