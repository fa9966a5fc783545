//! Does what the state of a scan says: the lock around it, the threads that wait for it, and the requests in flight.
//!
//! The consumer, the workers and the tasks on the network runtime share one driver. Any thread with an update takes the lock, tells
//! the state, does at once what it then requests, and wakes the threads that may wait for it.

mod fetches;
mod joining;
mod trace;

use super::plan::ScanPlan;
use super::state::{Action, ScanState, Stage};
use super::task::{DecodeOutcome, Job};
use crate::entries::EntryList;
use crate::options::OnRequest;
use crate::report::IoReport;
use crate::tree::Tree;
use sapwood_column::Array;
use sapwood_plan::{FetchId, Request};
use sapwood_source::Source;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// What the consumer, the workers and the network share.
pub(super) struct Driver {
    pub plan: Arc<ScanPlan>,
    pub tree: Tree,
    pub source: Arc<dyn Source>,
    running: Mutex<Running>,
    /// The columns of the batch that grows; locked by the thread that appends, never together with another lock.
    growing: Vec<Mutex<Array>>,
    /// A batch may be complete.
    ready: Condvar,
    /// There may be work.
    work: Condvar,
    started: Instant,
    pub workers: Workers,
    /// What the planner was asked for, when an observer listens.
    request: Option<Request>,
    /// Told of each request that has ended.
    on_request: Option<OnRequest>,
}

/// How a scan decodes.
#[derive(Clone, Copy)]
pub(super) struct Workers {
    /// Threads that decode.
    pub threads: usize,
    /// Compressed bytes that each of them decodes before it reports them.
    pub report_every: usize,
}

impl Workers {
    /// `hold`: bytes that a request may hold. Not every small basket asks for the lock; but the next request may have to wait
    /// for what is reported, so that it is a small part of a small cache.
    pub(super) fn new(threads: usize, hold: u64) -> Self {
        const MOST: u64 = 128 << 10;
        Self { threads, report_every: (hold / 8).min(MOST) as usize }
    }
}

/// What the lock is for.
struct Running {
    state: ScanState,
    /// The tasks of fetches on the network runtime.
    under_way: HashMap<FetchId, AbortHandle>,
}

