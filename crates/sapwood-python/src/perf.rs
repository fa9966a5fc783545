use crate::error::{Missing, exception};
use crate::sync::lock;
use crate::text::told;
use pyo3::prelude::*;
use sapwood::perf::{self, PerfStats};
use std::sync::Mutex;

/// Counts all reading of this process from its making to [`Collector::stop`].
#[pyclass(frozen, module = "sapwood._core")]
pub struct Collector(Mutex<Option<perf::Collector>>);

#[pymethods]
impl Collector {
    /// Begins; with `record` the planner's log of every scan is kept as well.
    #[new]
    #[pyo3(signature = (record=false))]
    fn new(record: bool) -> Self {
        Self(Mutex::new(Some(perf::Collector::start(record))))
    }

    /// The stats so far as JSON; None once it was stopped.
    fn stats(&self) -> Option<String> {
        lock(&self.0).as_ref().map(|c| c.stats().to_json())
    }

    /// Ends: the stats as JSON, and the recorded logs as lines of text. None when it has ended before.
    fn stop(&self) -> Option<(String, String)> {
        let collector = lock(&self.0).take()?;
        let logs = collector.take_logs().iter().map(perf::ScanLog::to_lines).collect();
        Some((collector.stats().to_json(), logs))
    }
}

/// Stats as text, from their JSON.
#[pyfunction]
pub(crate) fn perf_text(py: Python<'_>, json: &str) -> PyResult<String> {
    PerfStats::from_json(json).map(|s| told(&s.to_string())).map_err(|e| exception(py, &e, Missing::File))
}
