//! A cache of byte ranges in virtual time: the store's rules of eviction ([`sapwood_store::policy`]) over numbers in place of files.
//!
//! What is kept of a file is counted by parts: branches that the same workloads read. Of each part a job reads the first entries, so
//! that the bytes kept are one number. Pieces that no range of a scan separates are evicted together or by whole segments, as in the
//! store.

use crate::clock::Time;
use crate::keys::{Key, key as key_of};
use crate::units::{Reading, Units};
use sapwood_pages::prefetch;
use sapwood_store::policy::{self, Rank, TOUCH};

/// The cache of a proxy or a node. What each job needs is first, and beside each other.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Cache {
    max_bytes: u64,
    used: u64,
    most: u64,
    hits: u64,
    misses: u64,
    units: Units,
    /// Bytes that were evicted and that no job had read.
    unread: u64,
    evicted: u64,
    accesses: Accesses,
}

/// Accesses, for the bound of what any rule of eviction could do.
#[derive(Clone, Debug)]
enum Accesses {
    /// There was room for all so far: no rule does better.
    Room,
    /// What was there when room was needed first, and every access from then on.
    Since(Vec<(Key, u64)>),
    /// There were too many, or not only what was read was fetched.
    Unknown,
}

/// More accesses than these are not recorded.
const MOST_ACCESSES: usize = 1 << 21;

impl Accesses {
    fn add(&mut self, key: Key, wanted: u64) {
        match self {
            Self::Since(all) if all.len() < MOST_ACCESSES => all.push((key, wanted)),
            Self::Since(_) => *self = Self::Unknown,
            Self::Room | Self::Unknown => {}
        }
    }
}

