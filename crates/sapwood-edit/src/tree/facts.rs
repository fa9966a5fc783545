//! The data in a tree's header that matter for copying its baskets.

use super::embedded::{Embedded, read_embedded};
use super::index::{TreeIndex, read_index};
use super::schema::BranchSchema;
use crate::survey::{Name, Survey, survey};
use sapwood_format::Streamers;
use sapwood_format::tree::{clusters, read_tree};
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result, Span};
use std::collections::HashMap;

/// A tree of an input.
pub struct TreeFacts {
    /// Entries.
    pub entries: u64,
    /// Boundaries of its clusters, with the number of entries at the end.
    pub clusters: Vec<u64>,
    /// Bytes when baskets were first flushed.
    pub flushed_bytes: i64,
    /// Bytes when the header was last saved.
    pub saved_bytes: i64,
    /// Branches in the order of the header, that of references last.
    pub branches: Vec<BranchFacts>,
    /// Leaves in the order of the header.
    pub leaves: Vec<LeafFacts>,
    /// Its index, if it has one that can be joined with others.
    pub index: Option<TreeIndex>,
    /// Whether entries were removed: the clusters in the header, and an index, are then no longer valid.
    pub is_cut: bool,
}

/// A branch.
pub struct BranchFacts {
    /// Its index among the survey's nodes.
    pub node: usize,
    /// The properties that its bytes depend on.
    pub schema: BranchSchema,
    /// Entries, according to the branch.
    pub entries: u64,
    /// The entry after the last one in a basket.
    pub entry_number: u64,
    /// Decompressed bytes of all baskets, labels included.
    pub total_bytes: i64,
    /// Bytes of all baskets in the file.
    pub zip_bytes: i64,
    /// 100 · algorithm + level.
    pub compression: i32,
    /// Most items in a collection; none where the branch does not state it.
    pub maximum: Option<i64>,
    /// Baskets in the file, ascending.
    pub baskets: Vec<Basket>,
    /// Baskets in the header.
    pub embedded: Vec<Embedded>,
    /// Whether any entry is in a basket.
    pub filled: bool,
    /// The basket that was being filled: its number, and its first entry if it is in the header.
    pub next: (usize, Option<u64>),
}

/// A basket in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basket {
    /// Its bytes.
    pub span: Span,
    /// Its first entry.
    pub first: u64,
    /// The entry after its last.
    pub last: u64,
}

/// A leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafFacts {
    /// Its index among the survey's nodes.
    pub node: usize,
    /// Its branch's path and its name.
    path: String,
    /// Largest value seen, for counters and texts.
    pub maximum: Option<i64>,
    /// Items of an entry; the longest text.
    pub len: Option<i64>,
    /// Whether `len` grows with the values.
    pub text: bool,
}

/// Takes the larger numbers of corresponding leaves.
pub fn join_leaves(into: &mut [LeafFacts], other: &[LeafFacts]) {
    let mut by_path: Option<HashMap<&str, &LeafFacts>> = None;
    for (i, l) in into.iter_mut().enumerate() {
        // nearly always in the same order
        let found = match other.get(i).filter(|o| o.path == l.path) {
            Some(o) => Some(o),
            None => by_path
                .get_or_insert_with(|| other.iter().map(|o| (o.path.as_str(), o)).collect())
                .get(l.path.as_str())
                .copied(),
        };
        let Some(found) = found else { continue };
        l.maximum = l.maximum.max(found.maximum);
        if l.text {
            l.len = l.len.max(found.len);
        }
    }
}

/// Reads a header: `data` is the decompressed payload for a label of `base` bytes. Its baskets must cover all entries.
///
/// # Errors
/// `Corrupt` or `Unsupported`, with the branch.
pub fn read_facts<'a>(
    data: &'a [u8],
    base: usize,
    class: &str,
    streamers: &Streamers,
) -> Result<(TreeFacts, Survey<'a>)> {
    let read = read_as_is(data, base, class, streamers)?;
    for b in &read.0.branches {
        check_cover(b).map_err(|e| e.in_branch(b.schema.path.clone()))?;
    }
    Ok(read)
}

