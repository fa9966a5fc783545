//! A server of any files, over HTTP and over the XRootD protocol.

use crate::connections::{ClientLimits, Connections};
use crate::counters::{Counters, Status};
use crate::exchange::{AccessListener, Reports};
use crate::files::Files;
use crate::http::{self, ListenerContext, Names, Serves};
use crate::log::{Listener, Log, Served};
use crate::root;
use crate::shared::{LONG_PIECES, Shared};
use crate::tls::{Acceptor, Tls};
use crate::wan::Wan;
use sapwood_span::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle as Task;

/// Requests remembered by default.
const REMEMBERED: usize = 10_000;
/// Serving threads by default.
const THREADS: usize = 2;

/// Options of a [`Server`].
#[derive(Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Where to listen for HTTP; none disables it. By default on this machine only, on a free port.
    pub http: Option<SocketAddr>,
    /// Where to listen for the XRootD protocol; none disables it.
    pub root: Option<SocketAddr>,
    /// The server's certificate: HTTP is served over TLS only then, XRootD to clients that want it (`roots://`).
    pub tls: Option<Tls>,
    /// Over TLS, ask XRootD clients for a bearer token (`ztn`), which files find in
    /// [`ClientRequest::authorization`](crate::ClientRequest). Clients without one are served, too: the files decide whether they may
    /// read.
    pub ask_tokens: bool,
    /// Limits on what clients may use.
    pub limits: ClientLimits,
    /// After how long an XRootD client is asked to wait for a checksum of a long file.
    pub patience: Duration,
    /// Host names accepted over HTTP besides the server's address and this machine's names. A server that only this
    /// machine can reach accepts no others, or a page of any site could read what it serves.
    pub allowed_hosts: Vec<String>,
    /// Called for each request when its answer starts.
    pub log: Option<Listener>,
    /// Called for each request when its answer has ended.
    pub access: Option<AccessListener>,
    /// The program's additions to the server's status pages, `/metrics` (for Prometheus) and `/health`. Where this is
    /// given and [`ServerOptions::metrics`] is not, these two paths are answered on the HTTP address; files with these
    /// names are at `//metrics` and `//health`.
    pub status: Option<Arc<dyn Status>>,
    /// Where to listen for requests for these pages, over plain HTTP; the files are not served there.
    pub metrics: Option<SocketAddr>,
    /// How many of the last requests [`ServerHandle::requests`] returns.
    pub remember: usize,
    /// Serving threads. Those that wait for disks are extra.
    pub threads: usize,
}

sapwood_span::setters!(ServerOptions {
    http: Option<SocketAddr>,
    root: Option<SocketAddr>,
    tls: Option<Tls>,
    ask_tokens: bool,
    limits: ClientLimits,
    patience: Duration,
    allowed_hosts: Vec<String>,
    log: Option<Listener>,
    access: Option<AccessListener>,
    status: Option<Arc<dyn Status>>,
    metrics: Option<SocketAddr>,
    remember: usize,
    threads: usize,
} into {});

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            http: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            root: None,
            tls: None,
            ask_tokens: false,
            limits: ClientLimits::default(),
            patience: Duration::from_secs(10),
            allowed_hosts: Vec::new(),
            log: None,
            access: None,
            status: None,
            metrics: None,
            remember: REMEMBERED,
            threads: THREADS,
        }
    }
}

/// Serves files over HTTP/1.1 (whole files, single, suffix and several ranges, `ETag`, `If-Range`, directories as pages of
/// links) and over the XRootD protocol (reads, vector and page reads, stats, listings, checksums). It reads only.
pub struct Server;

impl Server {
    /// Starts serving, on its own threads, until the handle is stopped or dropped.
    ///
    /// # Errors
    /// An address cannot be listened on, or none is given.
    pub fn start(files: Arc<dyn Files>, options: ServerOptions) -> Result<ServerHandle> {
        start(files, options, Wan::new(Duration::ZERO, None))
    }
}

