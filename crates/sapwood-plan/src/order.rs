use crate::{Basket, BasketId, Limits};
use sapwood_span::{Error, Result};

/// A cluster of at most this many chosen bytes is requested in file order: all of it is needed together, and file order
/// makes the fewest ranges. In a larger one entries come first.
pub(crate) const SMALL_CLUSTER: u64 = 8 << 20;

/// Neighbours in the file that are needed further apart than this many baskets do not share a request.
const NEAR: u32 = 2048;

/// The baskets by urgency (their *position*), by offset and by branch.
#[derive(Debug)]
pub(crate) struct Order {
    /// Position to basket, as the caller numbered them.
    pub ids: Vec<u32>,
    /// Basket to position.
    pub positions: Vec<u32>,
    /// Positions by file offset.
    pub by_offset: Vec<u32>,
    /// Per position: the entry that decided its place; ascending.
    keys: Vec<u64>,
    /// Per position: the number of its cluster.
    clusters: Vec<u32>,
    /// First entries of the clusters that are ordered by offset, or `None`.
    small: Vec<Option<u64>>,
    boundaries: Vec<u64>,
    branches: Vec<Branch>,
    /// The sizes of the largest items.
    pub extent: Extent,
}

/// Sizes of items that belong together, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// The largest basket.
    pub basket: u64,
    /// The chosen baskets of the largest cluster; zero without clusters.
    pub largest_cluster: u64,
    /// The chosen baskets of a cluster, on average; zero without clusters.
    pub mean_cluster: u64,
}

#[derive(Debug)]
struct Branch {
    /// Positions by entry.
    positions: Vec<u32>,
    /// Where the last search ended: the next one most often starts there.
    hint: usize,
}

impl Order {
    /// Checks the baskets and sorts them.
    ///
    /// In the order of entries and offsets; with the cache `off`, of entries and branches.
    pub(crate) fn new(baskets: &[Basket], off: bool, boundaries: Vec<u64>) -> Result<Self> {
        check(baskets, &boundaries)?;
        let cluster_of = |entry: u64| boundaries.partition_point(|&b| b <= entry);
        let mut bytes = vec![0u64; boundaries.len() + 1];
        for b in baskets {
            let sum = &mut bytes[cluster_of(b.first)];
            *sum = sum.saturating_add(b.span.len);
        }
        let small: Vec<Option<u64>> = bytes
            .iter()
            .enumerate()
            .map(|(c, &n)| {
                let begin = if c == 0 { 0 } else { boundaries[c - 1] };
                (!boundaries.is_empty() && !off && n <= SMALL_CLUSTER).then_some(begin)
            })
            .collect();

        let key = |b: &Basket| small[cluster_of(b.first)].unwrap_or(b.first);
        let mut ids: Vec<u32> = (0..baskets.len() as u32).collect();
        if off {
            ids.sort_by_key(|&i| (baskets[i as usize].first, baskets[i as usize].branch));
        } else {
            ids.sort_by_cached_key(|&i| (key(&baskets[i as usize]), baskets[i as usize].span, i));
        }
        let mut positions = vec![0; ids.len()];
        for (p, &i) in ids.iter().enumerate() {
            positions[i as usize] = p as u32;
        }
        let at = |p: u32| &baskets[ids[p as usize] as usize];
        let mut by_offset: Vec<u32> = (0..ids.len() as u32).collect();
        by_offset.sort_by_key(|&p| (at(p).span, p));
        let mut by_branch: Vec<u32> = (0..ids.len() as u32).collect();
        by_branch.sort_by_key(|&p| (at(p).branch, at(p).first));
        let mut branches: Vec<Branch> = Vec::new();
        for group in by_branch.chunk_by(|&a, &b| at(a).branch == at(b).branch) {
            for pair in group.windows(2) {
                check_neighbours(at(pair[0]), at(pair[1]))?;
            }
            branches.push(Branch { positions: group.to_vec(), hint: 0 });
        }
        let keys = ids.iter().map(|&i| key(&baskets[i as usize])).collect();
        let clusters = ids.iter().map(|&i| cluster_of(baskets[i as usize].first) as u32).collect();
        let known = !boundaries.is_empty();
        let occupied = bytes.iter().filter(|&&n| n > 0).count().max(1) as u64;
        let mut extent = Extent { basket: baskets.iter().map(|b| b.span.len).max().unwrap_or(0), ..Extent::default() };
        if known {
            extent.largest_cluster = bytes.iter().copied().max().unwrap_or(0);
            extent.mean_cluster = bytes.iter().fold(0u64, |a, &n| a.saturating_add(n)) / occupied;
        }
        Ok(Self { ids, positions, by_offset, keys, clusters, small, boundaries, branches, extent })
    }