impl Cache {
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            used: 0,
            most: 0,
            units: Units::default(),
            hits: 0,
            misses: 0,
            unread: 0,
            evicted: 0,
            accesses: Accesses::Room,
        }
    }

    /// Parts are read, and what is not there is fetched and kept, as far as there is room. Returns the bytes that the caches before this
    /// one do not have, and whether anything was fetched.
    pub(crate) fn pass(&mut self, now: Time, reading: &mut Reading<'_>) -> (u64, bool) {
        let parts = reading.wanted.len().max(1);
        let most: u64 = reading.wanted.iter().map(|w| w.1).fold(0, u64::saturating_add);
        let most = most.saturating_mul((reading.have.len() / parts) as u64);
        if self.has_room(most) {
            if matches!(self.accesses, Accesses::Since(_)) {
                for (file, have) in (reading.file..).zip(reading.have.chunks(parts)) {
                    let read = have.iter().zip(reading.wanted).filter(|(have, wanted)| **have < wanted.1);
                    read.for_each(|(_, &(part, wanted))| self.accesses.add(key_of(file, part), wanted));
                }
            }
            let passed = self.units.pass(now, reading, TOUCH.as_nanos() as Time);
            self.hits += passed.hits;
            self.misses += passed.misses;
            self.used += passed.grown;
            self.most = self.most.max(self.used);
            return (passed.delivered, passed.fetched);
        }
        let (mut delivered, mut fetched) = (0, false);
        for (file, have) in (reading.file..).zip(reading.have.chunks_mut(parts)) {
            for (have, &(part, wanted)) in have.iter_mut().zip(reading.wanted).filter(|(have, w)| **have < w.1) {
                let key = key_of(file, part);
                // of the prefix, what lies behind the bytes that a cache before this one has
                let there = self.read(now, key, wanted).max(*have);
                delivered += there - *have;
                if there < wanted {
                    self.insert(now, key, wanted, wanted);
                    fetched = true;
                }
                *have = there;
            }
        }
        (delivered, fetched)
    }

    /// It will be needed soon.
    pub(crate) fn prefetch(&self) {
        prefetch(self);
        self.units.prefetch_self();
    }

    /// What it has of parts.
    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// Whether so many bytes more need no eviction.
    fn has_room(&self, bytes: u64) -> bool {
        self.used.saturating_add(bytes).saturating_add(policy::step(self.max_bytes)) <= policy::ceiling(self.max_bytes)
    }

    /// Reads the first `wanted` bytes of a part, and returns how many of them are there.
    pub(crate) fn read(&mut self, now: Time, key: Key, wanted: u64) -> u64 {
        self.accesses.add(key, wanted);
        let hit = self.units.read(now, key, wanted, TOUCH.as_nanos() as Time).min(wanted);
        self.hits += hit;
        self.misses += wanted - hit;
        hit
    }

    /// What was read of a file just now is read again, in so many bytes. Returns how many of them are there.
    pub(crate) fn reread(&mut self, file: u64, wanted: &[(usize, u64)], bytes: u64) -> u64 {
        let held: u64 = wanted.iter().map(|&(part, wanted)| self.held(key_of(file, part)).min(wanted)).sum();
        let once: u64 = wanted.iter().map(|w| w.1).sum();
        let hit = (u128::from(bytes) * u128::from(held) / u128::from(once.max(1))) as u64;
        self.hits += hit;
        self.misses += bytes - hit;
        hit
    }

    /// Keeps the first `bytes` of a part, of which a job reads the first `read`, as far as there is room. Returns how many are kept.
    pub(crate) fn insert(&mut self, now: Time, key: Key, bytes: u64, read: u64) -> u64 {
        if read < bytes {
            // the bound is of caches that fetch only what is read
            self.accesses = Accesses::Unknown;
        }
        let segment = policy::segment_bytes(self.max_bytes);
        let mut have = self.units.bytes(key);
        let all = bytes.saturating_sub(have);
        // where the last step fits, all fit
        if self.has_room(all) {
            have += all;
            self.used += all;
            self.most = self.most.max(self.used);
        }
        while have < bytes {
            let more = (bytes - have).min(segment);
            // as the store reserves
            let wanted = more.max(policy::step(self.max_bytes));
            if let Some(goal) = policy::goal(self.max_bytes, self.used, wanted) {
                self.needs_room(key, bytes);
                self.evict(key, goal);
            }
            if self.used + more > policy::ceiling(self.max_bytes) {
                break;
            }
            have += more;
            self.used += more;
            self.most = self.most.max(self.used);
        }
        if have > 0 {
            self.units.grow(now, key, have, read.min(have));
        }
        have
    }

    /// Keeps the first `bytes` of a part, as far as there is room, and delivers them to another cache, in which it counts whether a job
    /// reads them.
    pub(crate) fn pass_on(&mut self, now: Time, key: Key, bytes: u64) {
        // no job asked for them: the bound is of what jobs read
        self.accesses = Accesses::Unknown;
        self.insert(now, key, bytes, bytes);
    }

    /// From when something may have to go, the accesses are of interest: what is there then was read before, and the read that needs
    /// room is known already.
    fn needs_room(&mut self, key: Key, wanted: u64) {
        if !matches!(self.accesses, Accesses::Room) {
            return;
        }
        let mut all: Vec<(Key, u64)> = self.units.all().map(|(key, bytes, _)| (key, bytes)).collect();
        all.sort_unstable();
        all.push((key, wanted));
        self.accesses = if all.len() <= MOST_ACCESSES { Accesses::Since(all) } else { Accesses::Unknown };
    }

    /// Evicts what is not of the file that is being read.
    fn evict(&mut self, holder: Key, goal: u64) {
        let segment = policy::segment_bytes(self.max_bytes);
        let others = self.units.all().filter(|(k, ..)| *k >> 8 != holder >> 8);
        let mut candidates: Vec<(Key, u32)> = others.map(|(key, _, used)| (key, used)).collect();
        // so that those of the same time have an order
        candidates.sort_unstable_by_key(|c| c.0);
        let (units, unread, evicted, used) = (&mut self.units, &mut self.unread, &mut self.evicted, self.used);
        let mut left = used;
        self.used = policy::evict(
            candidates,
            |c| (Rank::Current, c.1),
            used,
            goal,
            |(key, _)| {
                // segment by segment, from the end
                let segments = left.saturating_sub(goal).div_ceil(segment);
                let freed = segments.saturating_mul(segment).min(units.bytes(key));
                *unread += units.shrink(key, freed);
                *evicted += freed;
                left -= freed;
                freed
            },
        );
    }

    /// Bytes of a part that are there.
    pub(crate) fn held(&self, key: Key) -> u64 {
        self.units.bytes(key)
    }

    /// Bytes kept now.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// What happened.
    pub(crate) fn figures(&self) -> CacheFigures {
        CacheFigures {
            max_bytes: self.max_bytes,
            most_bytes: self.most,
            hit_bytes: self.hits,
            miss_bytes: self.misses,
            evicted_bytes: self.evicted,
            unread_bytes: self.unread + self.units.unread(),
            least_miss_bytes: match &self.accesses {
                Accesses::Room => Some(self.misses),
                Accesses::Since(all) => Some(crate::optimal::least_misses(all, self.max_bytes)),
                Accesses::Unknown => None,
            },
        }
    }
}

