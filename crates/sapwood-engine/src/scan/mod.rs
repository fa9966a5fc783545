//! One pass over entries of chosen branches.

mod baskets;
mod cached_baskets;
mod config;
mod cut_evaluator;
mod decode_basket;
mod driver;
mod evaluated;
mod pages;
mod plan;
mod selected_columns;
mod start;
mod state;
pub(crate) mod steps;
mod task;
mod work;

use crate::batch::Batch;
use crate::entries::EntryList;
use crate::friend_rows::FriendReader;
use crate::observe::Probe;
use crate::options::{Progress, ScanOptions};
use crate::report::IoReport;
pub(crate) use baskets::basket_at;
use cut_evaluator::CutEvaluator;
use driver::Driver;
use evaluated::Evaluated;
use sapwood_source::SourceStats;
use sapwood_span::defect::caught;
use sapwood_span::{Error, ErrorKind, Result};
use selected_columns::SelectedColumns;
pub(crate) use state::most_ahead;
use state::{ScanState, Stage};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Steps of a batch that are asked for together at most.
const MOST_STEPS_TOGETHER: usize = 4;

/// How often a waiting consumer checks for a request to stop.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// Batches in the order of entries. Reading goes on in the background while a batch is used; dropping the scan ends
/// it.
pub struct Scan {
    driver: Arc<Driver>,
    threads: Vec<JoinHandle<()>>,
    thread_limit: usize,
    /// Threads that are to decode and have not been started.
    threads_to_start: usize,
    /// Which steps make up the batches.
    batches: Vec<Range<usize>>,
    /// The next batch.
    at: usize,
    worker: work::Worker,
    /// The friends that are read along.
    friends: Vec<Box<dyn FriendReader>>,
    /// The cut, where there is one.
    cut: Option<CutEvaluator>,
    started: Instant,
    waited: Duration,
    before: SourceStats,
    options: ScanOptions,
    finished: bool,
    /// The process that has the threads: a forked child does not, and one of them may have held a lock.
    process: u32,
    /// For observers, when there are any.
    probe: Option<Probe>,
}

impl Scan {
    /// Starts the threads that help.
    fn start_threads(&mut self) {
        for i in 0..std::mem::take(&mut self.threads_to_start) {
            let driver = self.driver.clone();
            let started =
                std::thread::Builder::new().name(format!("sapwood-unzip-{i}")).spawn(move || work::help(&driver));
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
        let steps = &self.driver.plan.steps[batch.clone()];
        steps.first().map_or(0, |r| r.start)..steps.last().map_or(0, |r| r.end)
    }

    /// Whether there is nothing more to come.
    pub fn is_over(&self) -> bool {
        self.finished
    }

    /// Whether all that it needs has been asked for: what follows it may as well be.
    pub fn has_asked_all(&self) -> bool {
        self.driver.ask(ScanState::has_asked_all)
    }

    /// Compressed bytes that it holds: in flight, or here and not yet decompressed.
    pub fn held_bytes(&self) -> u64 {
        self.driver.ask(|s| s.plan_stats().held_bytes)
    }

    /// Limits the compressed bytes that it holds from now on, in flight or not yet decompressed.
    pub fn set_budget(&self, bytes: u64) {
        self.driver.set_budget(bytes);
    }

    /// What this scan did so far.
    pub fn report(&self) -> IoReport {
        let mut r = self.driver.report();
        r.wire(&self.driver.source.stats(), &self.before);
        r.seconds = self.started.elapsed().as_secs_f64();
        r.wait_seconds = self.waited.as_secs_f64();
        r
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let Some(batch) = self.batches.get(self.at).cloned() else { return Ok(None) };
        self.start_threads();
        let entries = self.entries(&batch);
        let columns = if self.options.selected.is_some() || self.options.cut.is_some() {
            let mut columns = SelectedColumns::new(&self.driver, self.options.branches.len());
            for step in batch.clone() {
                let evaluated = self.evaluate(step)?;
                self.wait_for(step, Stage::Whole)?;
                columns.append(&self.driver, step, evaluated)?;
            }
            columns.finish()
        } else {
            self.driver.open_batch(entries.clone());
            for step in batch.clone() {
                self.wait_for(step, Stage::Whole)?;
                self.driver.complete(step)?;
            }
            self.driver.close_batch()
        };
        if self.at + 1 == self.batches.len() {
            self.settle()?;
        }
        let selected = self.selected(batch);
        let rows = |friend: &mut Box<dyn FriendReader>| friend.rows(entries.clone(), selected.as_ref());
        let friends = self.friends.iter_mut().map(rows).collect::<Result<Vec<_>>>()?;
        self.at += 1;
        if let Some(progress) = &self.options.progress {
            let first = self.driver.plan.steps.first().map_or(0, |r| r.start);
            let last = self.driver.plan.steps.last().map_or(0, |r| r.end);
            let bytes = self.driver.source.stats().wire.saturating_sub(self.before.wire);
            progress(Progress { entries: entries.end - first, total: last - first, bytes });
        }
        Ok(Some(Batch { entries, columns, selected, friends }))
    }

    /// Waits until it is known that the file is still the one that was opened: the last batch is not given before.
    fn settle(&mut self) -> Result<()> {
        while !self.driver.ask(ScanState::is_settled)? {
            self.look_for_cancel()?;
            self.waited += self.driver.wait_settled(CANCEL_CHECK);
        }
        Ok(())
    }

    fn look_for_cancel(&self) -> Result<()> {
        if self.options.cancel.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted").in_file(&*self.driver.plan.url));
        }
        Ok(())
    }

