//! Which bytes of a file a proxy has, and which are on their way.

use sapwood_span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that are here, or will be.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// By their first byte: where they end, and the piece that brings them. They do not overlap.
    spans: BTreeMap<u64, (u64, u64)>,
    /// Pieces that have not come.
    coming: BTreeSet<u64>,
}

impl Held {
    /// The parts of a span that overlap what is held, with the pieces that bring them.
    fn parts(&self, span: Span) -> impl Iterator<Item = (Span, u64)> + '_ {
        let before = self.spans.range(..span.start).next_back().filter(|(_, held)| held.0 > span.start);
        let from = before.map_or(span.start, |(start, _)| *start);
        self.spans.range(from..span.end().max(from)).map(move |(&start, &(end, piece))| {
            let start = start.max(span.start);
            (Span::new(start, end.min(span.end()) - start), piece)
        })
    }

    /// How many bytes of a span are here, or on their way.
    pub(super) fn bytes(&self, span: Span) -> u64 {
        self.parts(span).map(|(part, _)| part.len).sum()
    }

    /// The parts of a span that are neither.
    pub(super) fn absent(&self, span: Span) -> Vec<Span> {
        let (mut out, mut at) = (Vec::new(), span.start);
        for (part, _) in self.parts(span) {
            out.extend((part.start > at).then(|| Span::new(at, part.start - at)));
            at = part.end();
        }
        out.extend((span.end() > at).then(|| Span::new(at, span.end() - at)));
        out
    }

    /// How many of a span's first bytes are here.
    pub(super) fn here(&self, span: Span) -> u64 {
        let here = self.parts(span).take_while(|(_, piece)| !self.coming.contains(piece));
        let end = here.fold(span.start, |at, (part, _)| if part.start == at { part.end() } else { at });
        end - span.start
    }

    /// A span that was absent is on its way with a piece.
    pub(super) fn coming(&mut self, span: Span, piece: u64) {
        self.spans.insert(span.start, (span.end(), piece));
        self.coming.insert(piece);
    }

    /// A piece has come.
    pub(super) fn has_come(&mut self, piece: u64) {
        self.coming.remove(&piece);
    }

    /// A span is here.
    pub(super) fn arrived(&mut self, span: Span) {
        for part in self.absent(span) {
            self.spans.insert(part.start, (part.end(), 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_here_absent_or_on_their_way() {
        let mut held = Held::default();
        held.arrived(Span::new(0, 100));
        held.coming(Span::new(150, 50), 1);
        held.coming(Span::new(200, 10), 2);
        let all = Span::new(50, 200);
        assert_eq!(held.bytes(all), 110);
        assert_eq!(held.absent(all), [Span::new(100, 50), Span::new(210, 40)]);
        let here = |held: &Held| [50, 100, 150, 160, 200].map(|start| held.here(Span::new(start, 250 - start)));
        assert_eq!(here(&held), [50, 0, 0, 0, 0]);
        held.has_come(1);
        assert_eq!(here(&held), [50, 0, 50, 40, 0]);
        held.has_come(2);
        assert_eq!(here(&held), [50, 0, 60, 50, 10]);
        assert_eq!(held.absent(Span::new(20, 30)), []);
        assert_eq!(held.absent(Span::new(120, 10)), [Span::new(120, 10)]);
    }
}
