//! What is known about hosts, and the connections to them.

use super::connect::{Connected, connect};
use super::pool::{self, Exchange, Link, Pool};
use super::range::{self, Line};
use crate::lock;
use crate::meter::Meter;
use crate::s3::Buckets;
use crate::tls;
use crate::url::Url;
use crate::xrd::Servers;
use sapwood_span::defect::caught_async;
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::rustls::ClientConfig;

/// Connections worth opening to a distant host, for opening a file and for its baskets.
pub(crate) const MOST_PARALLEL: usize = 11;

/// What was learnt about hosts, with their connections: shared by all files that are opened with the same `Hosts`.
#[derive(Clone, Default)]
pub struct Hosts(Arc<Inner>);

#[derive(Default)]
struct Inner {
    hosts: Mutex<HashMap<Key, Arc<Host>>>,
    tls: Mutex<HashMap<Option<PathBuf>, Arc<ClientConfig>>>,
    xrootd: Servers,
    buckets: Buckets,
}

/// Connections are never shared between different users or different trust settings.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    https: bool,
    host: String,
    port: u16,
    credential: Option<String>,
    ca_dir: Option<PathBuf>,
}

impl Hosts {
    /// The instance shared by the whole process.
    pub fn shared() -> Self {
        static SHARED: LazyLock<Hosts> = LazyLock::new(Hosts::default);
        SHARED.clone()
    }

    /// The host of this URL with this credential.
    pub(crate) fn get(
        &self,
        url: &Url,
        credential: Option<&str>,
        ca_dir: Option<&Path>,
        max: usize,
    ) -> Result<Arc<Host>> {
        let tls = if url.https { Some(self.tls(ca_dir)?) } else { None };
        let key = Key {
            https: url.https,
            host: url.host.clone(),
            port: url.port,
            credential: credential.map(str::to_owned),
            ca_dir: ca_dir.map(Path::to_owned),
        };
        let new = || Arc::new(Host::new(url.clone(), tls, max));
        Ok(Arc::clone(lock(&self.0.hosts).entry(key).or_insert_with(new)))
    }

    /// The XRootD servers among them.
    pub(crate) fn xrootd(&self) -> &Servers {
        &self.0.xrootd
    }

    /// The buckets of S3 stores among them.
    pub(crate) fn buckets(&self) -> &Buckets {
        &self.0.buckets
    }

    /// Certificates to trust for TLS.
    pub(crate) fn tls(&self, ca_dir: Option<&Path>) -> Result<Arc<ClientConfig>> {
        let mut known = lock(&self.0.tls);
        if let Some(config) = known.get(&ca_dir.map(Path::to_owned)) {
            return Ok(Arc::clone(config));
        }
        let config = tls::configuration(ca_dir)?;
        known.insert(ca_dir.map(Path::to_owned), Arc::clone(&config));
        Ok(config)
    }
}

/// Connections to a server this far away, if the path is wide enough.
pub(crate) fn wish(far: Duration) -> usize {
    match far {
        t if t < Duration::from_millis(5) => 4,
        t if t < Duration::from_millis(50) => 8,
        _ => MOST_PARALLEL,
    }
}

/// One server.
pub(crate) struct Host {
    address: Url,
    tls: Option<Arc<ClientConfig>>,
    max: usize,
    pool: Mutex<Pool>,
    /// Several ranges in one request do not work here.
    single: AtomicBool,
    /// How often it was silent when asked for several.
    silences: AtomicU32,
    /// An nginx server, which accepts long lists of ranges; false once it has refused one.
    nginx: AtomicBool,
    short: AtomicBool,
    pub meter: Mutex<Meter>,
}

/// A connection lent out for one exchange.
pub(crate) struct PooledConnection {
    pub link: Link,
    /// Used for another exchange before: the server may have closed it meanwhile.
    pub used: bool,
    /// The caller had to wait for it.
    pub waited: bool,
    exchange: Arc<Exchange>,
    _permit: OwnedSemaphorePermit,
}

impl PooledConnection {
    /// Bytes of a body arrived over it.
    pub(super) fn arrived(&mut self, bytes: u64) {
        self.link.carried += bytes;
        self.exchange.has_carried(self.link.carried);
    }
}

