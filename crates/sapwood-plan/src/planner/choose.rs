//! What to request next, and how much of it.

use super::{PendingFetch, Planner, STALL, State};
use crate::draft::Draft;
use crate::request_size::RequestSizing;
use crate::{Action, Fetch, FetchId, Part, Range};
use sapwood_span::Span;
use std::time::Duration;

/// How much one request may take.
struct Allowance {
    /// Bytes it aims at.
    target: u64,
    /// Bytes that fit into the budget.
    room: u64,
    /// Whether awaited baskets may overdraw the room.
    overdraw: bool,
    /// Baskets.
    count: usize,
}

/// What failed twice is requested in small groups, then alone, so that one bad basket does not take the others with it.
fn most_together(failures: u8) -> usize {
    match failures {
        0 | 1 => usize::MAX,
        2 => 16,
        _ => 1,
    }
}

impl Planner {
    pub(super) fn choose(&mut self, now: Duration) -> Option<Action> {
        if self.stopped || self.pause_until.is_some_and(|t| now < t) {
            return None;
        }
        self.pause_until = None;
        if self.off {
            return self.choose_on_demand();
        }
        if self.queued_bytes == 0 {
            return None;
        }
        let starving = self.starving();
        if !self.has_slot() {
            return if starving && self.limits.is_far() { self.cancel_stale() } else { None };
        }
        let sizes = self.pace.sizes(&self.limits, self.cache, self.order.extent, self.backlog());
        let target = self.ramp.map_or(sizes.piece, |n| sizes.piece.min(RequestSizing::ramp(&self.limits, n)));
        let room = sizes.budget.saturating_sub(self.held());
        // More is requested as soon as less than the window is in pending: waiting for room for a whole request would
        // leave the path idle between two large ones.
        let busy = self.flying_bytes >= sizes.window || self.pending_fetches.len() >= sizes.lanes;
        let overdraw = starving && (self.awaited_here == 0 || now >= self.last_moved + STALL);
        // Cuts release baskets batch by batch. Where requests queue and enough is in pending, the next batch is waited
        // for; but before the first one nothing is gained by that, and the cut's own baskets come later.
        let queues = self.limits.queue > 1 && self.withheld_bytes > 0 && self.decided;
        if queues && !starving && self.queued_bytes < target / 2 && self.flying_bytes >= target {
            return None;
        }
        // Without this, a full budget would be refilled basket by basket, each in its own request.
        // (Looking for the next basket comes later: most calls end here.)
        if (busy || room < target.min(self.queued_bytes)) && !overdraw {
            return None;
        }
        let urgent = if self.awaited_queued > 0 { self.awaited.next_common(&self.queued, 0) } else { None };
        let front = urgent.or_else(|| self.next_ahead(None))?;
        if room < self.span(front).len && !overdraw {
            return None;
        }
        // The small rest of what is waited for is included.
        let target = match urgent.map(|_| self.awaited_bytes()) {
            Some(bytes) if bytes <= target.saturating_add(target / 4) => target.max(bytes),
            _ => target,
        };
        let count = most_together(self.failures[front as usize]);
        let draft = self.draft(urgent, front, &Allowance { target, room, overdraw, count });
        self.ramp = self.ramp.map(|n| n + 1);
        self.pace.keep(&sizes);
        Some(Action::Fetch(self.launch(draft, count == usize::MAX)))
    }

    /// Bytes that are waited for and not requested.
    fn awaited_bytes(&self) -> u64 {
        let queued = |&&p: &&u32| self.states[p as usize] == State::Queued;
        self.awaited_list.iter().filter(queued).map(|&p| self.span(p).len).sum()
    }

    /// With the cache off: what the entry loop touches next, alone.
    fn choose_on_demand(&mut self) -> Option<Action> {
        if !self.pending_fetches.is_empty() {
            return None;
        }
        while let Some(p) = self.demand.pop_front() {
            if self.states[p as usize] == State::Queued {
                let mut draft = Draft::new(&self.limits);
                draft.add(p, self.span(p));
                return Some(Action::Fetch(self.launch(draft, false)));
            }
        }
        None
    }

    /// The next basket to read ahead after `after`, or after the cursor at first: to the last entry, then what was left
    /// out before.
    fn next_ahead(&self, after: Option<u32>) -> Option<u32> {
        let next = |from| self.queued.next_without(&self.awaited, from);
        match after {
            None => next(self.cursor).or_else(|| next(0)),
            Some(p) if p >= self.cursor => next(p + 1).or_else(|| next(0).filter(|&q| q < self.cursor)),
            Some(p) => next(p + 1).filter(|&q| q < self.cursor),
        }
    }

