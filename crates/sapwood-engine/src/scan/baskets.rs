//! Which baskets a scan needs, and for which of its steps.

mod clusters;

use crate::entries::EntryList;
use crate::external_files::BasketFile;
use crate::tree::Tree;
use sapwood_column::{Entries, Layout};
use sapwood_format::tree::{BasketPlace, StoredBasket, reach, stored_baskets};
use sapwood_span::{Error, Result, Span};
use std::ops::Range;
use std::sync::Arc;

/// A basket of the scan.
pub(super) struct ScanBasket {
    /// Number of the branch within the scan.
    pub column: usize,
    /// Number of the basket within the branch, or of the cluster.
    pub number: usize,
    /// Its entries.
    pub entries: Range<u64>,
    /// Its record, at its place among all files that are read together; none when it is in the tree's header.
    pub span: Option<Span>,
    /// For fields of ntuples: the pages of a cluster, by their number in the ntuple; and their bytes, at their place among
    /// all files. The first part of a cluster has them.
    pub pages: Box<[(usize, Span)]>,
    /// The parts of this cluster, by their positions among the scan's baskets; of others itself alone.
    pub parts: Range<usize>,
    /// Position among the branch's embedded baskets.
    pub embedded: usize,
    /// Bytes it inflates to, estimated.
    pub unzipped: u64,
    /// First and last step that needs it.
    pub steps: (usize, usize),
}

impl ScanBasket {
    /// Whether its pages are those of a part before.
    pub(super) fn is_later_part(&self, position: usize) -> bool {
        position > self.parts.start
    }

    /// What is read for it: its record, or its pages.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.span.into_iter().chain(self.pages.iter().map(|(_, span)| *span))
    }

    /// Bytes that are read for it.
    pub(super) fn bytes(&self) -> u64 {
        self.spans().fold(0, |sum, span| sum.saturating_add(span.len))
    }
}

/// A branch of the scan.
pub(super) struct Column {
    /// Index in the tree's header.
    pub branch: usize,
    /// Where its baskets lie.
    pub file: BasketFile,
    /// How it is decoded.
    pub layout: Arc<Layout>,
    /// Its baskets, ascending.
    pub baskets: Range<usize>,
    /// The column that counts its items, when offsets may have been left out.
    pub counter: Option<usize>,
}

/// All that a scan needs.
pub(super) struct Chosen {
    /// Wanted columns first, then counters that only the decoding needs.
    pub columns: Vec<Column>,
    /// How many columns are wanted.
    pub wanted: usize,
    /// The baskets of all columns, column by column.
    pub baskets: Vec<ScanBasket>,
}

/// Whether the branches' baskets reach as far as the entries: what a damaged header claims beyond is noticed before
/// anything is made of it.
pub(super) fn check_reach(tree: &Tree, branches: &[usize], entries: &Range<u64>) -> Result<()> {
    for &branch in branches {
        if tree.layout(branch)?.field().is_some() {
            // the clusters of an ntuple cover all its entries
            continue;
        }
        let b = &tree.header().branches[branch];
        let end = reach(b);
        if end >= entries.end {
            continue;
        }
        // filling may leave a branch out; what its own header promises, though, must be there
        if b.entries.max(b.entry_number) <= end {
            return Err(Error::unsupported(format!(
                "it was filled for {end} of the tree's {} entries",
                tree.entries()
            ))
            .in_branch(tree.name_of(branch))
            .in_file(tree.file().url())
            .with_remedy("read it separately"));
        }
        return Err(missing(tree, branch, end.max(entries.start), entries.end));
    }
    Ok(())
}

/// The entries of a branch's basket with this entry, and its record in the file unless it is in the tree's header
/// or consists of pages.
pub(crate) fn basket_at(tree: &Tree, branch: usize, entry: u64) -> Option<(Range<u64>, Option<Span>)> {
    if let Some(ntuple) = &tree.header().ntuple {
        let cluster = ntuple.table.clusters.iter().find(|c| c.entries.contains(&entry))?;
        return Some((cluster.entries.clone(), None));
    }
    let all = stored_baskets(tree.header().branches.get(branch)?);
    let found = all.into_iter().find(|b| b.entries.contains(&entry))?;
    match found.place {
        BasketPlace::File(span) => {
            let begin = tree.basket_file(branch).ok()?.begin;
            Some((found.entries, Some(Span::new(span.start.saturating_add(begin), span.len))))
        }
        BasketPlace::Header(_) => Some((found.entries, None)),
    }
}

fn missing(tree: &Tree, branch: usize, from: u64, to: u64) -> Error {
    Error::corrupt(format!("entries {from} to {} have no basket", to.saturating_sub(1)))
        .in_branch(tree.name_of(branch))
        .in_file(tree.file().url())
}

