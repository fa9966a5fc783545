//! What a cache has of parts of files. In a federation that is more than the processor's cache holds, and what is elsewhere is a wait: so
//! what is there of consecutive files, which jobs read together, is kept and looked up together.

use crate::chunks::Chunks;
use crate::clock::Time;
use crate::keys::{Key, Map, key as key_of};
use crate::stretches::{Draft, FILES, Lists, Pair, Unit};
use sapwood_pages::prefetch;
use std::ops::Range;

const SECOND: Time = 1_000_000_000;
/// Of the number of a chunk, the bits of that of its files.
const CHUNK_BITS: u32 = 25;
/// So many bytes, or more, are kept elsewhere.
const LARGE: u32 = u32::MAX;

/// Parts of files by their keys.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Units {
    /// By the number of a pair of parts, and that of 64 files.
    chunks: Chunks,
    lists: Lists,
    rare: Rare,
    /// For changes of one part.
    draft: Option<Box<Draft>>,
}

/// What few parts have; nothing, as long as none has.
#[derive(Clone, Debug, Default)]
struct Rare(Option<Box<RareParts>>);

#[derive(Clone, Debug, Default)]
struct RareParts {
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
    /// Used by each cache.
    pub(crate) draft: &'a mut Draft,
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

/// The number of a chunk, the place of a file in it, and of a part in its pair. There are at most 2^30 files, with 256 parts.
fn split(key: Key) -> (u32, u8, usize) {
    let (part, file) = (key & 0xff, key >> 8);
    let files = FILES as u64;
    ((((part >> 1) << CHUNK_BITS) | (file / files)) as u32, (file % files) as u8, (part & 1) as usize)
}

/// The key of a part.
fn joined(chunk: u32, file: u8, at: usize) -> Key {
    let (part, chunk) = (chunk >> CHUNK_BITS, chunk & ((1 << CHUNK_BITS) - 1));
    let file = u64::from(chunk) * FILES as u64 + u64::from(file);
    file << 8 | u64::from(part) << 1 | at as u64
}

impl Units {
    /// Bytes of a part that are there.
    pub(crate) fn bytes(&self, key: Key) -> u64 {
        self.rare.bytes(key, self.unit(key))
    }

    fn unit(&self, key: Key) -> Unit {
        let (chunk, file, at) = split(key);
        self.lists.pair(&self.chunks.get(chunk), file)[at]
    }

    /// All of it will be needed soon.
    pub(crate) fn prefetch_self(&self) {
        prefetch(&self.chunks);
        prefetch(&self.lists);
    }

    /// A part will be needed soon.
    pub(crate) fn prefetch(&self, key: Key) {
        self.chunks.prefetch(split(key).0);
    }

    /// A part whose chunk was fetched will be needed soon.
    pub(crate) fn prefetch_list(&self, key: Key) {
        self.lists.prefetch(&self.chunks.get(split(key).0));
    }

    /// Changes files of a chunk.
    fn change(
        &mut self,
        chunk: u32,
        files: Range<u8>,
        draft: &mut Draft,
        mut how: impl FnMut(&mut Rare, u8, &mut Pair),
    ) {
        let Self { chunks, lists, rare, .. } = self;
        chunks.change(chunk, |chunk| {
            lists.change(&chunk, files, draft, |file, pair| how(rare, file, pair));
            lists.keep(chunk, draft)
        });
    }

    /// Changes one part.
    fn change_one(&mut self, key: Key, mut how: impl FnMut(&mut Rare, &mut Unit)) {
        let (chunk, file, at) = split(key);
        let mut draft = self.draft.take().unwrap_or_default();
        self.change(chunk, file..file + 1, &mut draft, |rare, _, pair| how(rare, &mut pair[at]));
        self.draft = Some(draft);
    }

    /// The first bytes of a part are read; use is recorded if the last one is `touch` ago. Returns how many bytes are there.
    pub(crate) fn read(&mut self, now: Time, key: Key, wanted: u64, touch: Time) -> u64 {
        let mut unit = self.unit(key);
        let before = unit;
        let there = self.rare.read(seconds(now), key, &mut unit, wanted, touch);
        if unit != before {
            self.change_one(key, |_, kept| *kept = unit);
        }
        there
    }

