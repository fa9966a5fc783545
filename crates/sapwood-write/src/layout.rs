//! Where baskets end: pure arithmetic over sizes, the same however the entries arrive in batches.

/// Bytes of the entry offset table of `entries` entries: a count, each entry's offset, one behind.
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

    const fn table(&self, entries: u64) -> u64 {
        match self {
            Sizes::Fixed(_) => 0,
            Sizes::Jagged(..) => offset_table(entries),
        }
    }
}

/// What a basket that is not written yet holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

/// The entry of the batch before which the basket must be written: the first that no longer fits
/// into `limit` bytes. A basket holds at least one entry. `None` when the rest of the batch fits.
pub(crate) fn basket_end(pending: Pending, sizes: Sizes<'_>, from: usize, len: usize, limit: u64) -> Option<usize> {
    let fits = |to: usize| {
        let entries = pending.entries + (to - from) as u64;
        entries <= 1 || pending.bytes + sizes.bytes(from, to) + sizes.table(entries) <= limit
    };
    // The largest `to` that fits, between `from`, which always does, and `len`.
    let (mut low, mut high) = (from, len);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    (low < len).then_some(low)
}

/// When all baskets are written together, so that what follows begins a new cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// After so many entries; at least 1.
    Entries(u64),
    /// For the first time after so many compressed bytes, at least 1, and then again after as many
    /// entries as that took, as ROOT does.
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

    /// The end of the cluster that entry `entry` lies in, where that is known.
    pub(crate) fn end_after(self, entry: u64) -> Option<u64> {
        match self {
            Cluster::Entries(n) => Some((entry / n.max(1) + 1).saturating_mul(n.max(1))),
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
        let none = Pending::default();
        assert_eq!(basket_end(none, Sizes::Fixed(8), 0, 100, 80), Some(10));
        assert_eq!(basket_end(none, Sizes::Fixed(8), 0, 10, 80), None);
        assert_eq!(basket_end(Pending { entries: 10, bytes: 80 }, Sizes::Fixed(8), 0, 10, 80), Some(0));
        assert_eq!(basket_end(none, Sizes::Fixed(1000), 0, 10, 80), Some(1));
        assert_eq!(basket_end(none, Sizes::Fixed(8), 5, 5, 80), None);
    }

    #[test]
    fn clusters_end_at_multiples() {
        assert_eq!(Cluster::Entries(10).end_after(0), Some(10));
        assert_eq!(Cluster::Entries(10).end_after(10), Some(20));
        assert_eq!(Cluster::Never.end_after(10), None);
    }

    /// Where baskets end when the entries come in batches cut at `cuts`.
    fn ends(counts: &[u8], cuts: &[usize], limit: u64) -> Vec<usize> {
        let (mut pending, mut out, mut start) = (Pending::default(), Vec::new(), 0);
        for stop in cuts.iter().copied().chain([counts.len()]) {
            let mut offsets = vec![0];
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
        fn batches_do_not_matter_and_no_basket_is_too_large(
            counts in prop::collection::vec(0u8..20, 0..200),
            mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
            limit in 100u64..600,
        ) {
            let mut at: Vec<usize> = cuts.drain(..).map(|c| c.index(counts.len() + 1)).collect();
            at.sort_unstable();
            let whole = ends(&counts, &[], limit);
            prop_assert_eq!(&whole, &ends(&counts, &at, limit));
            let mut start = 0;
            for end in whole {
                let n = (end - start) as u64;
                let bytes = |to: usize| counts[start..to].iter().map(|c| u64::from(*c) * 4).sum::<u64>();
                prop_assert!(n == 1 || bytes(end) + offset_table(n) <= limit);
                prop_assert!(bytes(end + 1) + offset_table(n + 1) > limit);
                start = end;
            }
        }
    }
}
