use super::Tree;

/// The boundaries of a tree's clusters: the first entry of each, and the number of entries at the end.
///
/// Ranges with their own cluster size come first (ROOT's fClusterRangeEnd, which is the last entry inside), then
/// clusters of fAutoFlush entries. A tree that was never flushed by entries has its clusters where the baskets of all
/// branches begin together, or otherwise is one cluster.
pub fn clusters(tree: &Tree) -> Vec<u64> {
    let entries = tree.entries;
    let mut out = vec![0];
    let mut at = 0u64;
    for &(last, size) in &tree.cluster_ranges {
        let end = last.saturating_add(1).min(entries);
        push_steps(&mut out, &mut at, end, size);
    }
    if tree.auto_flush > 0 {
        push_steps(&mut out, &mut at, entries, tree.auto_flush as u64);
    } else if tree.cluster_ranges.is_empty()
        && let Some(common) = common_starts(tree)
    {
        out = common;
    }
    if out.last() != Some(&entries) {
        out.push(entries);
    }
    out.dedup();
    out
}

/// More clusters than any tree has: excess ones from a damaged header are joined.
const MOST: usize = 1 << 20;

fn push_steps(out: &mut Vec<u64>, at: &mut u64, end: u64, size: u64) {
    // a damaged size must not turn every entry of a huge tree into a cluster
    let room = MOST.saturating_sub(out.len()) as u64;
    let size = end.saturating_sub(*at).checked_div(room).map_or(u64::MAX, |least| size.max(1).max(least));
    while *at < end {
        *at = at.saturating_add(size).min(end);
        out.push(*at);
    }
}

/// First entries at which a basket of every branch with baskets begins.
fn common_starts(tree: &Tree) -> Option<Vec<u64>> {
    let mut common: Option<Vec<u64>> = None;
    for b in tree.branches.iter().filter(|b| b.write_basket > 0) {
        let starts = &b.basket_entry[..b.write_basket.min(b.basket_entry.len())];
        common = Some(match common {
            None => starts.iter().copied().filter(|&e| e < tree.entries).collect(),
            Some(c) => c.into_iter().filter(|e| starts.binary_search(e).is_ok()).collect(),
        });
    }
    // a damaged table may descend
    common.filter(|c| c.len() > 1 && c[0] == 0 && c.is_sorted())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_then_flushes() {
        let t = Tree { entries: 25, auto_flush: 10, cluster_ranges: vec![(5, 3)], ..Tree::default() };
        assert_eq!(clusters(&t), [0, 3, 6, 16, 25]);
        let t = Tree { entries: 25, auto_flush: 0, ..Tree::default() };
        assert_eq!(clusters(&t), [0, 25]);
        let t = Tree { entries: 0, auto_flush: 3, ..Tree::default() };
        assert_eq!(clusters(&t), [0]);
    }
}
