//! Sums up all reads of this process.

use super::PerfStats;
use super::sums::Sums;
use crate::log::ScanLog;
use sapwood_engine::observe::{FileMeter, Observer, Observing, ScanTrace, cpu_seconds, observe};
use sapwood_span::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Observes all reads of this process while it lives.
///
/// A scan is counted when it ends, by every collector that existed when it began. Several collectors may observe at the
/// same time, independently.
pub struct Collector {
    heard: Arc<Heard>,
    cpu: f64,
    /// Ends the observation when it is dropped.
    _observing: Observing,
}

/// Observations so far. A scan's log is summed up as it ends, so that nothing is measured twice.
struct Heard {
    began: Instant,
    sums: Mutex<Sums>,
    files: Mutex<Vec<Arc<FileMeter>>>,
    logs: Option<Mutex<Vec<ScanLog>>>,
}

impl Observer for Heard {
    fn file_used(&self, meter: Arc<FileMeter>) {
        lock(&self.files).push(meter);
    }

    fn scan_ended(&self, trace: &ScanTrace) {
        lock(&self.sums).add(trace, trace.began.saturating_duration_since(self.began).as_secs_f64());
        if let Some(logs) = &self.logs {
            lock(logs).push(ScanLog::of(trace));
        }
    }
}

impl Collector {
    /// Starts to observe; with `record` the planner's log of every scan is kept as well.
    pub fn start(record: bool) -> Self {
        let heard = Arc::new(Heard {
            began: Instant::now(),
            sums: Mutex::new(Sums::default()),
            files: Mutex::new(Vec::new()),
            logs: record.then(|| Mutex::new(Vec::new())),
        });
        let observing = observe(heard.clone());
        Self { heard, cpu: cpu_seconds(), _observing: observing }
    }

    /// The sums so far, without unfinished scans.
    pub fn stats(&self) -> PerfStats {
        let real = self.heard.began.elapsed().as_secs_f64();
        let files = lock(&self.heard.files);
        let sums = lock(&self.heard.sums);
        sums.finish(&files, real, (cpu_seconds() - self.cpu).max(0.0))
    }

    /// The logs of finished scans, in the order of their ends; empty unless it records.
    pub fn take_logs(&self) -> Vec<ScanLog> {
        self.heard.logs.as_ref().map(|l| std::mem::take(&mut *lock(l))).unwrap_or_default()
    }
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector(since {:.3} s)", self.heard.began.elapsed().as_secs_f64())
    }
}
