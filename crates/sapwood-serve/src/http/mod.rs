//! The files over HTTP.

mod conditions;
mod hosts;
mod own_version;
mod page;
mod plan;
mod ranges;
mod respond;
mod status;
mod stream;

pub(crate) use hosts::Names;

use crate::client_request::Protocol;
use crate::connections::{Slot, Watched};
use crate::shared::{Shared, over};
use crate::tls::Stream;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use own_version::OwnVersion;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Maximum bytes of a request: two thousand ranges, and room for other headers.
const MAX_REQUEST: usize = 64 << 10;
/// Sent to a client for which there is no room.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// Sent to a client that does not start with TLS where it must.
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\
    Connection: close\r\n\r\nthis is an HTTPS port: use TLS\r\n";
/// First byte of a TLS connection: a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;

/// One listening address.
pub(crate) struct ListenerContext {
    /// Host names that it accepts.
    pub names: Names,
    pub serves: Serves,
}

/// What is served at an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serves {
    Files,
    /// The files, and the server's status pages.
    FilesAndPages,
    /// Status pages only, without TLS.
    Pages,
}

/// Accepts connections, until the task is dropped.
pub(crate) async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>, door: Arc<ListenerContext>) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => match shared.connections.enter(address.ip()) {
                Some(place) => {
                    let _ = stream.set_nodelay(true);
                    drop(tokio::spawn(serve(stream, Arc::clone(&shared), Arc::new(place), Arc::clone(&door))));
                }
                // It fits into an empty socket's buffer, or is lost: a refused client is not waited for.
                None => {
                    shared.reports.counters.of(Protocol::Http).refused();
                    drop(stream.try_write(FULL));
                }
            },
            // Perhaps out of file descriptors: retry in a moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>, place: Arc<Slot>, door: Arc<ListenerContext>) {
    let _connected = shared.reports.counters.of(Protocol::Http).connected();
    let (limits, mut ending) = (*shared.connections.limits(), shared.ending.subscribe());
    shared.wan.connect().await;
    let stream = tokio::select! {
        stream = timeout(limits.idle, begin(Watched::new(stream, limits.stall), &shared, door.serves)) => stream,
        () = place.ended() => return,
        () = over(&mut ending) => return,
    };
    let Ok(Some(stream)) = stream else { return };
    let is_secure = stream.is_secure();
    let window = Arc::new(Mutex::new(shared.wan.window()));
    let (here, all) = (Arc::clone(&place), Arc::clone(&shared));
    let service = service_fn(move |request| {
        let (shared, window, busy, door) = (Arc::clone(&all), Arc::clone(&window), here.busy(), Arc::clone(&door));
        async move { Ok::<_, Infallible>(respond::respond(request, &shared, &door, window, busy, is_secure).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.idle).max_buf_size(MAX_REQUEST);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(OwnVersion::new(stream)), service));
    // A client that leaves early, or speaks something else, is not an error of the server.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = place.ended() => {}
        () = over(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Starts TLS where a certificate is given; none where the client does not, or leaves.
async fn begin(mut stream: Watched, shared: &Shared, serves: Serves) -> Option<Stream> {
    let acceptor = shared.tls.as_ref().filter(|_| serves != Serves::Pages);
    let Some(acceptor) = acceptor else { return Some(Stream::Plain(stream)) };
    let mut first = [0];
    if stream.tcp().peek(&mut first).await.ok()? == 0 {
        return None;
    }
    if first != [TLS_HANDSHAKE] {
        let _ = stream.write_all(NOT_TLS).await;
        return None;
    }
    acceptor.accept(stream).await.ok()
}
