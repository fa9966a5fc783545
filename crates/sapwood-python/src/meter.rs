use pyo3::prelude::*;
use sapwood::{Progress, ScanOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of a scan: set by the core's threads, passed to a Python function by the waiting thread.
pub(crate) struct Meter {
    counts: Arc<Counts>,
    function: Option<Py<PyAny>>,
}

#[derive(Default)]
struct Counts {
    entries: AtomicU64,
    total: AtomicU64,
    bytes: AtomicU64,
}

impl Meter {
    /// A meter for the scan with these options; `function` is called with (entries, total, bytes).
    pub(crate) fn attach(options: &mut ScanOptions, function: Option<Py<PyAny>>) -> Self {
        let counts = Arc::new(Counts::default());
        if function.is_some() {
            let counts = counts.clone();
            options.progress = Some(Arc::new(move |p: Progress| {
                counts.entries.store(p.entries, Ordering::Relaxed);
                counts.total.store(p.total, Ordering::Relaxed);
                counts.bytes.store(p.bytes, Ordering::Relaxed);
            }));
        }
        Self { counts, function }
    }

    /// Tells the function where the scan is.
    pub(crate) fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let Some(function) = &self.function else { return Ok(()) };
        let read = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let c = &self.counts;
        function.call1(py, (read(&c.entries), read(&c.total), read(&c.bytes))).map(|_| ())
    }
}
