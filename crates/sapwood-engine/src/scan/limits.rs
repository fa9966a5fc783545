//! What the planner is to know of a source.

use sapwood_plan::Limits;
use sapwood_source::Source;

/// The limits of a source that is far away, as far as they are known now.
pub(super) fn planner_limits(source: &dyn Source) -> Limits {
    let l = source.limits();
    Limits {
        max_ranges: l.max_ranges,
        max_range_bytes: u64::MAX,
        max_request_bytes: l.max_request_bytes,
        max_in_flight: l.max_in_flight,
        queue: l.queue,
        streams: l.streams,
        range_overhead: l.range_overhead,
        round_trip: l.round_trip,
        bandwidth: l.bandwidth,
    }
}
