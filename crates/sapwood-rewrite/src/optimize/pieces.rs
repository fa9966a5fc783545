//! Parts cut for later clusters, kept until these are built.

use super::build::ClusterPart;
use sapwood_span::sync::{lock, wait};
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard};

/// Tree, branch and cluster.
type ClusterId = (usize, usize, usize);

/// Passed from the thread that cuts a basket to those that build the clusters it extends into.
#[derive(Default)]
pub(crate) struct ClusterParts {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pieces: HashMap<ClusterId, ClusterPart>,
    /// A thread failed: parts that others wait for may never come.
    failed: bool,
}

impl ClusterParts {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Keeps a branch's parts for the clusters after `cluster`.
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

    /// Waits for a part. Work is distributed in the order of the clusters: the thread that provides the part is already
    /// working on it.
    ///
    /// # Errors
    /// `Interrupted` when it will never come, because earlier work has failed.
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

    /// While this lives, an end of the thread's work other than [`Working::done`] wakes all waiting threads.
    pub(crate) fn working(&self) -> Working<'_> {
        Working(Some(self))
    }
}

/// Work that others may wait for.
pub(crate) struct Working<'a>(Option<&'a ClusterParts>);

impl Working<'_> {
    /// It finished normally.
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
