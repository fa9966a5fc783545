//! One fetch in flight, and its result.

use crate::failure::Failure;
use sapwood_span::Span;
use std::sync::OnceLock;

/// A fetch from an origin, on behalf of all callers that wait for its bytes.
pub(crate) struct PendingFetch {
    pub spans: Vec<Span>,
    /// The number of the open file that it was started for.
    pub of: u64,
    failed: OnceLock<Failure>,
}

impl PendingFetch {
    pub(crate) fn new(spans: Vec<Span>, of: u64) -> Self {
        Self { spans, of, failed: OnceLock::new() }
    }

    /// Nothing more will arrive.
    pub(crate) fn fail(&self, failure: Failure) {
        let _ = self.failed.set(failure);
    }

    /// Why nothing arrived; none while it is in flight, and if all arrived.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failed.get()
    }
}
