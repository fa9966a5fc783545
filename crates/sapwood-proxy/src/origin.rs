//! A small HTTP server over a folder.

use crate::log::{Log, Served};
use crate::respond::{Listener, Shared, respond};
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
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot};

/// Connections served at once; further ones wait.
const MAX_CONNECTIONS: usize = 1024;
/// A connection without a request is closed after this time.
const IDLE: Duration = Duration::from_secs(75);

/// How an [`Origin`] serves.
#[derive(Clone)]
pub struct OriginOptions {
    /// The folder served. Links inside it are followed as long as they stay inside.
    pub root: PathBuf,
    /// Where to listen; by default on this machine only, on a free port.
    pub bind: SocketAddr,
    /// Round-trip time to play; zero plays nothing.
    pub delay: Duration,
    /// Bandwidth to play, in bits per second, shared by all connections.
    pub bandwidth: Option<u64>,
    /// Called for each request when it is answered.
    pub log: Option<Listener>,
}

impl OriginOptions {
    /// Serves this folder on a free port of this machine, as fast as it can.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self { root: root.into(), bind, delay: Duration::ZERO, bandwidth: None, log: None }
    }
}

/// An HTTP/1.1 server over a folder: whole files, single, suffix and several ranges, `ETag`,
/// `If-Range`, folders as pages of links. It reads only, and only below its root.
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
        let cannot_listen = |e| {
            Error::io(format!("cannot listen on {}", options.bind), e)
                .with_remedy("choose another port, or port 0 for a free one")
        };
        let listener = TcpListener::bind(options.bind).map_err(cannot_listen)?;
        listener.set_nonblocking(true).map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("sapwood-origin")
            .enable_all()
            .build()
            .map_err(|e| Error::io("cannot start the server's threads", e))?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(cannot_listen)?
        };
        let wan = Wan::new(options.delay, options.bandwidth);
        let shared = Arc::new(Shared { root, wan, log: Log::default(), listener: options.log });
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("sapwood-origin".to_owned())
            .spawn(move || {
                runtime.spawn(accept(listener, serving));
                // Also when the handle is gone without having said anything.
                let _ = runtime.block_on(stopped);
                // Transfers under way are cut off; a read from a hanging disk is not waited for.
                runtime.shutdown_background();
            })
            .map_err(|e| Error::io("cannot start the server's thread", e))?;
        Ok(OriginHandle { address, shared, stop: Some(stop), thread: Some(thread) })
    }
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, Arc::clone(&shared), place))),
            // Out of file descriptors, perhaps: better in a moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>, _place: OwnedSemaphorePermit) {
    let _ = stream.set_nodelay(true);
    shared.wan.connect().await;
    let window = Arc::new(Mutex::new(shared.wan.window()));
    let service = service_fn(move |request| {
        let (shared, window) = (Arc::clone(&shared), Arc::clone(&window));
        async move { Ok::<_, Infallible>(respond(request, shared, window).await) }
    });
    // A client that leaves early, or speaks something else, is no concern of the server's.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// A running [`Origin`]. Dropping it stops the server.
pub struct OriginHandle {
    address: SocketAddr,
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

    /// The last requests (ten thousand at most), the oldest first.
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
