//! Sequential reads of whole files and large parts: plain read-ahead.

use crate::budget::Budget;
use sapwood_span::Span;

/// Streams of one reader that are followed at once.
const MOST_STREAMS: usize = 4;

/// Consecutive requests before anything is fetched ahead.
const REQUESTS: u32 = 3;

/// Bytes of a request to the origin, at most.
const PIECE: u64 = 4 << 20;

/// Consecutive requests.
#[derive(Clone, Copy)]
struct Stream {
    /// After the last byte requested.
    end: u64,
    /// After the last byte fetched ahead.
    ahead: u64,
    bytes: u64,
    requests: u32,
}

/// The streams of one reader, the one used last at the end.
#[derive(Default)]
pub(crate) struct Streams(Vec<Stream>);

impl Streams {
    /// The reader requests a span that is not a basket. Adds what to fetch ahead to `out`.
    pub(crate) fn on_request(
        &mut self,
        span: Span,
        size: u64,
        budget: &mut Budget,
        held: &dyn Fn(Span) -> bool,
        out: &mut Vec<Span>,
    ) {
        let follows = |s: &Stream| span.start <= s.end.saturating_add(span.len / 8) && span.end() > s.end;
        let Some(at) = self.0.iter().position(follows) else {
            if self.0.len() >= MOST_STREAMS {
                self.0.remove(0);
            }
            self.0.push(Stream { end: span.end(), ahead: span.end(), bytes: span.len, requests: 1 });
            return;
        };
        let mut stream = self.0.remove(at);
        stream.bytes = stream.bytes.saturating_add(span.len);
        stream.requests = stream.requests.saturating_add(1);
        stream.end = span.end();
        stream.ahead = stream.ahead.max(stream.end);
        if stream.requests >= REQUESTS {
            stream.fetch(size, budget, held, out);
        }
        self.0.push(stream);
    }
}

impl Stream {
    fn fetch(&mut self, size: u64, budget: &mut Budget, held: &dyn Fn(Span) -> bool, out: &mut Vec<Span>) {
        // never further ahead than it has read so far
        let most = self.end.saturating_add(budget.window().min(self.bytes)).min(size);
        if self.ahead - self.end > budget.window().min(self.bytes) / 2 {
            return;
        }
        while self.ahead < most {
            let span = Span::new(self.ahead, PIECE.min(most - self.ahead));
            if !held(span) {
                if !budget.fetch(span) {
                    return;
                }
                out.push(span);
            }
            self.ahead = span.end();
        }
    }
}
