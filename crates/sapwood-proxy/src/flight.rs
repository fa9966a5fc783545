//! One fetch that is under way, and what comes of it.

use crate::failure::Failure;
use sapwood_span::Span;
use std::sync::OnceLock;

/// A fetch from an origin, on behalf of whoever waits for its bytes.
pub(crate) struct Flight {
    pub spans: Vec<Span>,
    /// Which open file it was begun for.
    pub of: u64,
    failed: OnceLock<Failure>,
}

impl Flight {
    pub fn new(spans: Vec<Span>, of: u64) -> Self {
        Self { spans, of, failed: OnceLock::new() }
    }

    /// Nothing will come any more, but what has come.
    pub fn fail(&self, failure: Failure) {
        let _ = self.failed.set(failure);
    }

    /// Why nothing came; none as long as it is under way, and if all came.
    pub fn failure(&self) -> Option<&Failure> {
        self.failed.get()
    }
}
