//! The server: connections, requests, and its end.

use crate::access::Access;
use crate::answer::{Answer, refused};
use crate::api;
use crate::open_files::OpenFiles;
use crate::page;
use crate::parameters::Parameters;
use crate::place::Targets;
use crate::shared::{Shared, WORKERS};
use crate::target::{BrowseTarget, fragment};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use sapwood::{Error, OpenOptions, Result};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

/// Connections at once.
const CONNECTIONS: usize = 256;
/// Bytes of a request's body, at most.
const MAX_BODY: usize = 1 << 20;
/// Bytes of a request's head, at most.
const MAX_HEAD: usize = 64 << 10;
/// A client that has not sent its request after this long is disconnected.
const PATIENCE: Duration = Duration::from_secs(60);

/// Options of a [`Browser`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BrowseOptions {
    /// Port on this machine; 0 is any free one.
    pub port: u16,
    /// How files are opened.
    pub open: OpenOptions,
}

impl BrowseOptions {
    /// These: a port (0: any free one), and how files are opened.
    pub fn new(port: u16, open: OpenOptions) -> Self {
        Self { port, open }
    }
}

/// A running server of the page. Dropped, it ends, with all that it does.
pub struct Browser {
    url: String,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

impl Browser {
    /// Serves the page for these files, directories and URLs, on the loopback address. Without any, the page asks for one.
    /// It begins with the first object that is named.
    ///
    /// # Errors
    /// Local targets and objects that are not there; a port that is in use.
    pub fn start(targets: &[BrowseTarget], options: BrowseOptions) -> Result<Self> {
        let failed = |e| Error::io("cannot start the server of the page", e);
        let files = OpenFiles::new(options.open);
        let named = Targets::new(targets.iter().map(|target| target.url.as_str()))?;
        let fragment = fragment(targets, &files)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(WORKERS + 8)
            .thread_name("sapwood-browse")
            .enable_io()
            .enable_time()
            .build()
            .map_err(failed)?;
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = runtime.block_on(TcpListener::bind(at)).map_err(|e| {
            Error::io(format!("cannot listen on {at}"), e).with_remedy("choose another port, or 0 for any free one")
        })?;
        let port = listener.local_addr().map_err(failed)?.port();
        let access = Access::new(port)?;
        let url = format!("http://127.0.0.1:{port}/{}/{fragment}", access.secret());
        let shared = Arc::new(Shared::new(access, named, files));
        runtime.spawn(accept(listener, shared.clone()));
        Ok(Self { url, shared, runtime: Some(runtime) })
    }

    /// The address of the page, with the secret that it takes, and behind `#` the object that it shows.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Requests that read files at the moment.
    pub fn running(&self) -> usize {
        self.shared.running()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for Browser {
    /// Without the address: it has a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Browser")
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // those for which there is no room are closed
                if let Ok(place) = places.clone().try_acquire_owned() {
                    let shared = shared.clone();
                    tokio::spawn(async move {
                        serve(stream, shared).await;
                        drop(place);
                    });
                }
            }
            // perhaps out of file descriptors: try again in a moment
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(respond(request, &shared).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MAX_HEAD);
    // a client that leaves early, or speaks something else, is no error of the server
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: Request<Incoming>, shared: &Arc<Shared>) -> Answer {
    let path = request.uri().path().to_owned();
    let Some(name) = shared.access.behind_secret(&path) else {
        return refused(StatusCode::NOT_FOUND, "there is nothing at this address");
    };
    if let Some(why) = shared.access.refusal(request.headers()) {
        return refused(StatusCode::FORBIDDEN, why);
    }
    let method = request.method().clone();
    let Some(name) = name.strip_prefix("api/") else {
        return match method {
            Method::GET | Method::HEAD => page::file(name),
            _ => refused(StatusCode::METHOD_NOT_ALLOWED, "the page can only be read"),
        };
    };
    let parameters = match method {
        Method::GET | Method::HEAD => Ok(Parameters::of_query(request.uri().query().unwrap_or_default())),
        Method::POST => {
            let kind = request.headers().get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
            // a form of another site cannot have this type
            if !kind.split(|b| *b == b';').next().is_some_and(|kind| kind.eq_ignore_ascii_case(b"application/json")) {
                return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
            }
            let headers = request.headers().clone();
            return match body(request).await {
                Ok(bytes) => match Parameters::of_body(&bytes) {
                    Ok(parameters) => api::answer(&Method::POST, name, parameters, &headers, shared).await,
                    Err(fault) => fault.answer(),
                },
                Err(answer) => answer,
            };
        }
        _ => Err(refused(StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD and POST are known here")),
    };
    match parameters {
        Ok(parameters) => api::answer(&Method::GET, name, parameters, request.headers(), shared).await,
        Err(answer) => answer,
    }
}

/// The body of a request, of limited length, in limited time.
async fn body(request: Request<Incoming>) -> std::result::Result<Bytes, Answer> {
    let all = Limited::new(request.into_body(), MAX_BODY).collect();
    match tokio::time::timeout(PATIENCE, all).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(_)) => Err(refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is incomplete, or longer than 1 MB")),
        Err(_) => Err(refused(StatusCode::REQUEST_TIMEOUT, "the body did not come")),
    }
}
