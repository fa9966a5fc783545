//! The file on whose behalf sessions are opened and requests sent.

use crate::counters::Counters;
use crate::open::SourceOptions;
use std::sync::Arc;
use tokio::runtime::Handle;

/// What a file provides for opening sessions.
#[derive(Clone)]
pub(crate) struct Caller {
    pub options: SourceOptions,
    handle: Handle,
    /// The process whose thread is behind the handle: a forked child does not have it.
    process: u32,
    pub counters: Arc<Counters>,
    /// Nothing secret is sent before the server has stated its TLS requirements.
    pub cautious: bool,
}

impl Caller {
    pub(crate) fn new(options: SourceOptions, handle: Handle, cautious: bool) -> Self {
        Self { options, handle, process: std::process::id(), counters: Arc::default(), cautious }
    }

    /// The runtime that runs this, or the one that opened the file.
    pub(crate) fn handle(&self) -> Handle {
        Handle::try_current().unwrap_or_else(|_| self.handle.clone())
    }

    /// Whether this process opened the file, and not the one that it was forked from.
    pub(crate) fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }
}