/// The same without checking which entries are covered.
///
/// # Errors
/// `Corrupt` or `Unsupported`, with the branch.
pub fn read_as_is<'a>(
    data: &'a [u8],
    base: usize,
    class: &str,
    streamers: &Streamers,
) -> Result<(TreeFacts, Survey<'a>)> {
    let tree = read_tree(data, base, class, streamers)?;
    let s = survey(data, base, class, streamers)?;
    let nodes: Vec<usize> = s.find(|n| n.class.starts_with("TBranch")).collect();
    let (references, listed): (Vec<usize>, Vec<usize>) =
        nodes.iter().partition(|&&n| s.nodes.get(n).is_some_and(|n| n.via == Some(Name::BranchRef)));
    if listed.len() != tree.branches.len() {
        let (found, said) = (listed.len(), tree.branches.len());
        return Err(Error::corrupt(format!("{found} branches were found, but {said} are listed")));
    }
    let mut branches = Vec::with_capacity(nodes.len());
    for (i, &node) in listed.iter().enumerate() {
        let schema = BranchSchema::of(&tree, i);
        let path = schema.path.clone();
        branches.push(branch(&s, node, schema).map_err(|e| e.in_branch(path))?);
    }
    for node in references {
        let schema = BranchSchema::references();
        branches.push(branch(&s, node, schema).map_err(|e| e.in_branch("TRefTable"))?);
    }
    let leaf_nodes: Vec<usize> = s.find(|n| n.class.starts_with("TLeaf")).collect();
    if leaf_nodes.len() != tree.leaves.len() {
        let (found, said) = (leaf_nodes.len(), tree.leaves.len());
        return Err(Error::corrupt(format!("{found} leaves were found, but {said} are listed")));
    }
    let leaves = leaf_nodes
        .into_iter()
        .zip(&tree.leaves)
        .map(|(node, leaf)| {
            let path = format!("{}.{}", leaf.branch.map(|b| tree.path(b)).unwrap_or_default(), leaf.name);
            let text = s.nodes.get(node).is_some_and(|n| &*n.class == "TLeafC");
            let counts = s.integer(node, Name::IsRange).unwrap_or(0) != 0;
            let maximum = if text || counts { s.integer(node, Name::Maximum) } else { None };
            LeafFacts { node, path, maximum, len: s.integer(node, Name::Len), text }
        })
        .collect();
    let number = |name| s.integer(0, name).unwrap_or(0);
    let facts = TreeFacts {
        entries: tree.entries,
        clusters: clusters(&tree),
        flushed_bytes: number(Name::FlushedBytes),
        saved_bytes: number(Name::SavedBytes),
        branches,
        leaves,
        index: read_index(&s),
        is_cut: false,
    };
    Ok((facts, s))
}

