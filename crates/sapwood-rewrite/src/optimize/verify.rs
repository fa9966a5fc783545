//! Checks that every value is the same: the entries of the output, read back, against the sums of the input.

use super::basket_split::{Rule, Slices};
use super::build::pid_of;
use super::plan::{BranchPlan, TreePlan};
use super::sums::{Sum, Summing};
use super::{OptimizeOptions, check};
use crate::input::{self, Reader};
use crate::ordered::ordered;
use crate::recode::Recoder;
use bytes::Bytes;
use sapwood_column::interpret;
use sapwood_edit::tree::BranchSchema;
use sapwood_edit::tree::{Basket, BranchFacts};
use sapwood_format::tree::{BasketData, BasketHead, read_tree, split_basket};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, Result, Span};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;

/// Compressed bytes of a branch read at once.
const AHEAD: u64 = 2 << 20;

/// A branch of the output, basket by basket.
struct Walk<'a> {
    reader: &'a Reader,
    baskets: std::slice::Iter<'a, Basket>,
    records: VecDeque<(Basket, Bytes)>,
    /// The current basket: its decompressed bytes, and its next entry.
    payload: Vec<u8>,
    head: BasketHead,
    first: u64,
    /// Offset of its process ids.
    pid: u16,
}

impl<'a> Walk<'a> {
    fn new(reader: &'a Reader, branch: &'a BranchFacts) -> Self {
        let (records, payload, head) = (VecDeque::new(), Vec::new(), BasketHead::default());
        Self { reader, baskets: branch.baskets.iter(), records, payload, head, first: 0, pid: 0 }
    }

    /// Moves to the next basket; false at the end.
    fn next(&mut self, recoder: &mut Recoder) -> Result<bool> {
        if self.records.is_empty() {
            let mut bytes = 0;
            let ahead = self.baskets.as_slice().iter().take_while(|b| {
                bytes += b.span.len;
                bytes <= AHEAD
            });
            let n = ahead.count().max(1);
            let wanted: Vec<Basket> = self.baskets.by_ref().take(n).copied().collect();
            let spans: Vec<Span> = wanted.iter().map(|b| b.span).collect();
            self.records = wanted.into_iter().zip(self.reader.read_all(&spans)?).collect();
        }
        let Some((basket, record)) = self.records.pop_front() else { return Ok(false) };
        (self.head, self.payload) = recoder.inflate(&record)?;
        (self.first, self.pid) = (basket.first, pid_of(&record)?);
        if u64::from(self.head.entries) != basket.last - basket.first {
            return Err(differs(&(basket.first..basket.last)));
        }
        Ok(true)
    }

    fn entries(&self) -> Range<u64> {
        self.first..self.first + u64::from(self.head.entries)
    }

    fn data(&self) -> Result<BasketData<'_>> {
        split_basket(&self.head, &self.payload)
    }
}

/// Reads the output and compares its entries with the sums of the input's, which are by tree and by branch.
///
/// # Errors
/// `Corrupt`, with the branch and the entries that differ, or errors of reading.
pub(crate) fn compare(
    path: &Path,
    (plans, sums): (&[TreePlan], &[Vec<Vec<Sum>>]),
    threads: usize,
    options: &OptimizeOptions,
    tell: impl Fn(u64),
) -> Result<()> {
    let new = input::open(&text_of_path(path), &options.open)?;
    if new.trees.len() != plans.len() {
        return Err(Error::corrupt(format!("the output has {} trees, not {}", new.trees.len(), plans.len())));
    }
    let mut jobs = Vec::new();
    for (plan, sums) in plans.iter().zip(sums) {
        let Some(tree) = new.trees.iter().find(|t| t.path == plan.path) else {
            return Err(Error::corrupt(format!("tree {} is missing from the output", plan.path)));
        };
        let written = read_tree(&tree.header, tree.base, &tree.class, &new.streamers)?;
        let same = tree.facts.entries == plan.entries && tree.facts.branches.len() == plan.kept.len();
        if !same || written.cluster_ranges.len() > plan.boundaries.len() {
            return Err(Error::corrupt(format!("tree {} has different entries or branches in the output", plan.path)));
        }
        let by_index: HashMap<usize, usize> = plan.branches.iter().enumerate().map(|(i, b)| (b.index, i)).collect();
        for (number, ((index, schema), found)) in plan.kept.iter().zip(&tree.facts.branches).enumerate() {
            same_branch(schema, &found.schema).map_err(|e| e.in_branch(schema.path.clone()))?;
            let values = by_index.get(index).and_then(|&i| plan.branches.get(i).zip(sums.get(i)));
            match values {
                // the same bytes, which readers would interpret differently
                Some((branch, _))
                    if interpret(&written, number, &new.streamers).ok().map(|l| l.item) != branch.item =>
                {
                    let what = "its values have a different type in the output";
                    return Err(Error::corrupt(what).in_branch(schema.path.clone()));
                }
                Some((branch, sums)) => jobs.push((branch, sums, found)),
                None if found.filled => return Err(differs(&(0..found.entries)).in_branch(schema.path.clone())),
                None => {}
            }
        }
    }
    ordered(
        threads,
        8 * threads,
        jobs.into_iter(),
        Recoder::default,
        |recoder, (branch, sums, found)| {
            check(options)?;
            same(branch, sums, &new.reader, found, recoder).map_err(|e| e.in_branch(branch.name.clone()))
        },
        |results| {
            let mut done = 0;
            for r in results {
                r?;
                done += 1;
                tell(done);
            }
            Ok(())
        },
    )
}

