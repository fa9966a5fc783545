//! A small server over a folder: HTTP, and the XRootD protocol beside it.

use crate::connections::{ClientLimits, Connections, Slot, Watched};
use crate::files::Files;
use crate::folder::FolderFiles;
use crate::hosts::Names;
use crate::log::{Log, Served};
use crate::respond::{Listener, Shared, respond};
use crate::root::{self, Checksums, RootShared, Sessions};
use crate::wan::Wan;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use sapwood_span::{Error, Result};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Mutex, oneshot};

/// Bytes that a request may have: two thousand ranges, and room for other headers.
const MAX_REQUEST: usize = 64 << 10;
/// Requests remembered unless asked otherwise.
const REMEMBERED: usize = 10_000;
/// What a client hears for whom there is no place.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// How an [`Origin`] serves.
#[derive(Clone)]
pub struct OriginOptions {
    /// The folder served. Links inside it are followed as long as they stay inside.
    pub root: PathBuf,
    /// Where to listen; by default on this machine only, on a free port.
    pub bind: SocketAddr,
    /// Where to listen for the XRootD protocol; none serves HTTP only.
    pub bind_root: Option<SocketAddr>,
    /// Round-trip time to play; zero plays nothing.
    pub delay: Duration,
    /// Bandwidth to play, in bits per second, shared by all connections.
    pub bandwidth: Option<u64>,
    /// Called for each request when it is answered.
    pub log: Option<Listener>,
    /// How many of the last requests [`OriginHandle::requests`] remembers.
    pub remember: usize,
    /// How much of the server clients may take.
    pub limits: ClientLimits,
    /// After how long an XRootD client is asked to wait for a checksum of a long file.
    pub patience: Duration,
    /// Names by which the server may be asked, besides its address and this machine's names. A server that only this
    /// machine can reach answers to no others, or a page of any site could read what it serves.
    pub allowed_hosts: Vec<String>,
}

impl OriginOptions {
    /// Serves this folder on a free port of this machine, as fast as it can.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            root: root.into(),
            bind,
            bind_root: None,
            delay: Duration::ZERO,
            bandwidth: None,
            log: None,
            remember: REMEMBERED,
            limits: ClientLimits::default(),
            patience: Duration::from_secs(10),
            allowed_hosts: Vec::new(),
        }
    }
}

/// An HTTP/1.1 server over a folder: whole files, single, suffix and several ranges, `ETag`,
/// `If-Range`, folders as pages of links. Where [`OriginOptions::bind_root`] says so, the same over the XRootD protocol: reads,
/// vector and page reads, stats, listings, checksums. It reads only, and only below its root.
///
/// With a delay or a bandwidth it behaves as if it stood far away: see [`OriginOptions`]. The
/// round trips of connecting and of each request, TCP's slow start and a shared bandwidth are
/// played by waiting; loss and queues are not.
pub struct Origin;