fn branch(s: &Survey, node: usize, schema: BranchSchema) -> Result<BranchFacts> {
    let number = |name| s.integer(node, name).unwrap_or(0);
    let count = |name| u64::try_from(number(name)).unwrap_or(0);
    if number(Name::FirstEntry) != 0 {
        return Err(Error::unsupported("a circular buffer, whose first entry is not 0"));
    }
    if let Some(other) = s.text(node, Name::OtherFile).filter(|t| !t.is_empty()) {
        let other = text_of(other);
        return Err(Error::unsupported(format!("its baskets are in another file, {other}"))
            .with_remedy("copy the tree into one file with ROOT first"));
    }
    let bytes = s.integers(node, Name::BasketBytes)?;
    let first = s.integers(node, Name::BasketEntry)?;
    let seek = s.integers(node, Name::BasketSeek)?;
    let n = bytes.len().min(first.len()).min(seek.len());
    let written = usize::try_from(number(Name::WriteBasket)).unwrap_or(0).min(n);
    let (entries, entry_number) = (count(Name::Entries), count(Name::EntryNumber));
    let end = entry_number.max(entries);
    let mut embedded = Vec::new();
    for (place, basket) in baskets_in_header(s, node)? {
        let Some(mut e) = read_embedded(basket)? else { continue };
        e.first = match first.get(place) {
            Some(&f) if place < written || f > 0 || place == 0 => f,
            _ => end.saturating_sub(u64::from(e.entries)),
        };
        if e.is_shifted() && !schema.is_plain() {
            return Err(Error::unsupported(
                "a basket in the tree's header that cannot be moved: its label has another length",
            ));
        }
        if e.entries > 0 {
            embedded.push((place, e));
        }
    }
    let mut baskets = Vec::with_capacity(written);
    for i in 0..written {
        let (from, at, len) = (first[i], seek[i], bytes[i]);
        if embedded.iter().any(|(place, _)| *place == i) || at == 0 {
            continue;
        }
        // the table is longer than the baskets, padded with zeros
        let to = match first.get(i + 1) {
            Some(&next) if next > from || i + 1 < written => next,
            _ => end,
        };
        if to > from {
            baskets.push(Basket { span: Span::new(at, len), first: from, last: to });
        }
    }
    baskets.sort_by_key(|b| b.first);
    Ok(BranchFacts {
        node,
        schema,
        entries,
        entry_number: end,
        total_bytes: number(Name::TotBytes),
        zip_bytes: number(Name::ZipBytes),
        compression: number(Name::Compress) as i32,
        maximum: s.integer(node, Name::Maximum),
        filled: !baskets.is_empty() || !embedded.is_empty(),
        next: (written, first.get(written).copied()),
        baskets,
        embedded: embedded.into_iter().map(|(_, e)| e).collect(),
    })
}

/// Baskets must cover the entries from the first to the last, exactly once.
fn check_cover(b: &BranchFacts) -> Result<()> {
    if !b.filled {
        return Ok(());
    }
    let mut ranges: Vec<(u64, u64)> = b.baskets.iter().map(|b| (b.first, b.last)).collect();
    ranges.extend(b.embedded.iter().map(|e| (e.first, e.first + u64::from(e.entries))));
    ranges.sort_unstable();
    let mut at = 0;
    for (from, to) in ranges {
        if from != at {
            return Err(Error::corrupt(format!(
                "its baskets do not follow each other: one begins at entry {from}, not {at}"
            ))
            .with_remedy("run `sapwood doctor` for details"));
        }
        at = to;
    }
    if at != b.entry_number {
        return Err(Error::corrupt(format!("its baskets end at entry {at}, but it has {}", b.entry_number))
            .with_remedy("run `sapwood doctor` for details"));
    }
    Ok(())
}

/// The baskets in a branch's header: number and bytes of each, including null pointers in the numbering.
fn baskets_in_header<'a>(s: &Survey<'a>, node: usize) -> Result<Vec<(usize, &'a [u8])>> {
    let Some(list) = s.child(node, Name::Baskets) else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    let is_basket = |i: &usize| s.nodes.get(*i).is_some_and(|n| &*n.class == "TBasket");
    let inside: Vec<usize> = s.children(list).filter(is_basket).collect();
    let Some(array) = s.nodes.get(list).filter(|_| !inside.is_empty()) else { return Ok(out) };
    // null pointers have no node: a basket's number follows from the bytes before it
    let mut c = sapwood_format::cursor::Cursor::new(s.data.get(..array.at.end).unwrap_or_default(), s.base);
    c.seek(array.at.start)?;
    let n = sapwood_format::read_object_array_head(&mut c)?;
    for place in 0..n {
        let start = c.pos();
        if let sapwood_format::Pointed::Object { end: Some(end), .. } = sapwood_format::read_pointer(&mut c)? {
            if let Some(b) = inside.iter().filter_map(|&i| s.nodes.get(i)).find(|b| b.at.start == start) {
                out.push((place, s.data.get(b.body..end).unwrap_or_default()));
            }
            c.seek(end)?;
        }
    }
    Ok(out)
}
