//! Rows of a friend that have been read and may be needed for later batches.

use crate::batch::Batch;
use sapwood_column::{Array, Values};
use std::ops::Range;

/// A batch of a friend.
pub(super) struct RowBuffer {
    /// Its entries, and the row of the first of them.
    runs: Vec<(Range<u64>, usize)>,
    pub columns: Vec<Array>,
}

impl RowBuffer {
    /// A batch whose entries are counted from entry `first` on.
    pub(super) fn new(batch: Batch, first: u64) -> Self {
        let mut row = 0;
        let mut place = |r: &Range<u64>| {
            let at = row;
            row += usize::try_from(r.end - r.start).unwrap_or(usize::MAX);
            (r.start + first..r.end + first, at)
        };
        let runs = match &batch.selected {
            Some(list) => list.runs().iter().map(place).collect(),
            None => vec![place(&batch.entries)],
        };
        Self { runs, columns: batch.columns }
    }

    /// Behind the last entry.
    pub(super) fn end(&self) -> u64 {
        self.runs.last().map_or(0, |(r, _)| r.end)
    }

    pub(super) fn has(&self, entry: u64) -> bool {
        self.row(entry).is_some()
    }

    /// The row of an entry, and how many follow it in one run, itself included.
    fn row(&self, entry: u64) -> Option<(usize, usize)> {
        let at = self.runs.partition_point(|(r, _)| r.end <= entry);
        let (range, row) = self.runs.get(at).filter(|(r, _)| r.start <= entry)?;
        let behind = usize::try_from(entry - range.start).ok()?;
        Some((row + behind, usize::try_from(range.end - entry).ok()?))
    }

    /// The rows of the first of these entries and of those that follow it one by one.
    pub(super) fn run(&self, entries: &[u64]) -> Range<usize> {
        let Some((first, (row, most))) = entries.first().and_then(|&e| Some((e, self.row(e)?))) else { return 0..0 };
        let follows = |(i, e): &(usize, &u64)| first.checked_add(*i as u64) == Some(**e);
        let count = entries.iter().take(most).enumerate().take_while(follows).count();
        row..row + count
    }
}

/// Appends entries without values: zeros, empty lists and empty texts.
pub(super) fn append_default(array: &mut Array, count: usize) {
    let repeat = |offsets: &mut Vec<i64>| {
        if offsets.is_empty() {
            offsets.push(0);
        }
        let last = offsets.last().copied().unwrap_or(0);
        offsets.resize(offsets.len() + count, last);
    };
    match array {
        Array::Flat(values) => append_zeros(values, count),
        Array::Regular { size, len, content } => {
            *len += count;
            append_default(content, count.saturating_mul(*size));
        }
        Array::List { offsets, .. } | Array::Text { offsets, .. } => repeat(offsets),
        Array::Record { len, fields } => {
            *len += count;
            fields.iter_mut().for_each(|(_, field)| append_default(field, count));
        }
    }
}

fn append_zeros(values: &mut Values, count: usize) {
    macro_rules! append {
        ($($t:ident),*) => { match values { $(Values::$t(v) => v.resize(v.len() + count, Default::default()),)* } };
    }
    append!(Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::EntryList;

    #[test]
    fn rows_of_chosen_entries() {
        let batch =
            |selected: Option<EntryList>| Batch { entries: 10..20, columns: Vec::new(), selected, friends: Vec::new() };
        let all = RowBuffer::new(batch(None), 100);
        assert_eq!((all.end(), all.has(110), all.has(120), all.has(10)), (120, true, false, false));
        assert_eq!(all.run(&[112, 113, 114, 116]), 2..5);
        assert_eq!(all.run(&[118, 119, 120]), 8..10);
        let some = RowBuffer::new(batch(Some(EntryList::from_ranges(vec![11..13, 17..18]))), 0);
        assert_eq!(some.run(&[12, 13]), 1..2);
        assert_eq!(some.run(&[17]), 2..3);
        assert!(!some.has(14));
    }

    #[test]
    fn entries_without_values() {
        let mut lists = Array::List { offsets: Vec::new(), content: Box::new(Array::Flat(Values::F32(Vec::new()))) };
        append_default(&mut lists, 2);
        assert_eq!(lists.len(), 2);
        let mut fixed = Array::Regular { size: 3, len: 0, content: Box::new(Array::Flat(Values::I8(Vec::new()))) };
        append_default(&mut fixed, 2);
        assert_eq!((fixed.len(), fixed.slice(1, 2).len()), (2, 1));
    }
}