impl Origin {
    /// Starts serving, on threads of its own, until the handle is stopped or dropped.
    ///
    /// # Errors
    /// The root is not a folder, or the address cannot be listened on.
    pub fn start(options: OriginOptions) -> Result<OriginHandle> {
        let name = options.root.display().to_string();
        let root = options.root.canonicalize().map_err(|e| Error::io("cannot serve", e).in_file(name.clone()))?;
        if !root.is_dir() {
            return Err(Error::invalid("only a folder can be served").in_file(name));
        }
        let (listener, address) = listen(options.bind)?;
        let for_root = options.bind_root.map(listen).transpose()?;
        let root_address = for_root.as_ref().map(|(_, address)| *address);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("sapwood-origin")
            .enable_all()
            .build()
            .map_err(|e| Error::io("cannot start the server's threads", e))?;
        let inside = runtime.enter();
        let tokio =
            |listener| tokio::net::TcpListener::from_std(listener).map_err(|e| Error::io("cannot start the server", e));
        let listener = tokio(listener)?;
        let for_root = for_root.map(|(listener, _)| tokio(listener)).transpose()?;
        drop(inside);
        let wan = Wan::new(options.delay, options.bandwidth);
        let names = Names::of(address, &options.allowed_hosts);
        let log = Arc::new(Log::new(options.remember));
        let files: Arc<dyn Files> = Arc::new(FolderFiles::new(root));
        let connections = Connections::new(options.limits);
        let over_root = for_root.map(|listener| {
            let shared = RootShared {
                files: Arc::clone(&files),
                wan: Arc::clone(&wan),
                log: Arc::clone(&log),
                listener: options.log.clone(),
                connections: Arc::clone(&connections),
                sessions: Sessions::default(),
                checksums: Checksums::new(),
                patience: options.patience,
            };
            (listener, Arc::new(shared))
        });
        let shared = Arc::new(Shared { files, wan, names, log, listener: options.log });
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("sapwood-origin".to_owned())
            .spawn(move || {
                runtime.spawn(accept(listener, serving, connections));
                if let Some((listener, shared)) = over_root {
                    runtime.spawn(root::accept(listener, shared));
                }
                // Also when the handle is gone without having said anything.
                let _ = runtime.block_on(stopped);
                // Transfers under way are cut off; a read from a hanging disk is not waited for.
                runtime.shutdown_background();
            })
            .map_err(|e| Error::io("cannot start the server's thread", e))?;
        Ok(OriginHandle { address, root_address, shared, stop: Some(stop), thread: Some(thread) })
    }
}

/// Listens, and gives where: the port may have been left open.
fn listen(bind: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let cannot_listen = |e: std::io::Error| {
        let remedy = match e.kind() {
            std::io::ErrorKind::AddrNotAvailable => "this machine has no such address; omit --bind, or use 0.0.0.0",
            _ => "choose another port, or port 0 for a free one",
        };
        Error::io(format!("cannot listen on {bind}"), e).with_remedy(remedy)
    };
    let listener = TcpListener::bind(bind).map_err(cannot_listen)?;
    listener.set_nonblocking(true).map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    Ok((listener, address))
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>, connections: Arc<Connections>) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => match connections.enter(address.ip()) {
                Some(place) => {
                    let _ = stream.set_nodelay(true);
                    let stream = Watched::new(stream, connections.limits().stall);
                    let idle = connections.limits().idle;
                    drop(tokio::spawn(serve(stream, Arc::clone(&shared), Arc::new(place), idle)));
                }
                // It fits into an empty socket's buffer, or is lost: nobody waits for whom there is no place.
                None => drop(stream.try_write(FULL)),
            },
            // Out of file descriptors, perhaps: better in a moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(stream: Watched, shared: Arc<Shared>, place: Arc<Slot>, idle: Duration) {
    shared.wan.connect().await;
    let window = Arc::new(Mutex::new(shared.wan.window()));
    let here = Arc::clone(&place);
    let service = service_fn(move |request| {
        let (shared, window, busy) = (Arc::clone(&shared), Arc::clone(&window), here.busy());
        async move { Ok::<_, Infallible>(respond(request, shared, window, busy).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(idle).max_buf_size(MAX_REQUEST);
    // A client that leaves early, or speaks something else, is no concern of the server's.
    tokio::select! {
        _ = builder.serve_connection(TokioIo::new(stream), service) => {}
        () = place.ended() => {}
    }
}

/// A running [`Origin`]. Dropping it stops the server.
pub struct OriginHandle {
    address: SocketAddr,
    root_address: Option<SocketAddr>,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OriginHandle {
    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The address of the served folder: `http://127.0.0.1:8080/`.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Where it listens for the XRootD protocol, if it does.
    pub fn root_addr(&self) -> Option<SocketAddr> {
        self.root_address
    }

    /// The address of the served folder over the XRootD protocol, ready to have a path appended: `root://127.0.0.1:1094//`.
    pub fn root_url(&self) -> Option<String> {
        self.root_address.map(|address| format!("root://{address}//"))
    }

    /// The last requests ([`OriginOptions::remember`]), the oldest first.
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

impl Drop for OriginHandle {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
