//! A server of any files, over HTTP and over the XRootD protocol.

use crate::connections::{ClientLimits, Connections};
use crate::files::Files;
use crate::http::{self, Names};
use crate::log::{Listener, Log, Served};
use crate::root::{self, Checksums, Sessions};
use crate::shared::Shared;
use crate::wan::Wan;
use sapwood_span::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Requests remembered unless asked otherwise.
const REMEMBERED: usize = 10_000;
/// Threads that serve unless asked otherwise.
const THREADS: usize = 2;

/// How a [`Server`] serves.
#[derive(Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Where to listen for HTTP; none does not serve it. By default on this machine only, on a free port.
    pub http: Option<SocketAddr>,
    /// Where to listen for the XRootD protocol; none does not serve it.
    pub root: Option<SocketAddr>,
    /// How much of the server clients may take.
    pub limits: ClientLimits,
    /// After how long an XRootD client is asked to wait for a checksum of a long file.
    pub patience: Duration,
    /// Names by which the server may be asked over HTTP, besides its address and this machine's names. A server that only this
    /// machine can reach answers to no others, or a page of any site could read what it serves.
    pub allowed_hosts: Vec<String>,
    /// Called for each request when its answer begins.
    pub log: Option<Listener>,
    /// How many of the last requests [`ServerHandle::requests`] remembers.
    pub remember: usize,
    /// Threads that serve. Those that wait for disks are counted beside them.
    pub threads: usize,
}

sapwood_span::setters!(ServerOptions {
    http: Option<SocketAddr>,
    root: Option<SocketAddr>,
    limits: ClientLimits,
    patience: Duration,
    allowed_hosts: Vec<String>,
    log: Option<Listener>,
    remember: usize,
    threads: usize,
} into {});

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            http: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            root: None,
            limits: ClientLimits::default(),
            patience: Duration::from_secs(10),
            allowed_hosts: Vec::new(),
            log: None,
            remember: REMEMBERED,
            threads: THREADS,
        }
    }
}

/// Serves files over HTTP/1.1 (whole files, single, suffix and several ranges, `ETag`, `If-Range`, folders as pages of links)
/// and over the XRootD protocol (reads, vector and page reads, stats, listings, checksums). It reads only.
pub struct Server;

impl Server {
    /// Starts serving, on threads of its own, until the handle is stopped or dropped.
    ///
    /// # Errors
    /// An address cannot be listened on, or none is given.
    pub fn start(files: Arc<dyn Files>, options: ServerOptions) -> Result<ServerHandle> {
        start(files, options, Wan::new(Duration::ZERO, None))
    }
}

/// Starts serving as if from this far away.
pub(crate) fn start(files: Arc<dyn Files>, options: ServerOptions, wan: Arc<Wan>) -> Result<ServerHandle> {
    let for_http = options.http.map(listen).transpose()?;
    let for_root = options.root.map(listen).transpose()?;
    if for_http.is_none() && for_root.is_none() {
        return Err(Error::invalid("no address to listen on was given"));
    }
    let address = |listening: &Option<(TcpListener, SocketAddr)>| listening.as_ref().map(|(_, address)| *address);
    let (http, root) = (address(&for_http), address(&for_root));
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
    let for_http = for_http.map(tokio).transpose()?;
    let for_root = for_root.map(tokio).transpose()?;
    drop(inside);
    let shared = Arc::new(Shared {
        files,
        connections: Connections::new(options.limits),
        wan,
        log: Log::new(options.remember),
        listener: options.log,
        names: Names::of(http.or(root), &options.allowed_hosts),
        sessions: Sessions::default(),
        checksums: Checksums::new(),
        patience: options.patience,
    });
    let (stop, stopped) = oneshot::channel();
    let serving = Arc::clone(&shared);
    let thread = std::thread::Builder::new()
        .name("sapwood-serve".to_owned())
        .spawn(move || {
            if let Some(listener) = for_http {
                runtime.spawn(http::accept(listener, Arc::clone(&serving)));
            }
            if let Some(listener) = for_root {
                runtime.spawn(root::accept(listener, serving));
            }
            // Also when the handle is gone without having said anything.
            let _ = runtime.block_on(stopped);
            // Transfers under way are cut off; a read from a hanging disk is not waited for.
            runtime.shutdown_background();
        })
        .map_err(|e| Error::io("cannot start the server's thread", e))?;
    Ok(ServerHandle { http, root, shared, stop: Some(stop), thread: Some(thread) })
}

/// Listens, and gives where: the port may have been left open.
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
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ServerHandle {
    /// Where it listens for HTTP, if it does.
    pub fn http_addr(&self) -> Option<SocketAddr> {
        self.http
    }

    /// Its address over HTTP, ready to have a path appended: `http://127.0.0.1:8080/`.
    pub fn http_url(&self) -> Option<String> {
        self.http.map(|address| format!("http://{address}/"))
    }

    /// Where it listens for the XRootD protocol, if it does.
    pub fn root_addr(&self) -> Option<SocketAddr> {
        self.root
    }

    /// Its address over the XRootD protocol, ready to have a path appended: `root://127.0.0.1:1094//`.
    pub fn root_url(&self) -> Option<String> {
        self.root.map(|address| format!("root://{address}//"))
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

    /// Stops serving; transfers under way are cut off.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