/// Whether a branch of the output means the same as that of the input.
fn same_branch(was: &BranchSchema, is: &BranchSchema) -> Result<()> {
    if was.path != is.path {
        return Err(Error::corrupt(format!("is missing from the output: {} is in its place", is.path)));
    }
    // how offsets are stored is a matter of the layout
    was.difference(is, false).map_or(Ok(()), |how| Err(Error::corrupt(format!("differs in the output: it {how}"))))
}

/// Compares a branch of the output with the input's sums, in the order of its entries.
///
/// # Errors
/// `Corrupt`, with the entries that differ, or errors of reading.
fn same(plan: &BranchPlan, sums: &[Sum], reader: &Reader, branch: &BranchFacts, recoder: &mut Recoder) -> Result<()> {
    let mut at = 0;
    for sum in sums {
        if sum.entries.start != at || sum.entries.is_empty() || !branch.embedded.is_empty() {
            return Err(differs(&sum.entries));
        }
        at = sum.entries.end;
    }
    if at != plan.entries || branch.entry_number != at {
        return Err(differs(&(at.min(branch.entry_number)..plan.entries)));
    }
    let mut walk = Walk::new(reader, branch);
    match &plan.shape.rule {
        Rule::Whole(_) => same_baskets(sums, &mut walk, recoder),
        rule => same_entries(rule, sums, &mut walk, recoder),
    }
}

/// For a branch whose baskets stayed in one piece.
fn same_baskets(sums: &[Sum], walk: &mut Walk, recoder: &mut Recoder) -> Result<()> {
    for sum in sums {
        let mut found = Summing::default();
        if walk.next(recoder)? && walk.entries() == sum.entries {
            let basket = walk.data()?;
            found.basket(basket.data, basket.offsets.as_deref(), basket.key_len);
            found.process_ids(walk.pid);
        }
        if found.value() != sum.value {
            return Err(differs(&sum.entries));
        }
    }
    if walk.next(recoder)? { Err(differs(&walk.entries())) } else { Ok(()) }
}

/// For a branch whose entries were cut and joined.
fn same_entries(rule: &Rule, mut sums: &[Sum], walk: &mut Walk, recoder: &mut Recoder) -> Result<()> {
    let mut found = Summing::default();
    while walk.next(recoder)? {
        let slices = Slices::new(rule, &walk.data()?, &walk.payload)?;
        let mut at = 0;
        while at < slices.len() {
            let here = walk.first + at as u64;
            let Some((sum, rest)) = sums.split_first().filter(|(sum, _)| sum.entries.end > here) else {
                return Err(differs(&(here..walk.entries().end)));
            };
            let n = (slices.len() - at).min((sum.entries.end - here) as usize);
            found.entries(rule, &slices, at..at + n);
            found.process_ids(walk.pid);
            at += n;
            if here + n as u64 == sum.entries.end {
                if std::mem::take(&mut found).value() != sum.value {
                    return Err(differs(&sum.entries));
                }
                sums = rest;
            }
        }
    }
    sums.first().map_or(Ok(()), |missing| Err(differs(&missing.entries)))
}

fn differs(entries: &Range<u64>) -> Error {
    Error::corrupt(format!("entries {} to {} differ in the output", entries.start, entries.end.saturating_sub(1)))
        .with_remedy("this is a bug in Sapwood: please report it with a file that reproduces it")
}
