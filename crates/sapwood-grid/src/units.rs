//! What a cache has of parts of files. In a federation that is hundreds of megabytes, and what is elsewhere in them is a wait: so what
//! is read of consecutive files is beside each other, as jobs read files in their order, and is looked up once for all of them.

use crate::clock::Time;
use crate::keys::{Key, Map, key as key_of};

/// Parts that are beside each other: two of each of eight files.
const BESIDE: usize = 16;
/// Blocks of consecutive files that are found together.
const TOGETHER: usize = 4;
/// Blocks that are allocated at once: so many that the allocator places them in large pages.
const CHUNK: usize = 256;
const SECOND: Time = 1_000_000_000;
/// No block.
const NONE: u32 = u32::MAX;
/// So many bytes, or more, are kept elsewhere.
const LARGE: u32 = u32::MAX;

/// Bytes of a part, and the second in which it was used last; no bytes: not there.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    bytes: u32,
    used: u32,
}

/// Some parts, in two lines of the processor's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Block([Unit; BESIDE]);

/// Parts of files by their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    places: Map<u64, [u32; TOGETHER]>,
    blocks: Vec<Box<[Block]>>,
    /// Blocks in use.
    count: u32,
    free: Vec<u32>,
    rare: Rare,
}

/// What few parts have.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// Bytes of large parts.
    large: Map<Key, u64>,
    /// Bytes that no job has read, of the parts that have some.
    unread: Map<Key, u64>,
}

/// Parts of consecutive files that a job reads through several caches.
pub(crate) struct Reading<'a> {
    /// The first file.
    pub(crate) file: u64,
    /// Of each file: the parts in their order, and how many of their first bytes are read.
    pub(crate) wanted: &'a [(usize, u64)],
    /// By file and part: how many bytes the caches before this one have.
    pub(crate) have: &'a mut [u64],
}

/// What a cache did for a reading.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Passed {
    /// Of the bytes that were asked for, those that were there, and those that were not.
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    /// Of the hits, those that no cache before this one has.
    pub(crate) delivered: u64,
    /// Bytes that were added.
    pub(crate) grown: u64,
    /// Whether anything had to be fetched.
    pub(crate) fetched: bool,
}

/// The key of some blocks, the number of the block among them, and the place of a part in it.
fn split(key: Key) -> (u64, usize, usize) {
    let (part, file) = (key & 0xff, key >> 8);
    ((file >> 5) << 7 | part >> 1, (file >> 3 & 3) as usize, ((file & 7) << 1 | part & 1) as usize)
}

/// The key of the part at a place of a block.
fn joined(blocks: u64, block: usize, at: usize) -> Key {
    let (file, part) = ((blocks >> 7) << 5 | (block as u64) << 3 | at as u64 >> 1, (blocks & 127) << 1 | at as u64 & 1);
    file << 8 | part
}

impl Units {
    /// Bytes of a part that are there.
    pub(crate) fn bytes(&self, key: Key) -> u64 {
        let (blocks, block, at) = split(key);
        let place = self.places.get(&blocks).map_or(NONE, |places| places[block]);
        if place == NONE { 0 } else { self.rare.bytes(key, self.block(place).0[at]) }
    }

    /// The first bytes of a part are read; use is recorded if the last one is `touch` ago. Returns how many bytes are there.
    pub(crate) fn read(&mut self, now: Time, key: Key, wanted: u64, touch: Time) -> u64 {
        let (blocks, block, at) = split(key);
        let place = self.places.get(&blocks).map_or(NONE, |places| places[block]);
        if place == NONE {
            return 0;
        }
        let (block, rare) = self.block_mut(place);
        rare.read(seconds(now), key, &mut block.0[at], wanted, touch)
    }

    /// A part has at least so many bytes, of which a job reads the first.
    pub(crate) fn grow(&mut self, now: Time, key: Key, bytes: u64, read: u64) {
        let (blocks, block, at) = split(key);
        let place = self.place(blocks, block);
        let (block, rare) = self.block_mut(place);
        let unit = &mut block.0[at];
        let before = rare.bytes(key, *unit);
        if before == 0 {
            unit.used = seconds(now);
        }
        let there = before.max(bytes);
        rare.set(key, unit, there);
        if there > before && read < there {
            let read = (before - rare.unread.get(&key).copied().unwrap_or(0)).max(read);
            rare.unread.insert(key, there - read);
        } else {
            rare.is_read(key, there, read);
        }
    }

