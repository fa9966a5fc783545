//! Entries chosen one by one.

use std::ops::Range;

/// Entries of a tree, ascending and each once: an entry list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryList {
    /// Runs of neighbours; neither empty nor touching.
    runs: Vec<Range<u64>>,
}

impl From<Range<u64>> for EntryList {
    fn from(range: Range<u64>) -> Self {
        Self::from_ranges(vec![range])
    }
}

impl EntryList {
    /// Of numbers in any order; what occurs twice counts once.
    pub fn from_numbers(mut numbers: Vec<u64>) -> Self {
        if !numbers.is_sorted() {
            numbers.sort_unstable();
        }
        let mut list = Self::default();
        for n in numbers {
            list.add(n..n.saturating_add(1));
        }
        list
    }

    /// Of ranges in any order.
    pub fn from_ranges(mut ranges: Vec<Range<u64>>) -> Self {
        ranges.sort_by_key(|r| r.start);
        let mut list = Self::default();
        for r in ranges {
            list.add(r);
        }
        list
    }

    /// The entries of `all` whose rows are chosen; rows are counted through `all` in order. Rows that `chosen` lacks are
    /// not chosen.
    pub fn from_rows(all: &[Range<u64>], chosen: &[bool]) -> Self {
        let entries = all.iter().cloned().flatten();
        let mut list = Self::default();
        for (entry, _) in entries.zip(chosen).filter(|(_, chosen)| **chosen) {
            list.add(entry..entry + 1);
        }
        list
    }

    /// Adds entries behind the last, or overlapping with the last run.
    fn add(&mut self, r: Range<u64>) {
        match self.runs.last_mut() {
            _ if r.is_empty() => {}
            Some(last) if r.start <= last.end => last.end = last.end.max(r.end),
            _ => self.runs.push(r),
        }
    }

    /// Runs of consecutive entries, ascending, with others between them.
    pub fn runs(&self) -> &[Range<u64>] {
        &self.runs
    }

    /// How many entries.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|r| r.end - r.start).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// From the first entry to behind the last; empty at 0 without any.
    pub fn hull(&self) -> Range<u64> {
        match (self.runs.first(), self.runs.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }

    /// Whether one of the entries is in the range.
    pub fn touches(&self, range: &Range<u64>) -> bool {
        touches(&self.runs, range)
    }

    /// Those that lie in the range.
    pub fn within(&self, range: &Range<u64>) -> Self {
        let from = self.runs.partition_point(|r| r.end <= range.start);
        let inside = self.runs[from..].iter().take_while(|r| r.start < range.end);
        let clipped = inside.map(|r| r.start.max(range.start)..r.end.min(range.end));
        Self { runs: clipped.filter(|r| !r.is_empty()).collect() }
    }

    /// Every entry.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.runs.iter().cloned().flatten()
    }
}

/// Whether one of the ascending runs has an entry in the range.
pub(crate) fn touches(runs: &[Range<u64>], range: &Range<u64>) -> bool {
    let from = runs.partition_point(|r| r.end <= range.start);
    runs.get(from).is_some_and(|r| r.start < range.end && !range.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_runs() {
        let list = EntryList::from_numbers(vec![7, 3, 4, 4, 9, 8]);
        assert_eq!(list.runs(), [3..5, 7..10]);
        assert_eq!((list.len(), list.hull()), (5, 3..10));
        assert_eq!(list.iter().collect::<Vec<_>>(), [3, 4, 7, 8, 9]);
        assert_eq!(EntryList::from_ranges(vec![5..9, 0..2, 1..3, 4..4]).runs(), [0..3, 5..9]);
        assert!(EntryList::from_numbers(vec![]).is_empty());
        assert_eq!(EntryList::default().hull(), 0..0);
    }

    #[test]
    fn what_lies_within_a_range() {
        let list = EntryList::from_ranges(vec![3..5, 7..10]);
        assert_eq!(list.within(&(4..8)).runs(), [4..5, 7..8]);
        assert!(list.within(&(5..7)).is_empty());
        for (range, touched) in
            [(0..3, false), (0..4, true), (5..7, false), (9..12, true), (10..12, false), (4..4, false)]
        {
            assert_eq!(list.touches(&range), touched, "{range:?}");
        }
    }

    #[test]
    fn rows_are_counted_through_the_runs() {
        let chosen = [true, false, true, true];
        assert_eq!(EntryList::from_rows(&[3..5, 7..10], &chosen).runs(), [3..4, 7..9]);
    }
}
