//! How a file far away is opened in few round trips, although the windows of its connections are still closed.
//!
//! A fresh connection sends ten segments of 1448 bytes before it hears from here (RFC 6928), then twice as many, and so on.
//! So the first answer is kept to what comes in one round trip, and what is long (a tree's header) comes over several
//! connections at once; their windows are open, too, when the baskets are asked for.

use super::hosts::Host;
use sapwood_span::Span;
use std::time::Duration;

/// What a fresh connection sends in one round trip.
const WINDOW: u64 = 14_480;
/// What of that is left for the file in an answer with two parts: the answer's and the parts' headers take some.
pub(crate) const FIRST: u64 = WINDOW - 1000;
/// Connections that a file far away is worth, for opening it and for its baskets.
pub(crate) const MOST: usize = 11;
/// What a fresh connection is asked for: it brings a third more in two round trips. Less would leave the windows narrower
/// for the baskets, and cost requests.
const SHARE: u64 = 32 << 10;

/// The requests for what somebody waits for, so that it comes in two round trips if so few connections can do that; none
/// where one request does it as well.
pub(crate) fn shared(spans: &[Span], host: &Host, far: Duration) -> Option<Vec<Vec<Span>>> {
    let &[span] = spans else { return None };
    let pieces = if host.is_far(far) { cut(span, WINDOW + host.carried()) } else { return None };
    (pieces.len() > 1).then(|| pieces.into_iter().map(|p| vec![p]).collect())
}

/// The first piece goes over a connection with this window, each of the others over a fresh one.
fn cut(span: Span, widest: u64) -> Vec<Span> {
    let by_first = (widest as f64 / WINDOW as f64 * SHARE as f64) as u64;
    let more = span.len.saturating_sub(by_first).div_ceil(SHARE).min(MOST as u64 - 1);
    let windows = widest.saturating_add(more * WINDOW) as f64;
    let share = |window: u64| (span.len as f64 * (window as f64 / windows)).ceil() as u64;
    let mut rest = span;
    let mut out = Vec::new();
    while !rest.is_empty() {
        let len = share(if out.is_empty() { widest } else { WINDOW }).clamp(1, rest.len);
        out.push(Span::new(rest.start, len));
        rest = Span::new(rest.start + len, rest.len - len);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_connections_as_bring_it_in_two_round_trips() {
        let lengths = |len, widest| cut(Span::new(7, len), widest).iter().map(|s| s.len).collect::<Vec<_>>();
        assert_eq!(lengths(60_000, 2 * WINDOW), [60_000]);
        let tree = lengths(379_000, 2 * WINDOW);
        assert_eq!(tree.len(), MOST);
        assert!(tree[0] > 60_000 && tree[1..].iter().all(|&n| n <= SHARE), "{tree:?}");
        assert_eq!(lengths(100 << 20, WINDOW).len(), MOST);
    }

    #[test]
    fn pieces_lie_behind_each_other() {
        for len in [1, 50_000, 200_001, 999_999] {
            let pieces = cut(Span::new(7, len), 20_000);
            assert_eq!(pieces[0].start, 7);
            assert!(pieces.windows(2).all(|p| p[0].end() == p[1].start));
            assert_eq!(pieces.last().map(|p| p.end()), Some(7 + len));
        }
    }
}