    fn draft(&self, urgent: Option<u32>, front: u32, allowed: &Allowance) -> Draft {
        let mut draft = Draft::new(&self.limits);
        let mut next = urgent;
        while let Some(p) = next {
            if !self.take(&mut draft, p, allowed, allowed.overdraw) {
                return draft;
            }
            next = self.awaited.next_common(&self.queued, p + 1);
        }
        next = if draft.picked.is_empty() { Some(front) } else { self.next_ahead(None) };
        while let Some(p) = next {
            let nearly_full = draft.bytes >= allowed.target / 4 * 3;
            if (nearly_full && self.order.begins_cluster(p)) || !self.take(&mut draft, p, allowed, false) {
                break;
            }
            next = self.next_ahead(Some(p));
        }
        draft
    }

    /// Takes a basket into the request, if allowed.
    fn take(&self, draft: &mut Draft, p: u32, allowed: &Allowance, overdraw: bool) -> bool {
        let span = self.span(p);
        let (bytes, ranges) = draft.with(p, span);
        let first = draft.picked.is_empty();
        let fits = first
            || (draft.bytes < allowed.target
                && bytes <= allowed.target.saturating_add(allowed.target / 4)
                && bytes <= self.limits.max_request_bytes
                && ranges <= self.limits.max_ranges.max(1)
                && draft.picked.len() < allowed.count.min(most_together(self.failures[p as usize])));
        if !fits || (bytes > allowed.room && !overdraw) {
            return false;
        }
        draft.add(p, span);
        true
    }

    /// Turns a draft into a fetch. With `along`, queued baskets in bridged gaps are included.
    fn launch(&mut self, draft: Draft, along: bool) -> Fetch {
        let id = FetchId(self.next_fetch);
        self.next_fetch += 1;
        let (spans, mut picked) = draft.finish(&self.limits, |p| self.span(p));
        picked.sort_unstable();
        let mut positions = Vec::with_capacity(picked.len());
        let ranges: Vec<Range> = spans.into_iter().map(|s| self.range(s, &picked, along, &mut positions)).collect();
        let urgent = positions.iter().any(|&p| self.awaited.contains(p));
        for &p in &positions {
            self.set(p, State::InFlight(id));
        }
        let fetch = Fetch { id, ranges, urgent };
        let bytes = fetch.bytes();
        let useful: u64 = positions.iter().map(|&p| self.span(p).len).sum();
        self.stats.requests += 1;
        self.stats.ranges += fetch.ranges.len() as u64;
        self.stats.asked_bytes += bytes;
        self.stats.gap_bytes += bytes.saturating_sub(useful);
        self.flying_bytes += bytes;
        self.flying_asked += bytes;
        self.flying_ranges += fetch.ranges.len() as u64;
        let ranges = fetch.ranges.len() as u64;
        self.pending_fetches
            .insert(id, PendingFetch { positions, outstanding: bytes, asked: bytes, ranges, epoch: self.epoch });
        self.stats.max_in_flight = self.stats.max_in_flight.max(self.pending_fetches.len() as u64);
        self.note_held();
        fetch
    }

    fn range(&self, span: Span, picked: &[u32], along: bool, positions: &mut Vec<u32>) -> Range {
        let by_offset = &self.order.by_offset;
        let begin = by_offset.partition_point(|&p| self.span(p).start < span.start);
        let mut parts = Vec::new();
        for &p in by_offset[begin..].iter().take_while(|&&p| self.span(p).start < span.end()) {
            let s = self.span(p);
            let queued = self.states[p as usize] == State::Queued;
            let wanted = picked.binary_search(&p).is_ok() || (along && self.failures[p as usize] < 2);
            if queued && wanted && span.contains(s) {
                positions.push(p);
                parts.push(Part { basket: self.order.id(p), offset: s.start - span.start, len: s.len });
            }
        }
        Range { span, parts }
    }

    /// Gives up the latest fetch from before the consumer jumped.
    fn cancel_stale(&mut self) -> Option<Action> {
        let id = *self.pending_fetches.iter().rev().find(|(_, f)| f.epoch < self.epoch)?.0;
        let pending = self.forget(id)?;
        self.stats.cancelled += 1;
        for p in self.missing(id, &pending) {
            self.queue_again(p);
        }
        Some(Action::Cancel(id))
    }
}
