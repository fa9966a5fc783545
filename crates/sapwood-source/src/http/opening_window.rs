//! Opening a distant file in few round trips, although the windows of its connections are still closed.
//!
//! A fresh connection sends ten segments of 1448 bytes before the first acknowledgement (RFC 6928), then twice as many,
//! and so on. So the first response is limited to one round trip, and long structures (a tree's header) are read over
//! several connections at once; their windows are then open, too, when the baskets are requested.

use super::hosts::{Host, MOST_PARALLEL};
pub(crate) use crate::window::WINDOW;
use sapwood_span::Span;
use std::time::Duration;

/// The part of a fresh connection's window that is left for the file in a response with two parts. The response's and the parts' headers take
/// some; and a server that sends its header separately leaves two segments partly filled (nginx).
pub(crate) const FIRST: u64 = WINDOW - 2 * 1448 - 500;
/// What is requested over a fresh connection, which can bring a third more in two round trips. Less would leave the
/// windows narrower for the baskets, and cost requests.
const SHARE: u64 = 32 << 10;

/// A read in more pieces than this has no large piece.
const FEW: usize = 8;

/// The requests for spans that the caller waits for, so that they arrive in two round trips if this few connections can
/// do that; none where one request does as well. `multi`: whether a request may have several ranges.
pub(crate) fn shared(spans: &[Span], host: &Host, far: Duration, multi: bool) -> Option<Vec<Vec<Span>>> {
    if spans.len() > FEW || !host.is_far(far) {
        return None;
    }
    let groups = cut(spans, WINDOW + host.carried());
    if groups.len() < 2 {
        return None;
    }
    Some(if multi { groups } else { groups.into_iter().flatten().map(|span| vec![span]).collect() })
}

/// The first group is sent over a connection with this window, each of the others over a fresh one.
pub(crate) fn cut(spans: &[Span], widest: u64) -> Vec<Vec<Span>> {
    let total = spans.iter().fold(0, |sum: u64, span| sum.saturating_add(span.len));
    let by_first = (widest as f64 / WINDOW as f64 * SHARE as f64) as u64;
    let more = total.saturating_sub(by_first).div_ceil(SHARE).min(MOST_PARALLEL as u64 - 1);
    let windows = widest.saturating_add(more * WINDOW) as f64;
    let share = |window: u64| ((total as f64 * (window as f64 / windows)).ceil() as u64).max(1);
    let mut out = Vec::new();
    let (mut group, mut left) = (Vec::new(), share(widest));
    for &span in spans {
        let mut rest = span;
        while !rest.is_empty() {
            if left == 0 {
                out.push(std::mem::take(&mut group));
                left = share(WINDOW);
            }
            let len = left.min(rest.len);
            group.push(Span::new(rest.start, len));
            rest = Span::new(rest.start + len, rest.len - len);
            left -= len;
        }
    }
    out.push(group);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_connections_as_bring_it_in_two_round_trips() {
        let lengths = |len, widest| cut(&[Span::new(7, len)], widest).iter().map(|s| s[0].len).collect::<Vec<_>>();
        assert_eq!(lengths(60_000, 2 * WINDOW), [60_000]);
        let tree = lengths(379_000, 2 * WINDOW);
        assert_eq!(tree.len(), MOST_PARALLEL);
        assert!(tree[0] > 60_000 && tree[1..].iter().all(|&n| n <= SHARE), "{tree:?}");
        assert_eq!(lengths(100 << 20, WINDOW).len(), MOST_PARALLEL);
    }

    #[test]
    fn pieces_lie_behind_each_other() {
        for len in [1, 50_000, 200_001, 999_999] {
            let pieces = cut(&[Span::new(7, len)], 20_000).concat();
            assert_eq!(pieces[0].start, 7);
            assert!(pieces.windows(2).all(|p| p[0].end() == p[1].start));
            assert_eq!(pieces.last().map(|p| p.end()), Some(7 + len));
        }
    }

    #[test]
    fn a_key_list_does_not_keep_what_is_read_along_with_it_on_one_connection() {
        let spans = [Span::new(1000, 174), Span::new(5000, 4680), Span::new(900_000, 131_072)];
        let groups = cut(&spans, 2 * WINDOW);
        assert!(groups.len() > 2, "{groups:?}");
        assert_eq!(groups[0][..2], spans[..2]);
        let read: u64 = groups.iter().flatten().map(|s| s.len).sum();
        assert_eq!(read, spans.iter().map(|s| s.len).sum::<u64>());
    }
}