/// The baskets of these branches with one of the entries; of those only the ones with a selected entry. `divided`: large
/// clusters of fields in parts.
pub(super) fn choose(
    tree: &Tree,
    branches: &[usize],
    entries: &Range<u64>,
    steps: &[Range<u64>],
    selected: Option<&EntryList>,
    divided: bool,
) -> Result<Chosen> {
    let mut out = Chosen { columns: Vec::new(), wanted: branches.len(), baskets: Vec::new() };
    let chosen = |r: &Range<u64>| selected.is_none_or(|list| list.touches(r));
    for &b in branches {
        add_column(tree, b, entries, steps, chosen, divided, &mut out)?;
    }
    // counters: of the whole baskets that need them, which may begin before and end behind the wanted entries
    for i in 0..out.wanted {
        let Some(counter) = counter_of(tree, &out.columns[i]) else { continue };
        let mine = &out.baskets[out.columns[i].baskets.clone()];
        let (Some(first), Some(last)) = (mine.first(), mine.last()) else { continue };
        let range = first.entries.start..last.entries.end;
        let uses: Vec<(Range<u64>, (usize, usize))> = mine.iter().map(|b| (b.entries.clone(), b.steps)).collect();
        let c = out.columns.len();
        let used = |r: &Range<u64>| uses.iter().any(|(e, _)| e.start < r.end && r.start < e.end);
        add_column(tree, counter, &range, steps, used, divided, &mut out)?;
        let own = out.columns[c].baskets.clone();
        for basket in &mut out.baskets[own] {
            for (entries, steps) in &uses {
                if entries.start < basket.entries.end && basket.entries.start < entries.end {
                    basket.steps.0 = basket.steps.0.min(steps.0);
                    basket.steps.1 = basket.steps.1.max(steps.1);
                }
            }
        }
        out.columns[i].counter = Some(c);
    }
    Ok(out)
}

/// The branch whose values count the items of this one, if offsets may have been left out.
fn counter_of(tree: &Tree, column: &Column) -> Option<usize> {
    let h = tree.header();
    let b = &h.branches[column.branch];
    if column.layout.entries.are_kept() {
        return column.layout.counter();
    }
    if column.layout.entries != Entries::UntilEnd || !(b.generated_offsets || b.entry_offset_len == 0) {
        return None;
    }
    let leaf = h.leaves.get(*b.leaves.first()?)?;
    h.leaves.get(leaf.count?)?.branch.or_else(|| b.element.as_ref()?.count)
}

/// The first and the last step with one of these entries.
fn steps_of(steps: &[Range<u64>], entries: &Range<u64>) -> (usize, usize) {
    let first = steps.partition_point(|s| s.end <= entries.start).min(steps.len().saturating_sub(1));
    let last = steps.partition_point(|s| s.start < entries.end).saturating_sub(1).max(first);
    (first, last)
}

fn add_column(
    tree: &Tree,
    branch: usize,
    entries: &Range<u64>,
    steps: &[Range<u64>],
    chosen: impl Fn(&Range<u64>) -> bool,
    divided: bool,
    out: &mut Chosen,
) -> Result<()> {
    let layout = tree.layout(branch)?.clone();
    let column = out.columns.len();
    let from = out.baskets.len();
    if let Some(field) = layout.field() {
        clusters::add_clusters(tree, (branch, field), entries, steps, chosen, divided, out)?;
        let file = tree.basket_file(branch)?;
        let baskets = from..out.baskets.len();
        out.columns.push(Column { branch, file, layout, baskets, counter: None });
        return Ok(());
    }
    let b = &tree.header().branches[branch];
    let all = stored_baskets(b);
    let file = tree.basket_file(branch)?;
    // wherever the entries are, the baskets must cover them without a gap
    let mut covered = entries.start;
    let start = all.partition_point(|b| b.entries.end <= entries.start);
    for StoredBasket { entries: r, number, place } in &all[start.min(all.len())..] {
        if r.start >= entries.end {
            break;
        }
        if r.start > covered {
            return Err(missing(tree, branch, covered, r.start));
        }
        covered = r.end;
        if !chosen(r) {
            continue;
        }
        let span = match place {
            BasketPlace::File(s) => Some(*s),
            BasketPlace::Header(_) => None,
        };
        // positions are among those of all files that are read together
        let shifted = span.map(|s| Span::new(s.start.saturating_add(file.begin), s.len));
        if let Some(s) = span
            && (s.end() > file.size || s.len < 20)
        {
            return Err(Error::corrupt(format!("basket {number} is outside the file of {} bytes", file.size))
                .at(s)
                .in_branch(tree.name_of(branch))
                .in_file(&*file.name)
                .with_remedy("the file is truncated or damaged: fetch it again"));
        }
        let part = (r.end - r.start) as f64 / b.entries.max(1) as f64;
        out.baskets.push(ScanBasket {
            column,
            number: *number,
            entries: r.clone(),
            span: shifted,
            pages: Box::default(),
            parts: out.baskets.len()..out.baskets.len() + 1,
            embedded: if let BasketPlace::Header(i) = place { *i } else { 0 },
            unzipped: (b.total_bytes as f64 * part) as u64,
            steps: steps_of(steps, r),
        });
    }
    if covered < entries.end {
        return Err(missing(tree, branch, covered, entries.end));
    }
    let baskets = from..out.baskets.len();
    out.columns.push(Column { branch, file, layout, baskets, counter: None });
    Ok(())
}
