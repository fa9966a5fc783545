//! The files over HTTP.

mod conditions;
mod hosts;
mod page;
mod ranges;
mod respond;
mod stream;

pub(crate) use hosts::Names;

use crate::connections::{Slot, Watched};
use crate::shared::Shared;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Bytes that a request may have: two thousand ranges, and room for other headers.
const MAX_REQUEST: usize = 64 << 10;
/// What a client hears for whom there is no place.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Takes connections in, until the task is dropped.
pub(crate) async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => match shared.connections.enter(address.ip()) {
                Some(place) => {
                    let _ = stream.set_nodelay(true);
                    let stream = Watched::new(stream, shared.connections.limits().stall);
                    drop(tokio::spawn(serve(stream, Arc::clone(&shared), Arc::new(place))));
                }
                // It fits into an empty socket's buffer, or is lost: nobody waits for whom there is no place.
                None => drop(stream.try_write(FULL)),
            },
            // Out of file descriptors, perhaps: better in a moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(stream: Watched, shared: Arc<Shared>, place: Arc<Slot>) {
    shared.wan.connect().await;
    let idle = shared.connections.limits().idle;
    let window = Arc::new(Mutex::new(shared.wan.window()));
    let here = Arc::clone(&place);
    let service = service_fn(move |request| {
        let (shared, window, busy) = (Arc::clone(&shared), Arc::clone(&window), here.busy());
        async move { Ok::<_, Infallible>(respond::respond(request, &shared, window, busy).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(idle).max_buf_size(MAX_REQUEST);
    // A client that leaves early, or speaks something else, is no concern of the server's.
    tokio::select! {
        _ = builder.serve_connection(TokioIo::new(stream), service) => {}
        () = place.ended() => {}
    }
}
