//! The queue of the writer thread: bounded by bytes, so that inserting never waits.

use crate::locked;
use crate::store::version::FileVersion;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Bytes that may wait for the writer.
const LONGEST: u64 = 64 << 20;

/// A piece that waits to be written.
pub(crate) struct Waiting {
    pub version: Arc<FileVersion>,
    pub start: u64,
    pub bytes: Bytes,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Bytes that wait or are being written.
    bytes: u64,
    /// Pieces ever added, and pieces done.
    added: u64,
    done: u64,
    closed: bool,
}

/// The queue between callers of insert and the writer thread.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

/// Pieces that the writer has taken. They count as done when this is dropped, also by a panic.
pub(crate) struct Batch<'a> {
    queue: &'a Queue,
    pub pieces: Vec<Waiting>,
    count: u64,
    bytes: u64,
}

impl Queue {
    /// Adds a piece if there is room.
    pub(crate) fn add(&self, piece: Waiting) -> bool {
        let mut state = locked(&self.state);
        if state.closed || state.bytes + piece.bytes.len() as u64 > LONGEST {
            return false;
        }
        state.bytes += piece.bytes.len() as u64;
        state.added += 1;
        state.waiting.push_back(piece);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Waits for pieces of at most `most` bytes together, but at least one; none when the queue is closed.
    pub(crate) fn take(&self, most: u64) -> Option<Batch<'_>> {
        let mut state = locked(&self.state);
        while state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        while let Some(next) = state.waiting.front().map(|w| w.bytes.len() as u64)
            && (pieces.is_empty() || bytes + next <= most)
        {
            bytes += next;
            pieces.extend(state.waiting.pop_front());
        }
        let count = pieces.len() as u64;
        Some(Batch { queue: self, pieces, count, bytes })
    }

    /// Waits until everything added so far is done.
    pub(crate) fn flush(&self) {
        let mut state = locked(&self.state);
        let goal = state.added;
        while state.done < goal {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// There is no writer: clears the queue and refuses additions.
    pub(crate) fn abandon(&self) {
        let mut state = locked(&self.state);
        state.closed = true;
        state.done = state.added;
        state.bytes = 0;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.changed.notify_all();
        // these may be the last handles of their versions
        drop(waiting);
    }

    /// No more additions.
    pub(crate) fn close(&self) {
        locked(&self.state).closed = true;
        self.changed.notify_all();
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut state = locked(&self.queue.state);
        state.done += self.count;
        state.bytes -= self.bytes;
        drop(state);
        self.queue.changed.notify_all();
    }
}
