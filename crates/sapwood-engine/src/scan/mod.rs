//! One pass over entries of chosen branches.

mod ahead;
mod assemble;
mod baskets;
mod decode;
mod spares;
mod state;
mod steps;
mod trace;
mod work;

use crate::options::{Progress, ScanOptions};
use crate::perf::{self, Probe};
use crate::report::IoReport;
use crate::tree::Tree;
pub(crate) use baskets::reach;
use sapwood_column::Array;
use sapwood_plan::CacheSize;
use sapwood_source::SourceStats;
use sapwood_span::{Error, ErrorKind, Result};
use state::Shared;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Below this many inflated bytes a scan is done by the thread that asks, without helpers.
const ALONE: u64 = 256 << 10;

/// How often a waiting consumer looks whether it was told to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// Consecutive entries, decoded.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Which entries.
    pub entries: Range<u64>,
    /// A column per branch, in the order of [`ScanOptions::branches`].
    pub columns: Vec<Array>,
}

/// Batches in the order of entries. Reading goes on in the background while a batch is used; dropping the scan ends
/// it.
pub struct Scan {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    thread_limit: usize,
    /// Which steps make up the batches.
    batches: Vec<Range<usize>>,
    /// The next batch.
    at: usize,
    worker: work::Worker,
    started: Instant,
    waited: Duration,
    before: SourceStats,
    options: ScanOptions,
    finished: bool,
    /// For collectors of perf stats, when there are any.
    probe: Option<Probe>,
}

impl Scan {
    pub(crate) fn start(tree: &Tree, options: &ScanOptions) -> Result<Self> {
        let entries = options.entries.clone().unwrap_or(0..tree.entries());
        // branches may have been filled by themselves, beyond the tree's entries
        let most = options.branches.iter().map(|&b| tree.entries_of(b)).fold(tree.entries(), u64::max);
        if entries.start > entries.end || entries.end > most {
            return Err(Error::invalid(format!(
                "entries {}-{} of a tree with {}",
                entries.start,
                entries.end,
                tree.entries()
            ))
            .in_file(tree.file().url()));
        }
        baskets::check_reach(tree, &options.branches, &entries)?;
        let steps =
            steps::steps(tree, &options.branches, &entries, options.step).map_err(|e| e.in_file(tree.file().url()))?;
        let chosen = baskets::choose(tree, &options.branches, &entries, &steps.steps)?;
        let cache = options.cache.unwrap_or(tree.file().options().cache);
        let collectors = perf::listening();
        perf::meet(&collectors, tree.file(), || tree.file().counts());
        let probe = Probe::new(collectors);
        let before = tree.file().source().stats();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match (options.threads, tree.file().options().threads) {
            (0, 0) => cores,
            (0, n) | (n, _) => n,
        }
        .clamp(1, 256);
        let batches = steps.batches.clone();
        let bytes: u64 = chosen.baskets.iter().map(|b| b.unzipped).sum();
        let shared = Arc::new(Shared::new(tree, chosen, steps, cache, threads, probe.is_some())?);
        let helpers = if bytes < ALONE || cache == CacheSize::Off { 0 } else { threads - 1 };
        let mut scan = Self {
            shared: shared.clone(),
            threads: Vec::with_capacity(helpers),
            thread_limit: threads,
            batches,
            at: 0,
            worker: work::Worker::new(),
            started: Instant::now(),
            waited: Duration::ZERO,
            before,
            options: options.clone(),
            finished: false,
            probe,
        };
        for i in 0..helpers {
            let shared = shared.clone();
            let started =
                std::thread::Builder::new().name(format!("sapwood-unzip-{i}")).spawn(move || work::help(&shared));
            match started {
                Ok(t) => scan.threads.push(t),
                // the consumer does the work alone where the system allows no more threads
                Err(_) => break,
            }
        }
        Ok(scan)
    }

    /// The entries of all batches to come, in order.
    pub fn remaining(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.batches[self.at.min(self.batches.len())..].iter().map(|b| self.entries(b))
    }

    fn entries(&self, batch: &Range<usize>) -> Range<u64> {
        let steps = &self.shared.steps[batch.clone()];
        steps.first().map_or(0, |r| r.start)..steps.last().map_or(0, |r| r.end)
    }

    /// What this scan did so far.
    pub fn report(&self) -> IoReport {
        let mut r = self.shared.report();
        r.wire(&self.shared.source.stats(), &self.before);
        r.seconds = self.started.elapsed().as_secs_f64();
        r.wait_seconds = self.waited.as_secs_f64();
        r
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let Some(batch) = self.batches.get(self.at).cloned() else { return Ok(None) };
        let entries = self.entries(&batch);
        self.shared.open(entries.clone());
        for step in batch {
            self.wait_for(step)?;
            self.shared.complete(step)?;
        }
        self.at += 1;
        if let Some(progress) = &self.options.progress {
            let first = self.shared.steps.first().map_or(0, |r| r.start);
            let last = self.shared.steps.last().map_or(0, |r| r.end);
            let bytes = self.shared.source.stats().wire.saturating_sub(self.before.wire);
            progress(Progress { entries: entries.end - first, total: last - first, bytes });
        }
        Ok(Some(Batch { entries, columns: self.shared.close() }))
    }

    /// Helps until all baskets of a step are decoded.
    fn wait_for(&mut self, step: usize) -> Result<()> {
        Shared::want(&self.shared, step);
        loop {
            if self.options.cancel.load(Ordering::Relaxed) {
                return Err(
                    Error::new(ErrorKind::Interrupted, "reading was interrupted").in_file(self.shared.file.url())
                );
            }
            if self.shared.is_ready(step)? {
                return Ok(());
            }
            // a consumer that would wait helps
            if !work::once(&self.shared, &mut self.worker) {
                let waited = self.shared.wait_ready(step, GLANCE);
                self.waited += waited;
                if let Some(probe) = &mut self.probe {
                    let now = self.shared.elapsed();
                    probe.waited(now.saturating_sub(waited), now);
                }
                self.shared.tick();
            }
        }
    }

    fn finish(&mut self) {
        if !std::mem::replace(&mut self.finished, true) {
            self.shared.stop();
            for t in self.threads.drain(..) {
                // a helper that panicked has already failed the basket it worked on
                let _ = t.join();
            }
            let done = self.shared.report();
            self.shared.file.add(|t| {
                t.bytes_wanted += done.bytes_wanted;
                t.baskets += done.baskets;
                t.unzipped_bytes += done.unzipped_bytes;
                t.unzip_seconds += done.unzip_seconds;
                t.decode_seconds += done.decode_seconds;
                t.wait_seconds += self.waited.as_secs_f64();
            });
            if let Some(probe) = self.probe.take() {
                let requests = self.shared.source.stats().requests.saturating_sub(self.before.requests);
                if let Some(trace) = self.shared.trace(requests, self.thread_limit) {
                    probe.end(trace);
                }
            }
        }
    }

    /// The flag that ends this scan from another thread.
    pub fn cancel(&self) -> Arc<AtomicBool> {
        self.options.cancel.clone()
    }
}

impl Iterator for Scan {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let next = self.next_batch();
        if !matches!(next, Ok(Some(_))) {
            self.finish();
        }
        next.transpose()
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.finish();
    }
}
