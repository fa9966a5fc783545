//! The plan for a tree: its new clusters, and the old baskets from which each branch's part of a cluster is built.

use super::basket_split::Rule;
use super::build::Shape;
use super::counted::{Counted, counter_of};
use super::{ClusterSize, OptimizeOptions};
use crate::input::InputTree;
use crate::recode::Recoder;
use crate::tree::Relayout;
use bytes::Bytes;
use sapwood_codec::Compression;
use sapwood_column::{Item, interpret};
use sapwood_edit::own_compression;
use sapwood_edit::tree::BranchFacts;
use sapwood_edit::tree::BranchSchema;
use sapwood_engine::glob_match;
use sapwood_format::Streamers;
use sapwood_format::tree::{Tree, read_tree};
use sapwood_span::{Error, Result, Span};
use std::collections::HashSet;
use std::ops::Range;

/// A tree and its new layout.
pub(crate) struct TreePlan {
    pub(crate) path: String,
    pub(crate) entries: u64,
    pub(crate) boundaries: Vec<u64>,
    /// In the order of their baskets within a cluster.
    pub(crate) branches: Vec<BranchPlan>,
    /// All remaining branches, also those without values, by number in the header.
    pub(crate) kept: Vec<(usize, BranchSchema)>,
    /// Removed branches, by number.
    pub(crate) dropped: Vec<usize>,
    /// Names of the outermost of these.
    pub(crate) dropped_names: Vec<String>,
    pub(crate) baskets_before: u64,
    pub(crate) bytes_before: u64,
}

/// A branch and the sources of its entries.
pub(crate) struct BranchPlan {
    /// Number in the header.
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) entries: u64,
    pub(crate) shape: Shape,
    pub(super) baskets: Vec<Old>,
    /// Those of its counter, where offsets may be left out.
    counts: Vec<Old>,
    /// The type of its values; none where that is unknown, and where nothing is verified.
    pub(super) item: Option<Item>,
}

impl BranchPlan {
    /// The baskets of its counter with some of these entries.
    pub(super) fn counts_of(&self, entries: &Range<u64>) -> &[Old] {
        let from = self.counts.partition_point(|o| o.entries.end <= entries.start);
        let to = self.counts.partition_point(|o| o.entries.start < entries.end);
        self.counts.get(from..to).unwrap_or_default()
    }
}

/// A basket of the input.
#[derive(Clone)]
pub(super) struct Old {
    pub(super) entries: Range<u64>,
    pub(super) place: BasketLocation,
}

/// Where it is stored.
#[derive(Clone)]
pub(super) enum BasketLocation {
    File(Span),
    /// In the tree's header: as a record, and the length of its label there.
    Header(Bytes, u32),
}

impl TreePlan {
    /// Plans the new layout of a tree of a file with this compression.
    ///
    /// # Errors
    /// `Invalid` when nothing would be left of it.
    pub(crate) fn new(
        tree: &InputTree,
        streamers: &Streamers,
        file: Compression,
        options: &OptimizeOptions,
    ) -> Result<Self> {
        let header = read_tree(&tree.header, tree.base, &tree.class, streamers)?;
        let facts = &tree.facts;
        let unused = if options.drop_unused { options.used.unused(&tree.path, &header) } else { HashSet::new() };
        let (dropped, dropped_names) = dropped(&header, &options.drop, &unused);
        let kept = |name: &str| options.keep.iter().any(|p| glob_match(p, name));
        // a branch that stays without offsets needs its counter unchanged, see `counted`
        let uncut: HashSet<usize> = (facts.branches.iter().enumerate())
            .filter(|(i, b)| kept(&b.schema.path) || Counted::of(&header, *i, streamers).is_err())
            .filter_map(|(i, _)| counter_of(&header, i))
            .collect();
        let mut recoder = Recoder::default();
        let mut branches = Vec::new();
        let (mut bytes, mut baskets_before, mut bytes_before) = (0, 0, 0);
        for (index, b) in facts.branches.iter().enumerate() {
            let size: u64 = b.baskets.iter().map(|b| b.span.len).sum();
            bytes_before += size;
            baskets_before += (b.baskets.len() + b.embedded.len()) as u64;
            if !b.filled || dropped.contains(&index) {
                continue;
            }
            bytes += size;
            let name = b.schema.path.clone();
            let (rule, counted) = match Counted::of(&header, index, streamers) {
                _ if kept(&name) => (Rule::Whole("as requested".to_owned()), None),
                _ if uncut.contains(&index) => {
                    (Rule::Whole("offsets of other branches follow from it".to_owned()), None)
                }
                Ok(counted) => (Rule::of(&header, index, streamers), counted),
                Err(why) => (Rule::Whole(why), None),
            };
            let counts = match counted.as_ref().and_then(|c| facts.branches.get(c.branch)) {
                Some(counter) => old_baskets(counter, &mut recoder)?,
                None => Vec::new(),
            };
            let [total, zip] = [b.total_bytes, b.zip_bytes].map(|n| u64::try_from(n).unwrap_or(0));
            let own = own_compression(b.compression, total, zip).unwrap_or(file);
            let (basket_bytes, compression) = (options.basket_bytes, options.compression);
            let shape = Shape { rule, counted, basket_bytes, compression, own, summed: options.verify };
            let baskets = old_baskets(b, &mut recoder)?;
            let layout = if options.verify { interpret(&header, index, streamers).ok() } else { None };
            let (entries, item) = (b.entry_number, layout.map(|l| l.item));
            branches.push(BranchPlan { index, name, entries, shape, baskets, counts, item });
        }
        if branches.is_empty() && facts.branches.iter().any(|b| b.filled) {
            return Err(Error::invalid(format!("{}: no branch with values would be left", tree.path)));
        }
        // branches that are used together are placed together, at the front
        let rank = |name: &str| options.first.iter().position(|p| glob_match(p, name)).unwrap_or(usize::MAX);
        branches.sort_by_cached_key(|b| (rank(&b.name), options.used.rank(&tree.path, &b.name)));
        let mut boundaries = boundaries(facts.entries, bytes, options.cluster);
        // branches that were filled separately have more entries than the tree
        let most = branches.iter().map(|b| b.entries).max().unwrap_or(0);
        if most > facts.entries {
            boundaries.push(most);
        }
        let (path, entries) = (tree.path.clone(), facts.entries);
        let kept = facts.branches.iter().enumerate().filter(|(i, _)| !dropped.contains(i));
        let kept = kept.map(|(i, b)| (i, b.schema.clone())).collect();
        Ok(Self { path, entries, boundaries, branches, kept, dropped, dropped_names, baskets_before, bytes_before })
    }

