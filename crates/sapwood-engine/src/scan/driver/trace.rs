//! What observers get when a scan ends.

use super::Driver;
use crate::observe::ScanTrace;
use sapwood_plan::{CacheSize, Request};

impl Driver {
    /// All that was recorded; none unless the scan was traced. The planner's log is taken.
    pub(crate) fn trace(&self, requests: u64, threads: usize) -> Option<ScanTrace> {
        let request = self.request.clone()?;
        let mut s = self.lock();
        let (times, log) = s.state.take_trace()?;
        let plan = s.state.plan_stats();
        drop(s);
        let header = self.tree.header();
        let steps = &self.plan.steps;
        let cache_bytes = match request.cache {
            CacheSize::Off => 0,
            _ if request.hold == 0 => Request::DEFAULT_HOLD,
            _ => request.hold,
        };
        Some(ScanTrace {
            file: self.plan.url.clone(),
            tree: self.tree.path().to_owned(),
            branches: (0..self.plan.columns.len()).map(|c| self.plan.path_of(c)).collect(),
            baskets: self.plan.to_fetch(),
            request,
            log,
            plan,
            threads: threads as u64,
            times,
            began: self.started,
            entries: steps.first().map_or(0, |r| r.start)..steps.last().map_or(0, |r| r.end),
            leaves: header.leaves.len() as u64,
            tree_bytes: header.total_bytes,
            tree_zip_bytes: header.zip_bytes,
            cache_bytes,
            requests,
            waits: Vec::new(),
        })
    }
}
