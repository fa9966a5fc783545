//! What the clients do over a path of which only the length is known, and how they open a file there: for simulations, which
//! decide by the same rules.

use crate::http::expected as over_http;
use crate::meter::Meter;
use crate::open::SourceOptions;
use crate::xrd::expected as over_xrootd;
use sapwood_span::Limits;
use std::time::{Duration, Instant};

/// What a client does over a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// What its requests may hold until the first reply after opening.
    pub limits: Limits,
    /// What they may hold from then on.
    pub warm: Limits,
    /// Round trips before the first request: connecting, logging in.
    pub connecting: u32,
    /// Requests that bring no bytes of the file.
    pub beside: u64,
    /// Segments with the replies to these and to connecting, which open the window of the first connection.
    pub small_replies: u64,
    /// The bytes of the responses while a file is opened, in flights: those of a flight come over connections of their own,
    /// the first of them over the one that had all before; the next flight begins when a flight is complete.
    pub opening: Vec<Vec<u64>>,
}

/// A file of `size` bytes on an HTTP server. Opening it takes `needed` bytes at its end, the tree's header among them; the
/// client reads `head` bytes of its beginning and `tail` of its end at once. `long`: the server accepts long lists of ranges, as nginx does.
pub fn http_expected(size: u64, round_trip: Duration, [head, needed, tail]: [u64; 3], long: bool) -> Expected {
    let options = SourceOptions::default();
    let head = head.min(size);
    let is_far = round_trip >= options.far;
    let limits = over_http::limits(size, round_trip, long);
    Expected {
        warm: limits.clone(),
        limits,
        connecting: 1,
        beside: 0,
        small_replies: 0,
        opening: over_http::opening(head, needed.min(size), tail, is_far),
    }
}

/// The same through a caching proxy near the client that has nothing of the file yet.
pub fn http_expected_through_proxy(size: u64, round_trip: Duration, ends: [u64; 3], long: bool) -> Expected {
    let [head, needed, tail] = ends;
    let opening = over_http::opening_through_proxy(head.min(size), needed.min(size), tail);
    let expected = http_expected(size, round_trip, ends, long);
    if round_trip >= SourceOptions::default().far { Expected { opening, ..expected } } else { expected }
}

/// Bytes of a file's beginning that come along when it is opened on an XRootD server, of which the client wants `head`.
pub fn xrootd_beginning(head: u64) -> u64 {
    over_xrootd::beginning(head)
}

/// The same on an XRootD server.
pub fn xrootd_expected(size: u64, round_trip: Duration, [head, needed, tail]: [u64; 3]) -> Expected {
    let head = head.min(size);
    let opening = over_xrootd::opening(head, needed.min(size), tail);
    let (connecting, beside) = (over_xrootd::CONNECTING, over_xrootd::BESIDE);
    let [limits, warm] = over_xrootd::limits(round_trip);
    Expected { limits, warm, connecting, beside, small_replies: over_xrootd::SMALL_REPLIES, opening }
}

/// The bandwidth in bytes per second that a client has measured when these bytes have come at these times, ascending and
/// counted from any moment, over a path of this length.
pub fn measured_bandwidth(round_trip: Duration, arrivals: &[(Duration, u64)]) -> Option<f64> {
    metered(round_trip, arrivals).bandwidth()
}

/// What requests may hold over HTTP when bytes have come at these times: if they have filled the path, its bandwidth is known, and not
/// more connections are used than fill it.
pub fn http_measured(limits: Limits, round_trip: Duration, arrivals: &[(Duration, u64)]) -> Limits {
    let meter = metered(round_trip, arrivals);
    let max_in_flight = limits.max_in_flight.min(meter.fill(round_trip));
    Limits { max_in_flight, bandwidth: meter.narrow(), ..limits }
}

fn metered(round_trip: Duration, arrivals: &[(Duration, u64)]) -> Meter {
    let (mut meter, begin) = (Meter::default(), Instant::now());
    meter.connected(round_trip);
    for &(time, bytes) in arrivals {
        let Some(time) = begin.checked_add(time) else { break };
        meter.arrived(bytes, time);
    }
    meter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_is_that_of_the_best_moments() {
        let ms = Duration::from_millis;
        let arrivals: Vec<_> = (0..40).map(|i| (ms(5 * i), 64 << 10)).collect();
        let measured = measured_bandwidth(ms(2), &arrivals).unwrap();
        assert!((measured / (65_536.0 / 5e-3) - 1.0).abs() < 1e-6, "{measured}");
        assert_eq!(measured_bandwidth(ms(2), &[(ms(0), 1 << 20), (ms(1), 1 << 20)]), None);
    }

    #[test]
    fn over_http_a_full_path_limits_the_connections() {
        let (far, size) = (Duration::from_millis(72), 400_000);
        let expected = http_expected(1 << 30, far, [4096, size, 30_000], true);
        let at = |rate: f64| {
            let time = |i| Duration::from_secs_f64((i * 1448) as f64 / rate);
            let arrivals: Vec<_> = (0..size / 1448).map(|i| (time(i), 1448)).collect();
            http_measured(expected.limits.clone(), far, &arrivals)
        };
        let narrow = at(1e6);
        assert!(expected.limits.max_in_flight > 8 && narrow.max_in_flight == 4, "{narrow:?}");
        assert!(narrow.bandwidth.is_some_and(|rate| (rate / 1e6 - 1.0).abs() < 0.1), "{narrow:?}");
        // it was not seen for long enough
        assert_eq!(at(1e9), expected.limits);
    }

    #[test]
    fn over_xrootd_the_first_list_of_ranges_fits_into_a_window_where_the_server_is_far() {
        let ranges = |ms| {
            let expected = xrootd_expected(1 << 30, Duration::from_millis(ms), [4096, 100_000, 30_000]);
            [expected.limits, expected.warm].map(|limits| limits.max_ranges)
        };
        assert_eq!(ranges(1), [1024, 1024]);
        assert_eq!(ranges(100), [903, 1024]);
        let over_http = http_expected(1 << 30, Duration::from_millis(100), [4096, 100_000, 30_000], true);
        assert_eq!(over_http.limits, over_http.warm);
    }
}
