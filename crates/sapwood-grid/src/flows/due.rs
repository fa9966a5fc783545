//! When flows end. Those that come next are known in their order, so that what they need is fetched together, ahead of all of them. The others
//! are in buckets by time, each sorted when its time comes: of many thousands, a heap would read many places of memory for each.

use crate::clock::Time;
use crate::heap::Heap;

/// When the next flow of a class ends, the class, and its stamp when that was noted: as one number, which is compared at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry(u128);

impl Entry {
    pub(super) fn new(time: Time, class: u32, stamp: u32) -> Self {
        Self(u128::from(time) << 64 | u128::from(class) << 32 | u128::from(stamp))
    }

    pub(super) fn time(self) -> Time {
        (self.0 >> 64) as Time
    }

    pub(super) fn class(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(super) fn stamp(self) -> u32 {
        self.0 as u32
    }
}

/// So many are in a bucket, on average.
const EACH: usize = 16;
/// From so many on, those that come later are not put in order among the next, but in a heap.
const FEW: usize = 4 * EACH;
/// The most buckets.
const MOST: usize = 1 << 12;

#[derive(Debug, Default)]
pub(super) struct Due {
    /// Those of the buckets up to now, the soonest at the end; and those that came later and are among them.
    next: Vec<Entry>,
    among: Heap<Entry>,
    buckets: Vec<Vec<Entry>>,
    /// The first bucket that is not among the next; when it begins, and how long each is.
    at: usize,
    from: Time,
    width: Time,
    /// What comes after the last bucket.
    rest: Vec<Entry>,
    /// How many are in buckets, or come after them.
    later: usize,
    /// Whether there are some among the next that were in a bucket before.
    came: bool,
}

impl Due {
    pub(super) fn peek(&self) -> Option<&Entry> {
        match (self.next.last(), self.among.peek()) {
            (Some(next), Some(among)) => Some(next.min(among)),
            (next, among) => next.or(among),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        let first = match (self.next.last(), self.among.peek()) {
            (next, Some(among)) if next.is_none_or(|next| among < next) => self.among.pop(),
            _ => self.next.pop(),
        };
        if self.next.is_empty() && self.among.is_empty() {
            self.open_bucket();
        }
        first
    }

    pub(super) fn push(&mut self, new: Entry) {
        if new.time() < self.from {
            if self.next.len() < FEW {
                let at = self.next.partition_point(|entry| *entry > new);
                self.next.insert(at, new);
            } else {
                self.among.push(new);
            }
            return;
        }
        self.later += 1;
        let behind = (new.time() - self.from).checked_div(self.width).and_then(|n| usize::try_from(n).ok());
        match behind.and_then(|behind| self.buckets.get_mut(self.at..)?.get_mut(behind)) {
            Some(bucket) => bucket.push(new),
            None => self.rest.push(new),
        }
        if self.next.is_empty() && self.among.is_empty() {
            self.open_bucket();
        }
    }

    /// What is in the next bucket is next.
    fn open_bucket(&mut self) {
        while self.next.is_empty() && self.later > 0 {
            if self.at >= self.buckets.len() {
                self.fill_buckets();
            }
            if let Some(bucket) = self.buckets.get_mut(self.at) {
                // the memory of what was next is used again
                std::mem::swap(&mut self.next, bucket);
            }
            self.at += 1;
            self.from = self.from.saturating_add(self.width);
        }
        self.later -= self.next.len();
        self.next.sort_unstable_by(|a, b| b.cmp(a));
        self.came = true;
    }

    /// Spreads the rest over buckets.
    fn fill_buckets(&mut self) {
        let times = || self.rest.iter().map(|entry| entry.time());
        let (Some(first), Some(last)) = (times().min(), times().max()) else { return };
        let count = (self.rest.len() / EACH).clamp(1, MOST);
        (self.at, self.from, self.width) = (0, first, (last - first) / count as Time + 1);
        self.buckets.resize(count, Vec::new());
        for entry in std::mem::take(&mut self.rest) {
            self.buckets[((entry.time() - first) / self.width) as usize].push(entry);
        }
    }

    /// Those that come next, once after there are new ones.
    pub(super) fn came(&mut self) -> Option<&[Entry]> {
        std::mem::take(&mut self.came).then_some(&self.next)
    }

    /// Those that are left get other numbers.
    pub(super) fn change_all(&mut self, how: impl FnMut(Entry) -> Option<Entry>) {
        let before = std::mem::take(self);
        let all =
            before.next.iter().chain(before.among.all()).chain(before.buckets.iter().flatten()).chain(&before.rest);
        self.rest = all.copied().filter_map(how).collect();
        self.later = self.rest.len();
        self.open_bucket();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    proptest::proptest! {
        #[test]
        fn the_soonest_is_first(steps in proptest::collection::vec((0u64..500, 0u8..40), 1..600)) {
            let (mut due, mut plain) = (Due::default(), BinaryHeap::new());
            for (i, (time, what)) in steps.into_iter().enumerate() {
                match what {
                    0 => {
                        let other = |entry: Entry| Entry::new(entry.time(), entry.class() + 1000, entry.stamp());
                        let how = |entry: Entry| (!entry.time().is_multiple_of(3)).then(|| other(entry));
                        due.change_all(how);
                        plain = plain.into_iter().filter_map(|Reverse(entry)| how(entry).map(Reverse)).collect();
                    }
                    1..=18 => proptest::prop_assert_eq!(due.pop(), plain.pop().map(|first| first.0)),
                    _ => {
                        let new = Entry::new(time, i as u32, 7);
                        due.push(new);
                        plain.push(Reverse(new));
                    }
                }
                proptest::prop_assert_eq!(due.peek(), plain.peek().map(|first| &first.0));
            }
        }
    }
}
