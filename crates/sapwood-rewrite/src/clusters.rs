//! Clusters of joined trees, as `TTree` keeps them: ranges of entries in which clusters have one size.

/// The cluster data of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterTable {
    /// Last entry of each range, and the entries of its clusters (the last one may be smaller).
    pub(crate) ranges: Vec<(u64, u64)>,
    /// Entries of the clusters after the last range.
    pub(crate) auto_flush: u64,
}

/// The table for these boundaries, with the number of entries at the end.
pub(crate) fn table(boundaries: &[u64]) -> ClusterTable {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let sizes: Vec<u64> = boundaries.windows(2).map(|w| w[1].saturating_sub(w[0])).collect();
    let mut at = 0;
    while let Some(&size) = sizes.get(at) {
        while sizes.get(at) == Some(&size) {
            at += 1;
        }
        // one smaller cluster ends a range
        if sizes.get(at).is_some_and(|&s| s < size) {
            at += 1;
        }
        ranges.push((boundaries.get(at).copied().unwrap_or(0).saturating_sub(1), size));
    }
    // the last range continues to the end: that is expressed by fAutoFlush
    let auto_flush = ranges.pop().map_or(0, |(_, size)| size);
    ClusterTable { ranges, auto_flush }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_format::tree::{Tree, clusters};

    #[test]
    fn what_is_written_reads_back_as_the_same_boundaries() {
        for sizes in [
            vec![10],
            vec![10, 10, 3],
            vec![10, 10, 3, 10, 10, 3],
            vec![3, 10, 3, 10],
            vec![5, 4, 3, 2, 1],
            vec![1, 2, 3, 4],
            vec![7, 7, 7, 8, 8, 2, 2, 2],
        ] {
            let mut boundaries = vec![0];
            for s in &sizes {
                boundaries.push(boundaries.last().unwrap() + s);
            }
            let t = table(&boundaries);
            let entries = *boundaries.last().unwrap();
            let tree =
                Tree { entries, auto_flush: t.auto_flush as i64, cluster_ranges: t.ranges.clone(), ..Tree::default() };
            assert_eq!(clusters(&tree), boundaries, "{sizes:?} {t:?}");
        }
        assert_eq!(table(&[0, 10, 20, 30]).ranges, []);
        assert_eq!(table(&[]), ClusterTable::default());
    }
}