    /// Parts are read, and what is not there is added: as [`read`](Self::read) and [`grow`](Self::grow) of each part that the caches
    /// before this one do not have.
    pub(crate) fn pass(&mut self, now: Time, reading: &mut Reading<'_>, touch: Time) -> Passed {
        let parts = reading.wanted.len();
        let now = seconds(now);
        let mut passed = Passed::default();
        let mut at = 0;
        // parts that are in the same blocks
        for beside in reading.wanted.chunk_by(|a, b| a.0 >> 1 == b.0 >> 1) {
            let Some(&(part, _)) = beside.first() else { continue };
            let mut file = reading.file;
            let mut rest = &mut *reading.have;
            while !rest.is_empty() {
                // the files of one block
                let count = ((8 - (file & 7)) as usize * parts).min(rest.len());
                let (have, after) = std::mem::take(&mut rest).split_at_mut(count);
                rest = after;
                let files = file..;
                file += (count / parts) as u64;
                let lacks = |have: &[u64]| have[at..].iter().zip(beside).any(|(have, wanted)| *have < wanted.1);
                if !have.chunks(parts).any(lacks) {
                    continue;
                }
                let (blocks, block, _) = split(key_of(files.start, part));
                let place = self.place(blocks, block);
                let (block, rare) = self.block_mut(place);
                for (file, have) in files.zip(have.chunks_mut(parts)) {
                    for (have, &(part, wanted)) in have[at..].iter_mut().zip(beside) {
                        if *have == wanted {
                            continue;
                        }
                        let key = key_of(file, part);
                        let unit = &mut block.0[split(key).2];
                        let there = rare.read(now, key, unit, wanted, touch);
                        let hit = there.min(wanted);
                        let then = hit.max(*have);
                        passed.hits += hit;
                        passed.misses += wanted - hit;
                        passed.delivered += then - *have;
                        *have = then;
                        if then < wanted {
                            if there == 0 {
                                unit.used = now;
                            }
                            rare.set(key, unit, wanted);
                            rare.is_read(key, wanted, wanted);
                            passed.grown += wanted - there;
                            passed.fetched = true;
                        }
                    }
                }
            }
            at += beside.len();
        }
        passed
    }

    /// Takes bytes away from the end of a part; returns those of them that no job had read.
    pub(crate) fn shrink(&mut self, key: Key, by: u64) -> u64 {
        let (blocks, number, at) = split(key);
        let place = self.places.get(&blocks).map_or(NONE, |places| places[number]);
        if place == NONE {
            return 0;
        }
        let (block, rare) = self.block_mut(place);
        let left = rare.bytes(key, block.0[at]).saturating_sub(by);
        rare.set(key, &mut block.0[at], left);
        let is_empty = block.0.iter().all(|unit| unit.bytes == 0);
        // what nobody read is at the end
        let mut gone = 0;
        if let Some(unread) = rare.unread.get_mut(&key) {
            gone = (*unread).min(by);
            *unread -= gone;
            if *unread == 0 || left == 0 {
                rare.unread.remove(&key);
            }
        }
        if is_empty {
            self.free.push(place);
            if let Some(places) = self.places.get_mut(&blocks) {
                places[number] = NONE;
                if places.iter().all(|&place| place == NONE) {
                    self.places.remove(&blocks);
                }
            }
        }
        gone
    }

    /// Every part: its key, bytes, and when it was used last.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, u64, u32)> + '_ {
        let blocks = self.places.iter().flat_map(|(&key, places)| {
            let used = places.iter().enumerate().filter(|(_, place)| **place != NONE);
            used.map(move |(number, &place)| (key, number, place))
        });
        blocks.flat_map(move |(blocks, number, place)| {
            let parts = self.block(place).0.iter().enumerate().filter(|(_, unit)| unit.bytes > 0);
            parts.map(move |(at, &unit)| {
                let key = joined(blocks, number, at);
                (key, self.rare.bytes(key, unit), unit.used)
            })
        })
    }

    /// Bytes that no job has read.
    pub(crate) fn unread(&self) -> u64 {
        self.rare.unread.values().sum()
    }

    fn block(&self, place: u32) -> &Block {
        &self.blocks[place as usize / CHUNK][place as usize % CHUNK]
    }

    fn block_mut(&mut self, place: u32) -> (&mut Block, &mut Rare) {
        (&mut self.blocks[place as usize / CHUNK][place as usize % CHUNK], &mut self.rare)
    }

    /// The place of a block, which is made if there is none.
    fn place(&mut self, blocks: u64, block: usize) -> u32 {
        let slot = &mut self.places.entry(blocks).or_insert([NONE; TOGETHER])[block];
        if *slot == NONE {
            *slot = self.free.pop().unwrap_or_else(|| {
                self.count += 1;
                self.count - 1
            });
            if *slot as usize / CHUNK >= self.blocks.len() {
                self.blocks.push(vec![Block::default(); CHUNK].into_boxed_slice());
            }
        }
        *slot
    }
}

impl Rare {
    fn bytes(&self, key: Key, unit: Unit) -> u64 {
        if unit.bytes < LARGE { u64::from(unit.bytes) } else { self.large.get(&key).copied().unwrap_or(0) }
    }

    fn set(&mut self, key: Key, unit: &mut Unit, bytes: u64) {
        let large = bytes >= u64::from(LARGE);
        if large {
            self.large.insert(key, bytes);
        } else if unit.bytes == LARGE {
            self.large.remove(&key);
        }
        unit.bytes = if large { LARGE } else { bytes as u32 };
    }

    fn read(&mut self, now: u32, key: Key, unit: &mut Unit, wanted: u64, touch: Time) -> u64 {
        let there = self.bytes(key, *unit);
        if there > 0 {
            if u64::from(now.saturating_sub(unit.used)) * SECOND >= touch {
                unit.used = now;
            }
            self.is_read(key, there, wanted);
        }
        there
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
