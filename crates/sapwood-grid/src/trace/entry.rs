//! What one record of a trace tells, and its values in JSON.

use super::times;
use sapwood_span::{Error, Result};
use serde_json::Value;

/// What one record tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    /// When the read began, in seconds since 1970.
    pub(super) time: Option<f64>,
    /// The site of the reader.
    pub(super) site: Option<String>,
    pub(super) file: String,
    /// Bytes of the whole file.
    pub(super) size: Option<u64>,
    /// Bytes that were read; none: all.
    pub(super) bytes: Option<u64>,
    /// Seconds in which a core worked on them.
    pub(super) cpu: Option<f64>,
    /// Of a request, which is a part of a read: by whom. The requests of a client for a file are one read.
    pub(super) client: Option<String>,
    /// It begins a read.
    pub(super) opens: bool,
}

/// A record that is JSON.
pub(super) fn object(line: &str) -> Result<Value> {
    let value: Value = serde_json::from_str(line).map_err(|e| Error::invalid(format!("is not JSON: {e}")))?;
    if value.is_object() { Ok(value) } else { Err(Error::invalid("is not a JSON object")) }
}

pub(super) fn missing(key: &str) -> Error {
    Error::invalid(format!("{key} is missing"))
}

pub(super) fn text(value: &Value, key: &str) -> Result<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| missing(key))
}

/// A number of bytes; null is none.
pub(super) fn bytes(value: &Value, key: &str) -> Result<Option<u64>> {
    let Some(value) = value.get(key).filter(|v| !v.is_null()) else { return Ok(None) };
    let whole = value.as_f64().filter(|n| (0.0..9e18).contains(n)).map(|n| n as u64);
    value.as_u64().or(whole).map(Some).ok_or_else(|| Error::invalid(format!("{key} is not a number of bytes")))
}

/// Seconds since 1970, or a time as text; none is none, something else is wrong.
pub(super) fn time(value: &Value, key: &str) -> Result<Option<f64>> {
    let Some(value) = value.get(key).filter(|v| !v.is_null()) else { return Ok(None) };
    let time = value.as_f64().and_then(times::plausible).or_else(|| times::seconds(value.as_str()?));
    time.map(Some).ok_or_else(|| Error::invalid(format!("{key} is not a time: {value}")))
}
