//! A queue by time. Most of what is added comes after what was added before, as times do: that is a list, taken from its beginning.
//! Only what comes earlier is sorted, in a heap. So a long queue is read in order, where a heap would read it all over.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Lists beside each other, as a few kinds of things that take different times come in the order of their times each.
const LISTS: usize = 4;

/// Takes out the smallest first. No two may be equal.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T, const N: usize = LISTS> {
    lists: [VecDeque<T>; N],
    heap: BinaryHeap<Reverse<T>>,
}

impl<T: Ord + Copy, const N: usize> Default for Queue<T, N> {
    fn default() -> Self {
        Self { lists: std::array::from_fn(|_| VecDeque::new()), heap: BinaryHeap::new() }
    }
}

impl<T: Ord + Copy, const N: usize> Queue<T, N> {
    /// Adds one.
    pub(crate) fn push(&mut self, new: T) {
        // of the lists that end before it the one that ends last, so that the others take what comes earlier
        let mut best: Option<(T, usize)> = None;
        let mut empty = None;
        for (i, list) in self.lists.iter().enumerate() {
            match list.back() {
                None => empty = empty.or(Some(i)),
                Some(&last) if last <= new && best.is_none_or(|b| b.0 < last) => best = Some((last, i)),
                Some(_) => {}
            }
        }
        match best.map(|b| b.1).or(empty).and_then(|i| self.lists.get_mut(i)) {
            Some(list) => list.push_back(new),
            None => self.heap.push(Reverse(new)),
        }
    }

    /// The smallest.
    pub(crate) fn peek(&self) -> Option<&T> {
        let lists = self.lists.iter().filter_map(VecDeque::front);
        lists.chain(self.heap.peek().map(|first| &first.0)).min()
    }

    /// The lists, each in its order.
    pub(crate) fn lists(&self) -> &[VecDeque<T>; N] {
        &self.lists
    }

    /// Takes out the smallest.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = *self.peek()?;
        match self.lists.iter_mut().find(|list| list.front() == Some(&first)) {
            Some(list) => list.pop_front(),
            None => self.heap.pop().map(|first| first.0),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.peek().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_smallest_is_first_whatever_the_order(steps in proptest::collection::vec((0u32..50, 0u8..3), 1..300)) {
            let (mut queue, mut heap) = (Queue::<(u32, usize)>::default(), BinaryHeap::new());
            for (i, &(time, what)) in steps.iter().enumerate() {
                if what > 0 {
                    queue.push((time, i));
                    heap.push(Reverse((time, i)));
                } else {
                    proptest::prop_assert_eq!(queue.pop(), heap.pop().map(|first| first.0));
                }
                proptest::prop_assert_eq!(queue.peek().copied(), heap.peek().map(|first| first.0));
                proptest::prop_assert_eq!(queue.is_empty(), heap.is_empty());
            }
        }
    }
}
