//! The same files over the XRootD protocol.
//!
//! A session is one connection on which a client has logged in, and the data links bound to it. Requests are processed
//! in order; those that return data are answered concurrently, a few at a time, each in frames small enough that memory
//! stays bounded whatever the client does.

mod checksums;
mod connection;
mod link;
mod listing;
mod opening;
mod reads;
mod reply;
mod requests;
mod session;

use checksums::Checksums;
use session::Sessions;

use crate::client_request::Protocol;
use crate::shared::Shared;
use std::sync::Arc;
use std::time::Duration;

/// State shared by all connections, and state of this protocol only.
struct RootShared {
    common: Arc<Shared>,
    sessions: Sessions,
    checksums: Checksums,
}

impl std::ops::Deref for RootShared {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.common
    }
}

/// Accepts connections, until the task is dropped.
pub(crate) async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let shared = Arc::new(RootShared { common: shared, sessions: Sessions::default(), checksums: Checksums::new() });
    loop {
        match listener.accept().await {
            // A refused client gets no message: answers come after a greeting.
            Ok((stream, address)) => match shared.connections.enter(address.ip()) {
                Some(place) => {
                    let _ = stream.set_nodelay(true);
                    drop(tokio::spawn(connection::serve(stream, Arc::clone(&shared), Arc::new(place))));
                }
                None => shared.reports.counters.of(Protocol::Root).refused(),
            },
            // Perhaps out of file descriptors: retry in a moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
