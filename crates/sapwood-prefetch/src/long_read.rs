//! A long request of a client, fetched ahead of the part of the answer already sent.

use sapwood_span::{Span, coalesce};

/// Bytes of a long request fetched ahead of the client.
const AHEAD: u64 = 16 << 20;
/// The first fetches are short, so that the first bytes arrive soon.
const FIRST: u64 = 512 << 10;
/// Size of all others. Over HTTP, shorter requests are fetched at once.
const PIECE: u64 = 4 << 20;

/// The ranges of one request as one sequence of bytes. How many ranges there are does not change the number of fetches.
#[derive(Debug)]
pub struct LongRead {
    /// Sorted and disjoint, each with the number of bytes before it.
    parts: Vec<(u64, Span)>,
    total: u64,
    /// Bytes of the sequence that are requested.
    next: u64,
    piece: u64,
}

impl LongRead {
    /// The ranges in any order; none may be empty.
    pub fn new(spans: &[Span]) -> Self {
        let mut spans = spans.to_vec();
        spans.sort();
        let mut total = 0;
        let mut part = |span: Span| {
            total += span.len;
            (total - span.len, span)
        };
        let parts = coalesce(&spans, 0, u64::MAX).into_iter().map(|merged| part(merged.span)).collect();
        Self { parts, total, next: 0, piece: FIRST }
    }

    /// Whether it is so short that all of it is fetched at once.
    pub fn is_short(&self, is_http: bool) -> bool {
        // over XRootD requests follow one another without a pause: of several, the first bytes come sooner
        self.total <= if is_http { PIECE } else { FIRST }
    }

    /// All ranges, sorted and disjoint.
    pub fn spans(&self) -> Vec<Span> {
        self.parts.iter().map(|(_, span)| *span).collect()
    }

    /// Whether all of it is requested.
    pub fn is_done(&self) -> bool {
        self.next >= self.total
    }

    /// What to fetch at the start: one list of ranges for each fetch.
    pub fn begin(&mut self) -> Vec<Vec<Span>> {
        self.advance(0)
    }

    /// The same when the client reads here; nothing where that is not in this request.
    pub fn follow(&mut self, span: Span) -> Vec<Vec<Span>> {
        let after = self.parts.partition_point(|(_, part)| part.start <= span.start);
        let Some((before, part)) = after.checked_sub(1).and_then(|at| self.parts.get(at)) else { return Vec::new() };
        if span.start >= part.end() {
            return Vec::new();
        }
        self.advance(before + (span.end().min(part.end()) - part.start))
    }

    fn advance(&mut self, at: u64) -> Vec<Vec<Span>> {
        let until = self.total.min(at.saturating_add(AHEAD));
        let mut fetches = Vec::new();
        // only whole pieces, except for the last one
        while self.next < until && (self.next + self.piece <= until || until == self.total) {
            let len = self.piece.min(until - self.next);
            fetches.push(self.cut(self.next, len));
            self.next += len;
            self.piece = (self.piece * 2).min(PIECE);
        }
        fetches
    }

    /// The ranges of a part of the sequence.
    fn cut(&self, at: u64, len: u64) -> Vec<Span> {
        let end = at + len;
        let first = self.parts.partition_point(|(before, part)| before + part.len <= at);
        let parts = self.parts.iter().skip(first).take_while(|(before, _)| *before < end);
        let inside = |(before, part): &(u64, Span)| {
            let (from, to) = (at.max(*before), end.min(before + part.len));
            Span::new(part.start + (from - before), to - from)
        };
        parts.map(inside).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn bytes(fetches: &[Vec<Span>]) -> Vec<u64> {
        fetches.iter().map(|spans| spans.iter().map(|span| span.len).sum()).collect()
    }

    #[test]
    fn many_ranges_are_fetched_together() {
        let spans: Vec<Span> = (0..1000).map(|i| Span::new(i * MIB, 50_000)).collect();
        let mut read = LongRead::new(&spans);
        assert_eq!(read.total, 50_000_000);
        let mut fetches = read.begin();
        // 0.5, 1, 2 and three times 4 MiB: the next one would go beyond 16 MiB
        assert_eq!(bytes(&fetches), [MIB / 2, MIB, 2 * MIB, 4 * MIB, 4 * MIB, 4 * MIB]);
        spans.iter().for_each(|span| fetches.extend(read.follow(*span)));
        assert!(read.is_done() && fetches.len() == 15, "{}", fetches.len());
        let all: Vec<Span> = fetches.concat();
        let joined: Vec<Span> = coalesce(&all, 0, u64::MAX).into_iter().map(|merged| merged.span).collect();
        assert_eq!(joined, spans);
    }

    #[test]
    fn a_whole_file_is_fetched_ahead_of_its_reader() {
        let mut read = LongRead::new(&[Span::new(100, 40 * MIB)]);
        assert_eq!(bytes(&read.begin()).iter().sum::<u64>(), 31 * MIB / 2);
        assert_eq!(read.follow(Span::new(100, MIB / 4)), Vec::<Vec<Span>>::new());
        assert_eq!(read.follow(Span::new(100 + 4 * MIB, MIB)), [[Span::new(100 + 31 * MIB / 2, 4 * MIB)]]);
        assert!(!read.is_done());
        let last = read.follow(Span::new(100 + 39 * MIB, MIB));
        assert_eq!(bytes(&last).iter().sum::<u64>(), 41 * MIB / 2);
        assert!(read.is_done());
    }

    #[test]
    fn reads_elsewhere_do_not_move_it() {
        let mut read = LongRead::new(&[Span::new(20 * MIB, 10 * MIB), Span::new(40 * MIB, 10 * MIB)]);
        read.begin();
        let next = read.next;
        for at in [0, 19 * MIB, 30 * MIB, 35 * MIB, 50 * MIB, 60 * MIB] {
            assert!(read.follow(Span::new(at, MIB)).is_empty());
        }
        assert_eq!(read.next, next);
        // backwards
        assert!(!read.follow(Span::new(45 * MIB, MIB)).is_empty());
        assert!(read.follow(Span::new(20 * MIB, MIB)).is_empty());
    }

    #[test]
    fn overlapping_ranges_are_fetched_once() {
        let mut read = LongRead::new(&[Span::new(50, 100), Span::new(0, 80), Span::new(60, 10)]);
        assert_eq!((read.total, read.spans()), (150, vec![Span::new(0, 150)]));
        assert_eq!(read.begin(), [[Span::new(0, 150)]]);
        assert!(read.is_done());
    }
}
