use std::time::Duration;

/// What a planner has done so far, and what it measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanStats {
    /// Baskets the caller wanted.
    pub baskets: u64,
    /// Their compressed bytes.
    pub wanted_bytes: u64,
    /// Their decompressed size, as far as the caller knew.
    pub unzipped_bytes: u64,
    /// Requests made, including repeated ones.
    pub requests: u64,
    /// Ranges in them.
    pub ranges: u64,
    /// Bytes requested, including gaps and repetitions.
    pub asked_bytes: u64,
    /// Bytes requested only because bridging a gap was cheaper than another range.
    pub gap_bytes: u64,
    /// Baskets that arrived.
    pub arrived: u64,
    /// Bytes of the baskets that arrived.
    pub arrived_bytes: u64,
    /// Baskets requested again, after a failure, a reply that left them out, or a cancelled fetch.
    pub repeated: u64,
    /// Baskets that turned out not to be needed, and were never requested.
    pub skipped: u64,
    /// Their bytes.
    pub skipped_bytes: u64,
    /// Fetches that failed.
    pub failures: u64,
    /// Fetches cancelled.
    pub cancelled: u64,
    /// Baskets given up.
    pub given_up: u64,
    /// Jumps of the consumer to entries that reading ahead had not reached.
    pub jumps: u64,
    /// Bytes now in pending (with gaps) or arrived and not consumed.
    pub held_bytes: u64,
    /// The most that was ever held.
    pub max_held_bytes: u64,
    /// The most requests that were in pending at once.
    pub max_in_flight: u64,
    /// The round-trip time the planner uses.
    pub round_trip: Option<Duration>,
    /// The bandwidth the planner uses, in bytes per second.
    pub bandwidth: Option<f64>,
}
