//! The columns of a batch, checked together before any of them is written.

use crate::column::Input;
use crate::column_source::{ColumnSource, EntryValues, counts_of};
use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;

/// The columns of a batch, checked together.
#[derive(Debug)]
pub(crate) struct CheckedBatch<'a> {
    /// In the inputs' order; none for counters that are derived from the columns they count.
    arrays: Vec<Option<&'a Array>>,
    /// The input from which such a counter is derived.
    counted: Vec<Option<usize>>,
    pub(crate) entries: usize,
}

/// Checks the columns of all inputs together: each once, all of one length, counters and counts in agreement.
pub(crate) fn check_batch<'a>(inputs: &[Input], given: &[(&str, &'a Array)]) -> Result<CheckedBatch<'a>> {
    let index: HashMap<&str, usize> = inputs.iter().enumerate().map(|(i, input)| (&*input.name, i)).collect();
    let mut arrays: Vec<Option<&'a Array>> = vec![None; inputs.len()];
    for (name, array) in given {
        let slot = index.get(name).and_then(|&i| arrays.get_mut(i));
        let Some(slot) = slot else {
            let all: Vec<&str> = inputs.iter().filter(|i| !i.automatic).map(|i| &*i.name).take(20).collect();
            return Err(Error::not_found(format!("the tree has no branch {name}"))
                .with_remedy(format!("its first branches are: {}", all.join(", "))));
        };
        if slot.replace(array).is_some() {
            return Err(Error::invalid("it is specified twice").in_branch(*name));
        }
    }
    let mut first: Option<(usize, &str)> = None;
    for (input, array) in inputs.iter().zip(&arrays) {
        let name = &*input.name;
        let Some(array) = array else {
            if !input.automatic {
                return Err(Error::invalid("it has no values").in_branch(name));
            }
            continue;
        };
        let n = input.feed.check(array).map_err(|e| e.in_branch(name))?;
        let (entries, whose) = *first.get_or_insert((n, name));
        if n != entries {
            let what = format!("it has {n} entries, but {whose} has {entries}");
            return Err(Error::invalid(what).in_branch(name));
        }
    }
    let counted = count(inputs, &arrays)?;
    Ok(CheckedBatch { arrays, counted, entries: first.map_or(0, |(n, _)| n) })
}

/// Compares counters with the lists they count; for each counter, the first input that it counts.
fn count(inputs: &[Input], arrays: &[Option<&Array>]) -> Result<Vec<Option<usize>>> {
    let mut counted: Vec<Option<usize>> = vec![None; inputs.len()];
    for (i, (input, array)) in inputs.iter().zip(arrays).enumerate() {
        let (ColumnSource::Jagged { counter, .. }, Some(Array::List { offsets, .. })) = (&input.feed, array) else {
            continue;
        };
        let Some(by) = counted.get_mut(*counter) else { continue };
        let first = *by.get_or_insert(i);
        let counter_name = inputs.get(*counter).map_or("", |c| &*c.name);
        let (wrong, whose) = match (arrays.get(*counter).copied().flatten(), arrays.get(first).copied().flatten()) {
            (Some(Array::Flat(values)), _) => (differs(values, offsets), "it says".to_owned()),
            (None, Some(Array::List { offsets: other, .. })) if first != i => {
                let name = inputs.get(first).map_or("", |c| &*c.name);
                (differs_from(other, offsets), format!("{name} has"))
            }
            _ => (None, String::new()),
        };
        if let Some((entry, count, wanted)) = wrong {
            return Err(Error::invalid(format!(
                "entry {entry} of the batch has {count} values, and its counter {counter_name} disagrees: {whose} {wanted}"
            ))
            .with_remedy("use equal counts, or a counter of its own")
            .in_branch(&input.name));
        }
    }
    Ok(counted)
}

