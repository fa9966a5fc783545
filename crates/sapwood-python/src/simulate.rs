//! Sites that share files, in virtual time.

mod policy;

use crate::error::{Missing, exception};
use crate::text::Text;
use crate::wait::wait;
use crate::written::raise;
use policy::PythonPolicy;
use pyo3::prelude::*;
use sapwood::simulate::{Axis, CustomPolicy, PICTURE_FILES, Policy, Report, SHIPPED, Scenario, Shipped};
use sapwood::write::FileSet;
use sapwood::{Error, Result};
use std::path::{Path, PathBuf};

/// What a simulation gives: JSON, text, one HTML page, and pictures as SVG by name.
type Made = (String, String, String, Vec<(String, String)>);

/// Simulates a scenario. `text` is its TOML, `name` what messages call it, `folder` where the files are that it names. `policies` are
/// names, and functions that make the policy for one simulation.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn simulate(
    py: Python<'_>,
    name: Text,
    text: String,
    folder: Text,
    seed: Option<u64>,
    sweep: Option<String>,
    threads: usize,
    policies: Vec<(String, Py<PyAny>)>,
) -> PyResult<Made> {
    let raised = policy::Raised::default();
    let all = raised.clone();
    let work = move || -> Result<Made> {
        let mut scenario = Scenario::parse(&name, &text, Path::new(&*folder))?;
        if let Some(seed) = seed {
            scenario.seed = seed;
        }
        let axes = sweep.as_deref().map_or(Ok(Vec::new()), Axis::parse_list)?;
        let threads = match threads {
            // Python runs one policy at a time
            0 if !policies.is_empty() => 1,
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let makers: Vec<_> =
            (policies.iter()).map(|(_, make)| || Box::new(PythonPolicy::new(make, &all)) as Box<dyn Policy>).collect();
        let names = policies.iter().map(|p| p.0.clone());
        let others: Vec<_> = names.zip(&makers).map(|(name, make)| CustomPolicy { name, make }).collect();
        let report = Report::with_policies(scenario, axes, threads, &others)?;
        let mut text = Vec::new();
        report.write(&mut text).map_err(|e| Error::io("cannot write the report", e))?;
        let pictures = report.pictures().into_iter().map(|(name, canvas)| (name.to_string(), canvas.to_svg()));
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok((report.to_json().to_string(), text, report.to_html(), pictures.collect()))
    };
    let done = wait(py, |_| Ok(()), work).inspect_err(|_| raised.stop())?;
    done.map_err(|e| raised.take().unwrap_or_else(|| exception(py, &e, Missing::File)))
}

/// Writes the files of a report into a directory; pictures of an earlier report that this one has not are removed.
#[pyfunction]
pub(crate) fn save_report(py: Python<'_>, folder: PathBuf, files: Vec<(String, String)>) -> PyResult<()> {
    let write = || {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        FileSet::begin(&folder)?.write(&files, PICTURE_FILES)
    };
    raise(py, py.detach(write))
}

/// The TOML of a scenario that comes with the package.
#[pyfunction]
pub(crate) fn shipped_scenario(py: Python<'_>, name: Text) -> PyResult<&'static str> {
    Shipped::find(&name).map(|s| s.text).map_err(|e| exception(py, &e, Missing::File))
}

/// The names of the scenarios that come with the package.
#[pyfunction]
pub(crate) fn shipped_scenarios() -> Vec<&'static str> {
    SHIPPED.iter().map(|s| s.name).collect()
}
