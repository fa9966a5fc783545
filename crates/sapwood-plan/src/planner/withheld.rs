//! Baskets not yet known to be needed.

use super::{Planner, State};
use crate::BasketId;

impl Planner {
    pub(super) fn withhold(&mut self, list: &[BasketId]) {
        self.change(list, |s| s == State::Queued, State::Withheld);
    }

    pub(super) fn release(&mut self, list: &[BasketId]) {
        self.decided = true;
        self.change(list, |s| s == State::Withheld, State::Queued);
        if self.off {
            let awaited = list.iter().filter_map(|&b| self.position(b)).filter(|&p| self.awaited.contains(p));
            let demand: Vec<u32> = awaited.collect();
            self.demand.extend(demand);
        }
    }

    pub(super) fn skip(&mut self, list: &[BasketId]) {
        self.decided = true;
        for &basket in list {
            let Some(p) = self.position(basket) else { continue };
            if matches!(self.states[p as usize], State::Queued | State::Withheld) {
                self.stats.skipped += 1;
                self.stats.skipped_bytes += self.span(p).len;
                self.set(p, State::Consumed);
            }
        }
    }

    fn change(&mut self, list: &[BasketId], from: impl Fn(State) -> bool, to: State) {
        for &basket in list {
            if let Some(p) = self.position(basket)
                && from(self.states[p as usize])
            {
                self.set(p, to);
            }
        }
    }
}
