use crate::layout::Sizes;
use crate::schema::{Column, LONGEST_ENTRY, Shape};
use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// The entries given for one column, checked against what the column holds.
pub(crate) struct Batch<'a> {
    values: Cow<'a, Values>,
    shape: BatchShape<'a>,
}

enum BatchShape<'a> {
    /// So many items per entry.
    Regular(usize),
    /// Where each entry's items begin.
    Jagged(&'a [i64]),
}

impl<'a> Batch<'a> {
    /// Checks `array` as the next entries of `column`; also how many entries there are.
    fn new(column: &Column, array: &'a Array) -> Result<(Self, usize)> {
        let (values, shape, entries) = match (column.shape, array) {
            (Shape::Scalar, Array::Flat(v)) => (v, BatchShape::Regular(1), v.len()),
            (Shape::Fixed(n), Array::Regular { size, len, content }) => {
                let Array::Flat(v) = &**content else { return Err(wrong_shape(column)) };
                if *size != n {
                    return Err(Error::invalid(format!("an entry holds {n} values, not {size}")));
                }
                if n.checked_mul(*len) != Some(v.len()) {
                    return Err(Error::invalid(format!("{len} entries of {n} values are not {} values", v.len())));
                }
                (v, BatchShape::Regular(n), *len)
            }
            (Shape::Jagged(_), Array::List { offsets, content }) => {
                let Array::Flat(v) = &**content else { return Err(wrong_shape(column)) };
                check_offsets(offsets, v)?;
                (v, BatchShape::Jagged(offsets), offsets.len() - 1)
            }
            _ => return Err(wrong_shape(column)),
        };
        if values.dtype() != column.dtype {
            return Err(Error::invalid(format!("it holds {}, not {}", column.dtype.name(), values.dtype().name()))
                .with_remedy("convert the values first"));
        }
        Ok((Self { values: Cow::Borrowed(values), shape }, entries))
    }

    /// How many bytes the entries take.
    pub(crate) fn sizes(&self) -> Sizes<'_> {
        let item = self.values.dtype().size() as u64;
        match self.shape {
            BatchShape::Regular(n) => Sizes::Fixed(item * n as u64),
            BatchShape::Jagged(offsets) => Sizes::Jagged(offsets, item),
        }
    }

    /// The items of entries `from` to `to`, as a range of all items.
    pub(crate) fn items(&self, from: usize, to: usize) -> (usize, usize) {
        match self.shape {
            BatchShape::Regular(n) => (from * n, to * n),
            BatchShape::Jagged(offsets) => {
                let at = |i: usize| offsets.get(i).and_then(|&o| usize::try_from(o).ok()).unwrap_or(0);
                (at(from), at(to))
            }
        }
    }

    /// Where each entry's items begin, for jagged columns.
    pub(crate) fn offsets(&self) -> Option<&[i64]> {
        match self.shape {
            BatchShape::Regular(_) => None,
            BatchShape::Jagged(offsets) => Some(offsets),
        }
    }

    /// Appends the items of entries `from` to `to`, big-endian.
    pub(crate) fn append_to(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        let (start, stop) = self.items(from, to);
        append_big_endian(&self.values, start, stop, out);
    }
}

/// Checks what was given for all columns together: each column once, all of one length, counters
/// and counts in agreement. The batches in the columns' order, and the entries.
pub(crate) fn check<'a>(columns: &[&Column], given: &[(&str, &'a Array)]) -> Result<(Vec<Batch<'a>>, usize)> {
    let index: HashMap<&str, usize> = columns.iter().enumerate().map(|(i, c)| (&*c.name, i)).collect();
    let mut arrays: Vec<Option<&'a Array>> = vec![None; columns.len()];
    for (name, array) in given {
        let place = index.get(name).and_then(|&i| arrays.get_mut(i));
        let Some(place) = place else {
            let all: Vec<&str> = columns.iter().filter(|c| !c.automatic).map(|c| &*c.name).take(20).collect();
            return Err(Error::not_found(format!("the tree has no branch {name}"))
                .with_remedy(format!("its branches begin with: {}", all.join(", "))));
        };
        if place.replace(array).is_some() {
            return Err(Error::invalid("it is given twice").in_branch(*name));
        }
    }
    let mut batches: Vec<Option<Batch<'a>>> = Vec::with_capacity(columns.len());
    let mut entries: Option<(usize, &str)> = None;
    for (column, array) in columns.iter().zip(&arrays) {
        let name = &*column.name;
        let Some(array) = array else {
            if !column.automatic {
                return Err(Error::invalid("no entries are given for it").in_branch(name));
            }
            batches.push(None);
            continue;
        };
        let (batch, n) = Batch::new(column, array).map_err(|e| e.in_branch(name))?;
        let (first, whose) = *entries.get_or_insert((n, name));
        if n != first {
            return Err(
                Error::invalid(format!("{n} entries are given for it, but {first} for {whose}")).in_branch(name)
            );
        }
        batches.push(Some(batch));
    }
    let entries = entries.map_or(0, |(n, _)| n);
    count(columns, &mut batches)?;
    Ok((batches.into_iter().flatten().collect(), entries))
}