/// What happened in a cache, or in several together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CacheFigures {
    /// Bytes it may keep.
    pub max_bytes: u64,
    /// The most that it kept.
    pub most_bytes: u64,
    /// Bytes that it delivered.
    pub hit_bytes: u64,
    /// Bytes that had to be fetched.
    pub miss_bytes: u64,
    /// Bytes that were evicted.
    pub evicted_bytes: u64,
    /// Bytes that were fetched and that nobody read.
    pub unread_bytes: u64,
    /// The least that any rule of eviction could have fetched for the same reads, one that knows the future; none if there were too many
    /// reads to say.
    pub least_miss_bytes: Option<u64>,
}

impl CacheFigures {
    /// Adds those of another cache.
    pub(crate) fn add(&mut self, other: &Self) {
        self.max_bytes = self.max_bytes.saturating_add(other.max_bytes);
        self.most_bytes += other.most_bytes;
        self.hit_bytes += other.hit_bytes;
        self.miss_bytes += other.miss_bytes;
        self.evicted_bytes += other.evicted_bytes;
        self.unread_bytes += other.unread_bytes;
        self.least_miss_bytes = self.least_miss_bytes.zip(other.least_miss_bytes).map(|(a, b)| a + b);
    }

    /// The part of the bytes read that it delivered.
    pub fn hit_rate(&self) -> Option<f64> {
        let all = self.hit_bytes + self.miss_bytes;
        (all > 0).then(|| self.hit_bytes as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::key;
    use crate::stretches::Draft;

    const MINUTE: Time = 60_000_000_000;

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = Cache::new(320 << 20);
        for file in 0..30 {
            assert_eq!(cache.insert(file * MINUTE, key(file, 0), 10 << 20, 10 << 20), 10 << 20);
        }
        assert_eq!(cache.read(40 * MINUTE, key(0, 0), 10 << 20), 10 << 20);
        assert_eq!(cache.insert(41 * MINUTE, key(99, 0), 20 << 20, 20 << 20), 20 << 20);
        assert_eq!(cache.read(42 * MINUTE, key(0, 0), 10 << 20), 10 << 20);
        assert_eq!(cache.read(42 * MINUTE, key(1, 0), 10 << 20), 0);
        assert!(cache.used() <= policy::ceiling(320 << 20));
    }

    #[test]
    fn a_file_larger_than_the_cache_is_kept_up_to_the_limit() {
        let mut cache = Cache::new(100 << 20);
        let kept = cache.insert(0, key(1, 0), 1 << 30, 1 << 30);
        assert!(kept > 80 << 20 && kept <= 100 << 20, "{kept}");
        assert_eq!(cache.read(1, key(1, 0), 1 << 30), kept);
    }

    proptest::proptest! {
        /// With room for all and without, over one cache and behind another.
        #[test]
        fn consecutive_files_at_once_are_files_one_by_one(
            steps in proptest::collection::vec((0u64..60, 1u64..20, 0usize..3, 0u64..3), 1..60), size in 1u64..400,
        ) {
            let wanted: [&[(usize, u64)]; 3] =
                [&[(0, 3 << 20), (1, 5 << 20)], &[(1, 2 << 20), (2, 1 << 20), (5, 5 << 30)], &[(3, 1 << 20)]];
            let [mut at_once, mut by_one] = [(); 2].map(|()| [Cache::new(size << 20), Cache::new(size << 22)]);
            let mut now = 0;
            for &(file, files, reads, wait) in &steps {
                now += wait * MINUTE;
                let wanted = wanted[reads];
                let mut have = vec![0; files as usize * wanted.len()];
                for cache in &mut at_once {
                    cache.pass(now, &mut Reading { file, wanted, have: &mut have, draft: &mut Draft::default() });
                }
                let mut plain = Vec::new();
                for file in file..file + files {
                    for &(part, wanted) in wanted {
                        let mut have = 0;
                        for cache in &mut by_one {
                            if have < wanted {
                                let there = cache.read(now, key(file, part), wanted).max(have);
                                if there < wanted {
                                    cache.insert(now, key(file, part), wanted, wanted);
                                }
                                have = there;
                            }
                        }
                        plain.push(have);
                    }
                }
                proptest::prop_assert_eq!(have, plain);
            }
            for (at_once, by_one) in at_once.iter().zip(&by_one) {
                proptest::prop_assert_eq!(at_once.figures(), by_one.figures());
                proptest::prop_assert_eq!(at_once.used(), by_one.used());
            }
        }
    }

    #[test]
    fn what_nobody_read_is_counted() {
        let mut cache = Cache::new(1 << 30);
        cache.insert(0, key(1, 0), 1000, 400);
        assert_eq!(cache.figures().unread_bytes, 600);
        cache.read(1, key(1, 0), 900);
        assert_eq!(cache.figures().unread_bytes, 100);
    }
}
