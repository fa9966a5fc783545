//! One pass over entries of chosen branches.

mod ahead;
mod assemble;
mod baskets;
mod cut;
mod decode;
mod fetches;
mod picked;
mod select;
mod spares;
mod state;
mod steps;
mod trace;
mod work;

use crate::batch::Batch;
use crate::entries::EntryList;
use crate::options::{Progress, ScanOptions};
use crate::perf::{self, Probe};
use crate::report::IoReport;
use crate::tree::Tree;
pub(crate) use baskets::basket_at;
use picked::Columns;
use sapwood_plan::CacheSize;
use sapwood_source::SourceStats;
use sapwood_span::defect::caught;
use sapwood_span::{Error, ErrorKind, Result};
use select::Selecting;
use state::{Manner, Shared, Stage};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Below this many inflated bytes a scan is done by the thread that asks, without helpers.
const ALONE: u64 = 256 << 10;

/// Steps of a batch that are asked for together at most.
const TOGETHER: usize = 4;

/// How often a waiting consumer looks whether it was told to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// Batches in the order of entries. Reading goes on in the background while a batch is used; dropping the scan ends
/// it.
pub struct Scan {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    thread_limit: usize,
    /// Threads that are to help and have not been started.
    to_hire: usize,
    /// Which steps make up the batches.
    batches: Vec<Range<usize>>,
    /// The next batch.
    at: usize,
    worker: work::Worker,
    /// The cut, where there is one.
    selecting: Option<Selecting>,
    started: Instant,
    waited: Duration,
    before: SourceStats,
    options: ScanOptions,
    finished: bool,
    /// For collectors of perf stats, when there are any.
    probe: Option<Probe>,
}

impl Tree {
    /// Reads branches.
    ///
    /// # Errors
    /// `Unsupported` or `NotFound` for a branch, `Invalid` for impossible entries.
    pub fn scan(&self, options: &ScanOptions) -> Result<Scan> {
        Scan::start(self, options, false)
    }

    /// The same for later: what it needs first is fetched, but nothing is unzipped and no thread is started before its
    /// first batch is asked for.
    ///
    /// # Errors
    /// As [`Tree::scan`].
    pub fn scan_ahead(&self, options: &ScanOptions) -> Result<Scan> {
        Scan::start(self, options, true)
    }
}

impl Scan {
    /// Begins; with `ahead`, nothing is unzipped before the first batch is asked for.
    pub(crate) fn start(tree: &Tree, options: &ScanOptions, ahead: bool) -> Result<Self> {
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
        let selected = options.selected.as_ref().map(|list| list.within(&entries));
        let selected = selected.as_ref();
        let mut branches = options.branches.clone();
        if let Some(cut) = &options.cut {
            branches.extend(cut.branches.iter().filter(|b| !options.branches.contains(b)));
        }
        baskets::check_reach(tree, &branches, &entries)?;
        let steps = steps::steps(tree, &branches, &entries, options.step, selected)
            .map_err(|e| e.in_file(tree.file().url()))?;
        let chosen = baskets::choose(tree, &branches, &entries, &steps.steps, selected)?;
        let guide =
            |c: usize| c >= chosen.wanted || options.cut.as_ref().is_some_and(|t| t.branches.contains(&branches[c]));
        let guides: Option<Vec<bool>> = options.cut.as_ref().map(|_| (0..chosen.columns.len()).map(guide).collect());
        let selecting = options.cut.as_ref().map(|cut| {
            let column = |b: &usize| branches.iter().position(|x| x == b);
            Selecting::new(cut.test.clone(), cut.branches.iter().filter_map(column).collect())
        });
        let cache = options.cache.unwrap_or(tree.file().options().cache);
        let collectors = perf::listening();
        tree.file().watched_by(&collectors, || tree.file().counts());
        let probe = Probe::new(collectors);
        let before = tree.file().all_sources().stats();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match (options.threads, tree.file().options().threads) {
            (0, 0) => cores,
            (0, n) | (n, _) => n,
        }
        .clamp(1, 256);
        let batches = steps.batches.clone();
        let bytes: u64 = chosen.baskets.iter().map(|b| b.unzipped).sum();
        let (guides, known, traced) = (guides.as_deref(), &*options.known, probe.is_some());
        let manner = Manner { guides, known, cache, threads, traced };
        let shared = Arc::new(Shared::new(tree, chosen, steps, &manner)?);
        if let Some(list) = selected {
            let picked = |step: &Range<u64>| {
                let runs = list.within(step);
                (runs.runs() != std::slice::from_ref(step)).then(|| runs.runs().into())
            };
            shared.lock().picked = shared.steps.iter().map(picked).collect();
        }
        let helpers = if bytes < ALONE || cache == CacheSize::Off { 0 } else { threads - 1 };
        let mut scan = Self {
            shared: shared.clone(),
            threads: Vec::with_capacity(helpers),
            thread_limit: threads,
            to_hire: helpers,
            batches,
            at: 0,
            worker: work::Worker::new(),
            selecting,
            started: Instant::now(),
            waited: Duration::ZERO,
            before,
            options: options.clone(),
            finished: false,
            probe,
        };
        // what the first step needs is on its way before anybody asks for it
        Shared::want(&shared, 0, scan.wanted_with(0));
        if !ahead {
            scan.hire();
        }
        Ok(scan)
    }

    /// Starts the threads that help.
    fn hire(&mut self) {
        for i in 0..std::mem::take(&mut self.to_hire) {
            let shared = self.shared.clone();
            let started =
                std::thread::Builder::new().name(format!("sapwood-unzip-{i}")).spawn(move || work::help(&shared));
            match started {
                Ok(t) => self.threads.push(t),
                // the consumer does the work alone where the system allows no more threads
                Err(_) => break,
            }
        }
    }

