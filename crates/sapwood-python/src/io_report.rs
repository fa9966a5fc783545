//! What reading did, as a dict.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sapwood::IoReport;

/// A report of input and output as a dict: numbers, bytes and seconds.
pub(crate) fn io_report<'py>(py: Python<'py>, r: &IoReport) -> PyResult<Bound<'py, PyDict>> {
    let d = PyDict::new(py);
    let counts = [
        ("requests", r.requests),
        ("ranges", r.ranges),
        ("round_trips", r.round_trips),
        ("bytes_fetched", r.bytes_fetched),
        ("local_cache_bytes", r.local_cache_bytes),
        ("local_cache_reads", r.local_cache_reads),
        ("bytes_wanted", r.bytes_wanted),
        ("baskets", r.baskets),
        ("unzipped_bytes", r.unzipped_bytes),
        ("connections", r.connections),
    ];
    for (name, value) in counts {
        d.set_item(name, value)?;
    }
    let seconds = [
        ("seconds", r.seconds),
        ("wait_seconds", r.wait_seconds),
        ("unzip_seconds", r.unzip_seconds),
        ("decode_seconds", r.decode_seconds),
    ];
    for (name, value) in seconds {
        d.set_item(name, value)?;
    }
    Ok(d)
}