impl Host {
    fn new(mut address: Url, tls: Option<Arc<ClientConfig>>, max: usize) -> Self {
        address.user = None;
        let max = max.max(1);
        Self {
            address,
            tls,
            max,
            pool: Mutex::new(Pool::new(max)),
            single: AtomicBool::new(false),
            silences: AtomicU32::new(0),
            nginx: AtomicBool::new(false),
            short: AtomicBool::new(false),
            meter: Mutex::default(),
        }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        let mut pool = lock(&self.pool);
        if pool.process != std::process::id() {
            // if dropped, the connections would be closed for the parent as well
            std::mem::forget(std::mem::replace(&mut *pool, Pool::new(self.max)));
        }
        pool
    }

    /// Whether several ranges go into one request.
    pub(crate) fn multi(&self) -> bool {
        !self.single.load(Relaxed)
    }

    /// Remembers that several ranges in one request do not work here.
    pub(crate) fn refuses_multi(&self) {
        self.single.store(true, Relaxed);
    }

    /// It was silent after a request for several ranges. Once may be the network; twice is the server.
    pub(crate) fn silent_over_multi(&self) {
        if self.silences.fetch_add(1, Relaxed) > 0 {
            self.refuses_multi();
        }
    }

    /// The server's name for itself.
    pub(crate) fn says_it_is(&self, name: &str) {
        self.nginx.store(name.starts_with("nginx"), Relaxed);
    }

    /// Whether it sends ranges in the order of the request, overlapping ones too, each read from the file when it is sent.
    pub(crate) fn sends_in_order(&self) -> bool {
        self.nginx.load(Relaxed)
    }

    /// How many ranges go into one request.
    pub(crate) fn line(&self) -> Line {
        if self.nginx.load(Relaxed) && !self.short.load(Relaxed) { range::LONG } else { range::USUAL }
    }

    /// Remembers that a long list of ranges was refused.
    pub(crate) fn refuses_long_lines(&self) {
        self.short.store(true, Relaxed);
    }

    /// Whether it is so far away (`SourceOptions::far`) that the initial windows of connections decide how long opening
    /// a file takes.
    pub(crate) fn is_far(&self, far: Duration) -> bool {
        lock(&self.meter).distance().is_some_and(|t| t >= far)
    }

    /// Bytes carried by the connection that would be lent next.
    pub(crate) fn carried(&self) -> u64 {
        self.pool().idle.iter().map(|l| l.carried).max().unwrap_or(0)
    }

    /// Whether a connection is free.
    pub(super) fn has_idle(&self) -> bool {
        self.pool().widest_idle().is_some()
    }

    pub(crate) fn secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Connections worth having: the farther away, the more of them share slow start; but only as many as fill the
    /// path.
    pub(crate) fn parallel(&self) -> usize {
        let meter = lock(&self.meter);
        let far = meter.round_trip().unwrap_or_default();
        wish(far).min(meter.fill(far)).min(self.max)
    }

    /// Connections worth using for a long transfer, as far as is known: over one connection with an open window the
    /// bytes come in the order of the requests.
    pub(crate) fn streams(&self) -> usize {
        let busy = self.max.saturating_sub(self.pool().permits.available_permits());
        lock(&self.meter).streams(busy, self.max)
    }

