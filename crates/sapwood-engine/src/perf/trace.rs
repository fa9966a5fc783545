//! What one scan leaves behind for the collectors that listened.

use super::log::ScanLog;
use super::{Shared, lock};
use sapwood_plan::{Log, PlanStats};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What decoding one branch took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub baskets: u64,
    pub bytes: u64,
    pub unzipped: u64,
    /// What was inflated, before and after.
    pub packed: u64,
    pub inflated: u64,
    pub unzip: f64,
    pub decode: f64,
}

/// The collectors that listen to a scan, and when its consumer waited.
pub(crate) struct Probe {
    collectors: Vec<Arc<Shared>>,
    waits: Vec<(Duration, Duration)>,
}

/// Two waits with less than this between them are one that was looked after.
const SAME: Duration = Duration::from_micros(200);

/// A scan that has ended.
pub(crate) struct Trace {
    /// File, tree, branches, baskets, request, and the planner's log.
    pub log: ScanLog,
    pub plan: PlanStats,
    /// By branch, in the order of the log's.
    pub times: Vec<Times>,
    pub began: Instant,
    pub entries: Range<u64>,
    pub leaves: u64,
    pub tree_bytes: u64,
    pub tree_zip_bytes: u64,
    /// What the cache may hold.
    pub cache_bytes: u64,
    /// Requests by the source's own count.
    pub requests: u64,
    /// Filled in by [`Probe::end`]: when the consumer waited, from the scan's start.
    pub waits: Vec<(Duration, Duration)>,
}

impl Probe {
    /// None when nobody listens.
    pub fn new(collectors: Vec<Arc<Shared>>) -> Option<Self> {
        (!collectors.is_empty()).then(|| Self { collectors, waits: Vec::new() })
    }

    /// The consumer waited; times are from the scan's start.
    pub fn waited(&mut self, from: Duration, to: Duration) {
        match self.waits.last_mut() {
            Some(last) if from.saturating_sub(last.1) < SAME => last.1 = to,
            _ => self.waits.push((from, to)),
        }
    }

    /// The scan is over.
    pub fn end(self, mut trace: Trace) {
        trace.waits = self.waits;
        for collector in &self.collectors {
            lock(&collector.sums).add(&trace, trace.began.saturating_duration_since(collector.began).as_secs_f64());
            if let Some(logs) = &collector.logs {
                lock(logs).push(trace.log.clone());
            }
        }
    }
}

impl Trace {
    /// What happened and what was done.
    pub fn records(&self) -> &Log {
        &self.log.log
    }
}
