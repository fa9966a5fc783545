//! What a source has done so far.

use crate::source::SourceStats;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Default)]
pub(crate) struct Counters {
    pub requests: AtomicU64,
    pub ranges: AtomicU64,
    pub payload: AtomicU64,
    pub wire: AtomicU64,
    pub connections: AtomicU64,
    pub retries: AtomicU64,
    pub redirects: AtomicU64,
    pub fallbacks: AtomicU64,
    chain: AtomicU64,
}

impl Counters {
    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Relaxed);
    }

    /// A wait for the network begins: remember what this gives until it is over.
    pub fn wait(&self) -> Wait {
        Wait(self.chain.load(Relaxed))
    }

    /// The wait is over; it took so many round trips.
    pub fn waited(&self, wait: Wait, round_trips: u64) {
        self.chain.fetch_max(wait.0 + round_trips, Relaxed);
    }

    pub fn snapshot(&self) -> SourceStats {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        SourceStats {
            requests: get(&self.requests),
            ranges: get(&self.ranges),
            payload: get(&self.payload),
            wire: get(&self.wire),
            connections: get(&self.connections),
            round_trips: get(&self.chain),
            retries: get(&self.retries),
            redirects: get(&self.redirects),
            fallbacks: get(&self.fallbacks),
            round_trip: None,
            bandwidth: None,
        }
    }
}

/// How long the chain of waits was when this one began.
#[derive(Default)]
pub(crate) struct Wait(u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_side_by_side_count_once() {
        let c = Counters::default();
        let (a, b) = (c.wait(), c.wait());
        c.waited(a, 1);
        c.waited(b, 1);
        assert_eq!(c.snapshot().round_trips, 1);
        let d = c.wait();
        c.waited(d, 2);
        assert_eq!(c.snapshot().round_trips, 3);
    }
}
