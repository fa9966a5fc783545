//! What a scan knows and decides while it runs: a pure state machine.
//!
//! It has no file, no source, no thread, no lock and no clock; time is an argument, counted from the start of the scan.
//! Events are methods (`events`): the consumer wants a step, bytes arrived, a fetch ended, a basket is decoded, a cut
//! was evaluated. After each of them [`ScanState::poll`] is called until it has nothing more to say: requests to send or
//! to drop. [`ScanState::take`] gives workers something to do. The driver does all that; see `driver`.

mod assembly;
mod cut;
mod events;
mod joining;
mod partial;
mod progress;
mod queue;
mod read_ahead;
mod selected;
mod spare_buffers;
mod status;
#[cfg(test)]
mod tests;

pub(super) use assembly::{Next, OpenBatch, Pieces, Remainder, column_of};
pub(super) use progress::Stage;

use super::plan::ScanPlan;
use super::task::{DecodeTask, Job, Record};
use crate::observe::DecodeTimes;
use crate::report::IoReport;
use assembly::Assembly;
use cut::CutProgress;
use partial::PartialClusters;
use progress::Progress;
use queue::WorkQueue;
use read_ahead::ReadAhead;
pub(crate) use read_ahead::most_ahead;
use sapwood_plan::{Event, Fetch, FetchId, Planner, Request};
use sapwood_span::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// What a scan begins with, beside its plan.
pub(super) struct InitialState<'a> {
    /// What the planner is asked for.
    pub request: Request,
    /// Which columns a cut needs, where there is one.
    pub of_cut: Option<&'a [bool]>,
    /// By step, the entries of it that are wanted, where not all are.
    pub selected: Vec<Option<Arc<[Range<u64>]>>>,
    /// Records that need not be fetched, by basket, and by page where it has pages.
    pub held: BTreeMap<(usize, u32), Record>,
    /// Whether it is a local file, which is read by the workers.
    pub local: bool,
    /// Threads that decode.
    pub threads: usize,
    /// Whether all is recorded for observers.
    pub traced: bool,
}

/// What is to be done about the network now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Send this request. With `last` all has been asked for: the source is to see whether the file has changed.
    Send { fetch: Fetch, last: bool },
    /// Drop a request that is in flight.
    Abort(FetchId),
}

/// See the module.
pub(super) struct ScanState {
    plan: Arc<ScanPlan>,
    planner: Planner,
    local: bool,
    queue: WorkQueue,
    progress: Progress,
    assembly: Assembly,
    /// Clusters of fields of which not all pages are here.
    partial: PartialClusters,
    /// Fetches in flight from a server, and whether the scan ends only after each: those that check whether the file has changed,
    /// and those of which something has arrived, which may be of another version of the file until they have ended.
    open: HashMap<FetchId, bool>,
    /// Records in the local cache that are not to be decoded before a cut says that they are needed.
    withheld: BTreeMap<usize, Record>,
    /// The numbers of requests and connections that the planner got last.
    lanes: (usize, Option<usize>),
    /// Why a fetch failed, the latest.
    failure: Option<Error>,
    stopped: bool,
    report: IoReport,
    /// What decoding took, by column, when an observer listens.
    times: Option<Vec<DecodeTimes>>,
}

impl ScanState {
    /// # Errors
    /// What the planner refuses: impossible baskets.
    pub(super) fn new(plan: Arc<ScanPlan>, initial: InitialState<'_>) -> Result<Self> {
        let InitialState { request, of_cut, selected, mut held, local, threads, traced } = initial;
        let (limits, lanes) = (request.limits.clone(), (request.limits.max_in_flight, request.limits.streams));
        let mut planner = Planner::new(plan.to_fetch(), request)?;
        planner.record(traced);
        let mut queue = WorkQueue::new(ReadAhead::new(threads, local));
        let mut report = IoReport::default();
        let mut withheld = BTreeMap::new();
        let mut partial = PartialClusters::default();
        for (i, b) in plan.baskets.iter().enumerate() {
            report.bytes_wanted += b.bytes();
            if plan.columns[b.column].layout.field().is_some() {
                if b.is_later_part(i) {
                    continue;
                }
                let pages = (0..b.pages.len() as u32).map(|k| held.remove(&(i, k))).collect();
                if let Some(task) = partial.begin(i, pages) {
                    queue.add_parts(&plan, task);
                }
                continue;
            }
            let record = if b.span.is_none() { Some(Record::InHeader) } else { held.remove(&(i, 0)) };
            match record {
                Some(record @ Record::Stored(_)) => drop(withheld.insert(i, record)),
                Some(record) => queue.add_decode(b.steps.0, DecodeTask::held(i, record)),
                None => {}
            }
        }
        let cut = of_cut.map(|of_cut| CutProgress::new(&plan.baskets, of_cut, plan.steps.len(), &limits));
        if let Some(cut) = &cut {
            let ids = plan.planner_ids(&cut.prefetch.withheld());
            planner.handle(Duration::ZERO, Event::Withhold(ids));
        }
        let waits: HashSet<usize> = cut.iter().flat_map(|cut| cut.prefetch.withheld()).collect();
        for (i, record) in withheld.extract_if(.., |i, _| !waits.contains(i)) {
            queue.add_decode(plan.baskets[i].steps.0, DecodeTask::held(i, record));
        }
        Ok(Self {
            planner,
            local,
            queue,
            progress: Progress::new(&plan.baskets, selected, cut),
            assembly: Assembly::new(&plan),
            partial,
            open: HashMap::new(),
            withheld,
            lanes,
            failure: None,
            stopped: false,
            report,
            times: traced.then(|| vec![DecodeTimes::default(); plan.columns.len()]),
            plan,
        })
    }

    /// What to do about the network; none: nothing more now.
    pub(super) fn poll(&mut self, now: Duration) -> Option<Action> {
        if self.stopped {
            return None;
        }
        loop {
            match self.planner.poll(now)? {
                sapwood_plan::Action::Fetch(fetch) if self.local => self.queue.add_read(fetch),
                sapwood_plan::Action::Fetch(fetch) => {
                    let last = self.planner.has_asked_all();
                    self.open.insert(fetch.id, last);
                    return Some(Action::Send { fetch, last });
                }
                sapwood_plan::Action::Cancel(id) => {
                    self.open.remove(&id);
                    self.queue.cancel_read(id);
                    return Some(Action::Abort(id));
                }
                sapwood_plan::Action::GiveUp(baskets) => self.given_up(&baskets),
            }
        }
    }

    /// Something for a worker to do, if there is; a basket to decode only if more than `left` are there.
    pub(super) fn take(&mut self, left: usize) -> Option<Job> {
        if let Some(fetch) = self.queue.take_read() {
            return Some(Job::Read(fetch));
        }
        let mut task = self.queue.take_decode(left)?;
        if matches!(task.record, Record::Here(_) | Record::Stored(_)) {
            task.spare = self.assembly.spares.take(self.plan.kinds[self.plan.baskets[task.basket].column]);
        }
        Some(Job::Decode(task))
    }
}
