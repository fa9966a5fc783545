//! Expressions over the trees of one file or of many: what a reading asks of each, and its batches as a query takes them.

use crate::binding::without_aliases;
use crate::{Batch, Binding, Expr};
use sapwood_column::Array;
use sapwood_engine::{Chain, ChainFile, ChainScan, Cut, EntryList, ReadRequest, ScanOptions, Tree};
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Entries of a chain, counted through all of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entries {
    /// First entry and end (exclusive); entries beyond the chain are none.
    Range(Range<u64>),
    /// These.
    List(Arc<EntryList>),
}

impl Entries {
    /// Every entry.
    pub const ALL: Self = Self::Range(0..u64::MAX);

    /// Those of a file with so many entries that begins with entry `first`: the range, and the list within it. None when
    /// there are none in this file or in any behind it.
    fn of(&self, first: u64, entries: u64) -> Option<(Range<u64>, Option<Arc<EntryList>>)> {
        let here = first..first.saturating_add(entries);
        match self {
            Self::Range(r) if r.end <= here.start => None,
            Self::Range(r) => {
                let (start, end) = (r.start.clamp(here.start, here.end), r.end.clamp(here.start, here.end));
                Some((start - first..end.max(start) - first, None))
            }
            Self::List(list) if list.hull().end <= here.start => None,
            Self::List(list) => {
                let inside = list.within(&here);
                let local = inside.runs().iter().map(|r| r.start - first..r.end - first).collect();
                let list = EntryList::from_ranges(local);
                Some((list.hull(), Some(Arc::new(list))))
            }
        }
    }
}

/// What a file of the chain is asked, once it is known.
pub struct Bound {
    /// The expressions bound to its tree.
    pub binding: Binding,
    /// Further ones, fed by the same columns.
    pub others: Vec<Binding>,
    /// Branches to read beside those of the binding, whole: they come first.
    pub shown: Vec<usize>,
}

impl Bound {
    /// All bindings, in the order in which they were asked for.
    pub fn bindings(&self) -> impl Iterator<Item = &Binding> {
        std::iter::once(&self.binding).chain(&self.others)
    }
}

/// Binds to a tree.
pub type Bind = Arc<dyn Fn(&ChainFile) -> Result<Bound> + Send + Sync>;

/// A reading of a chain.
pub struct Reader {
    /// The files.
    pub chain: Chain,
    /// Which entries.
    pub entries: Entries,
    /// Entries of the whole chain, where an expression asks for them.
    pub total: u64,
    /// Step size, threads, cache, and the rest.
    pub options: ScanOptions,
    /// How expressions are bound to each of the trees.
    pub bind: Bind,
}

/// How names in these expressions are bound in every file: `scan` as [`Binding::scan`] does it, else as
/// [`Binding::new`].
pub fn bind_each(exprs: Vec<Expr>, cut: Option<Expr>, scan: bool) -> Bind {
    Arc::new(move |link| {
        let new = if scan { Binding::scan } else { Binding::new };
        Ok(Bound { binding: new(&link.tree, &exprs, cut.as_ref())?, others: Vec::new(), shown: Vec::new() })
    })
}

/// How several queries, each of expressions and a selection, are bound in every file, to be answered in one reading: each
/// branch is read once. [`Bound::bindings`] has them in this order.
pub fn bind_all(queries: Vec<(Vec<Expr>, Option<Expr>)>) -> Bind {
    let cut = |i: usize| queries.get(i).and_then(|(_, cut)| cut.as_ref()).map(Expr::text);
    let same_cut = (1..queries.len()).all(|i| cut(i) == cut(0));
    Arc::new(move |link| {
        let bind = |(exprs, cut): &(Vec<Expr>, Option<Expr>)| Binding::new(&link.tree, exprs, cut.as_ref());
        let mut bindings = queries.iter().map(bind).collect::<Result<Vec<_>>>()?;
        Binding::share(&mut bindings, same_cut);
        let mut bindings = bindings.into_iter();
        let binding = bindings.next().ok_or_else(|| Error::invalid("nothing is asked for"))?;
        Ok(Bound { binding, others: bindings.collect(), shown: Vec::new() })
    })
}

