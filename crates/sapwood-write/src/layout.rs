//! Where baskets end: pure arithmetic over sizes, independent of how the entries arrive in batches, and the same as
//! ROOT's (`TBranch::FillImpl`).

/// The most bytes one entry of one branch can take.
pub(crate) const LONGEST_ENTRY: u64 = 1 << 30;

/// Bytes of the entry offset table of `entries` entries: a count, each entry's offset, one more.
pub(crate) const fn offset_table(entries: u64) -> u64 {
    4 * (entries + 2)
}

/// How many bytes the entries of a batch take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sizes<'a> {
    /// The same for each entry.
    Fixed(u64),
    /// Item offsets of each entry, and the bytes of an item.
    Jagged(&'a [i64], u64),
}

impl Sizes<'_> {
    /// Bytes of the data from entry `from` to `to` of the batch.
    pub(crate) fn bytes(&self, from: usize, to: usize) -> u64 {
        match self {
            Sizes::Fixed(size) => (to - from) as u64 * size,
            Sizes::Jagged(offsets, item) => match (offsets.get(from), offsets.get(to)) {
                (Some(a), Some(b)) => (b - a).max(0) as u64 * item,
                _ => 0,
            },
        }
    }
}

/// Size of an unwritten basket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

/// The limit of a basket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Bytes of the buffer, key included.
    pub(crate) buffer: u64,
    /// Bytes of the key.
    pub(crate) key: u64,
    /// Whether entries of one size have offsets, too.
    pub(crate) offsets: bool,
}

/// The entry of the batch after which the basket is written: the first after which another one of its size, and twice
/// the offsets, would no longer fit. `None` when the basket can continue after the batch.
pub(crate) fn basket_end(pending: Pending, sizes: Sizes<'_>, from: usize, len: usize, limit: Limit) -> Option<usize> {
    let room = limit.buffer.saturating_sub(limit.key);
    match sizes {
        Sizes::Fixed(size) => {
            // pending + n · (size + twice an offset) + size >= room, for the first n from 1 on
            let offset = if limit.offsets { 8 } else { 0 };
            let missing = room.saturating_sub(pending.bytes + pending.entries * offset + size);
            let n = missing.div_ceil((size + offset).max(1)).max(1);
            usize::try_from(n).ok().and_then(|n| from.checked_add(n)).filter(|&end| end <= len)
        }
        Sizes::Jagged(offsets, item) => {
            let base = offsets.get(from).copied().unwrap_or(0);
            let filled = |end: usize| {
                let data = offsets.get(end).map_or(0, |&o| (o - base).max(0) as u64 * item);
                pending.bytes + data + 8 * (pending.entries + (end - from) as u64)
            };
            // The last entry's bytes count twice, and are no more than all of the batch's: from the first entry on
            // where that could be enough, check each.
            let at_most = |end: usize| filled(end) + filled(end).min(sizes.bytes(from, end));
            let (mut low, mut high) = (from + 1, len + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if at_most(middle) >= room { high = middle } else { low = middle + 1 }
            }
            (low..=len).find(|&end| filled(end) + sizes.bytes(end - 1, end) >= room)
        }
    }
}

/// When all baskets are written together, so that later entries start a new cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// After this many entries; at least 1.
    Entries(u64),
    /// For the first time after this many compressed bytes, at least 1, and then again after as many entries as that
    /// took, as in ROOT.
    Bytes(u64),
    /// Never: each branch's baskets end where they are full, as in old files.
    Never,
}

impl Cluster {
    /// ROOT's number for it, `fAutoFlush`: entries, or minus bytes, or 0.
    pub(crate) fn auto_flush(self) -> i64 {
        match self {
            Cluster::Entries(n) => i64::try_from(n).unwrap_or(i64::MAX),
            Cluster::Bytes(n) => -i64::try_from(n).unwrap_or(i64::MAX),
            Cluster::Never => 0,
        }
    }

    /// The end of the cluster that contains entry `entry`, where known; clusters are counted from `origin`.
    pub(crate) fn end_after(self, entry: u64, origin: u64) -> Option<u64> {
        match self {
            Cluster::Entries(n) => {
                let n = n.max(1);
                Some(origin.saturating_add((entry.saturating_sub(origin) / n + 1).saturating_mul(n)))
            }
            Cluster::Bytes(_) | Cluster::Never => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fixed_entries() {
        let limit = Limit { buffer: 90, key: 10, offsets: false };
        let none = Pending::default();
        assert_eq!(basket_end(none, Sizes::Fixed(8), 0, 100, limit), Some(9), "the tenth would fill it");
        assert_eq!(basket_end(none, Sizes::Fixed(8), 0, 8, limit), None);
        assert_eq!(basket_end(Pending { entries: 8, bytes: 64 }, Sizes::Fixed(8), 0, 10, limit), Some(1));
        assert_eq!(basket_end(none, Sizes::Fixed(1000), 0, 10, limit), Some(1));
        assert_eq!(basket_end(none, Sizes::Fixed(8), 5, 5, limit), None);
        let limit = Limit { offsets: true, ..limit };
        assert_eq!(basket_end(none, Sizes::Fixed(8), 0, 100, limit), Some(5), "each with an offset, twice");
        assert_eq!(basket_end(Pending { entries: 3, bytes: 24 }, Sizes::Fixed(8), 0, 9, limit), Some(2));
    }

    #[test]
    fn clusters_end_at_multiples() {
        assert_eq!(Cluster::Entries(10).end_after(0, 0), Some(10));
        assert_eq!(Cluster::Entries(10).end_after(10, 0), Some(20));
        assert_eq!(Cluster::Entries(10).end_after(10, 7), Some(17));
        assert_eq!(Cluster::Never.end_after(10, 0), None);
    }

    /// Where baskets end when the entries come in batches cut at `cuts`.
    fn ends(counts: &[u8], cuts: &[usize], limit: Limit) -> Vec<usize> {
        let (mut pending, mut out, mut start) = (Pending::default(), Vec::new(), 0);
        for stop in cuts.iter().copied().chain([counts.len()]) {
            let mut offsets = vec![3];
            for c in &counts[start..stop] {
                offsets.push(offsets[offsets.len() - 1] + i64::from(*c));
            }
            let sizes = Sizes::Jagged(&offsets, 4);
            let mut from = 0;
            while let Some(to) = basket_end(pending, sizes, from, stop - start, limit) {
                out.push(start + to);
                (pending, from) = (Pending::default(), to);
            }
            pending.entries += (stop - start - from) as u64;
            pending.bytes += sizes.bytes(from, stop - start);
            start = stop;
        }
        out
    }

    proptest! {
        #[test]
        fn batches_do_not_matter_and_the_rule_is_roots(
            counts in prop::collection::vec(0u8..20, 0..200),
            mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
            buffer in 100u64..900,
        ) {
            let limit = Limit { buffer, key: 70, offsets: true };
            let mut at: Vec<usize> = cuts.drain(..).map(|c| c.index(counts.len() + 1)).collect();
            at.sort_unstable();
            let whole = ends(&counts, &[], limit);
            prop_assert_eq!(&whole, &ends(&counts, &at, limit));
            let (mut wanted, mut bytes, mut entries) = (Vec::new(), 0, 0);
            for (i, c) in counts.iter().enumerate() {
                let last = u64::from(*c) * 4;
                (bytes, entries) = (bytes + last, entries + 1);
                if limit.key + bytes + 8 * entries + last >= buffer {
                    wanted.push(i + 1);
                    (bytes, entries) = (0, 0);
                }
            }
            prop_assert_eq!(whole, wanted);
        }
    }
}
