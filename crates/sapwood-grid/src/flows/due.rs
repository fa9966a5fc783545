//! When flows end. Those that come next are known in their order, so that what they need is fetched together, ahead of all of them.

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

/// So many are taken out of the heap at once.
const NEXT: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Due {
    /// Those that come before all others, the soonest at the end. Empty only if there are no others.
    next: Vec<Entry>,
    later: Heap<Entry>,
    /// Whether there are some among the next that were later before.
    came: bool,
}

impl Due {
    pub(super) fn peek(&self) -> Option<&Entry> {
        self.next.last()
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        let first = self.next.pop();
        if self.next.is_empty() {
            self.next.extend((0..NEXT).map_while(|_| self.later.pop()));
            self.next.reverse();
            self.came = true;
        }
        first
    }

    pub(super) fn push(&mut self, new: Entry) {
        match self.next.first() {
            Some(last) if new > *last => self.later.push(new),
            _ => {
                let at = self.next.partition_point(|entry| *entry > new);
                self.next.insert(at, new);
                if self.next.len() > 4 * NEXT {
                    self.next.drain(..2 * NEXT).for_each(|entry| self.later.push(entry));
                }
            }
        }
    }

    /// Those that come next, once after there are new ones.
    pub(super) fn came(&mut self) -> Option<&[Entry]> {
        std::mem::take(&mut self.came).then_some(&self.next)
    }

    /// Those that are left get other numbers.
    pub(super) fn change_all(&mut self, how: impl FnMut(Entry) -> Option<Entry>) {
        let before = std::mem::take(self);
        before.next.iter().chain(before.later.all()).copied().filter_map(how).for_each(|entry| self.push(entry));
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
                        let how = |entry: Entry| (entry.time() % 3 > 0).then(|| other(entry));
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