impl Reader {
    /// The number of entries of the chain if one of the expressions asks for it (`Entries$`, be it by an alias of the
    /// first tree), else that of the first tree.
    ///
    /// # Errors
    /// As [`Chain::entries`]: all files are opened for it; and what is wrong with an alias.
    pub fn total<'a>(chain: &Chain, first: &Tree, exprs: impl Iterator<Item = &'a Expr>) -> Result<u64> {
        if chain.files().len() < 2 {
            return Ok(first.entries());
        }
        for e in exprs {
            if without_aliases(first, e)?.asks_total() {
                return chain.entries();
            }
        }
        Ok(first.entries())
    }

    /// How many rows decide about an automatic axis ([`crate::AutoHist::estimate`]): what a tree by itself says, as ROOT
    /// has it; a chain says nothing.
    pub fn estimate(chain: &Chain, first: &Tree) -> i64 {
        let said = if chain.files().len() < 2 { first.header().estimate } else { None };
        said.unwrap_or(crate::ESTIMATE)
    }

    /// Begins to read.
    pub fn read(self) -> ChainScan<Bound> {
        let Self { chain, entries, total, options, bind } = self;
        chain.scan(move |link| {
            let bound = bind(link)?;
            let Some((range, selected)) = entries.of(link.first_entry, link.tree.entries()) else {
                return Ok((ReadRequest::End, bound));
            };
            if range.is_empty() {
                return Ok((ReadRequest::Nothing, bound));
            }
            let binding = &bound.binding;
            // only an alias that the first tree has not can ask for what was not counted
            if bound.bindings().any(|b| b.asks_total) && total < link.first_entry + link.tree.entries() {
                let what = "an alias of this file uses Entries$, which those of the first file do not";
                return Err(Error::unsupported(what)
                    .in_file(link.tree.file().url())
                    .with_remedy("use Entries$ in the expression or the cut"));
            }
            let branches: Vec<usize> = bound.shown.iter().chain(&binding.branches).copied().collect();
            let cut = binding.cut(link.first_entry, total, !bound.shown.is_empty());
            let friends = binding.friend_requests(&link.tree, link.first_entry)?;
            let options =
                options.clone().branches(branches).entries(Some(range)).selected(selected).cut(cut).friends(friends);
            Ok((ReadRequest::Read(options), bound))
        })
    }
}

impl Binding {
    /// The binding's selection, to be evaluated while its branches are read and before the others are: none where it has
    /// none, where there are no others (`others` beside the binding's own), or where what passes depends on them.
    pub fn cut(&self, first_entry: u64, total: u64, others: bool) -> Option<Cut> {
        let guide = self.guide.clone()?;
        if guide.branches.is_empty() || (!others && guide.branches.len() == self.branches.len()) {
            return None;
        }
        Some(guide.as_cut(first_entry, total))
    }

    /// The selection of a binding that has nothing else, as a scan evaluates it.
    pub(crate) fn as_cut(self: Arc<Self>, first_entry: u64, total: u64) -> Cut {
        let guide = self;
        let branches = guide.branches.clone();
        let test = move |batch: &sapwood_engine::Batch| {
            guide.with_batch(batch, &batch.columns, first_entry, total, |b| guide.query.passing(b))
        };
        Cut::new(branches, test)
    }

    /// Gives a scan's batch to `f` as the query takes it. `columns` are those of [`Binding::branches`]; the entries of the
    /// tree begin with number `first_entry` in its chain of `total` entries.
    ///
    /// # Errors
    /// As [`Binding::columns`], and what `f` says.
    pub fn with_batch<R>(
        &self,
        batch: &sapwood_engine::Batch,
        columns: &[Array],
        first_entry: u64,
        total: u64,
        f: impl FnOnce(&Batch<'_>) -> Result<R>,
    ) -> Result<R> {
        let columns = self.columns(columns, &batch.friends)?;
        let first = batch.entries.start;
        let apart: Option<Vec<u64>> = batch.selected.as_ref().map(|list| list.iter().map(|e| e - first).collect());
        let count = apart.as_ref().map_or(batch.entries.end - first, |a| a.len() as u64);
        f(&Batch {
            first_entry: first_entry + first,
            first_local_entry: first,
            total_entries: total,
            entries: usize::try_from(count).map_err(|_| Error::invalid("too many entries in a batch"))?,
            apart: apart.as_deref(),
            instances: None,
            columns: columns.iter().map(AsRef::as_ref).collect(),
            present: self.present(&batch.friends),
            weight: self.weight,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_file() {
        let range = |r: Range<u64>| Entries::Range(r);
        assert_eq!(Entries::ALL.of(100, 50), Some((0..50, None)));
        assert_eq!(range(120..1000).of(100, 50), Some((20..50, None)));
        assert_eq!(range(120..130).of(100, 50), Some((20..30, None)));
        assert_eq!(range(200..300).of(100, 50).map(|(r, _)| r.is_empty()), Some(true));
        assert_eq!(range(0..100).of(100, 50), None);
        let list = Entries::List(Arc::new(EntryList::from_numbers(vec![3, 105, 149, 150])));
        let here = Arc::new(EntryList::from_numbers(vec![5, 49]));
        assert_eq!(list.of(100, 50), Some((5..50, Some(here))));
        assert_eq!(list.of(10, 50).map(|(r, _)| r.is_empty()), Some(true));
        assert_eq!(list.of(151, 50), None);
    }
}
