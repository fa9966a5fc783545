//! Times that Python gives as numbers of seconds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// Seconds from 0 on; `None`, infinity and whatever is longer than a clock tells are forever.
///
/// # Errors
/// `ValueError` when it is negative or not a number; `name` is what it is called.
pub(crate) fn seconds(given: Option<f64>, name: &str) -> PyResult<Duration> {
    match given {
        None => Ok(Duration::MAX),
        Some(s) if s >= 0.0 => Ok(Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)),
        Some(s) => Err(PyValueError::new_err(format!(
            "{name} must be a number of seconds, 0 or more, or None to wait indefinitely, not {s}"
        ))),
    }
}

/// A round-trip time for which costs are worked out: an hour at most, so that sums of them stay times.
///
/// # Errors
/// `ValueError` when it is anything else.
pub(crate) fn round_trip(given: f64) -> PyResult<Duration> {
    if (0.0..=3600.0).contains(&given) {
        return Ok(Duration::from_secs_f64(given));
    }
    Err(PyValueError::new_err(format!("a round-trip time must be 0 to 3600 seconds, not {given}")))
}
