use crate::Limits;
use sapwood_span::{Span, coalesce};
use std::collections::BTreeMap;

/// A request being built: what it would cost with one basket more.
#[derive(Debug)]
pub(crate) struct Draft {
    max_gap: u64,
    max_range: u64,
    /// Ends of the spans taken, by start and position.
    spans: BTreeMap<(u64, u32), u64>,
    /// Positions, in the order they were taken.
    pub picked: Vec<u32>,
    /// What is requested, with bridged gaps; overlaps count twice.
    pub bytes: u64,
    joined: usize,
}

impl Draft {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            max_gap: limits.range_overhead,
            max_range: limits.max_range_bytes.max(1),
            spans: BTreeMap::new(),
            picked: Vec::new(),
            bytes: 0,
            joined: 0,
        }
    }

    /// Bytes and (about) ranges of the request with this basket in it.
    pub(crate) fn with(&self, position: u32, span: Span) -> (u64, usize) {
        let (bytes, joined) = self.after(position, span);
        (bytes, joined.max(usize::try_from(bytes.div_ceil(self.max_range)).unwrap_or(usize::MAX)))
    }

    pub(crate) fn add(&mut self, position: u32, span: Span) {
        (self.bytes, self.joined) = self.after(position, span);
        self.spans.insert((span.start, position), span.end());
        self.picked.push(position);
    }

    /// Only the neighbours in the file decide what one more span costs.
    fn after(&self, position: u32, span: Span) -> (u64, usize) {
        let key = (span.start, position);
        let left = self.spans.range(..key).next_back().map(|(_, &end)| end);
        let right = self.spans.range(key..).next().map(|(&(start, _), _)| start);
        // The gap that is read over, if the two are joined at all.
        let bridge = |end: Option<u64>, start: Option<u64>| {
            let gap = start?.saturating_sub(end?);
            (gap <= self.max_gap).then_some(gap)
        };
        let before = bridge(left, Some(span.start));
        let after = bridge(Some(span.end()), right);
        let old = bridge(left, right);
        let bytes = self.bytes + span.len + before.unwrap_or(0) + after.unwrap_or(0);
        let ranges = self.joined + 1 + usize::from(old.is_some());
        (
            bytes.saturating_sub(old.unwrap_or(0)),
            ranges.saturating_sub(usize::from(before.is_some()) + usize::from(after.is_some())),
        )
    }

    /// The exact ranges, and the positions they are for. What was taken last is dropped until the limits hold; one
    /// basket always stays.
    pub(crate) fn finish(mut self, limits: &Limits, span_of: impl Fn(u32) -> Span) -> (Vec<Span>, Vec<u32>) {
        loop {
            let spans: Vec<Span> = self.picked.iter().map(|&p| span_of(p)).collect();
            let ranges = coalesce(&spans, self.max_gap, self.max_range);
            let count: u64 = ranges.iter().map(|r| r.span.len.div_ceil(self.max_range)).sum();
            let bytes: u64 = ranges.iter().map(|r| r.span.len).sum();
            let fits = count <= limits.max_ranges.max(1) as u64 && bytes <= limits.max_request_bytes;
            if fits || self.picked.len() == 1 {
                return (ranges.into_iter().map(|r| r.span).collect(), self.picked);
            }
            self.picked.truncate((self.picked.len() - 1).min(self.picked.len() * 7 / 8).max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { range_overhead: 10, max_ranges: 4, max_range_bytes: 100, ..Limits::local(1) }
    }

    #[test]
    fn counts_as_it_goes_what_coalescing_finds() {
        let spans = [(500, 20), (0, 30), (40, 10), (60, 5), (30, 10), (525, 1)].map(|(s, l)| Span::new(s, l));
        let mut draft = Draft::new(&limits());
        for (p, &span) in spans.iter().enumerate() {
            draft.add(p as u32, span);
            let exact = coalesce(&spans[..=p], 10, 100);
            assert_eq!(draft.bytes, exact.iter().map(|r| r.span.len).sum::<u64>());
            assert_eq!(draft.joined, exact.len());
        }
    }

    #[test]
    fn drops_the_last_when_ranges_must_be_cut() {
        let spans: Vec<Span> = (0..10).map(|i| Span::new(i * 60, 60)).collect();
        let mut draft = Draft::new(&limits());
        for (p, &span) in spans.iter().enumerate() {
            draft.add(p as u32, span);
        }
        // Two baskets of 60 bytes do not fit one range of 100: at most four of them in four ranges.
        assert_eq!(draft.finish(&limits(), |p| spans[p as usize]).0.len(), 4);
    }
}
