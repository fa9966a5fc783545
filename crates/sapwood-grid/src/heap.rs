//! A heap of which each node has four children. It has half the levels of one with two, and the children of a node are beside each other: so
//! taking out the smallest of many waits for memory half as often.

use std::ops::Range;

/// Takes out the smallest first.
#[derive(Clone, Debug)]
pub(crate) struct Heap<T> {
    all: Vec<T>,
}

impl<T> Default for Heap<T> {
    fn default() -> Self {
        Self { all: Vec::new() }
    }
}

const CHILDREN: usize = 4;

impl<T: Ord + Copy> Heap<T> {
    pub(crate) fn peek(&self) -> Option<&T> {
        self.all.first()
    }

    /// All of them; the smallest are among the first.
    pub(crate) fn all(&self) -> &[T] {
        &self.all
    }

    /// Those at these places, as far as there are any.
    pub(crate) fn some(&self, places: Range<usize>) -> &[T] {
        self.all.get(places.start..places.end.min(self.all.len())).unwrap_or_default()
    }

    /// The one that comes after the smallest.
    pub(crate) fn second(&self) -> Option<&T> {
        self.some(1..1 + CHILDREN).iter().min()
    }

    pub(crate) fn push(&mut self, new: T) {
        let hole = self.all.len();
        self.all.push(new);
        self.rise(hole, new);
    }

    /// Puts one into the hole at a place, or nearer to the smallest: those that are larger go down.
    fn rise(&mut self, mut at: usize, new: T) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.all[parent] <= new {
                break;
            }
            self.all[at] = self.all[parent];
            at = parent;
        }
        self.all[at] = new;
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.all.pop()?;
        let Some(&first) = self.all.first() else { return Some(last) };
        // the hole goes down to the end, as the last one is one of the largest, and that one up from there
        let mut at = 0;
        loop {
            let children = CHILDREN * at + 1;
            let end = (children + CHILDREN).min(self.all.len());
            let Some((i, &least)) =
                self.all.get(children..end).and_then(|all| all.iter().enumerate().min_by_key(|child| child.1))
            else {
                break;
            };
            self.all[at] = least;
            at = children + i;
        }
        self.rise(at, last);
        Some(first)
    }
}

impl<T: Ord + Copy> FromIterator<T> for Heap<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut all: Vec<T> = all.into_iter().collect();
        // what is in order is a heap
        all.sort_unstable();
        Self { all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    proptest::proptest! {
        #[test]
        fn the_smallest_is_first(
            begin in proptest::collection::vec(0u32..50, 0..40),
            steps in proptest::collection::vec((0u32..50, 0u8..3), 1..300),
        ) {
            let mut heap: Heap<u32> = begin.iter().copied().collect();
            let mut plain: BinaryHeap<Reverse<u32>> = begin.into_iter().map(Reverse).collect();
            for (new, what) in steps {
                if what > 0 {
                    heap.push(new);
                    plain.push(Reverse(new));
                } else {
                    proptest::prop_assert_eq!(heap.pop(), plain.pop().map(|first| first.0));
                }
                proptest::prop_assert_eq!(heap.peek(), plain.peek().map(|first| &first.0));
                let mut sorted = heap.all().to_vec();
                sorted.sort_unstable();
                proptest::prop_assert_eq!(heap.second(), sorted.get(1));
            }
        }
    }
}
