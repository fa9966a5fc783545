//! What a cache has of parts of files: for consecutive files in one place, as jobs read files in their order, and what is elsewhere in a
//! large memory is a wait.

use crate::clock::Time;
use crate::keys::{Key, Map};

/// Parts that are beside each other: two of each of eight files.
const BESIDE: usize = 16;
/// Blocks that are allocated at once.
const CHUNK: usize = 64;
const SECOND: Time = 1_000_000_000;

/// Bytes of some parts, and the seconds in which they were used last; no bytes: not there.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    bytes: [u64; BESIDE],
    used: [u32; BESIDE],
}

/// Parts of files by their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    places: Map<u64, u32>,
    blocks: Vec<Box<[Block; CHUNK]>>,
    /// Blocks in use.
    count: u32,
    free: Vec<u32>,
    /// Bytes that no job has read, of the parts that have some.
    unread: Map<Key, u64>,
}

/// The key of a block, and the place of a part in it.
fn split(key: Key) -> (u64, usize) {
    let (part, file) = (key & 0xff, key >> 8);
    ((file >> 3) << 7 | part >> 1, ((file & 7) << 1 | part & 1) as usize)
}

/// The key of the part at a place of a block.
fn joined(block: u64, at: usize) -> Key {
    let (file, part) = ((block >> 7) << 3 | at as u64 >> 1, (block & 127) << 1 | at as u64 & 1);
    file << 8 | part
}

impl Units {
    /// Bytes of a part that are there.
    pub(crate) fn bytes(&self, key: Key) -> u64 {
        let (block, at) = split(key);
        self.places.get(&block).map_or(0, |&place| self.block(place).bytes[at])
    }

    /// The first bytes of a part are read; use is recorded if the last one is `touch` ago. Returns how many bytes are there.
    pub(crate) fn read(&mut self, now: Time, key: Key, wanted: u64, touch: Time) -> u64 {
        let (block, at) = split(key);
        let Some(&place) = self.places.get(&block) else { return 0 };
        let block = self.block_mut(place);
        let there = block.bytes[at];
        if there > 0 {
            let now = seconds(now);
            if u64::from(now.saturating_sub(block.used[at])) * SECOND >= touch {
                block.used[at] = now;
            }
            self.is_read(key, there, wanted);
        }
        there
    }

    /// A part has at least so many bytes, of which a job reads the first.
    pub(crate) fn grow(&mut self, now: Time, key: Key, bytes: u64, read: u64) {
        let (block, at) = split(key);
        let place = match self.places.get(&block) {
            Some(&place) => place,
            None => self.place(block),
        };
        let block = self.block_mut(place);
        let before = block.bytes[at];
        if before == 0 {
            block.used[at] = seconds(now);
        }
        let there = before.max(bytes);
        block.bytes[at] = there;
        if there > before && read < there {
            let read = (before - self.unread.get(&key).copied().unwrap_or(0)).max(read);
            self.unread.insert(key, there - read);
        } else {
            self.is_read(key, there, read);
        }
    }

    /// Takes bytes away from the end of a part; returns those of them that no job had read.
    pub(crate) fn shrink(&mut self, key: Key, by: u64) -> u64 {
        let (block_key, at) = split(key);
        let Some(&place) = self.places.get(&block_key) else { return 0 };
        let block = self.block_mut(place);
        block.bytes[at] = block.bytes[at].saturating_sub(by);
        let left = block.bytes[at];
        let is_empty = block.bytes.iter().all(|&n| n == 0);
        // what nobody read is at the end
        let mut gone = 0;
        if let Some(unread) = self.unread.get_mut(&key) {
            gone = (*unread).min(by);
            *unread -= gone;
            if *unread == 0 || left == 0 {
                self.unread.remove(&key);
            }
        }
        if is_empty {
            self.places.remove(&block_key);
            self.free.push(place);
        }
        gone
    }

