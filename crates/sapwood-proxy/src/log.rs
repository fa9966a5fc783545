//! What was asked of a server.

use sapwood_span::Span;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Requests remembered.
const KEPT: usize = 10_000;

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// `GET`, `HEAD` or what else was tried.
    pub method: String,
    /// The path as it was sent, without query.
    pub path: String,
    /// The ranges that the answer brings; none for a whole file.
    pub ranges: Vec<Span>,
    /// HTTP status of the answer.
    pub status: u16,
    /// Length of the answer's body; the client may have left before its end.
    pub bytes: u64,
}

/// The last requests.
#[derive(Default)]
pub(crate) struct Log(Mutex<VecDeque<Served>>);

impl Log {
    pub fn push(&self, served: Served) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() >= KEPT {
            log.pop_front();
        }
        log.push_back(served);
    }

    pub fn all(&self) -> Vec<Served> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
