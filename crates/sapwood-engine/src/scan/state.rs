//! What the consumer, the workers and the network share.

mod begin;

pub(super) use begin::Manner;

use super::ahead::Ahead;
use super::assemble::Open;
use super::baskets::{Column, Needed};
use super::cut::CutProgress;
use super::decode::Task;
use super::spares::Spares;
use crate::file::File;
use crate::perf::Times;
use crate::report::IoReport;
use crate::tree::Tree;
use sapwood_column::{Array, Decoded};
use sapwood_plan::{BasketId, Event, Fetch, FetchId, Planner, Request};
use sapwood_source::Source;
use sapwood_span::{Error, Result, Span};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

pub(super) struct Shared {
    pub file: File,
    pub tree: Tree,
    pub source: Arc<dyn Source>,
    pub steps: Vec<Range<u64>>,
    /// Where batches end, ascending.
    pub ends: Vec<u64>,
    pub columns: Vec<Column>,
    /// Columns of the same number have the same type.
    pub kinds: Vec<usize>,
    pub wanted: usize,
    pub baskets: Vec<Needed>,
    /// The planner's number of a basket to ours.
    pub planned: Vec<usize>,
    state: Mutex<State>,
    /// The columns of the batch that grows; locked by whoever appends, never together with another lock.
    pub growing: Vec<Mutex<Array>>,
    /// A batch may be complete.
    pub ready: Condvar,
    /// There may be work.
    pub work: Condvar,
    started: Instant,
    /// Threads that decode.
    pub threads: usize,
    /// What the planner was asked for, when a collector of perf stats listens.
    pub request: Option<Request>,
}

pub(super) struct State {
    pub planner: Planner,
    pub slots: Vec<Option<Result<Arc<Decoded>>>>,
    /// By step, the entries of it that are wanted; none where all are, or where a cut has not yet told.
    pub picked: Vec<Option<Arc<[Range<u64>]>>>,
    /// What a cut decides.
    pub cut: Option<CutProgress>,
    /// Memory for baskets to come.
    pub spares: Spares,
    /// Parts of baskets, by their number, for the batches to come.
    pub parts: HashMap<usize, VecDeque<Array>>,
    /// The batch that decoded baskets are appended to, while the consumer waits for it.
    pub open: Option<Open>,
    /// Baskets missing, per batch.
    pub pending: Vec<usize>,
    pub reads: VecDeque<Arc<Fetch>>,
    pub reading: usize,
    pub decodes: BTreeMap<(usize, usize), Task>,
    /// The step that the consumer wants.
    at: usize,
    /// Decoded bytes that wait for steps behind `at`.
    pub ahead: Ahead,
    pub under_way: HashMap<FetchId, AbortHandle>,
    /// Those under way that see whether the file has changed.
    pub last: HashSet<FetchId>,
    /// What the planner was told last of how many requests and connections are worth having.
    pub lanes: (usize, Option<usize>),
    pub failure: Option<Error>,
    /// The first step that cannot be completed, and why.
    pub broken: Option<(usize, Error)>,
    pub stopped: bool,
    pub report: IoReport,
    /// What decoding took, by column, when a collector of perf stats listens.
    pub times: Option<Vec<Times>>,
}

/// What of a step is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The branches that its cut needs.
    Cut,
    /// All.
    Whole,
}

/// The planner's numbers of baskets, where it has them.
pub(super) fn planned_ids(planned: &[usize], baskets: &[usize]) -> Vec<BasketId> {
    // baskets are numbered for the planner in their order
    let id = |b: &usize| planned.binary_search(b).ok().and_then(|i| u32::try_from(i).ok()).map(BasketId);
    baskets.iter().filter_map(id).collect()
}

/// Something for a worker to do.
pub(super) enum Job {
    /// Read these ranges of a local file.
    Read(Arc<Fetch>),
    /// Inflate and decode a basket whose record is here, or lay in the tree's header.
    Decode(Task),
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        // whoever panicked has told by `give_up` that nothing can be relied on, or is about to
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn report(&self) -> IoReport {
        self.lock().report.clone()
    }

    /// Time since the scan's start, by the planner's clock.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// When the scan began.
    pub fn began(&self) -> Instant {
        self.started
    }

    /// The consumer wants this step now, and those behind it before `end`.
    pub fn want(self: &Arc<Self>, step: usize, end: usize) {
        let mut s = self.lock();
        s.at = step;
        s.ahead.pass(step);
        let first = self.steps[step].start;
        let last = self.steps[step.max(end.saturating_sub(1))].end;
        let event = Event::Want { first, last: last.max(first + 1) };
        s.planner.handle(self.started.elapsed(), event);
        self.pump(&mut s);
        drop(s);
        self.work.notify_all();
    }