/// The first entry whose count differs from the counter: entry, count, counter.
fn differs(counter: &Values, offsets: &[i64]) -> Option<(usize, i64, i64)> {
    let wanted = |i: usize| match counter {
        Values::I32(v) => v.get(i).map(|&n| i64::from(n)),
        Values::U32(v) => v.get(i).map(|&n| i64::from(n)),
        _ => None,
    };
    offsets.windows(2).enumerate().find_map(|(i, pair)| {
        let (count, wanted) = (pair[1] - pair[0], wanted(i)?);
        (count != wanted).then_some((i, count, wanted))
    })
}

fn differs_from(first: &[i64], offsets: &[i64]) -> Option<(usize, i64, i64)> {
    first.windows(2).zip(offsets.windows(2)).enumerate().find_map(|(i, (a, b))| {
        let (wanted, count) = (a[1] - a[0], b[1] - b[0]);
        (count != wanted).then_some((i, count, wanted))
    })
}

impl<'a> CheckedBatch<'a> {
    /// How many entries have about this many bytes.
    pub(crate) fn step(&self, bytes: usize) -> usize {
        let all: usize = self.arrays.iter().flatten().map(|a| a.nbytes()).sum();
        (self.entries as f64 * bytes as f64 / all.max(1) as f64) as usize
    }

    /// Passes entries to their branches.
    pub(crate) fn distribute(
        &self,
        inputs: &[Input],
        range: Range<usize>,
        out: &mut [Option<EntryValues<'a>>],
    ) -> Result<()> {
        for (i, input) in inputs.iter().enumerate() {
            if let Some(array) = self.arrays.get(i).copied().flatten() {
                input.feed.hand(array, range.clone(), out).map_err(|e| e.in_branch(&input.name))?;
                continue;
            }
            let counted = self.counted.get(i).copied().flatten().and_then(|by| self.arrays.get(by).copied().flatten());
            if let (Some(Array::List { offsets, .. }), Some(slot)) = (counted, out.get_mut(input.feed.column())) {
                *slot = Some(EntryValues::counts(counts_of(offsets.get(range.start..=range.end).unwrap_or_default())?));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::BranchSpec;
    use crate::split_branches::resolve;
    use sapwood_column::DType;

    #[test]
    fn what_does_not_fit_is_named() {
        let flat = |n: usize| Array::Flat(Values::F32(vec![0.0; n]));
        let list = |offsets: Vec<i64>| Array::List { content: Box::new(flat(9)), offsets };
        let (_, inputs) = resolve(&[
            BranchSpec::scalar("s", DType::F32),
            BranchSpec::jagged_by("x", DType::F32, "n"),
            BranchSpec::jagged_by("y", DType::F32, "n"),
        ])
        .unwrap();
        let fail = |s: &Array, x: &Array, y: &Array| {
            check_batch(&inputs, &[("s", s), ("x", x), ("y", y)]).unwrap_err().to_string()
        };
        let good = list(vec![0, 2, 5]);
        assert!(check_batch(&inputs, &[("s", &flat(2)), ("x", &good), ("y", &good)]).is_ok());
        assert!(fail(&flat(3), &good, &good).starts_with("branch x: it has 2 entries, but s has 3"));
        let e = fail(&flat(2), &good, &list(vec![0, 2, 6]));
        assert!(
            e.starts_with("branch y: entry 1 of the batch has 4 values, and its counter n disagrees: x has 3"),
            "{e}"
        );
        assert!(fail(&flat(2), &list(vec![0, 3, 2]), &good).contains("decrease from 3 to 2"));
        assert!(fail(&flat(2), &list(vec![0, 2, 10]), &good).contains("beyond its 9 values"));
        assert!(fail(&flat(2), &list(vec![]), &good).contains("no offsets"));
        assert!(fail(&good, &good, &good).contains("pass a flat array"));
        assert!(
            fail(&Array::Flat(Values::F64(vec![0.0; 2])), &good, &good).contains("it contains float32, not float64")
        );
        assert!(matches!(check_batch(&inputs, &[("s", &flat(2)), ("x", &good)]), Err(e) if e.branch() == Some("y")));
        assert!(matches!(check_batch(&inputs, &[("z", &flat(2))]), Err(e) if e.what().contains("no branch z")));
    }
}
