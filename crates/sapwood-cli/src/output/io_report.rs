use crate::units;
use sapwood::IoReport;
use serde_json::{Value, json};

/// What reading did, as the member `io` of `--json`. Times are in seconds; `unzip_seconds` and `decode_seconds` add
/// up over threads.
pub(crate) fn to_json(io: &IoReport) -> Value {
    json!({
        "requests": io.requests,
        "ranges": io.ranges,
        "round_trips": io.round_trips,
        "bytes_fetched": io.bytes_fetched,
        "local_cache_bytes": io.local_cache_bytes,
        "local_cache_reads": io.local_cache_reads,
        "bytes_wanted": io.bytes_wanted,
        "baskets": io.baskets,
        "unzipped_bytes": io.unzipped_bytes,
        "seconds": io.seconds,
        "wait_seconds": io.wait_seconds,
        "unzip_seconds": io.unzip_seconds,
        "decode_seconds": io.decode_seconds,
        "connections": io.connections,
    })
}

/// The same in one line for people.
pub(crate) fn summary(io: &IoReport) -> String {
    let many = |n: u64, what: &str| format!("{} {what}{}", units::count(n), if n == 1 { "" } else { "s" });
    let cached = match io.local_cache_bytes {
        0 => String::new(),
        n => format!("{} from the local cache, ", units::bytes(n)),
    };
    format!(
        "{cached}{} in {} ({} needed), {}",
        units::bytes(io.bytes_fetched),
        many(io.requests, "request"),
        units::bytes(io.bytes_wanted),
        units::seconds(io.seconds)
    )
}
