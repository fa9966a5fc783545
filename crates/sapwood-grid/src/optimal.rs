//! What no rule of eviction can beat: the least bytes that a cache of some size must fetch for a sequence of reads.
//!
//! Belady's rule (1966): evict what is needed again latest. For pieces of equal size no rule fetches less. Here each byte is a piece: of
//! what is needed latest just as many bytes are evicted as there is need of. So the bound never rises with the size of the cache.

use std::collections::{BTreeMap, HashMap};

/// Bytes that must be fetched when these reads (a part, and how many of its first bytes) go through a cache of `max_bytes`.
pub(crate) fn least_misses(reads: &[(u64, u64)], max_bytes: u64) -> u64 {
    let (next, longer) = later_reads(reads);
    // bytes that are kept, by the time of their next read
    let mut kept: BTreeMap<usize, u64> = BTreeMap::new();
    let (mut used, mut missed) = (0u64, 0u64);
    for (i, &(_, wanted)) in reads.iter().enumerate() {
        let have = kept.remove(&i).unwrap_or(0);
        used -= have;
        missed += wanted - have;
        // its first bytes are read next by the next read of the part, those behind them by the next longer one
        let (mut from, mut at) = (0, next[i]);
        while from < wanted
            && let Some(&(_, length)) = reads.get(at)
        {
            let to = length.min(wanted);
            *kept.entry(at).or_default() += to - from;
            used += to - from;
            (from, at) = (to, longer[at]);
        }
        while used > max_bytes {
            let Some(mut latest) = kept.last_entry() else { break };
            let freed = (*latest.get()).min(used - max_bytes);
            *latest.get_mut() -= freed;
            used -= freed;
            if *latest.get() == 0 {
                latest.remove();
            }
        }
    }
    missed
}

/// For each read, the number of the next one of its part, and of the next longer one; none: later than all.
fn later_reads(reads: &[(u64, u64)]) -> (Vec<usize>, Vec<usize>) {
    let [mut next, mut longer] = [(); 2].map(|()| vec![usize::MAX; reads.len()]);
    // by part, later reads that are longer than all between: the nearest last
    let mut later: HashMap<u64, Vec<usize>> = HashMap::new();
    // the nearest read of each part
    let mut nearest: HashMap<u64, usize> = HashMap::new();
    for (i, &(part, wanted)) in reads.iter().enumerate().rev() {
        next[i] = nearest.insert(part, i).unwrap_or(usize::MAX);
        let later = later.entry(part).or_default();
        while later.last().is_some_and(|&at| reads[at].1 <= wanted) {
            later.pop();
        }
        longer[i] = later.last().copied().unwrap_or(usize::MAX);
        later.push(i);
    }
    (next, longer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::keys::key;
    use proptest::prelude::*;

    #[test]
    fn what_is_needed_latest_is_evicted() {
        let reads: Vec<(u64, u64)> = [1, 2, 3, 1, 2, 3].map(|k| (k, 10)).to_vec();
        assert_eq!(least_misses(&reads, 100), 30);
        assert_eq!(least_misses(&reads, 20), 40);
        assert_eq!(least_misses(&reads, 0), 60);
        assert_eq!(least_misses(&[(1, 10), (1, 30), (1, 20)], 100), 30);
    }

    /// A read of 50 bytes, then 50 of which each is a byte longer, a thousand times.
    #[test]
    fn reads_of_many_lengths_are_not_many_reads() {
        let once = (0..50_000u64).map(|i| (1, if i % 51 == 0 { 50 } else { i % 51 }));
        let reads: Vec<(u64, u64)> = once.collect();
        assert_eq!(least_misses(&reads, 50), 50);
        assert_eq!(least_misses(&reads, 0), reads.iter().map(|read| read.1).sum::<u64>());
        let bytes = [30, 40].map(|max| least_misses(&reads, max));
        assert!(bytes[0] > bytes[1] && bytes[1] > 50, "{bytes:?}");
    }

    proptest! {
        #[test]
        fn more_disk_never_costs_and_no_cache_does_better(
            reads in proptest::collection::vec((0u64..12, 1u64..50), 1..200), small in 1u64..400, more in 0u64..400,
        ) {
            let mib = 1u64 << 20;
            let reads: Vec<(u64, u64)> = reads.into_iter().map(|(k, n)| (key(k, 0), n * mib)).collect();
            let [few, many] = [small, small + more].map(|m| least_misses(&reads, m * mib));
            prop_assert!(many <= few);
            let mut cache = Cache::new(small * mib);
            for (i, &(key, bytes)) in reads.iter().enumerate() {
                let now = i as u64 * 60_000_000_000;
                if cache.read(now, key, bytes) < bytes {
                    cache.insert(now, key, bytes, bytes);
                }
            }
            let figures = cache.figures();
            prop_assert!(few <= figures.miss_bytes, "{few} {}", figures.miss_bytes);
            // the cache records accesses from when it needs room: that changes nothing
            prop_assert_eq!(figures.least_miss_bytes, Some(few));
        }
    }
}
