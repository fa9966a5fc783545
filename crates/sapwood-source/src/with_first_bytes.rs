//! A fetch that also compares the file's first bytes with those from opening.

use crate::file_identity::{FirstBytes, first_bytes_differ};
use crate::lock;
use crate::source::Sink;
use bytes::Bytes;
use sapwood_span::{Result, Span};
use std::sync::{Arc, Mutex};

/// Takes the first bytes out of what arrives, and passes on the rest.
pub(crate) struct WithFirstBytes {
    sink: Arc<dyn Sink>,
    /// The index of the span that was added here, not requested by the caller.
    own: usize,
    /// The bytes that it must hold.
    then: Bytes,
    came: Mutex<Option<Bytes>>,
}

impl WithFirstBytes {
    /// Adds the file's beginning to the spans; none where it is not known yet.
    pub(crate) fn add(spans: &mut Vec<Span>, sink: &Arc<dyn Sink>, beginning: &FirstBytes) -> Option<Arc<Self>> {
        let then = beginning.bytes()?;
        let own = spans.len();
        spans.push(Span::new(0, then.len() as u64));
        Some(Arc::new(Self { sink: Arc::clone(sink), own, then, came: Mutex::default() }))
    }

    /// Checks that the file begins as it did, once all has arrived.
    ///
    /// # Errors
    /// `Corrupt` when it does not.
    pub(crate) fn check(&self) -> Result<()> {
        match &*lock(&self.came) {
            Some(now) if *now == self.then => Ok(()),
            _ => Err(first_bytes_differ()),
        }
    }
}

impl Sink for WithFirstBytes {
    fn part(&self, index: usize, bytes: Bytes) {
        if index == self.own {
            *lock(&self.came) = Some(bytes);
        } else {
            self.sink.part(index, bytes);
        }
    }

    fn moved(&self, bytes: u64) {
        self.sink.moved(bytes);
    }
}
