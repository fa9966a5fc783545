//! Perf stats as JSON and back: every public field under its own name, in the order of the structs.

use super::stats::{BranchPerf, HostPerf, PerfStats, Point, Slowest};
use sapwood_plan::{CacheSize, Limits};
use sapwood_span::{Error, Result};
use serde_json::{Map, Value};
use std::time::Duration;

/// Version of the layout, under the name `perf_stats`.
const VERSION: u64 = 1;

/// A type with one way to be written.
pub(super) trait Json: Sized {
    fn write(&self) -> Value;
    fn read(value: &Value) -> Option<Self>;
}

impl Json for u64 {
    fn write(&self) -> Value {
        Value::from(*self)
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_u64()
    }
}

impl Json for f64 {
    fn write(&self) -> Value {
        Value::from(*self)
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

impl Json for usize {
    fn write(&self) -> Value {
        Value::from(*self as u64)
    }
    fn read(value: &Value) -> Option<Self> {
        usize::try_from(value.as_u64()?).ok()
    }
}

impl Json for String {
    fn write(&self) -> Value {
        Value::from(self.as_str())
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

/// In nanoseconds, so that nothing is lost.
impl Json for Duration {
    fn write(&self) -> Value {
        Value::from(u64::try_from(self.as_nanos()).unwrap_or(u64::MAX))
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_u64().map(Duration::from_nanos)
    }
}

impl Json for CacheSize {
    fn write(&self) -> Value {
        match self {
            CacheSize::Auto => Value::from("auto"),
            CacheSize::Off => Value::from(0),
            CacheSize::Bytes(n) => Value::from(*n),
        }
    }
    fn read(value: &Value) -> Option<Self> {
        match value.as_u64() {
            Some(0) => Some(CacheSize::Off),
            Some(n) => Some(CacheSize::Bytes(n)),
            None => (value.as_str() == Some("auto")).then_some(CacheSize::Auto),
        }
    }
}

impl<T: Json> Json for Option<T> {
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, Json::write)
    }
    fn read(value: &Value) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::read(value).map(Some) }
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self) -> Value {
        Value::Array(self.iter().map(Json::write).collect())
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(T::read).collect()
    }
}

/// A struct as an object of its fields. One that was added later may be absent: it then has its default.
macro_rules! object {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl Json for $type {
            fn write(&self) -> Value {
                let mut map = Map::new();
                $(map.insert(stringify!($field).to_owned(), self.$field.write());)*
                Value::Object(map)
            }
            fn read(value: &Value) -> Option<Self> {
                let map = value.as_object()?;
                let mut out = Self::default();
                $(if let Some(v) = map.get(stringify!($field)) {
                    out.$field = Json::read(v)?;
                })*
                Some(out)
            }
        }
    };
}

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
object!(Limits {
    max_ranges,
    max_range_bytes,
    max_request_bytes,
    max_in_flight,
    queue,
    streams,
    range_overhead,
    round_trip,
    bandwidth,
});

/// The stats, and what ROOT derives from them under `root`.
pub(super) fn stats(stats: &PerfStats) -> Value {
    let mut root = Map::new();
    let mut put = |name: &str, value: Option<f64>| root.insert(name.to_owned(), value.write());
    put("Compress", Some(stats.compression()));
    put("ReadUnZip", Some(stats.read_unzip_bytes()));
    put("ReadSize", stats.read_size());
    put("Readextra", Some(stats.extra_percent()));
    put("Strm Time", Some(stats.stream_seconds()));
    for (name, rate) in stats.rates() {
        put(name, rate);
    }
    let mut value = Map::new();
    value.insert("perf_stats".to_owned(), Value::from(VERSION));
    if let Value::Object(fields) = stats.write() {
        value.extend(fields);
    }
    value.insert("root".to_owned(), Value::Object(root));
    Value::Object(value)
}

pub(super) fn read_stats(text: &str) -> Result<PerfStats> {
    let wrong = |what: &str| {
        Error::corrupt(format!("no perf stats: {what}")).with_remedy("write them with `sapwood perf -o FILE.json`")
    };
    let value: Value = serde_json::from_str(text).map_err(|e| wrong("it is not JSON").with_source(e))?;
    match value.get("perf_stats").and_then(Value::as_u64) {
        Some(VERSION) => PerfStats::read(&value).ok_or_else(|| wrong("a field is of the wrong type")),
        Some(n) => Err(Error::unsupported(format!("perf stats of version {n}: this program reads {VERSION}"))),
        None => Err(wrong("the field perf_stats is missing")),
    }
}
