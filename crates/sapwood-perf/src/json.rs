//! Values as JSON and back: numbers, texts, times, lists, and structs with every field under its own name.

use sapwood_plan::{CacheSize, Limits};
use serde_json::Value;
use std::time::Duration;

/// A type with one representation in JSON.
pub(crate) trait Json: Sized {
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

/// A struct as an object of its fields. A field added in a later version may be absent: it then has its default.
macro_rules! object {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::json::Json for $type {
            fn write(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                $(map.insert(stringify!($field).to_owned(), $crate::json::Json::write(&self.$field));)*
                serde_json::Value::Object(map)
            }
            fn read(value: &serde_json::Value) -> Option<Self> {
                let map = value.as_object()?;
                let mut out = Self::default();
                $(if let Some(v) = map.get(stringify!($field)) {
                    out.$field = $crate::json::Json::read(v)?;
                })*
                Some(out)
            }
        }
    };
}
pub(crate) use object;

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
