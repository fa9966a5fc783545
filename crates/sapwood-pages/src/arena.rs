//! Tracks which parts of the mappings are free.

use std::collections::BTreeMap;

/// Size and alignment of a large page.
pub(crate) const HUGE: usize = 2 << 20;

/// Bytes mapped at once.
const GROW: usize = 8 << 20;

/// Free bytes that are kept: one batch, for the next one. Clearing fresh pages takes as long as decompressing into
/// them.
const KEEP: usize = 64 << 20;

/// The source of memory.
pub(crate) trait Memory {
    /// This many bytes (a multiple of [`HUGE`], and aligned to it), not used elsewhere.
    fn map(&mut self, len: usize) -> Option<usize>;
    /// Returns a part of what was mapped.
    fn unmap(&mut self, start: usize, len: usize);
}

/// The free parts of what is mapped.
pub(crate) struct Arena<M> {
    memory: M,
    /// Free ranges by their start; neighbours are joined.
    free: BTreeMap<usize, usize>,
    free_bytes: usize,
}

impl<M: Memory> Arena<M> {
    pub(crate) const fn new(memory: M) -> Self {
        Self { memory, free: BTreeMap::new(), free_bytes: 0 }
    }

    /// A free block of whole pages: the lowest one, so that the high ones become completely free.
    pub(crate) fn take(&mut self, len: usize) -> Option<usize> {
        let fits = self.free.iter().find(|&(_, &n)| n >= len).map(|(&start, &n)| (start, n));
        let (start, size) = match fits {
            Some(found) => found,
            None => {
                let more = len.next_multiple_of(HUGE).max(GROW);
                let start = self.memory.map(more)?;
                // it may join free bytes before it
                self.insert(start, more)
            }
        };
        self.free.remove(&start);
        if size > len {
            self.free.insert(start + len, size - len);
        }
        self.free_bytes -= len;
        Some(start)
    }

    /// Returns a block. Its large pages beyond what is worth keeping go back to the system.
    pub(crate) fn give(&mut self, start: usize, len: usize) {
        let (start, len) = self.insert(start, len);
        if self.free_bytes <= KEEP {
            return;
        }
        let (from, to) = (start.next_multiple_of(HUGE), (start + len) & !(HUGE - 1));
        if from >= to {
            return;
        }
        self.free.remove(&start);
        if from > start {
            self.free.insert(start, from - start);
        }
        if start + len > to {
            self.free.insert(to, start + len - to);
        }
        self.free_bytes -= to - from;
        self.memory.unmap(from, to - from);
    }

    /// Shrinks or grows a block in place; false when that is not possible.
    pub(crate) fn resize(&mut self, start: usize, old: usize, new: usize) -> bool {
        if new < old {
            self.give(start + new, old - new);
        } else if new > old {
            let more = new - old;
            let Some(&size) = self.free.get(&(start + old)) else { return false };
            if size < more {
                return false;
            }
            self.free.remove(&(start + old));
            if size > more {
                self.free.insert(start + new, size - more);
            }
            self.free_bytes -= more;
        }
        true
    }

    /// Adds a range, joined with its neighbours; returns the joined one.
    fn insert(&mut self, mut start: usize, mut len: usize) -> (usize, usize) {
        self.free_bytes += len;
        if let Some((&before, &n)) = self.free.range(..start).next_back()
            && before + n == start
        {
            self.free.remove(&before);
            (start, len) = (before, n + len);
        }
        if let Some(n) = self.free.remove(&(start + len)) {
            len += n;
        }
        self.free.insert(start, len);
        (start, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Fake {
        mapped: usize,
        next: usize,
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
            let mut all: Vec<_> = held.iter().copied().chain(a.free.iter().map(|(&s, &n)| (s, n))).collect();
            all.sort_unstable();
            assert!(all.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0));
            assert_eq!(all.iter().map(|x| x.1).sum::<usize>(), a.memory.mapped);
            assert_eq!(a.free.values().sum::<usize>(), a.free_bytes);
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
}
