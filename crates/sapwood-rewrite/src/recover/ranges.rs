//! Ranges of entries that are lost.

use std::ops::Range;

/// Ranges of entries, in order, none touching another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    pub(super) fn add(&mut self, new: Range<u64>) {
        if new.is_empty() {
            return;
        }
        let from = self.0.partition_point(|r| r.end < new.start);
        let to = self.0.partition_point(|r| r.start <= new.end);
        let first = self.0.get(from).filter(|_| from < to).map_or(new.start, |r| r.start.min(new.start));
        let last = to.checked_sub(1).filter(|_| from < to).and_then(|i| self.0.get(i));
        let end = last.map_or(new.end, |r| r.end.max(new.end));
        self.0.splice(from..to, std::iter::once(first..end));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> u64 {
        self.0.iter().map(|r| r.end - r.start).sum()
    }

    /// The ranges that overlap these entries.
    fn within(&self, entries: &Range<u64>) -> &[Range<u64>] {
        let from = self.0.partition_point(|r| r.end <= entries.start);
        let to = self.0.partition_point(|r| r.start < entries.end);
        self.0.get(from..to).unwrap_or_default()
    }

    /// Whether any of these entries is in the ranges, and whether all are.
    pub(super) fn meets(&self, entries: &Range<u64>) -> (bool, bool) {
        match self.within(entries) {
            [] => (false, false),
            [r, ..] => (true, r.start <= entries.start && entries.end <= r.end),
        }
    }

    /// The parts of these entries that are not in the ranges.
    pub(super) fn rest_of(&self, entries: &Range<u64>) -> Vec<Range<u64>> {
        let mut out = Vec::new();
        let mut at = entries.start;
        for r in self.within(entries) {
            out.extend((at < r.start).then_some(at..r.start));
            at = r.end;
        }
        out.extend((at < entries.end).then_some(at..entries.end));
        out
    }

    /// The number of an entry after removing those in the ranges.
    pub(super) fn without(&self, entry: u64) -> u64 {
        let before = self.0.iter().take_while(|r| r.start < entry);
        entry - before.map(|r| r.end.min(entry) - r.start).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_entries_move_up() {
        let mut r = Ranges::default();
        for (from, to) in [(10, 20), (30, 40), (50, 60), (5, 5), (40, 45), (18, 32)] {
            r.add(from..to);
        }
        assert_eq!(r, Ranges(vec![10..45, 50..60]));
        assert_eq!(r.len(), 45);
        assert_eq!([0, 10, 12, 45, 50, 55, 60, 70].map(|e| r.without(e)), [0, 10, 10, 10, 15, 15, 15, 25]);
        assert_eq!(r.meets(&(12..20)), (true, true));
        assert_eq!(r.meets(&(40..50)), (true, false));
        assert_eq!(r.meets(&(45..50)), (false, false));
        assert_eq!(r.rest_of(&(0..100)), [0..10, 45..50, 60..100]);
        assert_eq!(r.rest_of(&(12..58)), [45..50, 58..58][..1]);
        assert_eq!(r.rest_of(&(12..40)), []);
        assert_eq!(r.rest_of(&(45..100)), [45..50, 60..100]);
        r.add(45..50);
        assert_eq!((r.0.len(), r.len()), (1, 50));
    }
}
