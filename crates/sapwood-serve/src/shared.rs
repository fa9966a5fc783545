//! What all connections of a server share.

use crate::connections::Connections;
use crate::counters::{Counters, Status};
use crate::exchange::AccessListener;
use crate::files::Files;
use crate::log::{Listener, Log, Served};
use crate::root::{Checksums, Sessions};
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
    pub access: Option<AccessListener>,
    pub counters: Counters,
    pub status: Option<Arc<dyn Status>>,
    pub tls: Option<Acceptor>,
    /// Room for long pieces in memory, of all connections together: beside the short ones that each may always have.
    pub room: Arc<Semaphore>,
    /// True when no further requests are taken.
    pub ending: watch::Sender<bool>,
    pub sessions: Sessions,
    pub checksums: Checksums,
    /// After how long an XRootD client is asked to wait for an answer. One that hears nothing for a minute takes its connection
    /// for dead.
    pub patience: Duration,
}

impl Shared {
    pub fn log(&self, served: Served) {
        if let Some(listener) = &self.listener {
            listener(&served);
        }
        self.log.push(served);
    }
}

/// Waits until no further requests are taken.
pub(crate) async fn over(ending: &mut watch::Receiver<bool>) {
    // An error says that the server is gone.
    drop(ending.wait_for(|ending| *ending).await);
}