    /// Whether all baskets of a step are decoded, or those that its cut needs.
    ///
    /// # Errors
    /// As soon as one of them, or of a step before, has failed: nobody waits for the rest.
    pub fn is_ready(&self, step: usize, stage: Stage) -> Result<bool> {
        let s = self.lock();
        match &s.broken {
            Some((first, e)) if *first <= step => Err(e.duplicate()),
            _ => Ok(s.missing(step, stage) == 0),
        }
    }

    /// Waits until something happened, for so long at most; returns how long it was.
    pub fn wait_ready(&self, step: usize, stage: Stage, most: Duration) -> Duration {
        let began = Instant::now();
        let s = self.lock();
        let broken = s.broken.as_ref().is_some_and(|(first, _)| *first <= step);
        if s.missing(step, stage) > 0 && !broken && !s.has_work() {
            drop(self.ready.wait_timeout(s, most));
        }
        began.elapsed()
    }

    /// Whether it has been seen that the file has not changed while it was read.
    ///
    /// # Errors
    /// That it has.
    pub fn is_settled(&self) -> Result<bool> {
        let s = self.lock();
        match &s.broken {
            Some((_, e)) => Err(e.duplicate()),
            None => Ok(s.last.is_empty()),
        }
    }

    /// Waits for that, for so long at most; returns how long it was.
    pub fn wait_settled(&self, most: Duration) -> Duration {
        let began = Instant::now();
        let s = self.lock();
        if !s.last.is_empty() {
            drop(self.ready.wait_timeout(s, most));
        }
        began.elapsed()
    }

    /// Something to do, if there is; a basket to decode only if so many more are left.
    pub fn take(&self, left: usize) -> Option<Job> {
        self.lock().take(self, left)
    }

