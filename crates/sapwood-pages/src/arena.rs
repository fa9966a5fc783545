//! Tracks which parts of the mappings are free.

use std::collections::BTreeMap;

/// Size and alignment of a large page.
pub(crate) const HUGE: usize = 2 << 20;

/// Bytes mapped at once.
const GROW: usize = 8 << 20;

/// Free bytes that are kept in memory: one batch, for the next one. Clearing fresh pages takes as long as decompressing
/// into them.
const KEEP: usize = 64 << 20;

/// Free bytes that are kept where blocks are left in every large page. What is returned of these is filled page by page
/// again, which takes longer.
const KEEP_BETWEEN: usize = KEEP + KEEP / 2;

/// What is left of these when memory is returned, so that not every block that is freed returns some.
const LEFT: usize = KEEP_BETWEEN - GROW;

/// The source of memory.
pub(crate) trait Memory {
    /// This many bytes (a multiple of [`HUGE`], and aligned to it), not used elsewhere.
    fn map(&mut self, len: usize) -> Option<usize>;
    /// Returns a part of what was mapped.
    fn unmap(&mut self, start: usize, len: usize);
    /// Returns the memory of whole pages, but not the addresses: they get other memory when they are used again.
    fn clear(&mut self, start: usize, len: usize);
}

/// A free range.
#[derive(Clone, Copy)]
struct Free {
    len: usize,
    /// Bytes of it that may be in memory.
    held: usize,
}

impl Free {
    /// What is left of it beside so many bytes, whichever of them are in memory.
    fn without(self, len: usize) -> Self {
        let len = self.len - len;
        Self { len, held: self.held.min(len) }
    }
}

/// The free parts of what is mapped.
pub(crate) struct Arena<M> {
    memory: M,
    /// Free ranges by their start; neighbours are joined.
    free: BTreeMap<usize, Free>,
    /// Free bytes that may be in memory.
    held: usize,
}

impl<M: Memory> Arena<M> {
    pub(crate) const fn new(memory: M) -> Self {
        Self { memory, free: BTreeMap::new(), held: 0 }
    }

    /// A free block of whole pages: the lowest one, so that the high ones become completely free.
    pub(crate) fn take(&mut self, len: usize) -> Option<usize> {
        let fits = self.free.iter().find(|(_, range)| range.len >= len).map(|(&start, _)| start);
        let start = match fits {
            Some(found) => found,
            None => {
                let more = len.next_multiple_of(HUGE).max(GROW);
                let start = self.memory.map(more)?;
                // the first use of a large page brings all of it into memory; it may join free bytes before it
                self.insert(start, Free { len: more, held: more })
            }
        };
        if let Some(range) = self.remove(start) {
            self.keep(start + len, range.without(len));
        }
        Some(start)
    }

    /// Returns a block. Beyond what is worth keeping, memory goes back to the system.
    pub(crate) fn give(&mut self, start: usize, len: usize) {
        let start = self.insert(start, Free { len, held: len });
        // the system fills new large pages at once, cleared pages one by one
        if self.held > KEEP || self.free.get(&start).is_some_and(|range| range.held < range.len / 2) {
            self.unmap_large(start);
        }
        if self.held > KEEP_BETWEEN {
            self.release();
        }
    }

    /// Shrinks or grows a block in place; false when that is not possible.
    pub(crate) fn resize(&mut self, start: usize, old: usize, new: usize) -> bool {
        if new < old {
            self.give(start + new, old - new);
        } else if new > old {
            let (end, more) = (start + old, new - old);
            if self.free.get(&end).is_none_or(|range| range.len < more) {
                return false;
            }
            if let Some(range) = self.remove(end) {
                self.keep(start + new, range.without(more));
            }
        }
        true
    }

    /// Returns memory of the highest free ranges: their large pages, or where there are none the pages between blocks.
    fn release(&mut self) {
        let mut above = usize::MAX;
        while self.held > LEFT
            && let Some((&start, &range)) = self.free.range(..above).rfind(|(_, range)| range.held > 0)
        {
            above = start;
            if has_large(start, range.len) {
                self.unmap_large(start);
            } else if let Some(range) = self.free.get_mut(&start) {
                self.held -= std::mem::take(&mut range.held);
                self.memory.clear(start, range.len);
            }
        }
    }

    /// Returns the large pages of a free range, with their addresses.
    fn unmap_large(&mut self, start: usize) {
        let Some(&range) = self.free.get(&start) else { return };
        let (from, to) = large(start, range.len);
        if from < to {
            self.remove(start);
            self.keep(start, range.without(range.len - (from - start)));
            self.keep(to, range.without(to - start));
            self.memory.unmap(from, to - from);
        }
    }

    fn remove(&mut self, start: usize) -> Option<Free> {
        let range = self.free.remove(&start)?;
        self.held -= range.held;
        Some(range)
    }

    /// Adds a range that has no free neighbours.
    fn keep(&mut self, start: usize, range: Free) {
        if range.len > 0 {
            self.held += range.held;
            self.free.insert(start, range);
        }
    }

    /// Adds a range, joined with its neighbours; returns the start of the joined one.
    fn insert(&mut self, mut start: usize, mut range: Free) -> usize {
        if let Some((&before, &Free { len, .. })) = self.free.range(..start).next_back()
            && before + len == start
            && let Some(other) = self.remove(before)
        {
            (start, range) = (before, Free { len: len + range.len, held: other.held + range.held });
        }
        if let Some(other) = self.remove(start + range.len) {
            range = Free { len: range.len + other.len, held: range.held + other.held };
        }
        self.keep(start, range);
        start
    }
}

