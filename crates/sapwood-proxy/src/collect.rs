//! Collects the spans of a fetch until all have arrived.

use bytes::Bytes;
use sapwood_source::Sink;
use sapwood_span::sync::lock;
use std::sync::{Arc, Mutex};

/// Receives the spans from a source.
pub(crate) struct Collect(Mutex<Vec<Option<Bytes>>>);

impl Collect {
    pub(crate) fn new(spans: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(vec![None; spans])))
    }

    /// All of it; none if a span is missing.
    pub(crate) fn all(&self) -> Option<Vec<Bytes>> {
        lock(&self.0).iter_mut().map(Option::take).collect()
    }
}

impl Sink for Collect {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(slot) = lock(&self.0).get_mut(index) {
            *slot = Some(bytes);
        }
    }
}