    /// Something to do; waits for it. None when the scan is over.
    pub fn take_or_wait(&self) -> Option<Job> {
        let mut s = self.lock();
        loop {
            if s.stopped {
                return None;
            }
            if let Some(job) = s.take(self, 0) {
                return Some(job);
            }
            s = self.work.wait(s).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nothing more can be completed, and everybody who waits is to know: a thread of the scan panicked.
    pub fn give_up(&self, defect: &Error) {
        let mut s = self.lock();
        s.fail(0, &defect.duplicate().in_file(self.file.url()));
        // whoever was appending to a column will not say so any more
        s.released();
        drop(s);
        self.work.notify_all();
        self.ready.notify_all();
    }

    /// Ends everything that is under way.
    pub fn stop(&self) {
        let mut s = self.lock();
        s.stopped = true;
        s.planner.handle(self.started.elapsed(), Event::Stop);
        for (_, task) in s.under_way.drain() {
            task.abort();
        }
        s.reads.clear();
        s.decodes.clear();
        drop(s);
        self.work.notify_all();
    }

    /// Baskets are decoded, or failed.
    pub fn done(self: &Arc<Self>, results: Vec<Outcome>) {
        if results.is_empty() {
            return;
        }
        let mut columns: Vec<usize> = results.iter().map(|r| self.baskets[r.basket].column).collect();
        columns.dedup();
        let mut s = self.lock();
        let now = self.started.elapsed();
        for r in results {
            s.report.unzip_seconds += r.unzip.as_secs_f64();
            s.report.decode_seconds += r.decode.as_secs_f64();
            s.report.unzipped_bytes += r.unzipped;
            s.report.baskets += 1;
            let needed = &self.baskets[r.basket];
            if let Some(t) = s.times.as_mut().and_then(|t| t.get_mut(needed.column)) {
                t.baskets += 1;
                t.bytes += needed.span.map_or(0, |span| span.len);
                t.unzipped += r.unzipped;
                t.packed += r.packed;
                t.inflated += if r.packed > 0 { r.unzipped } else { 0 };
                t.unzip += r.unzip.as_secs_f64();
                t.decode += r.decode.as_secs_f64();
            }
            if let Some(id) = r.planned {
                s.planner.handle(now, Event::Consumed { basket: id });
            }
            self.put(&mut s, r.basket, r.result, r.bytes);
        }
        self.pump(&mut s);
        let more = s.has_work();
        drop(s);
        if more {
            self.work.notify_all();
        }
        self.ready.notify_all();
        self.join_ready(columns.into_iter());
    }

    pub fn put(&self, s: &mut State, basket: usize, result: Result<Arc<Decoded>>, bytes: u64) {
        if s.slots[basket].is_some() || s.skips(basket) {
            return;
        }
        let (first, last) = self.baskets[basket].batches;
        if let Err(e) = &result {
            s.fail(first, e);
        }
        s.slots[basket] = Some(result);
        for step in first..=last {
            if s.waits_for(step, basket, &self.baskets[basket]) {
                s.pending[step] = s.pending[step].saturating_sub(1);
            }
            if let Some(cut) = s.cut.as_mut().filter(|c| !c.prefetch.depends(basket)) {
                cut.missing[step] = cut.missing[step].saturating_sub(1);
            }
        }
        if first > s.at {
            s.ahead.enter(first, bytes);
        }
    }
}

/// A decoded basket and what it took.
pub(super) struct Outcome {
    pub basket: usize,
    pub planned: Option<BasketId>,
    pub result: Result<Arc<Decoded>>,
    pub bytes: u64,
    pub unzipped: u64,
    /// Compressed bytes that were inflated to them, without the record's key; 0 where nothing was compressed.
    pub packed: u64,
    pub unzip: Duration,
    pub decode: Duration,
}

impl Outcome {
    /// Of a basket that is not decoded yet.
    pub fn of(task: &Task) -> Self {
        Self::unfinished(task.basket, task.planned)
    }

    /// Of a basket of this number, and of this one among the planner's.
    pub fn unfinished(basket: usize, planned: Option<BasketId>) -> Self {
        Self {
            basket,
            planned,
            result: Err(Error::invalid("not decoded")),
            bytes: 0,
            unzipped: 0,
            packed: 0,
            unzip: Duration::ZERO,
            decode: Duration::ZERO,
        }
    }

    /// The basket is decoded, or it failed: the error says which it is.
    pub fn set(&mut self, shared: &Shared, result: Result<Decoded>) {
        let needed = &shared.baskets[self.basket];
        self.result = match result {
            Ok(d) => {
                self.bytes = match &d {
                    Decoded::Column(a) | Decoded::Uncounted(a) => a.nbytes() as u64,
                };
                Ok(Arc::new(d))
            }
            Err(e) => {
                let branch = shared.columns[needed.column].branch;
                let what = format!("basket {}: {}", needed.number, e.what());
                let e = e.worded(what);
                let e = e.in_branch(shared.tree.name_of(branch));
                Err(match (needed.span, shared.tree.basket_file(branch)) {
                    (Some(span), Ok(file)) => {
                        e.at(Span::new(span.start.saturating_sub(file.begin), span.len)).in_file(&*file.name)
                    }
                    _ => e.in_file(shared.file.url()),
                })
            }
        };
    }
}

impl State {
    /// From this step on nothing can be completed, unless an earlier one has failed already.
    pub fn fail(&mut self, step: usize, why: &Error) {
        if self.broken.as_ref().is_none_or(|(first, _)| step < *first) {
            self.broken = Some((step, why.duplicate()));
        }
    }

    /// Baskets that a step lacks.
    fn missing(&self, step: usize, stage: Stage) -> usize {
        match (stage, &self.cut) {
            (Stage::Cut, Some(cut)) => cut.missing[step],
            _ => self.pending[step],
        }
    }

    /// Whether a cut has said that nobody needs the basket.
    pub fn skips(&self, basket: usize) -> bool {
        self.cut.as_ref().is_some_and(|c| c.prefetch.is_skipped(basket))
    }

    /// Whether the step is complete only with this basket, as far as is known.
    fn waits_for(&self, step: usize, basket: usize, needed: &Needed) -> bool {
        match (&self.cut, &self.picked[step]) {
            (Some(cut), Some(picked)) if cut.prefetch.depends(basket) => {
                crate::entries::touches(picked, &needed.entries)
            }
            _ => true,
        }
    }

    fn decodable(&self) -> bool {
        self.decodes.first_key_value().is_some_and(|((batch, _), _)| *batch <= self.at || self.ahead.has_room())
    }

    fn has_work(&self) -> bool {
        !self.reads.is_empty() || self.decodable()
    }

    fn take(&mut self, shared: &Shared, left: usize) -> Option<Job> {
        let waited_for = self.decodes.first_key_value().is_some_and(|((batch, _), _)| *batch <= self.at);
        // one thread keeps reading while the others decode; all read when there is nothing to decode
        if !self.reads.is_empty() && (self.reading == 0 || !waited_for) {
            let fetch = self.reads.pop_front()?;
            self.reading += 1;
            return Some(Job::Read(fetch));
        }
        if self.decodable() && self.decodes.len() > left {
            return self.pop(shared).map(Job::Decode);
        }
        None
    }

    /// The next basket to decode, with memory for it.
    fn pop(&mut self, shared: &Shared) -> Option<Task> {
        let (_, mut task) = self.decodes.pop_first()?;
        if task.record.is_some() {
            task.spare = self.spares.take(shared.kinds[shared.baskets[task.basket].column]);
        }
        Some(task)
    }
}