/// Fills the counters that were left out, and compares all others with what they count.
fn count(columns: &[&Column], batches: &mut [Option<Batch<'_>>]) -> Result<()> {
    let mut counted: Vec<Option<&str>> = vec![None; columns.len()];
    for (i, column) in columns.iter().enumerate() {
        let Shape::Jagged(counter) = column.shape else { continue };
        let Some(offsets) = batches.get(i).and_then(Option::as_ref).and_then(Batch::offsets) else { continue };
        let counts = counts(offsets).map_err(|e| e.in_branch(&column.name))?;
        let counter_name = columns.get(counter).map_or("", |c| &*c.name);
        let (Some(place), Some(by)) = (batches.get_mut(counter), counted.get_mut(counter)) else { continue };
        match place {
            None => *place = Some(Batch { values: Cow::Owned(Values::I32(counts)), shape: BatchShape::Regular(1) }),
            Some(batch) => {
                if let Some(entry) = first_difference(&batch.values, &counts) {
                    let whose = by.map_or_else(|| "it says".to_owned(), |b| format!("{b} has"));
                    return Err(Error::invalid(format!(
                        "entry {entry} of the batch has {} values where its counter is {counter_name} and {whose} {}",
                        counts.get(entry).copied().unwrap_or(0),
                        batch.values.get_f64(entry).unwrap_or(0.0)
                    ))
                    .with_remedy("give it equal counts or a counter of its own")
                    .in_branch(&column.name));
                }
            }
        }
        by.get_or_insert(&column.name);
    }
    // A counter is left out only where a jagged column, which fills it, brought it in.
    debug_assert!(batches.iter().all(Option::is_some));
    Ok(())
}

fn first_difference(counter: &Values, counts: &[i32]) -> Option<usize> {
    match counter {
        Values::I32(v) => v.iter().zip(counts).position(|(a, b)| a != b),
        Values::U32(v) => v.iter().zip(counts).position(|(a, b)| i64::from(*a) != i64::from(*b)),
        _ => Some(0),
    }
}

fn counts(offsets: &[i64]) -> Result<Vec<i32>> {
    let pairs = offsets.iter().zip(offsets.get(1..).unwrap_or_default());
    pairs
        .map(|(a, b)| i32::try_from(b - a))
        .collect::<Result<_, _>>()
        .map_err(|_| Error::invalid("an entry has more than 2147483647 values"))
}

fn check_offsets(offsets: &[i64], values: &Values) -> Result<()> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Err(Error::invalid("there are no offsets, not even the first"));
    };
    if first < 0 || last as u64 > values.len() as u64 {
        return Err(Error::invalid(format!(
            "its offsets go from {first} to {last}, beyond its {} values",
            values.len()
        )));
    }
    let most = (LONGEST_ENTRY / values.dtype().size() as u64) as i64;
    for (i, pair) in offsets.windows(2).enumerate() {
        if let &[a, b] = pair
            && (b < a || b - a > most)
        {
            return Err(if b < a {
                Error::invalid(format!("its offsets fall from {a} to {b} at entry {i} of the batch"))
            } else {
                Error::invalid(format!("entry {i} of the batch has {} values, more than fit into 1 GiB", b - a))
            });
        }
    }
    Ok(())
}

fn wrong_shape(column: &Column) -> Error {
    let name = column.dtype.name();
    Error::invalid(match column.shape {
        Shape::Scalar => format!("each entry is one {name}: give a flat array"),
        Shape::Fixed(n) => format!("each entry is {n} {name}: give a regular array of flat content"),
        Shape::Jagged(_) => format!("each entry is a list of {name}: give a list array of flat content"),
    })
}