    /// A part has at least so many bytes, of which a job reads the first.
    pub(crate) fn grow(&mut self, now: Time, key: Key, bytes: u64, read: u64) {
        self.change_one(key, |rare, unit| {
            let before = rare.bytes(key, *unit);
            if before == 0 {
                unit.used = seconds(now);
            }
            let there = before.max(bytes);
            rare.set(key, unit, there);
            if there > before && read < there {
                let read = (before - rare.unread(key)).max(read);
                rare.set_unread(key, there - read);
            } else {
                rare.is_read(key, there, read);
            }
        });
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
                // the files of one chunk
                let count = ((FILES - file as usize % FILES) * parts).min(rest.len());
                let (have, after) = std::mem::take(&mut rest).split_at_mut(count);
                rest = after;
                let files = file..;
                file += (count / parts) as u64;
                let lacks = |have: &[u64]| have[at..].iter().zip(beside).any(|(have, wanted)| *have < wanted.1);
                if !have.chunks(parts).any(lacks) {
                    continue;
                }
                let (chunk, first, _) = split(key_of(files.start, part));
                let end = first + (count / parts) as u8;
                self.change(chunk, first..end, reading.draft, |rare, number, pair| {
                    let have = have.chunks_mut(parts).nth(usize::from(number - first)).and_then(|h| h.get_mut(at..));
                    for (have, &(part, wanted)) in have.into_iter().flatten().zip(beside) {
                        if *have == wanted {
                            continue;
                        }
                        let key = joined(chunk, number, part & 1);
                        let unit = &mut pair[part & 1];
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
                });
            }
            at += beside.len();
        }
        passed
    }

    /// Takes bytes away from the end of a part; returns those of them that no job had read.
    pub(crate) fn shrink(&mut self, key: Key, by: u64) -> u64 {
        let mut gone = 0;
        self.change_one(key, |rare, unit| {
            let left = rare.bytes(key, *unit).saturating_sub(by);
            rare.set(key, unit, left);
            // what nobody read is at the end
            let unread = rare.unread(key);
            if unread > 0 {
                gone = unread.min(by);
                rare.set_unread(key, if left == 0 { 0 } else { unread - gone });
            }
        });
        gone
    }

    /// Every part: its key, bytes, and when it was used last.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, u64, u32)> + '_ {
        let stretches = self.chunks.iter().flat_map(|(number, chunk)| {
            let stretches = self.lists.of(chunk);
            stretches
                .flat_map(move |stretch| (stretch.begin..stretch.end).map(move |file| (number, file, stretch.pair)))
        });
        stretches.flat_map(move |(number, file, pair)| {
            let parts = pair.into_iter().enumerate().filter(|(_, unit)| unit.bytes > 0);
            parts.map(move |(at, unit)| {
                let key = joined(number, file, at);
                (key, self.rare.bytes(key, unit), unit.used)
            })
        })
    }

    /// Bytes that no job has read.
    pub(crate) fn unread(&self) -> u64 {
        self.rare.0.iter().flat_map(|rare| rare.unread.values()).sum()
    }
}

impl Rare {
    fn bytes(&self, key: Key, unit: Unit) -> u64 {
        if unit.bytes < LARGE {
            return unit.bytes.into();
        }
        self.0.as_ref().and_then(|rare| rare.large.get(&key)).copied().unwrap_or(0)
    }

    fn set(&mut self, key: Key, unit: &mut Unit, bytes: u64) {
        let large = bytes >= u64::from(LARGE);
        if large {
            self.0.get_or_insert_default().large.insert(key, bytes);
        } else if unit.bytes == LARGE
            && let Some(rare) = &mut self.0
        {
            rare.large.remove(&key);
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

    /// Bytes of a part that no job has read.
    fn unread(&self, key: Key) -> u64 {
        self.0.as_ref().and_then(|rare| rare.unread.get(&key)).copied().unwrap_or(0)
    }

    /// Nobody has read so many bytes at the end of a part.
    fn set_unread(&mut self, key: Key, bytes: u64) {
        if bytes > 0 {
            self.0.get_or_insert_default().unread.insert(key, bytes);
        } else if let Some(rare) = &mut self.0 {
            rare.unread.remove(&key);
        }
    }

    /// A job has read the first bytes of a part.
    fn is_read(&mut self, key: Key, there: u64, read: u64) {
        if self.0.is_some() {
            let unread = self.unread(key);
            if unread > 0 {
                self.set_unread(key, unread.min(there.saturating_sub(read)));
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
        fn stretches_hold_what_a_list_of_parts_holds(
            steps in proptest::collection::vec((44u64..84, 0usize..5, 1u64..100, 0u64..100, 0u8..3), 1..200),
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
