//! What reading did.

use sapwood::IoReport;
use serde_json::{Value, json};

/// What a file did since an earlier report of it.
pub(super) fn since(before: &IoReport, now: &IoReport) -> Value {
    let count = |of: fn(&IoReport) -> u64| of(now).saturating_sub(of(before));
    let seconds = |of: fn(&IoReport) -> f64| (of(now) - of(before)).max(0.0);
    json!({
        "requests": count(|io| io.requests),
        "round_trips": count(|io| io.round_trips),
        "wanted_bytes": count(|io| io.bytes_wanted),
        "fetched_bytes": count(|io| io.bytes_fetched),
        "cached_bytes": count(|io| io.local_cache_bytes),
        "waiting_seconds": seconds(|io| io.wait_seconds),
        "unzip_seconds": seconds(|io| io.unzip_seconds),
        "decode_seconds": seconds(|io| io.decode_seconds),
    })
}
