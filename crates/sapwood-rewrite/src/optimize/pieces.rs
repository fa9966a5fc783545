//! What was cut for clusters before their turn came, until it does.

use super::build::ClusterPart;
use sapwood_span::sync::{lock, wait};
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard};

/// Tree, branch and cluster.
type ClusterId = (usize, usize, usize);

/// Handed from the thread that cuts a basket to those that pack the clusters it reaches into.
#[derive(Default)]
pub(crate) struct ClusterParts {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pieces: HashMap<ClusterId, ClusterPart>,
    /// A thread gave up: what others wait for may never come.
    failed: bool,
}

impl ClusterParts {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Keeps a branch's pieces for the clusters behind `cluster`.
    pub(crate) fn give(&self, (tree, branch, cluster): ClusterId, pieces: Vec<ClusterPart>) {
        if pieces.is_empty() {
            return;
        }
        let mut state = self.lock();
        for (i, piece) in pieces.into_iter().enumerate() {
            state.pieces.insert((tree, branch, cluster + 1 + i), piece);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for a piece. Work is handed out in the order of the clusters: whoever brings the piece is at it already.
    ///
    /// # Errors
    /// `Interrupted` when it will never come, because the work before has failed.
    pub(crate) fn take(&self, place: ClusterId) -> Result<ClusterPart> {
        let mut state = self.lock();
        loop {
            if let Some(piece) = state.pieces.remove(&place) {
                return Ok(piece);
            }
            if state.failed {
                return Err(Error::new(ErrorKind::Interrupted, "the previous cluster could not be compressed"));
            }
            state = wait(&self.changed, state);
        }
    }

    /// While this lives, an end of the thread's work other than [`Working::done`] lets nobody wait for ever.
    pub(crate) fn working(&self) -> Working<'_> {
        Working(Some(self))
    }
}

/// Work that others may wait for.
pub(crate) struct Working<'a>(Option<&'a ClusterParts>);

impl Working<'_> {
    /// It came to its end.
    pub(crate) fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        if let Some(pieces) = self.0 {
            pieces.lock().failed = true;
            pieces.changed.notify_all();
        }
    }
}
