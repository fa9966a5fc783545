//! The batch that grows: what can be appended to its columns.

use super::ScanState;
use super::assembly::{Next, OpenBatch, Remainder};
use sapwood_span::{Error, Result};

impl ScanState {
    /// From now on baskets can be appended to this batch.
    pub(crate) fn open_batch(&mut self, batch: OpenBatch) {
        self.assembly.open(batch);
    }

    /// Nothing is appended any more.
    pub(crate) fn close_batch(&mut self) {
        self.assembly.close();
    }

    /// What can be appended to a column now. The caller appends it and says [`ScanState::joined`]; until then there is
    /// nothing more for the column.
    ///
    /// # Errors
    /// Why the next basket failed.
    pub(crate) fn next_pieces(&mut self, column: usize) -> Result<Option<Next>> {
        self.assembly.next(&self.plan, column, &mut self.queue.ahead)
    }

    /// What [`ScanState::next_pieces`] gave is appended.
    pub(crate) fn joined(&mut self, column: usize, left: Remainder) {
        self.assembly.joined(&self.plan, column, left);
    }

    /// What [`ScanState::next_pieces`] gave could not be appended: no batch can be completed.
    pub(crate) fn join_failed(&mut self, column: usize, why: &Error) {
        self.joined(column, Remainder::default());
        self.progress.fail(0, why);
    }

    /// Somebody appends to a column.
    pub(crate) fn is_joining(&self, column: usize) -> bool {
        self.assembly.is_joining(column)
    }

    /// Divides a column's baskets of a step by its counter, if they need that.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(crate) fn attach(&mut self, column: usize, step: usize) -> Result<()> {
        self.assembly.attach(&self.plan, column, step)
    }

    /// Whether a column of the batch lacks entries of a step, or of those before it.
    pub(crate) fn lacks(&self, column: usize, step: usize) -> bool {
        self.assembly.lacks(column, self.plan.steps[step].end)
    }
}