    /// The changes to the tree's header.
    pub(crate) fn relayout(&self, basket_bytes: u32) -> Relayout {
        let cut = self.branches.iter().filter(|b| !matches!(b.shape.rule, Rule::Whole(_)));
        let with_offsets = cut.map(|b| b.index).collect();
        let boundaries = self.boundaries.iter().copied().filter(|&b| b <= self.entries).collect();
        Relayout { boundaries, basket_bytes, dropped: self.dropped.clone(), with_offsets }
    }

    /// Everything is built: the sources are not needed any more.
    pub(crate) fn forget_baskets(&mut self) {
        for b in &mut self.branches {
            (b.baskets, b.counts) = (Vec::new(), Vec::new());
        }
    }

    /// The clusters.
    pub(crate) fn clusters(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.boundaries.windows(2).map(|w| w[0]..w[1])
    }
}

/// The baskets of a branch in the order of their entries.
fn old_baskets(b: &BranchFacts, recoder: &mut Recoder) -> Result<Vec<Old>> {
    let in_file = b.baskets.iter().map(|b| Old { entries: b.first..b.last, place: BasketLocation::File(b.span) });
    let mut old: Vec<Old> = in_file.collect();
    for e in &b.embedded {
        let (record, _) = e.record(Compression::NONE, recoder.encoder())?;
        let entries = e.first..e.first + u64::from(e.entries);
        old.push(Old { entries, place: BasketLocation::Header(Bytes::from(record), e.read_key_len) });
    }
    old.sort_by_key(|o| o.entries.start);
    Ok(old)
}

/// Clusters of equal size, as close to the wanted one as possible.
pub(super) fn boundaries(entries: u64, bytes: u64, size: ClusterSize) -> Vec<u64> {
    let wanted = match size {
        ClusterSize::Entries(n) => n,
        ClusterSize::Bytes(b) => {
            (u128::from(entries) * u128::from(b)).checked_div(u128::from(bytes)).map_or(entries, |n| n as u64)
        }
    };
    let wanted = wanted.clamp(1, entries.max(1));
    let step = match size {
        ClusterSize::Entries(_) => wanted,
        ClusterSize::Bytes(_) => entries.div_ceil(entries.div_ceil(wanted).max(1)).max(1),
    };
    let mut out: Vec<u64> = (0..entries.div_ceil(step)).map(|i| i * step).collect();
    out.push(entries);
    out
}

/// Branches that match the patterns or are among the unused, with all below them, and the names of the outermost.
fn dropped(tree: &Tree, patterns: &[String], unused: &HashSet<usize>) -> (Vec<usize>, Vec<String>) {
    let gone = |i: usize| {
        let mut at = Some(i);
        while let Some((i, b)) = at.and_then(|i| Some((i, tree.branches.get(i)?))) {
            if b.parent.is_none() {
                let plain = b.name.trim_end_matches('.');
                return unused.contains(&i) || patterns.iter().any(|p| glob_match(p, &b.name) || glob_match(p, plain));
            }
            at = b.parent;
        }
        false
    };
    let all: Vec<usize> = (0..tree.branches.len()).filter(|&i| gone(i)).collect();
    let top = tree.top.iter().filter(|i| all.contains(i)).filter_map(|&i| tree.branches.get(i));
    let names = top.map(|b| b.name.clone()).collect();
    (all, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_even_and_end_with_the_entries() {
        assert_eq!(boundaries(100, 1000, ClusterSize::Bytes(300)), [0, 25, 50, 75, 100]);
        assert_eq!(boundaries(100, 1000, ClusterSize::Bytes(5000)), [0, 100]);
        assert_eq!(boundaries(100, 1000, ClusterSize::Bytes(1)), (0..=100).collect::<Vec<_>>());
        assert_eq!(boundaries(10, 0, ClusterSize::Entries(4)), [0, 4, 8, 10]);
        assert_eq!(boundaries(0, 0, ClusterSize::Bytes(100)), [0]);
        assert_eq!(boundaries(7, 0, ClusterSize::Bytes(100)), [0, 7]);
    }
}
