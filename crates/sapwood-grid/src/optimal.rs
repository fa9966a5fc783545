//! What no rule of eviction can beat: the least bytes that a cache of some size must fetch for a sequence of reads.
//!
//! Belady's rule (1966): evict what is needed again latest. For pieces of equal size no rule fetches less. Here each byte is a piece: of
//! what is needed latest just as many bytes are evicted as there is need of. So the bound never rises with the size of the cache.

use std::collections::{BTreeMap, HashMap};

/// Bytes that must be fetched when these reads (a part, and how many of its first bytes) go through a cache of `max_bytes`.
pub(crate) fn least_misses(reads: &[(u64, u64)], max_bytes: u64) -> u64 {
    let reads = layers(reads);
    // when each is read next, and never again: later than all
    let mut next = vec![usize::MAX; reads.len()];
    let mut seen: HashMap<(u64, u64), usize> = HashMap::new();
    for (i, (layer, _)) in reads.iter().enumerate().rev() {
        if let Some(later) = seen.insert(*layer, i) {
            next[i] = later;
        }
    }
    // bytes that are kept, by the time of their next read
    let mut kept: BTreeMap<usize, u64> = BTreeMap::new();
    let (mut used, mut missed) = (0u64, 0u64);
    for (i, &(_, wanted)) in reads.iter().enumerate() {
        let have = kept.remove(&i).unwrap_or(0);
        used -= have;
        missed += wanted - have;
        if next[i] == usize::MAX {
            continue;
        }
        kept.insert(next[i], wanted);
        used += wanted;
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

/// The same reads in layers: where reads of a part are of different lengths, the bytes between two lengths are one thing, which a read
/// needs as a whole or not at all.
fn layers(reads: &[(u64, u64)]) -> Vec<((u64, u64), u64)> {
    let mut lengths: HashMap<u64, Vec<u64>> = HashMap::new();
    for &(key, wanted) in reads {
        let list = lengths.entry(key).or_default();
        if let Err(at) = list.binary_search(&wanted) {
            list.insert(at, wanted);
        }
    }
    let mut out = Vec::with_capacity(reads.len());
    for &(key, wanted) in reads {
        let mut from = 0;
        for &to in lengths.get(&key).into_iter().flatten().take_while(|&&to| to <= wanted) {
            out.push(((key, to), to - from));
            from = to;
        }
    }
    out
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
