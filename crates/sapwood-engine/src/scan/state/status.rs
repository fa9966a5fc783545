//! How things stand with a scan.

use super::{ScanState, Stage};
use crate::observe::DecodeTimes;
use crate::report::IoReport;
use sapwood_plan::{Log, PlanStats};
use sapwood_span::Result;
use std::ops::Range;
use std::sync::Arc;

impl ScanState {
    pub(crate) fn has_work(&self) -> bool {
        self.queue.has_work()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// # Errors
    /// Why this step, or one before it, cannot be completed.
    pub(crate) fn check(&self, step: usize) -> Result<()> {
        self.progress.check(step)
    }

    /// Whether all baskets of a step are decoded, or those that its cut needs.
    ///
    /// # Errors
    /// As soon as one of them, or of a step before, has failed: nobody waits for the rest.
    pub(crate) fn is_ready(&self, step: usize, stage: Stage) -> Result<bool> {
        self.progress.check(step)?;
        Ok(self.progress.missing(step, stage) == 0)
    }

    /// Whether waiting may bring a step nearer: it lacks baskets, nothing has failed, and there is nothing to do.
    pub(crate) fn must_wait(&self, step: usize, stage: Stage) -> bool {
        self.progress.missing(step, stage) > 0 && !self.progress.is_broken(step) && !self.has_work()
    }

    /// Whether it has been seen that the file has not changed while it was read.
    ///
    /// # Errors
    /// That it has.
    pub(crate) fn is_settled(&self) -> Result<bool> {
        self.progress.check(usize::MAX)?;
        Ok(!self.open.values().any(|is_waited_for| *is_waited_for))
    }

    /// The step whose cut can be evaluated now, as all that it needs is here; and how many decoded bytes may wait.
    pub(crate) fn next_cut(&self) -> Option<(usize, u64)> {
        let cut = self.progress.cut.as_ref()?;
        let step = cut.prefetch.next_step();
        (cut.missing.get(step) == Some(&0)).then(|| (step, self.queue.ahead.most()))
    }

    /// The entries of a step that are wanted, where not all are.
    pub(crate) fn selected(&self, step: usize) -> Option<Arc<[Range<u64>]>> {
        self.progress.selected[step].clone()
    }

    /// Whether all that is needed has been asked for.
    pub(crate) fn has_asked_all(&self) -> bool {
        self.planner.has_asked_all()
    }

    /// What the planner did.
    pub(crate) fn plan_stats(&self) -> PlanStats {
        self.planner.stats()
    }

    /// What was done; without what only the source knows.
    pub(crate) fn report(&self) -> &IoReport {
        &self.report
    }

    /// For observers, if there are any: what decoding took by column, and the planner's log, which is taken.
    pub(crate) fn take_trace(&mut self) -> Option<(Vec<DecodeTimes>, Log)> {
        let times = self.times.clone()?;
        Some((times, self.planner.take_log()))
    }
}
