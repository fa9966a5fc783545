use crate::Link;
use sapwood_plan::{Basket, Limits};
use sapwood_span::{Span, coalesce};
use std::time::Duration;

/// The best possible result with full knowledge in advance: lower bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oracle {
    /// Ranges, when all adjacent baskets are requested together.
    pub ranges: u64,
    /// Requests, by the server's limits alone.
    pub requests: u64,
    /// Bytes of the baskets.
    pub bytes: u64,
    /// Time to the last byte: connecting and the first reply, and then the slowest of bandwidth, slow start on all
    /// connections at once, the round trips that this many requests need, and the server's work, shared evenly.
    pub time: Duration,
}

impl Oracle {
    /// For these baskets, under these limits, over this link.
    pub fn new(baskets: &[Basket], limits: &Limits, link: &Link) -> Self {
        let spans: Vec<Span> = baskets.iter().map(|b| b.span).collect();
        let bytes: u64 = coalesce(&spans, 0, u64::MAX).iter().map(|r| r.span.len).sum();
        let joined = coalesce(&spans, limits.range_overhead, limits.max_range_bytes);
        let ranges = joined.len() as u64;
        let asked: u64 = joined.iter().map(|r| r.span.len).sum();
        let requests =
            ranges.div_ceil(limits.max_ranges.max(1) as u64).max(asked.div_ceil(limits.max_request_bytes.max(1)));
        let lanes = limits.max_in_flight.max(1) as u64;
        let round_trip = link.round_trip.as_secs_f64();
        let start = round_trip * f64::from(link.connect_round_trips + 1);
        // After k round trips, `lanes` connections have sent lanes * initial_window * (2^k - 1).
        let window = (lanes * link.initial_window.max(1)) as f64;
        let slow_start = ((bytes as f64 / window + 1.0).log2() - 1.0).max(0.0) * round_trip;
        let waves = requests.div_ceil(lanes).saturating_sub(1) as f64 * round_trip;
        let wire = bytes as f64 / link.bandwidth.max(1.0);
        let server = (link.per_range.as_secs_f64() * ranges as f64) / lanes as f64;
        let time = start + wire.max(slow_start).max(waves).max(server);
        Self { ranges, requests, bytes, time: Duration::from_secs_f64(time) }
    }
}
