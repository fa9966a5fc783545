//! Boundaries of clusters, from good and bad headers.

use sapwood_format::tree::{Branch, Tree, clusters};

fn tree(entries: u64, auto_flush: i64, ranges: &[(u64, u64)], branches: &[&[u64]]) -> Tree {
    let branch = |starts: &&[u64]| Branch {
        write_basket: starts.len(),
        basket_entry: starts.to_vec(),
        basket_bytes: vec![100; starts.len()],
        basket_seek: vec![1000; starts.len()],
        ..Branch::default()
    };
    Tree {
        entries,
        auto_flush,
        cluster_ranges: ranges.to_vec(),
        branches: branches.iter().map(branch).collect(),
        ..Tree::default()
    }
}

#[test]
fn flushes_by_entries() {
    assert_eq!(clusters(&tree(10, 4, &[], &[])), [0, 4, 8, 10]);
    assert_eq!(clusters(&tree(8, 4, &[], &[])), [0, 4, 8]);
    assert_eq!(clusters(&tree(3, 4, &[], &[])), [0, 3]);
    assert_eq!(clusters(&tree(0, 4, &[], &[])), [0]);
    assert_eq!(clusters(&tree(5, i64::MAX, &[], &[])), [0, 5]);
}

#[test]
fn ranges_of_other_sizes_come_first() {
    // entries 0-9 in clusters of 5, 10-15 in clusters of 3, the rest as now
    assert_eq!(clusters(&tree(40, 10, &[(9, 5), (15, 3)], &[])), [0, 5, 10, 13, 16, 26, 36, 40]);
    // after the last range nothing is known without a number of entries
    assert_eq!(clusters(&tree(40, -30_000_000, &[(9, 5)], &[])), [0, 5, 10, 40]);
    // ranges beyond the end, or descending, or of size 0
    assert_eq!(clusters(&tree(12, 10, &[(99, 5)], &[])), [0, 5, 10, 12]);
    assert_eq!(clusters(&tree(12, 4, &[(7, 4), (3, 2)], &[])), [0, 4, 8, 12]);
    assert_eq!(clusters(&tree(3, 0, &[(u64::MAX, 0)], &[])), [0, 1, 2, 3]);
}

#[test]
fn without_flushes_by_entries_baskets_that_begin_together() {
    assert_eq!(clusters(&tree(30, 0, &[], &[&[0, 10, 15, 20], &[0, 10, 20]])), [0, 10, 20, 30]);
    assert_eq!(clusters(&tree(30, -1000, &[], &[&[0, 10], &[0, 11]])), [0, 30], "none but the first");
    assert_eq!(clusters(&tree(30, 0, &[], &[])), [0, 30]);
}

#[test]
fn damage_never_makes_them_fall_or_fill_the_memory() {
    let huge: Vec<(u64, u64)> = (1..2000).map(|i| (i << 50, 1)).collect();
    let wrong = [
        tree(1 << 62, 1, &[], &[]),
        tree(u64::MAX, 1, &[(u64::MAX, 1)], &[]),
        tree(1 << 62, 1, &huge, &[]),
        tree(30, 0, &[], &[&[0, 20, 10, 25], &[0, 20, 10, 25]]),
        tree(30, 0, &[], &[&[5, 0, 3], &[0, 5, 3]]),
        tree(30, 0, &[], &[&[0, 0, 0, 7, 7], &[0, 7, 7, 0]]),
        tree(30, 0, &[], &[&[0, u64::MAX, 7], &[0, 7]]),
    ];
    for t in wrong {
        let bounds = clusters(&t);
        assert!(bounds.len() < 3 << 20, "{} boundaries", bounds.len());
        assert_eq!((bounds[0], bounds[bounds.len() - 1]), (0, t.entries));
        assert!(bounds.windows(2).all(|w| w[0] < w[1]), "{} entries", t.entries);
    }
}
