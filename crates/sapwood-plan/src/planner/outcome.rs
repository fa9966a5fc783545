//! How fetches end: what arrived, what is requested again, what is given up.

use super::{PendingFetch, Planner, State};
use crate::{Action, BasketId, FetchId};
use std::time::Duration;

/// A basket that failed this often is given up.
const MOST_FAILURES: u8 = 4;
/// After a second failure in a row the planner pauses this long, then twice as long, ...
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// ... but never longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Planner {
    pub(super) fn arrived(&mut self, now: Duration, fetch: FetchId, basket: BasketId) {
        let Some(p) = self.position(basket) else { return };
        if self.states[p as usize] != State::InFlight(fetch) {
            return;
        }
        let len = self.basket(p).span.len;
        if let Some(pending) = self.pending_fetches.get_mut(&fetch) {
            let part = pending.outstanding.min(len);
            pending.outstanding -= part;
            self.flying_bytes -= part;
        }
        self.last_moved = now;
        self.failures_in_a_row = 0;
        self.pace.arrived(now, len);
        self.stats.arrived += 1;
        self.stats.arrived_bytes += len;
        self.set(p, State::Available);
        self.note_held();
    }

    /// A fetch is over.
    pub(super) fn land(&mut self, now: Duration, fetch: FetchId) -> Option<PendingFetch> {
        let pending = self.forget(fetch)?;
        self.last_moved = now;
        Some(pending)
    }

    pub(super) fn forget(&mut self, fetch: FetchId) -> Option<PendingFetch> {
        let pending = self.pending_fetches.remove(&fetch)?;
        self.flying_bytes -= pending.outstanding;
        self.flying_asked -= pending.asked;
        self.flying_ranges -= pending.ranges;
        Some(pending)
    }

    /// Queues again what a fetch did not bring, or gives it up.
    pub(super) fn ask_again(&mut self, now: Duration, fetch: FetchId, pending: &PendingFetch, retry: bool) {
        let missing = self.missing(fetch, pending);
        if missing.is_empty() {
            return;
        }
        // Fetches that were in pending together mostly fail together: that counts once.
        if fetch.0 >= self.after_failure {
            self.after_failure = self.next_fetch;
            self.failures_in_a_row += 1;
            if self.failures_in_a_row > 1 {
                let pause = FIRST_PAUSE.saturating_mul(1 << (self.failures_in_a_row - 2).min(16));
                self.pause_until = Some(now + pause.min(LONGEST_PAUSE));
            }
        }
        let mut lost = Vec::new();
        for p in missing {
            self.failures[p as usize] += 1;
            if retry && self.failures[p as usize] < MOST_FAILURES {
                self.queue_again(p);
            } else {
                self.stats.given_up += 1;
                self.set(p, State::GivenUp);
                lost.push(self.order.id(p));
            }
        }
        if !lost.is_empty() {
            self.outbox.push_back(Action::GiveUp(lost));
        }
    }

    pub(super) fn missing(&self, fetch: FetchId, pending: &PendingFetch) -> Vec<u32> {
        pending.positions.iter().copied().filter(|&p| self.states[p as usize] == State::InFlight(fetch)).collect()
    }

    pub(super) fn queue_again(&mut self, p: u32) {
        self.stats.repeated += 1;
        self.set(p, State::Queued);
        if self.off && self.awaited.contains(p) {
            self.demand.push_front(p);
        }
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.outbox.clear();
        let ids: Vec<FetchId> = self.pending_fetches.keys().copied().collect();
        self.stats.cancelled += ids.len() as u64;
        for &id in &ids {
            self.forget(id);
        }
        self.outbox.extend(ids.into_iter().map(Action::Cancel));
    }
}
