use crate::rewriting::Rewriting;
use crate::seconds::seconds;
use crate::text::{Text, strings, texts, told};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sapwood::convert::{ConvertOptions, ConvertProgress, ConvertReport, ConvertTo, convert as convert_file};
use sapwood::{Compression, OpenOptions};
use std::path::PathBuf;

/// Converts trees to ntuples or back: (input, name of a tree or none, output, (force, verify, sync, skip what is
/// unsupported), whether to ntuples or none, compression or none, patterns of branches, first entry and the one behind the
/// last or none, (threads, timeout in seconds), a function of (entries done, entries, bytes written)); gives a dict of
/// what was done.
#[pyfunction]
#[pyo3(signature = (url, path, out, overall, to_ntuple, compression, branches, entries, reading, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    url: Text,
    path: Option<Text>,
    out: PathBuf,
    overall: (bool, bool, bool, bool),
    to_ntuple: Option<bool>,
    compression: Option<&str>,
    branches: Vec<Text>,
    entries: Option<(u64, u64)>,
    reading: (usize, Option<f64>),
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (force, verify, sync, skip) = overall;
    let rewriting = Rewriting::new(out.clone(), progress);
    let compression = compression.map(str::parse::<Compression>).transpose().map_err(|e| rewriting.failed(py, e))?;
    let timeout = seconds(reading.1, "timeout")?;
    let count = rewriting.counter();
    let options = ConvertOptions::new()
        .to(to_ntuple.map(|ntuple| if ntuple { ConvertTo::Ntuple } else { ConvertTo::Tree }))
        .force(force)
        .compression(compression)
        .branches(strings(branches))
        .entries(entries.map(|(from, to)| from..to))
        .skip_unsupported(skip)
        .verify(verify)
        .open(OpenOptions::default().threads(reading.0).timeout(timeout))
        .sync(sync)
        .progress(move |p: ConvertProgress| count([p.done, p.total, p.bytes]))
        .cancel(rewriting.cancel());
    let report = rewriting.run(py, move || convert_file(&out, &url, path.as_deref(), &options))?;
    to_dict(py, &report)
}

fn to_dict<'py>(py: Python<'py>, r: &ConvertReport) -> PyResult<Bound<'py, PyDict>> {
    let trees = PyList::empty(py);
    for t in &r.trees {
        let d = PyDict::new(py);
        d.set_item("path", Text::from(&t.path))?;
        d.set_item("entries", t.entries)?;
        d.set_item("branches", t.branches)?;
        d.set_item("renamed", t.renamed.iter().map(|(a, b)| (Text::from(a), Text::from(b))).collect::<Vec<_>>())?;
        trees.append(d)?;
    }
    let skipped = PyList::empty(py);
    for s in &r.skipped {
        let d = PyDict::new(py);
        d.set_item("tree", Text::from(&s.tree))?;
        d.set_item("branch", Text::from(&s.branch))?;
        d.set_item("reason", told(&s.reason))?;
        skipped.append(d)?;
    }
    let d = PyDict::new(py);
    d.set_item("to", r.to.name())?;
    d.set_item("bytes", r.output_bytes)?;
    d.set_item("input_bytes", r.input_bytes)?;
    d.set_item("trees", trees)?;
    d.set_item("skipped", skipped)?;
    d.set_item("verified", r.verified)?;
    d.set_item("remarks", texts(&r.remarks))?;
    Ok(d)
}
