//! What reading costs: perf stats, as ROOT's `TTreePerfStats` counts them and beyond, and the planner's recorded log.
//!
//! A [`Collector`] listens to every file and scan of the process from its beginning to its end. While there is none,
//! scans count what they always count ([`crate::IoReport`]) and nothing more; with one, the planner's log is kept
//! until a scan ends and is then summed up, so that nothing is measured twice.

mod cpu;
mod json;
mod log;
mod number;
mod stats;
mod sum;
mod text;
mod trace;
mod what_if;

pub use log::ScanLog;
pub use stats::{BranchPerf, HostPerf, PerfStats, Point, Slowest};
pub(crate) use trace::{Probe, Times, Trace};
pub use what_if::{What, WhatIf};

use crate::report::IoReport;
use sapwood_source::SourceStats;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use sum::Sums;

/// Collectors under way.
static COLLECTORS: Mutex<Vec<Arc<Shared>>> = Mutex::new(Vec::new());
/// How many, for a look without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens to all reading of this process while it lives.
///
/// A scan counts when it ends, to every collector that was there when it began. Several collectors may listen at the
/// same time, each to itself.
pub struct Collector {
    shared: Arc<Shared>,
    cpu: f64,
}

pub(crate) struct Shared {
    began: Instant,
    sums: Mutex<Sums>,
    files: Mutex<Vec<Arc<FileMeter>>>,
    logs: Option<Mutex<Vec<ScanLog>>>,
}

/// Counters of what is read.
pub(crate) trait Counters: Send + Sync {
    /// Those of the source, and those of scans and headers.
    fn counts(&self) -> (SourceStats, IoReport);
}

/// What a file had done when a collector first saw it, and what it had done at its end.
pub(crate) struct FileMeter {
    /// Counts as long as the file is open.
    counters: Weak<dyn Counters>,
    url: String,
    before: (SourceStats, IoReport),
    after: Mutex<Option<(SourceStats, IoReport)>>,
}

/// The meters of a file: one for each collector that has seen it.
#[derive(Default)]
pub(crate) struct FileMeters(Mutex<Vec<Arc<FileMeter>>>);

impl Collector {
    /// Begins to listen; with `record` the planner's log of every scan is kept as well.
    pub fn start(record: bool) -> Self {
        let shared = Arc::new(Shared {
            began: Instant::now(),
            sums: Mutex::new(Sums::default()),
            files: Mutex::new(Vec::new()),
            logs: record.then(|| Mutex::new(Vec::new())),
        });
        let mut all = lock(&COLLECTORS);
        all.push(shared.clone());
        COUNT.store(all.len(), Ordering::Relaxed);
        drop(all);
        Self { shared, cpu: cpu::seconds() }
    }

    /// What was read so far; scans that have not ended are not in it.
    pub fn stats(&self) -> PerfStats {
        let real = self.shared.began.elapsed().as_secs_f64();
        let files = lock(&self.shared.files);
        let sums = lock(&self.shared.sums);
        sums.finish(&files, real, (cpu::seconds() - self.cpu).max(0.0))
    }

    /// The logs of the scans that have ended, in the order of their ends; empty unless it records.
    pub fn take_logs(&self) -> Vec<ScanLog> {
        self.shared.logs.as_ref().map(|l| std::mem::take(&mut *lock(l))).unwrap_or_default()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let mut all = lock(&COLLECTORS);
        all.retain(|c| !Arc::ptr_eq(c, &self.shared));
        COUNT.store(all.len(), Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector(since {:.3} s)", self.shared.began.elapsed().as_secs_f64())
    }
}

/// The collectors that listen now; none in nearly all processes.
pub(crate) fn listening() -> Vec<Arc<Shared>> {
    if COUNT.load(Ordering::Relaxed) == 0 { Vec::new() } else { lock(&COLLECTORS).clone() }
}

impl FileMeters {
    /// The file is opened, or read again: `before` gives what it had done until now, none when it has just been opened.
    pub(crate) fn watch(
        &self,
        collectors: &[Arc<Shared>],
        url: &str,
        counters: &Weak<dyn Counters>,
        before: impl Fn() -> (SourceStats, IoReport),
    ) {
        for collector in collectors {
            let mut files = lock(&collector.files);
            let mut own = lock(&self.0);
            if !own.iter().any(|m| files.iter().any(|f| Arc::ptr_eq(m, f))) {
                let after = Mutex::new(None);
                let (counters, url) = (counters.clone(), url.to_owned());
                let meter = Arc::new(FileMeter { counters, url, before: before(), after });
                own.push(meter.clone());
                files.push(meter);
            }
        }
    }

    /// The file is closed; this is what it had done.
    pub(crate) fn closed(&self, counts: impl FnOnce() -> (SourceStats, IoReport)) {
        let meters = std::mem::take(&mut *lock(&self.0));
        if !meters.is_empty() {
            let counts = counts();
            meters.iter().for_each(|m| *lock(&m.after) = Some(counts.clone()));
        }
    }
}

impl FileMeter {
    /// What the file did since then: counters of the source, and of the scans.
    fn done(&self) -> (SourceStats, IoReport) {
        // the lock is not held while the file is asked: that may turn out to be its last user, and close it
        let after = lock(&self.after).clone();
        let now = after.or_else(|| self.counters.upgrade().map(|c| c.counts())).or_else(|| lock(&self.after).clone());
        let now = now.unwrap_or_else(|| self.before.clone());
        let (s, b) = (&now.0, &self.before.0);
        let source = SourceStats {
            requests: s.requests.saturating_sub(b.requests),
            ranges: s.ranges.saturating_sub(b.ranges),
            payload: s.payload.saturating_sub(b.payload),
            wire: s.wire.saturating_sub(b.wire),
            connections: s.connections.saturating_sub(b.connections),
            round_trips: s.round_trips.saturating_sub(b.round_trips),
            retries: s.retries.saturating_sub(b.retries),
            redirects: s.redirects.saturating_sub(b.redirects),
            fallbacks: s.fallbacks.saturating_sub(b.fallbacks),
            cached_bytes: s.cached_bytes.saturating_sub(b.cached_bytes),
            cached_reads: s.cached_reads.saturating_sub(b.cached_reads),
            ..s.clone()
        };
        let bytes_wanted = now.1.bytes_wanted.saturating_sub(self.before.1.bytes_wanted);
        (source, IoReport { bytes_wanted, ..IoReport::default() })
    }
}