/// The large pages in a range; without any the end is not behind the start.
fn large(start: usize, len: usize) -> (usize, usize) {
    (start.next_multiple_of(HUGE), (start + len) & !(HUGE - 1))
}

fn has_large(start: usize, len: usize) -> bool {
    let (from, to) = large(start, len);
    from < to
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const PAGE: usize = 4096;

    #[derive(Default)]
    struct Fake {
        mapped: usize,
        next: usize,
        /// Pages that were used, as the system keeps them in memory.
        used: BTreeSet<usize>,
    }

    impl Fake {
        fn write(&mut self, start: usize, len: usize) {
            self.used.extend((start..start + len).step_by(PAGE));
        }

        fn in_memory(&self) -> usize {
            self.used.len() * PAGE
        }
    }

    impl Memory for Fake {
        fn map(&mut self, len: usize) -> Option<usize> {
            self.next += 1 << 40;
            self.mapped += len;
            Some(self.next)
        }

        fn unmap(&mut self, start: usize, len: usize) {
            assert!(start.is_multiple_of(HUGE) && len.is_multiple_of(HUGE));
            self.mapped -= len;
            self.clear(start, len);
        }

        fn clear(&mut self, start: usize, len: usize) {
            assert!(start.is_multiple_of(PAGE) && len.is_multiple_of(PAGE));
            for page in (start..start + len).step_by(PAGE) {
                self.used.remove(&page);
            }
        }
    }

    #[test]
    fn blocks_never_overlap_and_all_comes_back() {
        let mut a = Arena::new(Fake::default());
        let mut held: Vec<(usize, usize)> = Vec::new();
        let mut seed = 7u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let r = (seed >> 33) as usize;
            if held.len() > 60 || (r.is_multiple_of(3) && !held.is_empty()) {
                let (start, len) = held.swap_remove(r % held.len());
                a.give(start, len);
            } else if r % 7 == 1 && !held.is_empty() {
                let i = r % held.len();
                let new = (1 + r % 4000) << 12;
                if a.resize(held[i].0, held[i].1, new) {
                    held[i].1 = new;
                }
            } else {
                let len = (1 + r % 4000) << 12;
                held.push((a.take(len).unwrap(), len));
            }
            let mut all: Vec<_> = held.iter().copied().chain(a.free.iter().map(|(&s, range)| (s, range.len))).collect();
            all.sort_unstable();
            assert!(all.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0));
            assert_eq!(all.iter().map(|x| x.1).sum::<usize>(), a.memory.mapped);
            assert_eq!(a.free.values().map(|range| range.held).sum::<usize>(), a.held);
            assert!(a.free.values().all(|range| range.held <= range.len));
        }
        for (start, len) in held {
            a.give(start, len);
        }
        assert!(a.memory.mapped <= KEEP + GROW, "{} bytes are still mapped", a.memory.mapped);
    }

    #[test]
    fn the_same_block_serves_again() {
        let mut a = Arena::new(Fake::default());
        let first = a.take(1 << 20).unwrap();
        a.give(first, 1 << 20);
        assert_eq!(a.take(1 << 20), Some(first));
        assert!(a.resize(first, 1 << 20, 3 << 20));
        let next = a.take(4096).unwrap();
        assert_eq!(next, first + (3 << 20));
        assert!(!a.resize(first, 3 << 20, 4 << 20));
    }

    #[test]
    fn blocks_left_in_every_large_page_do_not_keep_the_rest_of_it() {
        const BLOCK: usize = 40 << 10;
        let mut a = Arena::new(Fake::default());
        let mut held: Vec<usize> = Vec::new();
        for round in 0..4 {
            // columns of a batch, of which one in fifty is left: at least one in each large page
            let blocks: Vec<usize> = (0..5000).map(|_| a.take(BLOCK).unwrap()).collect();
            blocks.iter().for_each(|&start| a.memory.write(start, BLOCK));
            for (i, start) in blocks.into_iter().enumerate() {
                if i % 50 == round { held.push(start) } else { a.give(start, BLOCK) }
            }
            let (used, live) = (a.memory.in_memory(), held.len() * BLOCK);
            assert!(used <= live + KEEP_BETWEEN, "{used} bytes are in memory for {live} of blocks");
            assert!(a.memory.mapped > live + 2 * KEEP, "large pages were free");
        }
        for start in held {
            a.give(start, BLOCK);
        }
        assert!(a.memory.in_memory() <= KEEP_BETWEEN);
        assert!(a.memory.mapped <= 2 * KEEP_BETWEEN + GROW, "what was cleared is unmapped as large pages");
    }

    #[test]
    fn what_was_returned_is_not_counted_again() {
        let mut a = Arena::new(Fake::default());
        let blocks: Vec<usize> = (0..100).map(|_| a.take(1 << 20).unwrap()).collect();
        // every other one: no large page is free
        for &start in blocks.iter().step_by(2) {
            a.give(start, 1 << 20);
        }
        assert!(a.held <= KEEP);
        let before = a.held;
        for &start in blocks.iter().step_by(2) {
            assert_eq!(a.take(1 << 20), Some(start), "the lowest free range first");
        }
        assert!(before - a.held >= 42 << 20 && a.held < GROW);
    }
}
