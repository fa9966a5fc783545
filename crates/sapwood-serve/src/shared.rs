//! State shared by all connections of a server.

use crate::connections::Connections;
use crate::counters::Status;
use crate::exchange::Reports;
use crate::files::Files;
use crate::log::{Listener, Log, Served};
use crate::tls::Acceptor;
use crate::wan::Wan;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// Pieces of [`PIECE`](crate::buffers::PIECE) bytes that may be in memory at once: 32 MiB.
pub(crate) const LONG_PIECES: usize = 128;

pub(crate) struct Shared {
    pub files: Arc<dyn Files>,
    pub connections: Arc<Connections>,
    pub wan: Arc<Wan>,
    pub log: Log,
    pub listener: Option<Listener>,
    pub reports: Arc<Reports>,
    pub status: Option<Arc<dyn Status>>,
    pub tls: Option<Acceptor>,
    /// Room for long pieces in memory, of all connections together, besides the short piece of each connection.
    pub room: Arc<Semaphore>,
    /// True when no more requests are accepted.
    pub ending: watch::Sender<bool>,
    /// XRootD clients are asked for a token, over TLS.
    pub ask_tokens: bool,
    /// After how long an XRootD client is asked to wait for an answer. A client that receives nothing for a minute
    /// considers its connection dead.
    pub patience: Duration,
}

impl Shared {
    pub(crate) fn log(&self, served: Served) {
        if let Some(listener) = &self.listener {
            listener(&served);
        }
        self.log.push(served);
    }
}

/// Waits until no more requests are accepted.
pub(crate) async fn over(ending: &mut watch::Receiver<bool>) {
    // An error means that the server is gone.
    drop(ending.wait_for(|ending| *ending).await);
}
