//! What a scan reads: known when it begins, and never changed.

use super::baskets::{Chosen, Column, ScanBasket};
use super::steps::Steps;
use sapwood_column::ColumnType;
use sapwood_plan::{Basket, BasketId};
use sapwood_span::{Error, Span};
use std::ops::Range;

/// From the number of a branch in the tree's header to its path.
pub(super) type BranchPaths = Box<dyn Fn(usize) -> String + Send + Sync>;

/// What a scan reads. It needs no lock.
pub(super) struct ScanPlan {
    /// Name of the file, without credentials.
    pub url: String,
    /// The paths of branches: made when an error needs one, for most scans need none.
    path_of: BranchPaths,
    /// The entries of each step, ascending.
    pub steps: Vec<Range<u64>>,
    /// Where batches end, ascending.
    pub batch_ends: Vec<u64>,
    /// Wanted columns first, then counters that only the decoding needs.
    pub columns: Vec<Column>,
    /// By column: those of the same number have the same type, and can use each other's memory.
    pub kinds: Vec<usize>,
    /// How many columns are wanted.
    pub wanted: usize,
    /// The baskets of all columns, column by column.
    pub baskets: Vec<ScanBasket>,
    /// The planner's number of what is to be fetched to ours: a basket, and which of its pages where it has pages.
    planned: Vec<(usize, u32)>,
}

impl ScanPlan {
    /// `is_held` says of which baskets the record is here already, or which of their pages.
    pub(super) fn new(
        url: &str,
        path_of: BranchPaths,
        chosen: Chosen,
        steps: Steps,
        is_held: impl Fn(&(usize, u32)) -> bool,
    ) -> Self {
        let Chosen { columns, wanted, baskets } = chosen;
        let Steps { steps, batches } = steps;
        let parts =
            baskets.iter().enumerate().flat_map(|(b, basket)| (0..basket.spans().count() as u32).map(move |k| (b, k)));
        let planned = parts.filter(|part| !is_held(part)).collect();
        Self {
            url: url.to_owned(),
            path_of,
            batch_ends: batches.iter().filter_map(|b| steps[b.clone()].last()).map(|step| step.end).collect(),
            kinds: kinds(&columns),
            steps,
            columns,
            wanted,
            baskets,
            planned,
        }
    }

    /// The baskets that are to be fetched, as the planner numbers them.
    pub(super) fn to_fetch(&self) -> Vec<Basket> {
        let columns = self.columns.len() as u32;
        let basket = |&(b, part): &(usize, u32)| {
            let b = &self.baskets[b];
            let (span, pages) = match b.span {
                Some(span) => (span, 1),
                None => (b.pages.get(part as usize)?.1, b.pages.len() as u64),
            };
            // pages are those of all parts of a cluster
            let parts = self.baskets.get(b.parts.clone()).unwrap_or_default();
            Some(Basket {
                // pages of the same entries are none of one branch
                branch: part.wrapping_mul(columns).wrapping_add(b.column as u32),
                index: b.number as u32,
                span,
                first: b.entries.start,
                last: parts.last().map_or(b.entries.end, |part| part.entries.end),
                unzipped: b.unzipped * parts.len() as u64 / pages,
            })
        };
        self.planned.iter().filter_map(basket).collect()
    }

    /// The baskets of a column with one of these entries.
    pub(super) fn baskets_of(&self, column: usize, entries: &Range<u64>) -> Range<usize> {
        let all = self.columns[column].baskets.clone();
        let baskets = &self.baskets[all.clone()];
        let from = baskets.partition_point(|b| b.entries.end <= entries.start);
        let to = baskets.partition_point(|b| b.entries.start < entries.end);
        all.start + from..all.start + to
    }

    /// Our number of one of the planner's baskets, and which of its pages it is.
    pub(super) fn basket_of(&self, id: BasketId) -> Option<(usize, u32)> {
        self.planned.get(id.index()).copied()
    }

    /// The planner's numbers of baskets, where it has them.
    pub(super) fn planner_ids(&self, baskets: &[usize]) -> Vec<BasketId> {
        // baskets are numbered for the planner in their order
        let ids = |&b: &usize| {
            let from = self.planned.partition_point(|part| part.0 < b);
            let parts = self.planned[from..].iter().take_while(move |part| part.0 == b).count();
            (from..from + parts).filter_map(|i| u32::try_from(i).ok()).map(BasketId)
        };
        baskets.iter().flat_map(ids).collect()
    }

    /// The path of a column's branch.
    pub(super) fn path_of(&self, column: usize) -> String {
        (self.path_of)(self.columns[column].branch)
    }

    /// An error of a column.
    pub(super) fn in_column(&self, column: usize, e: Error) -> Error {
        e.in_branch(self.path_of(column)).in_file(&*self.url)
    }

    /// An error of a basket, with its number and position.
    pub(super) fn in_basket(&self, basket: usize, e: Error) -> Error {
        let b = &self.baskets[basket];
        let column = &self.columns[b.column];
        let kind = if column.layout.field().is_some() { "cluster" } else { "basket" };
        let what = format!("{kind} {}: {}", b.number, e.what());
        let is_placed = e.span().is_some();
        let e = e.worded(what).in_branch(self.path_of(b.column));
        match b.spans().next() {
            Some(_) if is_placed && b.span.is_none() => e.in_file(&*column.file.name),
            Some(span) => {
                e.at(Span::new(span.start.saturating_sub(column.file.begin), span.len)).in_file(&*column.file.name)
            }
            None => e.in_file(&*self.url),
        }
    }
}

/// A number for each column: the same for those of one type.
fn kinds(columns: &[Column]) -> Vec<usize> {
    let mut seen: Vec<ColumnType> = Vec::new();
    let kind = |c: &Column| {
        let wanted = c.layout.column_type();
        seen.iter().position(|t| *t == wanted).unwrap_or_else(|| {
            seen.push(wanted);
            seen.len() - 1
        })
    };
    columns.iter().map(kind).collect()
}
