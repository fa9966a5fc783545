//! The client's requests over a path of which only the length is known.

use super::file::{MAX_REQUEST, PART_OVERHEAD};
use super::hosts::wish;
use super::{opening_window, range};
use sapwood_span::{Limits, Span};
use std::time::Duration;

pub(crate) fn limits(size: u64, round_trip: Duration, long: bool) -> Limits {
    let line = if long { range::LONG } else { range::USUAL };
    Limits {
        max_ranges: line.most(size),
        max_range_bytes: u64::MAX,
        max_request_bytes: MAX_REQUEST,
        max_in_flight: wish(round_trip),
        queue: 1,
        streams: Some(1),
        range_overhead: PART_OVERHEAD,
        round_trip: Some(round_trip),
        bandwidth: None,
    }
}

/// Both ends in the first flight, what the end points to in the second: over several connections where the server is far.
pub(crate) fn opening(head: u64, needed: u64, tail: u64, is_far: bool) -> Vec<Vec<u64>> {
    let tail = if is_far { tail.min(opening_window::FIRST.saturating_sub(head)).max(1) } else { tail };
    let mut out = vec![vec![head + tail]];
    let rest = Span::new(0, needed.saturating_sub(tail));
    if is_far && !rest.is_empty() {
        let carried = opening_window::WINDOW + head + tail;
        let groups = opening_window::cut(&[rest], carried);
        out.push(groups.iter().map(|g| g.iter().map(|s| s.len).sum()).collect());
    } else if !rest.is_empty() {
        out.push(vec![rest.len]);
    }
    out
}

/// The same through a proxy that has nothing of the file: the client is near it and requests as over a short path; the proxy reads
/// what a flight wants over several connections.
pub(crate) fn opening_through_proxy(head: u64, needed: u64, tail: u64) -> Vec<Vec<u64>> {
    let mut carried = 0;
    let mut through = Vec::new();
    for flight in opening(head, needed, tail, false) {
        let wanted = Span::new(0, flight.iter().sum());
        let groups = opening_window::cut(&[wanted], opening_window::WINDOW + carried);
        let lengths: Vec<u64> = groups.iter().map(|g| g.iter().map(|s| s.len).sum()).collect();
        carried += lengths.first().copied().unwrap_or(0);
        through.push(lengths);
    }
    through
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_headers_come_over_several_connections() {
        assert_eq!(opening(1024, 395_630, 38_912, false), [vec![39_936], vec![356_718]]);
        let far = opening(1024, 395_630, 38_912, true);
        assert_eq!((far[0][0], far[1].len()), (11_084, 11));
        assert_eq!(far.concat().iter().sum::<u64>(), 1024 + 395_630);
        assert_eq!(opening(1024, 5000, 38_912, false), [vec![39_936]]);
    }

    #[test]
    fn a_proxy_shares_what_a_near_client_requests_at_once() {
        let through = opening_through_proxy(4096, 396_000, 35_840);
        assert_eq!(through.iter().map(Vec::len).collect::<Vec<_>>(), [2, 10]);
        assert_eq!(through.concat().iter().sum::<u64>(), 4096 + 396_000);
    }
}