impl Driver {
    /// `request`: what the planner was asked for, if an observer listens.
    pub(super) fn new(
        plan: Arc<ScanPlan>,
        state: ScanState,
        tree: &Tree,
        source: Arc<dyn Source>,
        workers: Workers,
        request: Option<Request>,
        on_request: Option<OnRequest>,
    ) -> Self {
        let growing = plan.columns[..plan.wanted].iter().map(|c| Mutex::new(c.layout.column_type().empty()));
        Self {
            growing: growing.collect(),
            plan,
            tree: tree.clone(),
            source,
            running: Mutex::new(Running { state, under_way: HashMap::new() }),
            ready: Condvar::new(),
            work: Condvar::new(),
            started: Instant::now(),
            workers,
            request,
            on_request,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        // the thread that panicked has told by `give_up` that nothing can be relied on, or is about to
        lock(&self.running)
    }

    /// Asks the state.
    pub(super) fn ask<T>(&self, question: impl FnOnce(&ScanState) -> T) -> T {
        question(&self.lock().state)
    }

    /// Time since the scan's start, by the planner's clock.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What was done; without what only the source knows.
    pub(super) fn report(&self) -> IoReport {
        self.lock().state.report().clone()
    }

    /// The consumer wants this step now, and those behind it before `end`.
    pub(super) fn want(self: &Arc<Self>, step: usize, end: usize) {
        let mut s = self.lock();
        s.state.want(self.elapsed(), step, end);
        self.act(&mut s);
        drop(s);
        self.work.notify_all();
    }

    /// The cut is evaluated for a step: these of its entries have passed.
    pub(super) fn cut_evaluated(self: &Arc<Self>, step: usize, passed: &EntryList) {
        let mut s = self.lock();
        s.state.cut_evaluated(self.elapsed(), step, passed);
        self.act(&mut s);
    }

    /// Another budget of compressed bytes.
    pub(super) fn set_budget(self: &Arc<Self>, bytes: u64) {
        let mut s = self.lock();
        s.state.set_budget(self.elapsed(), bytes);
        self.act(&mut s);
    }

    /// Whether all baskets of a step are decoded, or those that its cut needs.
    ///
    /// # Errors
    /// See [`ScanState::is_ready`].
    pub(super) fn is_ready(&self, step: usize, stage: Stage) -> Result<bool> {
        self.lock().state.is_ready(step, stage)
    }

    /// The entries of a step that are wanted, where not all are.
    pub(super) fn selected(&self, step: usize) -> Option<Arc<[Range<u64>]>> {
        self.lock().state.selected(step)
    }

    /// Waits until something happened, at most this long; returns how long it was.
    pub(super) fn wait_ready(&self, step: usize, stage: Stage, most: Duration) -> Duration {
        let began = Instant::now();
        let s = self.lock();
        if s.state.must_wait(step, stage) {
            drop(self.ready.wait_timeout(s, most));
        }
        began.elapsed()
    }

    /// Waits until it has been seen whether the file has changed, at most this long; returns how long it was.
    pub(super) fn wait_settled(&self, most: Duration) -> Duration {
        let began = Instant::now();
        let s = self.lock();
        if matches!(s.state.is_settled(), Ok(false)) {
            drop(self.ready.wait_timeout(s, most));
        }
        began.elapsed()
    }

    /// Something to do, if there is; a basket to decode only if more than `left` are there.
    pub(super) fn take(&self, left: usize) -> Option<Job> {
        self.lock().state.take(left)
    }

    /// Something to do; waits for it. None when the scan is over.
    pub(super) fn take_or_wait(&self) -> Option<Job> {
        let mut s = self.lock();
        loop {
            if s.state.is_stopped() {
                return None;
            }
            if let Some(job) = s.state.take(0) {
                return Some(job);
            }
            s = self.work.wait(s).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Baskets are decoded, or failed.
    pub(super) fn decoded(self: &Arc<Self>, outcomes: Vec<DecodeOutcome>) {
        if outcomes.is_empty() {
            return;
        }
        let mut columns: Vec<usize> = outcomes.iter().map(|o| self.plan.baskets[o.basket].column).collect();
        columns.dedup();
        let mut s = self.lock();
        let now = self.elapsed();
        for outcome in outcomes {
            s.state.decoded(now, outcome);
        }
        self.act(&mut s);
        let more = s.state.has_work();
        drop(s);
        if more {
            self.work.notify_all();
        }
        self.ready.notify_all();
        self.join_ready(columns.into_iter());
    }

    /// Nothing more can be completed, and all waiting threads are notified: a thread of the scan panicked.
    pub(super) fn give_up(&self, defect: &Error) {
        self.lock().state.give_up(defect);
        self.work.notify_all();
        self.ready.notify_all();
    }

    /// Ends all requests in flight.
    pub(super) fn stop(&self) {
        let mut s = self.lock();
        s.state.stop(self.elapsed());
        for (_, task) in s.under_way.drain() {
            task.abort();
        }
        drop(s);
        self.work.notify_all();
    }

    /// Does what the state says.
    fn act(self: &Arc<Self>, s: &mut Running) {
        while let Some(action) = s.state.poll(self.elapsed()) {
            match action {
                Action::Send { fetch, last } => self.send(s, &fetch, last),
                Action::Abort(id) => {
                    if let Some(task) = s.under_way.remove(&id) {
                        task.abort();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Workers;

    #[test]
    fn a_worker_reports_before_a_small_cache_is_decoded() {
        assert_eq!(Workers::new(2, 64 << 20).report_every, 128 << 10);
        assert_eq!(Workers::new(2, 64_000).report_every, 8000);
        // each basket
        assert_eq!(Workers::new(2, 1).report_every, 0);
    }
}
