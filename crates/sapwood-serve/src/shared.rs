//! What all connections of a server share.

use crate::connections::Connections;
use crate::files::Files;
use crate::http::Names;
use crate::log::{Listener, Log, Served};
use crate::root::{Checksums, Sessions};
use crate::wan::Wan;
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct Shared {
    pub files: Arc<dyn Files>,
    pub connections: Arc<Connections>,
    pub wan: Arc<Wan>,
    pub log: Log,
    pub listener: Option<Listener>,
    /// Names by which it may be asked over HTTP.
    pub names: Names,
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
