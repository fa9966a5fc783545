//! Perf stats as JSON and back: every public field under its own name, in the order of the structs.

use super::{BranchPerf, HostPerf, PerfStats, Point, Slowest};
use crate::json::{Json, object};
use sapwood_span::{Error, Result};
use serde_json::{Map, Value};

/// Version of the layout, under the name `perf_stats`.
const VERSION: u64 = 1;

object!(PerfStats {
    cache_bytes,
    leaves,
    read_bytes,
    extra_bytes,
    read_calls,
    readahead_bytes,
    packed_bytes,
    inflated_bytes,
    tree_bytes,
    tree_zip_bytes,
    real_seconds,
    cpu_seconds,
    disk_seconds,
    unzip_seconds,
    requests,
    ranges,
    round_trips,
    connections,
    retries,
    redirects,
    local_cache_bytes,
    local_cache_reads,
    bytes_fetched,
    bytes_wanted,
    bytes_wasted,
    unzipped_bytes,
    scans,
    entries,
    baskets,
    waits,
    wire_wait_seconds,
    work_wait_seconds,
    decode_seconds,
    slowest,
    branches,
    hosts,
    points,
});
object!(Slowest { file, seconds, first_byte_seconds, sent, bytes, what });
object!(BranchPerf {
    name,
    baskets,
    bytes,
    unzipped_bytes,
    wait_seconds,
    unzip_seconds,
    decode_seconds,
    missed,
    repeated,
    unused,
});
object!(HostPerf {
    host,
    files,
    requests,
    ranges,
    round_trips,
    connections,
    retries,
    redirects,
    local_cache_bytes,
    bytes_fetched,
    bytes_wanted,
    wait_seconds,
    transfer_seconds,
    unzip_seconds,
    decode_seconds,
    slowest_seconds,
});
object!(Point { entry, at, offset, len, time, seconds });
impl PerfStats {
    /// As one JSON object: all fields, and under `root` ROOT's derived values.
    pub fn to_json(&self) -> String {
        let mut root = Map::new();
        let mut put = |name: &str, value: Option<f64>| root.insert(name.to_owned(), value.write());
        put("Compress", Some(self.compression()));
        put("ReadUnZip", Some(self.read_unzip_bytes()));
        put("ReadSize", self.read_size());
        put("Readextra", Some(self.extra_percent()));
        put("Strm Time", Some(self.stream_seconds()));
        for (name, rate) in self.rates() {
            put(name, rate);
        }
        let mut value = Map::new();
        value.insert("perf_stats".to_owned(), Value::from(VERSION));
        if let Value::Object(fields) = self.write() {
            value.extend(fields);
        }
        value.insert("root".to_owned(), Value::Object(root));
        Value::Object(value).to_string()
    }

    /// Reads the output of [`PerfStats::to_json`].
    ///
    /// # Errors
    /// `Corrupt` for anything else.
    pub fn from_json(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::corrupt(format!("not I/O statistics ({what})"))
                .with_remedy("write them with `sapwood perf -o FILE.json`")
        };
        let value: Value = serde_json::from_str(text)
            .map_err(|e| wrong(&format!("invalid JSON at line {}, column {}", e.line(), e.column())))?;
        match value.get("perf_stats").and_then(Value::as_u64) {
            Some(VERSION) => PerfStats::read(&value).ok_or_else(|| wrong("a field has the wrong type")),
            Some(n) => {
                Err(Error::unsupported(format!("I/O statistics of version {n}: this program reads version {VERSION}")))
            }
            None => Err(wrong("the field perf_stats is missing")),
        }
    }
}
