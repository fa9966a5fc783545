//! What a source has done so far.

use crate::lock;
use crate::source::SourceStats;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

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
    /// Since when servers have made requests for this file wait without sending any of it.
    delayed: Mutex<Option<Instant>>,
    is_delayed: AtomicBool,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Relaxed);
    }

    /// A wait for the network begins: keep the returned value until it is over.
    pub(crate) fn wait(&self) -> Wait {
        Wait(self.chain.load(Relaxed))
    }

    /// The wait is over; it took this many round trips.
    pub(crate) fn waited(&self, wait: Wait, round_trips: u64) {
        self.chain.fetch_max(wait.0 + round_trips, Relaxed);
    }

    /// A server asks to wait: returns when the first one did so since bytes of the file last arrived. All servers and
    /// requests share this, or they could wait in turn without end.
    pub(crate) fn delayed_since(&self, now: Instant) -> Instant {
        self.is_delayed.store(true, Relaxed);
        *lock(&self.delayed).get_or_insert(now)
    }

    /// Bytes of the file came.
    pub(crate) fn moved(&self) {
        if self.is_delayed.load(Relaxed) && self.is_delayed.swap(false, Relaxed) {
            *lock(&self.delayed) = None;
        }
    }

    pub(crate) fn snapshot(&self) -> SourceStats {
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
            ..SourceStats::default()
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
    fn asked_for_waits_add_up_until_bytes_come() {
        let (c, now) = (Counters::default(), Instant::now());
        let later = now + std::time::Duration::from_secs(100);
        assert_eq!((c.delayed_since(now), c.delayed_since(later)), (now, now));
        c.moved();
        assert_eq!(c.delayed_since(later), later);
    }

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
