use sapwood_source::SourceStats;

/// What reading did: on the wire, and with the bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IoReport {
    /// Requests sent to the server (local files: reads).
    pub requests: u64,
    /// Byte ranges in them.
    pub ranges: u64,
    /// Waits for the server one after another; requests that were in flight together count as one.
    pub round_trips: u64,
    /// Bytes received, headers between parts and bridged gaps included.
    pub bytes_fetched: u64,
    /// Bytes that came from the local cache instead.
    pub local_cache_bytes: u64,
    /// Reads from the local cache.
    pub local_cache_reads: u64,
    /// Bytes of the records that were needed.
    pub bytes_wanted: u64,
    /// Baskets decoded.
    pub baskets: u64,
    /// Bytes of baskets after decompression.
    pub unzipped_bytes: u64,
    /// From the beginning to now, in seconds.
    pub seconds: f64,
    /// Time in which the consumer waited for bytes and had nothing to decode, in seconds.
    pub wait_seconds: f64,
    /// Time spent decompressing, all threads together, in seconds.
    pub unzip_seconds: f64,
    /// Time spent decoding, all threads together, in seconds.
    pub decode_seconds: f64,
    /// Connections opened.
    pub connections: u64,
}

impl std::ops::AddAssign<&IoReport> for IoReport {
    /// Both together; the times of one after the other.
    fn add_assign(&mut self, other: &IoReport) {
        let pairs = [
            (&mut self.requests, other.requests),
            (&mut self.ranges, other.ranges),
            (&mut self.round_trips, other.round_trips),
            (&mut self.bytes_fetched, other.bytes_fetched),
            (&mut self.local_cache_bytes, other.local_cache_bytes),
            (&mut self.local_cache_reads, other.local_cache_reads),
            (&mut self.bytes_wanted, other.bytes_wanted),
            (&mut self.baskets, other.baskets),
            (&mut self.unzipped_bytes, other.unzipped_bytes),
            (&mut self.connections, other.connections),
        ];
        pairs.into_iter().for_each(|(sum, n)| *sum += n);
        let pairs = [
            (&mut self.seconds, other.seconds),
            (&mut self.wait_seconds, other.wait_seconds),
            (&mut self.unzip_seconds, other.unzip_seconds),
            (&mut self.decode_seconds, other.decode_seconds),
        ];
        pairs.into_iter().for_each(|(sum, s)| *sum += s);
    }
}

impl IoReport {
    /// Takes over the wire's counters, less what they were at the beginning.
    pub(crate) fn wire(&mut self, now: &SourceStats, before: &SourceStats) {
        self.requests = now.requests.saturating_sub(before.requests);
        self.ranges = now.ranges.saturating_sub(before.ranges);
        self.round_trips = now.round_trips.saturating_sub(before.round_trips);
        self.bytes_fetched = now.wire.saturating_sub(before.wire);
        self.local_cache_bytes = now.cached_bytes.saturating_sub(before.cached_bytes);
        self.local_cache_reads = now.cached_reads.saturating_sub(before.cached_reads);
        self.connections = now.connections.saturating_sub(before.connections);
    }
}