    /// Every part: its key, bytes, and when it was used last.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, u64, u32)> + '_ {
        self.places.iter().flat_map(|(&key, &place)| {
            let block = self.block(place);
            let parts = block.bytes.iter().zip(&block.used).enumerate().filter(|(_, (bytes, _))| **bytes > 0);
            parts.map(move |(at, (&bytes, &used))| (joined(key, at), bytes, used))
        })
    }

    /// Bytes that no job has read.
    pub(crate) fn unread(&self) -> u64 {
        self.unread.values().sum()
    }

    /// A job has read the first bytes of a part.
    fn is_read(&mut self, key: Key, there: u64, read: u64) {
        if self.unread.is_empty() {
            return;
        }
        if let Some(unread) = self.unread.get_mut(&key) {
            *unread = (*unread).min(there.saturating_sub(read));
            if *unread == 0 {
                self.unread.remove(&key);
            }
        }
    }

    fn block(&self, place: u32) -> &Block {
        &self.blocks[place as usize / CHUNK][place as usize % CHUNK]
    }

    fn block_mut(&mut self, place: u32) -> &mut Block {
        &mut self.blocks[place as usize / CHUNK][place as usize % CHUNK]
    }

    fn place(&mut self, block: u64) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        if place as usize / CHUNK >= self.blocks.len() {
            self.blocks.push(Box::new([Block::default(); CHUNK]));
        }
        self.places.insert(block, place);
        place
    }
}

fn seconds(time: Time) -> u32 {
    u32::try_from(time / SECOND).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::key;
    use std::collections::BTreeMap;

    proptest::proptest! {
        #[test]
        fn blocks_hold_what_a_list_of_parts_holds(
            steps in proptest::collection::vec((0u64..40, 0usize..5, 1u64..100, 0u64..100, 0u8..3), 1..200),
        ) {
            // by key: bytes, those read, when
            let mut plain: BTreeMap<Key, (u64, u64, u32)> = BTreeMap::new();
            let mut units = Units::default();
            let mut gone = [0u64; 2];
            for (i, &(file, part, bytes, other, what)) in steps.iter().enumerate() {
                let (key, now) = (key(file, part), i as u64 * 30 * SECOND);
                match what {
                    0 => {
                        let unit = plain.entry(key).or_insert((0, 0, i as u32 * 30));
                        unit.0 = unit.0.max(bytes);
                        unit.1 = unit.1.max(other.min(unit.0));
                        units.grow(now, key, bytes, other);
                    }
                    1 => {
                        let there = plain.get_mut(&key).map_or(0, |unit| {
                            unit.1 = unit.1.max(unit.0.min(bytes));
                            if i as u32 * 30 - unit.2 >= 60 {
                                unit.2 = i as u32 * 30;
                            }
                            unit.0
                        });
                        proptest::prop_assert_eq!(units.read(now, key, bytes, 60 * SECOND), there);
                    }
                    _ => {
                        if let Some(unit) = plain.get_mut(&key) {
                            let before = unit.0 - unit.1;
                            unit.0 = unit.0.saturating_sub(bytes);
                            unit.1 = unit.1.min(unit.0);
                            gone[0] += before - (unit.0 - unit.1);
                            if unit.0 == 0 {
                                plain.remove(&key);
                            }
                        }
                        gone[1] += units.shrink(key, bytes);
                    }
                }
                proptest::prop_assert_eq!(units.bytes(key), plain.get(&key).map_or(0, |u| u.0));
                proptest::prop_assert_eq!(gone[0], gone[1]);
            }
            let mut all: Vec<_> = units.all().collect();
            all.sort_unstable();
            let plain_all: Vec<_> = plain.iter().map(|(&k, u)| (k, u.0, u.2)).collect();
            proptest::prop_assert_eq!(all, plain_all);
            proptest::prop_assert_eq!(units.unread(), plain.values().map(|u| u.0 - u.1).sum::<u64>());
        }
    }
}
