//! What there is to do for workers, and which of it first.

use super::read_ahead::ReadAhead;
use crate::scan::plan::ScanPlan;
use crate::scan::task::DecodeTask;
use sapwood_plan::{Fetch, FetchId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Reads of a local file, and baskets to decode.
pub(super) struct WorkQueue {
    reads: VecDeque<Arc<Fetch>>,
    /// Workers that are reading.
    reading: usize,
    /// By the first step that needs the basket, and its number.
    decodes: BTreeMap<(usize, usize), DecodeTask>,
    /// The step that the consumer wants.
    wanted_step: usize,
    /// Decoded bytes that wait for steps behind it.
    pub ahead: ReadAhead,
}

impl WorkQueue {
    pub(super) fn new(ahead: ReadAhead) -> Self {
        Self { reads: VecDeque::new(), reading: 0, decodes: BTreeMap::new(), wanted_step: 0, ahead }
    }

    /// The consumer wants this step now.
    pub(super) fn want(&mut self, step: usize) {
        self.wanted_step = step;
        self.ahead.pass(step);
    }

    /// The step that the consumer wants.
    pub(super) fn wanted_step(&self) -> usize {
        self.wanted_step
    }

    /// Ranges of a local file are to be read.
    pub(super) fn add_read(&mut self, fetch: Fetch) {
        self.reads.push_back(Arc::new(fetch));
    }

    /// A fetch is not to be read any more, unless that has begun.
    pub(super) fn cancel_read(&mut self, id: FetchId) {
        self.reads.retain(|f| f.id != id);
    }

    /// A worker has read.
    pub(super) fn read_ended(&mut self) {
        self.reading = self.reading.saturating_sub(1);
    }

    /// A basket is to be decoded; `step` is the first that needs it.
    pub(super) fn add_decode(&mut self, step: usize, task: DecodeTask) {
        drop(self.decodes.insert((step, task.basket), task));
    }

    /// A cluster of a field is to be decoded, in its parts.
    pub(super) fn add_parts(&mut self, plan: &ScanPlan, first: DecodeTask) {
        let parts = plan.baskets[first.basket].parts.clone();
        for part in parts.skip(1) {
            self.add_decode(plan.baskets[part].steps.0, DecodeTask::held(part, first.record.clone()));
        }
        self.add_decode(plan.baskets[first.basket].steps.0, first);
    }

    /// A basket is not to be decoded any more.
    pub(super) fn cancel_decode(&mut self, step: usize, basket: usize) -> Option<DecodeTask> {
        self.decodes.remove(&(step, basket))
    }

    pub(super) fn clear(&mut self) {
        self.reads.clear();
        self.decodes.clear();
    }

    /// A basket is decoded: it waits if the consumer is not as far as the first step that needs it.
    pub(super) fn decoded(&mut self, step: usize, bytes: u64) {
        if step > self.wanted_step {
            self.ahead.enter(step, bytes);
        }
    }

    fn is_waited_for(&self) -> bool {
        self.decodes.first_key_value().is_some_and(|((step, _), _)| *step <= self.wanted_step)
    }

    fn is_decodable(&self) -> bool {
        !self.decodes.is_empty() && (self.is_waited_for() || self.ahead.has_room())
    }

    pub(super) fn has_work(&self) -> bool {
        !self.reads.is_empty() || self.is_decodable()
    }

    /// The next range to read: one thread keeps reading while the others decode, all do when there is nothing to decode
    /// that the consumer waits for.
    pub(super) fn take_read(&mut self) -> Option<Arc<Fetch>> {
        if self.reading > 0 && self.is_waited_for() {
            return None;
        }
        let fetch = self.reads.pop_front()?;
        self.reading += 1;
        Some(fetch)
    }

    /// The next basket to decode, if more than `left` are there.
    pub(super) fn take_decode(&mut self, left: usize) -> Option<DecodeTask> {
        if !self.is_decodable() || self.decodes.len() <= left {
            return None;
        }
        self.decodes.pop_first().map(|(_, task)| task)
    }
}