fn append_big_endian(values: &Values, start: usize, stop: usize, out: &mut Vec<u8>) {
    macro_rules! swap {
        ($v:expr) => {{
            let from = $v.get(start..stop).unwrap_or_default();
            let old = out.len();
            out.resize(old + size_of_val(from), 0);
            let to = out.get_mut(old..).unwrap_or_default();
            for (place, x) in to.chunks_exact_mut(values.dtype().size()).zip(from) {
                place.copy_from_slice(&x.to_be_bytes());
            }
        }};
    }
    match values {
        Values::Bool(v) => out.extend(v.get(start..stop).unwrap_or_default().iter().map(|&b| u8::from(b != 0))),
        Values::U8(v) => out.extend_from_slice(v.get(start..stop).unwrap_or_default()),
        Values::I8(v) => swap!(v),
        Values::I16(v) => swap!(v),
        Values::U16(v) => swap!(v),
        Values::I32(v) => swap!(v),
        Values::U32(v) => swap!(v),
        Values::I64(v) => swap!(v),
        Values::U64(v) => swap!(v),
        Values::F32(v) => swap!(v),
        Values::F64(v) => swap!(v),
    }
}

/// The largest count in a counter's batch.
pub(crate) fn largest(batch: &Batch<'_>) -> i64 {
    match &*batch.values {
        Values::I32(v) => v.iter().copied().max().map_or(0, i64::from),
        Values::U32(v) => v.iter().copied().max().map_or(0, i64::from),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{BranchSpec, resolve};
    use sapwood_column::DType;

    #[test]
    fn big_endian_bytes() {
        let mut out = Vec::new();
        append_big_endian(&Values::I16(vec![9, 1, -2, 9]), 1, 3, &mut out);
        append_big_endian(&Values::F32(vec![1.0]), 0, 1, &mut out);
        append_big_endian(&Values::Bool(vec![0, 1, 7]), 0, 3, &mut out);
        append_big_endian(&Values::I8(vec![-1]), 0, 1, &mut out);
        assert_eq!(out, [0, 1, 0xff, 0xfe, 0x3f, 0x80, 0, 0, 0, 1, 1, 0xff]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let flat = |n: usize| Array::Flat(Values::F32(vec![0.0; n]));
        let list = |offsets: Vec<i64>| Array::List { content: Box::new(flat(9)), offsets };
        let columns = resolve(&[
            BranchSpec::scalar("s", DType::F32),
            BranchSpec::jagged_by("x", DType::F32, "n"),
            BranchSpec::jagged_by("y", DType::F32, "n"),
        ])
        .unwrap();
        let columns: Vec<&Column> = columns.iter().collect();
        let fail = |s: &Array, x: &Array, y: &Array| match check(&columns, &[("s", s), ("x", x), ("y", y)]) {
            Ok(_) => panic!("not refused"),
            Err(e) => e.to_string(),
        };
        let good = list(vec![0, 2, 5]);
        assert!(check(&columns, &[("s", &flat(2)), ("x", &good), ("y", &good)]).is_ok());
        assert!(fail(&flat(3), &good, &good).starts_with("branch x: 2 entries are given for it, but 3 for s"));
        let e = fail(&flat(2), &good, &list(vec![0, 2, 6]));
        assert!(e.starts_with("branch y: entry 1 of the batch has 4 values where its counter is n and x has 3"), "{e}");
        assert!(fail(&flat(2), &list(vec![0, 3, 2]), &good).contains("fall from 3 to 2"));
        assert!(fail(&flat(2), &list(vec![0, 2, 10]), &good).contains("beyond its 9 values"));
        assert!(fail(&flat(2), &list(vec![]), &good).contains("no offsets"));
        assert!(fail(&good, &good, &good).contains("give a flat array"));
        assert!(fail(&Array::Flat(Values::F64(vec![0.0; 2])), &good, &good).contains("it holds float32, not float64"));
        assert!(matches!(check(&columns, &[("s", &flat(2)), ("x", &good)]), Err(e) if e.branch() == Some("y")));
        assert!(matches!(check(&columns, &[("z", &flat(2))]), Err(e) if e.what().contains("no branch z")));
    }
}
