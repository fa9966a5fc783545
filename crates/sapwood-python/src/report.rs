use crate::error::{Missing, exception};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::OpenOptions;
use sapwood_report::doctor::Doctor;
use sapwood_report::map::FileMap;
use std::time::Duration;

/// Examines a file: its report as JSON and as text.
#[pyfunction]
pub fn doctor(py: Python<'_>, url: String, deep: bool, timeout: f64) -> PyResult<(String, String)> {
    let timeout = Duration::try_from_secs_f64(timeout)
        .map_err(|_| pyo3::exceptions::PyValueError::new_err("timeout is a positive number of seconds"))?;
    let options = OpenOptions { timeout, ..OpenOptions::default() };
    let done = wait(py, |_| Ok(()), move || Doctor::examine(&url, deep, &options))?;
    let report = done.map_err(|e| exception(py, &e, Missing::File))?;
    let mut text = Vec::new();
    report.write(&mut text)?;
    Ok((report.to_json().to_string(), String::from_utf8_lossy(&text).into_owned()))
}

/// Where everything lies in a file.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Map(FileMap);

impl Map {
    /// The map of a file with all its trees, or with one.
    pub fn make(
        py: Python<'_>,
        file: sapwood::File,
        tree: Option<sapwood::Tree>,
        patterns: Vec<String>,
    ) -> PyResult<Self> {
        let made = wait(py, |_| Ok(()), move || FileMap::new(&file, tree.as_ref(), &patterns))?;
        made.map(Self).map_err(|e| exception(py, &e, Missing::Key))
    }
}

#[pymethods]
impl Map {
    fn json(&self) -> String {
        self.0.to_json().to_string()
    }

    fn text(&self) -> PyResult<String> {
        let mut text = Vec::new();
        self.0.write(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn svg(&self) -> String {
        self.0.picture().to_svg()
    }

    /// A PNG file's bytes, with `scale` pixels for a unit of the SVG.
    fn png(&self, py: Python<'_>, scale: f64) -> PyResult<Vec<u8>> {
        self.0.picture().to_png(scale).map_err(|e| exception(py, &e, Missing::File))
    }
}
