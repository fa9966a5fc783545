use crate::cache_size::tree_cache;
use crate::error::{Missing, exception};
use crate::seconds::{round_trip, seconds};
use crate::text::{Text, strings};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::OpenOptions;
use sapwood::doctor::{Conditions, Doctor};
use sapwood::map::FileMap;

/// Examines a file: its report as JSON and as text. Caches (bytes; none: automatic) and round-trip times (seconds) are
/// those for which costs are worked out.
#[pyfunction]
pub(crate) fn doctor(
    py: Python<'_>,
    url: Text,
    deep: bool,
    timeout: Option<f64>,
    caches: Vec<Option<u64>>,
    round_trips: Vec<f64>,
) -> PyResult<(String, String)> {
    let timeout = seconds(timeout, "timeout")?;
    let caches: Vec<_> = caches.into_iter().map(tree_cache).collect();
    let round_trips = round_trips.into_iter().map(round_trip).collect::<PyResult<Vec<_>>>()?;
    let conditions = Conditions::new(&caches, &round_trips);
    let options = OpenOptions::default().timeout(timeout);
    let done = wait(py, |_| Ok(()), move || Doctor::examine(&url, deep, &options, &conditions))?;
    let report = done.map_err(|e| exception(py, &e, Missing::File))?;
    let mut text = Vec::new();
    report.write(&mut text)?;
    Ok((report.to_json().to_string(), String::from_utf8_lossy(&text).into_owned()))
}

/// Where everything is in a file.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Map(FileMap);

impl Map {
    /// The map of a file with all its trees, or with one.
    pub fn make(
        py: Python<'_>,
        file: sapwood::File,
        tree: Option<sapwood::Tree>,
        patterns: Vec<Text>,
    ) -> PyResult<Self> {
        let made = wait(py, |_| Ok(()), move || FileMap::new(&file, tree.as_ref(), &strings(patterns)))?;
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