    /// A connection for an answer of this many bytes, idle or new; waits while the maximum number is in use, or while a
    /// busy one is expected to bring them earlier. `time_limit` is called when its turn has come: how long opening one
    /// may take.
    ///
    /// # Errors
    /// No connection can be opened.
    pub(crate) async fn lend(
        self: &Arc<Self>,
        bytes: u64,
        handle: &Handle,
        time_limit: impl FnOnce() -> Duration,
        opened: &Opened,
    ) -> Result<PooledConnection> {
        let closed = || Error::new(ErrorKind::Interrupted, "the source is shut down");
        let permits = Arc::clone(&self.pool().permits);
        let permit = permits.acquire_owned().await.map_err(|_| closed())?;
        let lent = |pool: &mut Pool, link: Link, used, waited| PooledConnection {
            exchange: pool.begin(link.carried, bytes),
            link,
            used,
            waited,
            _permit: permit,
        };
        let (needed, far) = {
            let meter = lock(&self.meter);
            (meter.window_for(bytes), meter.distance().unwrap_or_default())
        };
        let wider = {
            let mut pool = self.pool();
            match pool.widest_idle() {
                Some(i) => match pool.wait_for_wider(i, needed, far) {
                    None => {
                        let link = pool.idle.swap_remove(i);
                        return Ok(lent(&mut pool, link, true, false));
                    }
                    wider => wider,
                },
                None => None,
            }
        };
        if let Some((patience, wider)) = wider {
            let begin = Instant::now();
            let handed_over = pool::within(patience, wider).await;
            let mut pool = self.pool();
            pool.waited += begin.elapsed();
            if let Some((link, used)) = handed_over {
                return Ok(lent(&mut pool, link, used, true));
            }
        }
        let receiver = {
            let mut pool = self.pool();
            if let Some(i) = pool.widest_idle() {
                let link = pool.idle.swap_remove(i);
                return Ok(lent(&mut pool, link, true, false));
            }
            let receiver = pool.wait();
            if pool.opening < pool.waiting.len() {
                self.open_one(&mut pool, handle, time_limit(), opened);
            }
            receiver
        };
        // The runtime that was opening the connection may have been shut down.
        let (link, used) = receiver.await.map_err(|_| closed())??;
        Ok(lent(&mut self.pool(), link, used, true))
    }

    /// Opens connections in the background until this many are open or being opened.
    pub(crate) fn warm(self: &Arc<Self>, connections: usize, handle: &Handle, time_limit: Duration, opened: &Opened) {
        let mut pool = self.pool();
        pool.drop_closed();
        let busy = self.max.saturating_sub(pool.permits.available_permits());
        let there = pool.idle.len() + pool.opening + busy;
        for _ in there..connections.min(self.max) {
            self.open_one(&mut pool, handle, time_limit, opened);
        }
    }

    fn open_one(self: &Arc<Self>, pool: &mut Pool, handle: &Handle, time_limit: Duration, opened: &Opened) {
        pool.opening += 1;
        let (host, opened) = (Arc::clone(self), opened.clone());
        let guard = OpeningGuard(Some(host));
        handle.spawn(async move {
            let mut guard = guard;
            let Some(host) = guard.0.clone() else { return };
            let result = caught_async(connect(host.address.clone(), host.tls.clone(), time_limit)).await;
            guard.0 = None;
            match result {
                Ok(connected) => {
                    lock(&host.meter).connected(connected.round_trip);
                    opened();
                    let Connected { sender, peer, gauge, .. } = connected;
                    host.arrived(Link { sender, carried: 0, peer, gauge });
                }
                Err(error) => {
                    let mut pool = host.pool();
                    pool.opening = pool.opening.saturating_sub(1);
                    while let Some(waiter) = pool.waiting.pop_front() {
                        if waiter.send(Err(error.clone())).is_ok() {
                            break;
                        }
                    }
                }
            }
        });
    }

    fn arrived(&self, link: Link) {
        let mut pool = self.pool();
        pool.opening = pool.opening.saturating_sub(1);
        let busy = self.max.saturating_sub(pool.permits.available_permits());
        // the task waiting for this one may have got another meanwhile: extra connections are not kept
        if !pool.waiting.is_empty() || pool.idle.len() + busy < self.max {
            pool.hand_over(link, false);
        }
    }

    /// Closes idle connections: after a silence it is unknown which of them still work.
    pub(crate) fn forget_idle(&self) {
        self.pool().idle.clear();
    }

    /// Takes back a connection whose last response was read to its end.
    pub(crate) fn give_back(&self, lent: PooledConnection) {
        let PooledConnection { link, exchange, .. } = lent;
        // before another request sees it as one that is busy
        drop(exchange);
        if !link.sender.is_closed() {
            self.pool().hand_over(link, true);
        }
    }
}

/// Called for each connection opened.
pub(crate) type Opened = Arc<dyn Fn() + Send + Sync>;

/// Keeps the count of connections being opened correct even if the runtime is shut down meanwhile.
struct OpeningGuard(Option<Arc<Host>>);

impl Drop for OpeningGuard {
    fn drop(&mut self) {
        if let Some(host) = self.0.take() {
            let mut pool = host.pool();
            pool.opening = pool.opening.saturating_sub(1);
            pool.waiting.clear();
        }
    }
}
