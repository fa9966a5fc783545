//! A table of the chunks of a cache. It is looked up for each job, at a place that is in no cache of the processor: so a search goes to
//! one place of memory, where a general table goes to two.

use crate::stretches::Chunk;
use sapwood_pages::prefetch;

/// An odd number by which others are spread evenly, modulo 2^32 (Knuth, The Art of Computer Programming 3, 6.4).
const SPREAD: u32 = 0x9e37_79b1;
/// What undoes that: the product of both is 1, modulo 2^32.
const GATHER: u32 = 0x0e8b_2f51;
/// Places of the smallest table, and slots behind the last place.
const LEAST: u32 = 16;
const BEHIND: usize = 32;

/// A number, spread, and the chunk that has it; or an empty chunk, where there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    spread: u32,
    chunk: Chunk,
}

/// Chunks by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks {
    /// In the order of the spread numbers, each at its place or as little behind it as possible.
    slots: Vec<Slot>,
    places: u32,
    count: u32,
}

impl Chunks {
    /// The chunk with a number; an empty one, if there is none.
    pub(crate) fn get(&self, number: u32) -> Chunk {
        let spread = number.wrapping_mul(SPREAD);
        let slot = self.slots.get(self.find(spread)).filter(|slot| slot.spread == spread);
        slot.map_or(Chunk::default(), |slot| slot.chunk)
    }

    /// A chunk will be needed soon.
    pub(crate) fn prefetch(&self, number: u32) {
        // it may be behind its place, in the next line of the processor's cache
        let place = Self::place(number.wrapping_mul(SPREAD), self.places);
        for slot in [place, place + 2] {
            self.slots.get(slot).into_iter().for_each(prefetch);
        }
    }

    /// Changes the chunk with a number. An empty one is not kept.
    pub(crate) fn change(&mut self, number: u32, how: impl FnOnce(Chunk) -> Chunk) {
        let spread = number.wrapping_mul(SPREAD);
        let at = self.find(spread);
        match self.slots.get_mut(at) {
            Some(slot) if slot.spread == spread && !slot.chunk.is_empty() => {
                slot.chunk = how(slot.chunk);
                if slot.chunk.is_empty() {
                    self.remove(at);
                }
            }
            _ => {
                let chunk = how(Chunk::default());
                if !chunk.is_empty() {
                    self.insert(Slot { spread, chunk }, at);
                }
            }
        }
    }

    /// All chunks with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Chunk)> {
        let used = self.slots.iter().filter(|slot| !slot.chunk.is_empty());
        used.map(|slot| (slot.spread.wrapping_mul(GATHER), &slot.chunk))
    }

    fn place(spread: u32, places: u32) -> usize {
        ((u64::from(spread) * u64::from(places)) >> 32) as usize
    }

    /// Where a number is, or would be.
    fn find(&self, spread: u32) -> usize {
        let from = Self::place(spread, self.places);
        let behind = self.slots.get(from..).unwrap_or_default();
        let before = behind.iter().take_while(|slot| !slot.chunk.is_empty() && slot.spread < spread);
        from + before.count()
    }

    fn insert(&mut self, new: Slot, at: usize) {
        // three quarters full, it has two slots for each chunk afterwards; and so it gets more where many have the same place
        let full = self.count >= self.places / 4 * 3;
        let empty = self.slots.get(at..).unwrap_or_default().iter().position(|slot| slot.chunk.is_empty());
        let Some(empty) = empty.filter(|_| !full) else {
            self.grow();
            return self.insert(new, self.find(new.spread));
        };
        self.slots.copy_within(at..at + empty, at + 1);
        self.slots[at] = new;
        self.count += 1;
    }

    fn remove(&mut self, at: usize) {
        // those behind it come nearer to their places
        let places = self.places;
        let behind = self.slots.get(at + 1..).unwrap_or_default().iter().enumerate();
        let moved = behind.take_while(|(i, s)| !s.chunk.is_empty() && Self::place(s.spread, places) <= at + i).count();
        self.slots.copy_within(at + 1..at + 1 + moved, at);
        self.slots[at + moved] = Slot::default();
        self.count -= 1;
    }

    fn grow(&mut self) {
        self.places = (self.places + self.places / 2).max(LEAST);
        let slots = vec![Slot::default(); self.places as usize + BEHIND];
        let mut next = 0;
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot.chunk.is_empty() {
                continue;
            }
            let at = Self::place(slot.spread, self.places).max(next);
            if at >= self.slots.len() {
                self.slots.push(slot);
            } else {
                self.slots[at] = slot;
            }
            next = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn with(bytes: u32) -> Chunk {
        Chunk::many(0, bytes as usize)
    }

    proptest::proptest! {
        #[test]
        fn it_holds_what_an_ordered_map_holds(
            steps in proptest::collection::vec((0u32..200, 0u32..3, 0u32..4), 1..600), shift in 0u32..25,
        ) {
            let mut plain = BTreeMap::new();
            let mut chunks = Chunks::default();
            for &(number, bytes, same) in &steps {
                // some beside each other in the table, whatever it spreads
                let number = if same == 0 { number.wrapping_mul(GATHER) } else { number << shift };
                chunks.change(number, |chunk| {
                    assert_eq!(chunk, with(plain.get(&number).copied().unwrap_or(0)));
                    with(bytes)
                });
                if bytes > 0 { plain.insert(number, bytes) } else { plain.remove(&number) };
                assert_eq!(chunks.get(number), with(bytes));
            }
            for &(number, ..) in &steps {
                assert_eq!(chunks.get(number), with(plain.get(&number).copied().unwrap_or(0)));
            }
            let mut all: Vec<_> = chunks.iter().map(|(number, chunk)| (number, *chunk)).collect();
            all.sort_unstable_by_key(|a| a.0);
            let plain: Vec<_> = plain.into_iter().map(|(number, bytes)| (number, with(bytes))).collect();
            assert_eq!(all, plain);
            assert_eq!(chunks.count as usize, all.len());
        }
    }
}
