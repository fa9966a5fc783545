//! Values from the input to the output, batch by batch, with sums over them.

use super::column_sum::ColumnSum;
use super::plan::{Plan, Unassembled};
use super::{ConvertOptions, check};
use sapwood_column::{Array, Values};
use sapwood_engine::{ScanOptions, StepSize, Tree};
use sapwood_span::{Error, Result};
use sapwood_write::{NtupleWriter, TreeWriter};
use std::ops::Range;

/// Ranges of entries with sums of their own, about: they tell where values differ.
const RANGES: u64 = 1000;

/// Uncompressed bytes of an ntuple's largest cluster. Clusters of a tree become clusters: baskets are decompressed
/// into whole columns, without a copy, and a column's memory is free when its values are on pages. Smaller ones are
/// joined, larger ones divided.
const CLUSTER: u64 = 96 << 20;

/// What is written.
pub(super) enum Writer {
    Ntuple(NtupleWriter),
    Tree(TreeWriter),
}

impl Writer {
    /// Appends entries. Each batch becomes a cluster of an ntuple.
    fn extend(&mut self, columns: Vec<(&str, Array)>) -> Result<()> {
        match self {
            Writer::Ntuple(ntuple) => ntuple.extend_cluster(columns),
            Writer::Tree(tree) => {
                let given: Vec<(&str, &Array)> = columns.iter().map(|(name, array)| (*name, array)).collect();
                tree.extend(&given)
            }
        }
    }

    /// What is read and written together.
    fn step(&self) -> StepSize {
        match self {
            Writer::Ntuple(_) => StepSize::Bytes(CLUSTER),
            Writer::Tree(_) => StepSize::Cluster,
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            Writer::Ntuple(ntuple) => ntuple.finish(),
            Writer::Tree(tree) => tree.finish(),
        }
    }
}

/// The sums of some entries of the output, by column.
pub(super) struct RangeSums {
    /// Counted in the output.
    pub(super) entries: Range<u64>,
    pub(super) sums: Vec<u64>,
}

/// Why nothing can be copied as it was planned.
pub(super) enum NotCopied {
    /// Branches whose sub-branches have lists of different lengths, and outputs that their counters do not count.
    Disproved(Vec<usize>, Vec<String>),
    /// A branch that is damaged.
    Damaged(String, Error),
    Failed(Error),
}

impl From<Error> for NotCopied {
    fn from(e: Error) -> Self {
        NotCopied::Failed(e)
    }
}

/// Copies all chosen entries. `told` is called with the number of entries after each batch.
pub(super) fn copy(
    tree: &Tree,
    plan: &Plan,
    entries: &Range<u64>,
    writer: &mut Writer,
    options: &ConvertOptions,
    mut told: impl FnMut(u64),
) -> Result<Vec<RangeSums>, NotCopied> {
    let scan = ScanOptions::new(plan.branches.clone())
        .entries(entries.clone())
        .step(writer.step())
        .cancel(options.cancel.clone());
    let each = (entries.end - entries.start).div_ceil(RANGES).max(1);
    let mut done: Vec<RangeSums> = Vec::new();
    let mut sums: Vec<ColumnSum> = plan.outputs.iter().map(|_| ColumnSum::default()).collect();
    let (mut begin, mut at) = (0, 0);
    for batch in tree.scan_with(&scan)? {
        check(options)?;
        let batch = batch?;
        let n = batch.entries.end - batch.entries.start;
        let columns = assemble(plan, batch.columns)?;
        if options.verify {
            for (sum, array) in sums.iter_mut().zip(&columns) {
                sum.update(array, 0..array.len());
            }
        }
        writer.extend(plan.outputs.iter().map(|o| &*o.name).zip(columns).collect())?;
        at += n;
        if options.verify && at - begin >= each {
            done.push(ended(begin..at, &mut sums));
            begin = at;
        }
        told(at);
    }
    if options.verify && at > begin {
        done.push(ended(begin..at, &mut sums));
    }
    Ok(done)
}

fn ended(entries: Range<u64>, sums: &mut [ColumnSum]) -> RangeSums {
    RangeSums { entries, sums: sums.iter_mut().map(|sum| std::mem::take(sum).value()).collect() }
}

/// The columns of all outputs.
fn assemble(plan: &Plan, read: Vec<Array>) -> Result<Vec<Array>, NotCopied> {
    let mut read: Vec<Option<Array>> = read.into_iter().map(Some).collect();
    let mut columns = Vec::with_capacity(plan.outputs.len());
    let (mut items, mut counted) = (Vec::new(), Vec::new());
    for output in &plan.outputs {
        match output.source.assemble(&mut read) {
            Ok(array) => columns.push(array),
            Err(Unassembled::Items(branch)) => items.push(branch),
            Err(Unassembled::Failed(e)) => return Err(e.in_branch(&output.of).into()),
        }
    }
    if items.is_empty() {
        for (output, array) in plan.outputs.iter().zip(&columns) {
            let counter = output.counter.and_then(|c| columns.get(c));
            if counter.is_some_and(|counter| !counts(counter, array)) {
                counted.push(output.name.clone());
            }
        }
    }
    if items.is_empty() && counted.is_empty() { Ok(columns) } else { Err(NotCopied::Disproved(items, counted)) }
}

/// Whether one column has the lengths of the lists of another.
fn counts(counter: &Array, lists: &Array) -> bool {
    let Array::List { offsets, .. } = lists else { return false };
    let lengths = offsets.iter().zip(offsets.get(1..).unwrap_or_default()).map(|(a, b)| b - a);
    match counter {
        Array::Flat(Values::I32(v)) => v.iter().map(|&n| i64::from(n)).eq(lengths),
        Array::Flat(Values::U32(v)) => v.iter().map(|&n| i64::from(n)).eq(lengths),
        _ => false,
    }
}