    /// The entries of these steps that are wanted, where not all are.
    fn selected(&self, steps: Range<usize>) -> Option<EntryList> {
        if self.options.selected.is_none() && self.options.cut.is_none() {
            return None;
        }
        let whole = |step: usize| vec![self.driver.plan.steps[step].clone()];
        let runs = |step| self.driver.selected(step).map_or_else(|| whole(step), |r| r.to_vec());
        Some(EntryList::from_ranges(steps.flat_map(runs).collect()))
    }

    /// Evaluates the cut of a step, and of those behind it that are here.
    fn evaluate(&mut self, step: usize) -> Result<Option<Evaluated>> {
        if self.cut.as_ref().is_some_and(|s| !s.is_ahead()) {
            self.wait_for(step, Stage::Cut)?;
        }
        let Some(cut) = &mut self.cut else { return Ok(None) };
        if !cut.is_ahead() {
            cut.advance(&self.driver, false)?;
        }
        Ok(cut.take())
    }

    /// Helps until all baskets of a step are decoded, or those that its cut needs.
    fn wait_for(&mut self, step: usize, stage: Stage) -> Result<()> {
        self.driver.want(step, self.wanted_with(step));
        loop {
            self.look_for_cancel()?;
            // the result of a cut for later steps is passed on as soon as it is known: the planner waits for it
            if stage == Stage::Whole
                && let Some(cut) = &mut self.cut
                && cut.advance(&self.driver, true)?
            {
                continue;
            }
            if self.driver.is_ready(step, stage)? {
                return Ok(());
            }
            // a consumer that would wait helps; where something else depends on what it decodes, for a moment only
            let (driver, cancel) = (&self.driver, &self.options.cancel);
            let brief = self.cut.is_some() || !driver.source.is_local();
            let enough = || brief || cancel.load(Ordering::Relaxed) || driver.is_ready(step, stage).unwrap_or(true);
            if !work::once(driver, &mut self.worker, &enough) {
                let waited = self.driver.wait_ready(step, stage, CANCEL_CHECK);
                self.waited += waited;
                if let Some(probe) = &mut self.probe {
                    let now = self.driver.elapsed();
                    probe.waited(now.saturating_sub(waited), now);
                }
                self.driver.tick();
            }
        }
    }

    /// The step behind the last one that is wanted along with this one: a batch of a few steps is asked for as a whole.
    fn wanted_with(&self, step: usize) -> usize {
        let end = self
            .batches
            .get(self.at)
            .filter(|b| b.contains(&step) && b.len() <= MOST_STEPS_TOGETHER)
            .map_or(step, |b| b.end);
        end.max(step + 1)
    }

    fn is_of_parent(&self) -> bool {
        self.process != std::process::id()
    }

    fn finish(&mut self) {
        if self.is_of_parent() {
            self.finished = true;
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        if !std::mem::replace(&mut self.finished, true) {
            self.driver.stop();
            for t in self.threads.drain(..) {
                // a helper that panicked has already failed the basket it worked on
                let _ = t.join();
            }
            let done = self.driver.report();
            self.driver.tree.file().add(|t| {
                t.bytes_wanted += done.bytes_wanted;
                t.baskets += done.baskets;
                t.unzipped_bytes += done.unzipped_bytes;
                t.unzip_seconds += done.unzip_seconds;
                t.decode_seconds += done.decode_seconds;
                t.wait_seconds += self.waited.as_secs_f64();
            });
            if let Some(probe) = self.probe.take() {
                let requests = self.driver.source.stats().requests.saturating_sub(self.before.requests);
                if let Some(trace) = self.driver.trace(requests, self.thread_limit) {
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
        if self.is_of_parent() {
            self.finish();
            let what = "this iteration was started before the process forked";
            let error = Error::invalid(what).with_remedy("start it in the child");
            return Some(Err(error.in_file(&*self.driver.plan.url)));
        }
        let next = caught(|| self.next_batch()).map_err(|e| match e.kind() {
            ErrorKind::Defect => e.in_file(&*self.driver.plan.url),
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
