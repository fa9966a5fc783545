//! Checks that every value is the same: the output, read back, against the sums of what was written.

use super::column_sum::ColumnSum;
use super::copy::RangeSums;
use super::plan::Plan;
use super::{ConvertOptions, check};
use sapwood_engine::{ScanOptions, StepSize, Tree};
use sapwood_span::{Error, Result};

/// Compares a tree or ntuple of the output. `told` is called with the number of entries after each batch.
///
/// # Errors
/// `Corrupt`, with the branch and the entries that differ, or errors of reading.
pub(super) fn compare(
    output: &Tree,
    plan: &Plan,
    expected: &[RangeSums],
    options: &ConvertOptions,
    mut told: impl FnMut(u64),
) -> Result<()> {
    let entries = expected.last().map_or(0, |r| r.entries.end);
    if output.entries() != entries {
        return Err(bug(format!("the output has {} entries, not {entries}", output.entries())));
    }
    if entries == 0 {
        return Ok(());
    }
    let branches = plan.outputs.iter().map(|o| output.find(&o.name)).collect::<Result<Vec<usize>>>()?;
    let scan = ScanOptions::new(branches).step(StepSize::Cluster).cancel(options.cancel.clone());
    let mut sums: Vec<ColumnSum> = plan.outputs.iter().map(|_| ColumnSum::default()).collect();
    let mut ranges = expected.iter();
    let mut now = ranges.next();
    for batch in output.scan_with(&scan)? {
        check(options)?;
        let batch = batch?;
        let mut at = batch.entries.start;
        while at < batch.entries.end {
            let range = now.ok_or_else(|| bug("the output has more entries than it should"))?;
            let to = range.entries.end.min(batch.entries.end);
            let rows = (at - batch.entries.start) as usize..(to - batch.entries.start) as usize;
            for (sum, array) in sums.iter_mut().zip(&batch.columns) {
                sum.update(array, rows.clone());
            }
            if to == range.entries.end {
                for ((sum, was), of) in sums.iter_mut().zip(&range.sums).zip(&plan.outputs) {
                    if std::mem::take(sum).value() != *was {
                        let (first, last) = (range.entries.start, range.entries.end.saturating_sub(1));
                        return Err(bug(format!("entries {first} to {last} differ in the output")).in_branch(&of.name));
                    }
                }
                now = ranges.next();
            }
            at = to;
        }
        told(at);
    }
    match now {
        None => Ok(()),
        Some(missing) => Err(bug(format!("entries from {} are missing from the output", missing.entries.start))),
    }
}

fn bug(what: impl Into<String>) -> Error {
    Error::corrupt(what.into()).with_remedy("this is a bug in Sapwood: please report it with a file that reproduces it")
}
