//! What happens at which time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Future events; those of the same time in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    due: BinaryHeap<Reverse<Due<T>>>,
    count: u64,
}

/// Time, a sequence number, and the event.
#[derive(Debug)]
struct Due<T>(f64, u64, T);

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self { due: BinaryHeap::new(), count: 0 }
    }
}

impl<T> Agenda<T> {
    pub(crate) fn add(&mut self, time: f64, event: T) {
        self.count += 1;
        self.due.push(Reverse(Due(time, self.count, event)));
    }

    /// When the next event is.
    pub(crate) fn next(&self) -> Option<f64> {
        self.due.peek().map(|Reverse(due)| due.0)
    }

    /// The next event, unless it is later than this.
    pub(crate) fn take(&mut self, now: f64) -> Option<T> {
        self.next().filter(|&time| time <= now)?;
        self.due.pop().map(|Reverse(due)| due.2)
    }
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}
impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl<T> Eq for Due<T> {}
