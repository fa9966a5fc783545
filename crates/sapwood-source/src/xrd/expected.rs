//! The client's requests over a path of which only the length is known.

use super::host::{DEPTH, is_near};
use super::opening::SECOND_WINDOW;
pub(crate) use super::opening::beginning;
use super::plan;
use sapwood_span::Limits;
use std::time::Duration;

/// Round trips of connecting: TCP's alone, as handshake and login are in one flight with the open.
pub(crate) const CONNECTING: u32 = 1;
/// The open is a request without bytes of the file.
pub(crate) const BESIDE: u64 = 1;

/// Greeting, protocol, login, open and the attributes come in segments of their own.
pub(crate) const SMALL_REPLIES: u64 = 5;

/// Over one session, as at first: before and after the first reply to a vector read. Until then little was sent, and a list of
/// ranges must fit into the first window.
pub(crate) fn limits(round_trip: Duration) -> [Limits; 2] {
    let most = plan::in_a_flight(plan::VECTOR.0);
    let at_first = if is_near(Some(round_trip)) { most } else { plan::sent_at_once(most, 0) };
    [at_first, most].map(|ranges| Limits {
        max_ranges: ranges as usize,
        max_range_bytes: u64::MAX,
        max_request_bytes: plan::MAX_REQUEST,
        max_in_flight: DEPTH,
        queue: DEPTH,
        streams: None,
        range_overhead: plan::RANGE_OVERHEAD,
        round_trip: Some(round_trip),
        bandwidth: None,
    })
}

/// The beginning, along with the open; the end; what the end points to.
pub(crate) fn opening(head: u64, needed: u64, tail: u64) -> Vec<Vec<u64>> {
    let tail = tail.min(SECOND_WINDOW);
    let mut out = vec![vec![beginning(head)], vec![tail]];
    if needed > tail {
        out.push(vec![needed - tail]);
    }
    out
}
