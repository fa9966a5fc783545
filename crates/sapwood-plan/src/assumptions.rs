//! Assumptions about a connection before anything is measured.

/// Bytes that a fresh TCP connection carries in its first two round trips: about 10 segments (RFC 6928), then 20.
pub(crate) const FRESH_CONNECTION: u64 = 64 << 10;

/// Bytes that each connection carries in a round trip while slow start lasts.
pub(crate) const SLOW_START_SHARE: u64 = FRESH_CONNECTION / 2;

/// Bytes per second: 1 Gbit/s.
pub(crate) const BANDWIDTH: f64 = 125e6;