/// Starts serving with this simulated distance.
pub(crate) fn start(files: Arc<dyn Files>, options: ServerOptions, wan: Arc<Wan>) -> Result<ServerHandle> {
    let for_http = options.http.map(listen).transpose()?;
    let for_root = options.root.map(listen).transpose()?;
    let for_metrics = options.metrics.map(listen).transpose()?;
    if for_http.is_none() && for_root.is_none() {
        return Err(Error::invalid("no address to listen on").with_remedy("enable HTTP or XRootD"));
    }
    let is_secure = options.tls.is_some();
    let tls = options.tls.map(Acceptor::new).transpose()?;
    let address = |listening: &Option<(TcpListener, SocketAddr)>| listening.as_ref().map(|(_, address)| *address);
    let (http, root, metrics) = (address(&for_http), address(&for_root), address(&for_metrics));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.threads.max(1))
        .thread_name("sapwood-serve")
        .enable_all()
        .build()
        .map_err(|e| Error::io("cannot start the server's threads", e))?;
    let inside = runtime.enter();
    let tokio = |(listener, _)| {
        tokio::net::TcpListener::from_std(listener).map_err(|e| Error::io("cannot start the server", e))
    };
    let door = |listening: Option<(TcpListener, SocketAddr)>, serves| {
        let names = listening.as_ref().map(|(_, bound)| Names::of(*bound, &options.allowed_hosts));
        let listener = listening.map(tokio).transpose()?;
        Ok(listener.zip(names).map(|(listener, names)| (listener, Arc::new(ListenerContext { names, serves }))))
    };
    let pages_with_files = options.status.is_some() && metrics.is_none();
    let files_door = if pages_with_files { Serves::FilesAndPages } else { Serves::Files };
    let listeners = Listeners {
        http: [door(for_http, files_door)?, door(for_metrics, Serves::Pages)?],
        root: for_root.map(tokio).transpose()?,
    };
    drop(inside);
    let shared = Arc::new(Shared {
        files,
        connections: Connections::new(options.limits),
        wan,
        log: Log::new(options.remember),
        listener: options.log,
        reports: Arc::new(Reports { counters: Counters::default(), access: options.access }),
        status: options.status,
        tls,
        room: Arc::new(Semaphore::new(LONG_PIECES)),
        ending: watch::Sender::new(false),
        ask_tokens: options.ask_tokens,
        patience: options.patience,
    });
    let (stop, stopped) = oneshot::channel();
    let serving = Arc::clone(&shared);
    let thread = std::thread::Builder::new()
        .name("sapwood-serve".to_owned())
        .spawn(move || run(runtime, stopped, &serving, listeners))
        .map_err(|e| Error::io("cannot start the server's thread", e))?;
    Ok(ServerHandle { http, root, metrics, is_secure, shared, stop: Some(stop), thread: Some(thread) })
}

struct Listeners {
    http: [Option<(tokio::net::TcpListener, Arc<ListenerContext>)>; 2],
    root: Option<tokio::net::TcpListener>,
}

/// Serves until stopped.
fn run(runtime: Runtime, stopped: oneshot::Receiver<Duration>, shared: &Arc<Shared>, listeners: Listeners) {
    let mut accepting = Vec::new();
    for (listener, door) in listeners.http.into_iter().flatten() {
        accepting.push(runtime.spawn(http::accept(listener, Arc::clone(shared), door)));
    }
    if let Some(listener) = listeners.root {
        accepting.push(runtime.spawn(root::accept(listener, Arc::clone(shared))));
    }
    // Also when the handle was dropped without a message.
    let limit = runtime.block_on(stopped).unwrap_or_default();
    // The caller that stopped it may listen on the same port at once: it is waited until the listeners are closed.
    accepting.iter().for_each(Task::abort);
    runtime.block_on(async {
        for task in accepting {
            let _ = task.await;
        }
    });
    if !limit.is_zero() {
        shared.ending.send_replace(true);
        let _ = runtime.block_on(async { tokio::time::timeout(limit, shared.connections.none()).await });
    }
    // Transfers still in progress are cut off; a read from a hanging disk is not waited for.
    runtime.shutdown_background();
}

/// Listens, and returns the address: the port may have been left open.
fn listen(bind: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let cannot_listen = |e: std::io::Error| {
        let remedy = match e.kind() {
            std::io::ErrorKind::AddrNotAvailable => {
                "this machine has no such address; use 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses"
            }
            _ => "choose another port, or port 0 for a free one",
        };
        Error::io(format!("cannot listen on {bind}"), e).with_remedy(remedy)
    };
    let listener = TcpListener::bind(bind).map_err(cannot_listen)?;
    listener.set_nonblocking(true).map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    Ok((listener, address))
}

/// A running [`Server`]. Dropping it stops the server.
pub struct ServerHandle {
    http: Option<SocketAddr>,
    root: Option<SocketAddr>,
    metrics: Option<SocketAddr>,
    is_secure: bool,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<Duration>>,
    thread: Option<JoinHandle<()>>,
}

impl ServerHandle {
    /// The address it listens on for HTTP, if it does.
    pub fn http_addr(&self) -> Option<SocketAddr> {
        self.http
    }

    /// Its HTTP URL, ready to have a path appended: `http://127.0.0.1:8080/`.
    pub fn http_url(&self) -> Option<String> {
        let scheme = if self.is_secure { "https" } else { "http" };
        self.http.map(|address| format!("{scheme}://{address}/"))
    }

    /// The address it listens on for the XRootD protocol, if it does.
    pub fn root_addr(&self) -> Option<SocketAddr> {
        self.root
    }

    /// Its URL over the XRootD protocol, ready to have a path appended: `root://127.0.0.1:1094//`.
    pub fn root_url(&self) -> Option<String> {
        let scheme = if self.is_secure { "roots" } else { "root" };
        self.root.map(|address| format!("{scheme}://{address}//"))
    }

    /// The address it listens on for its status pages only, if it does.
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// The last requests ([`ServerOptions::remember`]), the oldest first.
    pub fn requests(&self) -> Vec<Served> {
        self.shared.log.all()
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Stops serving; transfers in progress are cut off.
    pub fn stop(self) {
        drop(self);
    }

    /// Accepts no more connections and requests, waits at most this long until those in progress are answered, and
    /// stops.
    pub fn stop_within(mut self, limit: Duration) {
        self.end(limit);
    }

    fn end(&mut self, limit: Duration) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(limit);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}
