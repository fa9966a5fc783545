//! Sites that share files, in virtual time.

use crate::error::{Missing, exception};
use crate::text::Text;
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::simulate::{Axis, Report, SHIPPED, Scenario, Shipped};
use sapwood::{Error, Result};
use std::path::Path;

/// What a simulation gives: JSON, text, one HTML page, and pictures as SVG by name.
type Made = (String, String, String, Vec<(String, String)>);

/// Simulates a scenario. `text` is its TOML, `name` what messages call it, `folder` where the files are that it names.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    name: Text,
    text: String,
    folder: Text,
    seed: Option<u64>,
    sweep: Option<String>,
    threads: usize,
) -> PyResult<Made> {
    let work = move || -> Result<Made> {
        let mut scenario = Scenario::parse(&name, &text, Path::new(&*folder))?;
        if let Some(seed) = seed {
            scenario.seed = seed;
        }
        let axes = sweep.as_deref().map_or(Ok(Vec::new()), Axis::parse_list)?;
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let report = Report::new(scenario, axes, threads)?;
        let mut text = Vec::new();
        report.write(&mut text).map_err(|e| Error::io("cannot write the report", e))?;
        let pictures = report.pictures().into_iter().map(|(name, canvas)| (name.to_string(), canvas.to_svg()));
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok((report.to_json().to_string(), text, report.to_html(), pictures.collect()))
    };
    wait(py, |_| Ok(()), work)?.map_err(|e| exception(py, &e, Missing::File))
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