    /// The entries of all batches to come, in order.
    pub fn remaining(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.batches[self.at.min(self.batches.len())..].iter().map(|b| self.entries(b))
    }

    fn entries(&self, batch: &Range<usize>) -> Range<u64> {
        let steps = &self.shared.steps[batch.clone()];
        steps.first().map_or(0, |r| r.start)..steps.last().map_or(0, |r| r.end)
    }

    /// Whether there is nothing more to come.
    pub fn is_over(&self) -> bool {
        self.finished
    }

    /// Whether all that it needs has been asked for: what follows it may as well be.
    pub fn has_asked_all(&self) -> bool {
        self.shared.lock().planner.has_asked_all()
    }

    /// Compressed bytes that it holds: under way, or here and not yet unzipped.
    pub fn held_bytes(&self) -> u64 {
        self.shared.lock().planner.stats().held_bytes
    }

    /// Lets it hold at most so many compressed bytes from now on, under way or not yet unzipped.
    pub fn set_budget(&self, bytes: u64) {
        self.shared.set_budget(bytes);
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
        self.hire();
        let entries = self.entries(&batch);
        let columns = if self.options.selected.is_some() || self.options.cut.is_some() {
            let mut columns = Columns::new(&self.shared, self.options.branches.len());
            for step in batch.clone() {
                let evaluated = self.evaluate(step)?;
                self.wait_for(step, Stage::Whole)?;
                columns.append(&self.shared, step, evaluated)?;
            }
            columns.finish()
        } else {
            self.shared.open(entries.clone());
            for step in batch.clone() {
                self.wait_for(step, Stage::Whole)?;
                self.shared.complete(step)?;
            }
            self.shared.close()
        };
        if self.at + 1 == self.batches.len() {
            self.settle()?;
        }
        let selected = self.selected(batch);
        self.at += 1;
        if let Some(progress) = &self.options.progress {
            let first = self.shared.steps.first().map_or(0, |r| r.start);
            let last = self.shared.steps.last().map_or(0, |r| r.end);
            let bytes = self.shared.source.stats().wire.saturating_sub(self.before.wire);
            progress(Progress { entries: entries.end - first, total: last - first, bytes });
        }
        Ok(Some(Batch { entries, columns, selected }))
    }

    /// Waits until it is known that the file is still the one that was opened: the last batch is not given before.
    fn settle(&mut self) -> Result<()> {
        while !self.shared.is_settled()? {
            self.look_for_cancel()?;
            self.waited += self.shared.wait_settled(GLANCE);
        }
        Ok(())
    }

    fn look_for_cancel(&self) -> Result<()> {
        if self.options.cancel.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted").in_file(self.shared.file.url()));
        }
        Ok(())
    }

    /// The entries of these steps that are wanted, where not all are.
    fn selected(&self, steps: Range<usize>) -> Option<EntryList> {
        if self.options.selected.is_none() && self.options.cut.is_none() {
            return None;
        }
        let whole = |step: usize| vec![self.shared.steps[step].clone()];
        let runs = |step| self.shared.picked_of(step).map_or_else(|| whole(step), |r| r.to_vec());
        Some(EntryList::from_ranges(steps.flat_map(runs).collect()))
    }

    /// Evaluates the cut of a step, and of those behind it that are here.
    fn evaluate(&mut self, step: usize) -> Result<Option<select::Evaluated>> {
        if self.selecting.as_ref().is_some_and(|s| !s.is_ahead()) {
            self.wait_for(step, Stage::Cut)?;
        }
        let Some(selecting) = &mut self.selecting else { return Ok(None) };
        if !selecting.is_ahead() {
            selecting.advance(&self.shared, false)?;
        }
        Ok(selecting.take())
    }

    /// Helps until all baskets of a step are decoded, or those that its cut needs.
    fn wait_for(&mut self, step: usize, stage: Stage) -> Result<()> {
        Shared::want(&self.shared, step, self.wanted_with(step));
        loop {
            self.look_for_cancel()?;
            // what a cut says of later steps is told as soon as it can be known: the planner waits for it
            if stage == Stage::Whole
                && let Some(selecting) = &mut self.selecting
                && selecting.advance(&self.shared, true)?
            {
                continue;
            }
            if self.shared.is_ready(step, stage)? {
                return Ok(());
            }
            // a consumer that would wait helps; where something else depends on what it decodes, for a moment only
            let (shared, cancel) = (&self.shared, &self.options.cancel);
            let brief = self.selecting.is_some() || !shared.source.is_local();
            let enough = || brief || cancel.load(Ordering::Relaxed) || shared.is_ready(step, stage).unwrap_or(true);
            if !work::once(shared, &mut self.worker, &enough) {
                let waited = self.shared.wait_ready(step, stage, GLANCE);
                self.waited += waited;
                if let Some(probe) = &mut self.probe {
                    let now = self.shared.elapsed();
                    probe.waited(now.saturating_sub(waited), now);
                }
                self.shared.tick();
            }
        }
    }

    /// The step behind the last one that is wanted along with this one: a batch of a few steps is asked for as a whole.
    fn wanted_with(&self, step: usize) -> usize {
        let end =
            self.batches.get(self.at).filter(|b| b.contains(&step) && b.len() <= TOGETHER).map_or(step, |b| b.end);
        end.max(step + 1)
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
        let next = caught(|| self.next_batch()).map_err(|e| match e.kind() {
            ErrorKind::Defect => e.in_file(self.shared.file.url()),
            _ => e,
        });
        if !matches!(next, Ok(Some(_))) || self.at >= self.batches.len() {
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