    /// The position from which reading ahead continues when the consumer works on this entry.
    pub(crate) fn position_of_entry(&self, entry: u64) -> u32 {
        let cluster = self.boundaries.partition_point(|&b| b <= entry);
        let from = self.small[cluster].unwrap_or(entry);
        self.keys.partition_point(|&k| k < from) as u32
    }

    /// Whether a basket of another cluster is before this position.
    pub(crate) fn begins_cluster(&self, position: u32) -> bool {
        let p = position as usize;
        p > 0 && self.clusters[p] != self.clusters[p - 1]
    }

    /// The positions of all baskets with an entry in `first..last`, branch by branch.
    pub(crate) fn overlapping(&mut self, baskets: &[Basket], first: u64, last: u64, out: &mut Vec<u32>) {
        let ids = &self.ids;
        let at = |p: u32| &baskets[ids[p as usize] as usize];
        for branch in &mut self.branches {
            let list = &branch.positions;
            let is_first =
                |i: usize| (i == list.len() || at(list[i]).last > first) && (i == 0 || at(list[i - 1]).last <= first);
            let begin = [branch.hint, branch.hint + 1]
                .into_iter()
                .find(|&i| i <= list.len() && is_first(i))
                .unwrap_or_else(|| list.partition_point(|&p| at(p).last <= first));
            branch.hint = begin;
            out.extend(list[begin..].iter().copied().take_while(|&p| at(p).first < last));
        }
    }

    /// Per position, whether its basket most likely begins a range of a request: nothing that is needed at about the
    /// same time is close before it in the file. An estimate.
    pub(crate) fn range_starts(&self, baskets: &[Basket], limits: &Limits) -> Vec<bool> {
        let mut starts = vec![true; self.ids.len()];
        for pair in self.by_offset.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let before = baskets[self.ids[a as usize] as usize].span;
            let span = baskets[self.ids[b as usize] as usize].span;
            starts[b as usize] =
                span.start.saturating_sub(before.end()) > limits.range_overhead || a.abs_diff(b) > NEAR;
        }
        starts
    }

    pub(crate) fn id(&self, position: u32) -> BasketId {
        BasketId(self.ids[position as usize])
    }
}

fn check(baskets: &[Basket], boundaries: &[u64]) -> Result<()> {
    if u32::try_from(baskets.len()).is_err() {
        return Err(Error::invalid(format!("{} baskets are too many for one scan", baskets.len()))
            .with_remedy("scan the tree in entry ranges"));
    }
    let invalid = |what: String| Err(Error::invalid(what).with_remedy("the caller or the file's basket list is wrong"));
    for b in baskets {
        let name = || format!("basket {} of branch number {}", b.index, b.branch);
        if b.span.is_empty() {
            return invalid(format!("{} has no bytes to fetch", name()));
        }
        if b.span.start.checked_add(b.span.len).is_none() {
            return invalid(format!("{} ends beyond the largest possible offset", name()));
        }
        if b.first >= b.last {
            return invalid(format!("{} holds no entries ({}..{})", name(), b.first, b.last));
        }
    }
    if let Some(pair) = boundaries.windows(2).find(|w| w[0] >= w[1]) {
        return invalid(format!("cluster boundaries are not in ascending order: {} before {}", pair[0], pair[1]));
    }
    Ok(())
}

fn check_neighbours(a: &Basket, b: &Basket) -> Result<()> {
    if a.last <= b.first {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "baskets {} and {} of branch number {} both contain entry {}",
        a.index, b.index, a.branch, b.first
    ))
    .at(b.span)
    .with_remedy("the file's basket list is damaged"))
}
