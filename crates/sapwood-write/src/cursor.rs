use crate::basket::Branch;
use crate::column_source::EntryValues;
use crate::core::Core;
use crate::layout::basket_end;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Tracks which of a batch's entries each branch has taken.
pub(crate) struct Cursor {
    /// The entry of the batch that all branches have reached, or could.
    pub(crate) at: usize,
    len: usize,
    /// The entry of the batch that each branch is at.
    taken: Vec<usize>,
    /// The entry after which each branch's basket is full, earliest first.
    ends: BinaryHeap<Reverse<(usize, usize)>>,
}

impl Cursor {
    pub(crate) fn new(branches: &[Branch], pieces: &[Option<EntryValues<'_>>], len: usize) -> Self {
        let mut cursor = Self { at: 0, len, taken: vec![0; pieces.len()], ends: BinaryHeap::new() };
        cursor.plan_all(branches, pieces);
        cursor
    }

    pub(crate) fn plan_all(&mut self, branches: &[Branch], pieces: &[Option<EntryValues<'_>>]) {
        self.ends.clear();
        for (i, (branch, piece)) in branches.iter().zip(pieces).enumerate() {
            if let Some(piece) = piece {
                self.plan(branch, piece, i);
            }
        }
    }

    /// Records where the branch's basket ends, if it does so within the batch.
    pub(crate) fn plan(&mut self, branch: &Branch, piece: &EntryValues<'_>, i: usize) {
        let from = self.taken.get(i).copied().unwrap_or(0);
        if let Some(end) = basket_end(branch.pending(), piece.sizes(), from, self.len, branch.limit()) {
            self.ends.push(Reverse((end, i)));
        }
    }

    /// Where the next basket ends.
    pub(crate) fn next_end(&self) -> Option<usize> {
        self.ends.peek().map(|Reverse((at, _))| *at)
    }

    /// The next branch whose basket ends here, in the order of the tree.
    pub(crate) fn pop_at(&mut self, at: usize) -> Option<usize> {
        let &Reverse((end, i)) = self.ends.peek()?;
        if end > at {
            return None;
        }
        self.ends.pop();
        Some(i)
    }

    /// Passes the branch its entries up to here.
    pub(crate) fn catch_up(&mut self, core: &mut Core, branch: &mut Branch, piece: &EntryValues<'_>, i: usize) {
        if let Some(taken) = self.taken.get_mut(i) {
            branch.append(core, piece, *taken, self.at);
            *taken = self.at;
        }
    }
}
