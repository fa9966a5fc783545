//! What a client waits for at a proxy: it is handed on while it comes.

use super::held::Held;
use crate::network::Asked;
use sapwood_plan::FetchId;
use sapwood_prefetch::{LongRead, Purpose};
use sapwood_span::Span;

/// The answer to a request.
pub(super) struct Answer {
    pub(super) fetch: FetchId,
    spans: Vec<Span>,
    /// If it is a long one.
    read: Option<LongRead>,
    /// Spans that are here as a whole, and bytes of these.
    whole: usize,
    bytes: u64,
    /// The first bytes of the next one that are here.
    of_next: u64,
}

impl Answer {
    pub(super) fn new(asked: &Asked, is_http: bool) -> Self {
        let read = Some(LongRead::new(&asked.spans)).filter(|read| !read.is_short(is_http));
        Self { fetch: asked.fetch, spans: asked.spans.clone(), read, whole: 0, bytes: 0, of_next: 0 }
    }

    /// What to fetch at the start.
    pub(super) fn begin(&mut self) -> Vec<(Vec<Span>, Purpose)> {
        match &mut self.read {
            Some(read) => read.begin().into_iter().map(|spans| (spans, Purpose::Part)).collect(),
            None => vec![(self.spans.clone(), Purpose::Read)],
        }
    }

    /// Looks at what has come. Returns whether more can be handed on.
    pub(super) fn advance(&mut self, held: &Held) -> bool {
        let before = (self.whole, self.of_next);
        while let Some(&span) = self.spans.get(self.whole) {
            self.of_next = held.here(span);
            if self.of_next < span.len {
                break;
            }
            (self.whole, self.bytes, self.of_next) = (self.whole + 1, self.bytes + span.len, 0);
        }
        before != (self.whole, self.of_next)
    }

    /// Ranges and bytes that are here; none if all are.
    pub(super) fn part(&self) -> Option<(u64, u64)> {
        let ranges = self.whole as u64 + u64::from(self.of_next > 0);
        (self.whole < self.spans.len()).then_some((ranges, self.bytes + self.of_next))
    }

    /// What to fetch of a long one, as the client reads what is here.
    pub(super) fn follow(&mut self) -> Vec<Vec<Span>> {
        let next =
            self.spans.get(self.whole).filter(|_| self.of_next > 0).map(|span| Span::new(span.start, self.of_next));
        let last = self.whole.checked_sub(1).and_then(|last| self.spans.get(last)).copied();
        let (Some(read), Some(here)) = (&mut self.read, next.or(last)) else { return Vec::new() };
        read.follow(here)
    }
}
