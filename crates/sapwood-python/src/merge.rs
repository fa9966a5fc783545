use crate::rewriting::Rewriting;
use crate::seconds::seconds;
use crate::text::{Text, strings, texts};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sapwood::merge::{MergeOptions, MergeProgress, MergeReport, MergedTree, merge as merge_files};
use sapwood::recover::recover as recover_file;
use sapwood::{Compression, OpenOptions};
use std::path::PathBuf;

/// Merges files into one: (path, inputs, (force, sync, union), compression such as "zstd:5" or none, (threads, timeout in
/// seconds), a function of (inputs done, inputs, bytes written)); gives a dict of what was done.
#[pyfunction]
#[pyo3(signature = (out, inputs, overall, compression, reading, progress))]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    out: PathBuf,
    inputs: Vec<Text>,
    overall: (bool, bool, bool),
    compression: Option<&str>,
    reading: (usize, Option<f64>),
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let ((threads, timeout), (force, sync, union)) = (reading, overall);
    let rewriting = Rewriting::new(out.clone(), progress);
    let inputs = strings(inputs);
    let compression = compression.map(str::parse::<Compression>).transpose().map_err(|e| rewriting.failed(py, e))?;
    let timeout = seconds(timeout, "timeout")?;
    let count = rewriting.counter();
    let options = MergeOptions::default()
        .force(force)
        .compression(compression)
        .union(union)
        .open(OpenOptions::default().threads(threads).timeout(timeout))
        .sync(sync)
        .progress(move |p: MergeProgress| count([p.inputs as u64, p.total as u64, p.bytes]))
        .cancel(rewriting.cancel());
    let report = rewriting.run(py, move || merge_files(&out, &inputs, &options))?;
    to_dict(py, &report)
}

/// Writes what is left of a damaged file into a new one: (url, path, (force, sync), (threads, timeout in seconds)); gives a dict
/// of what was recovered and what is lost.
#[pyfunction]
#[pyo3(signature = (url, out, place, reading))]
pub(crate) fn recover<'py>(
    py: Python<'py>,
    url: Text,
    out: PathBuf,
    place: (bool, bool),
    reading: (usize, Option<f64>),
) -> PyResult<Bound<'py, PyDict>> {
    let ((threads, timeout), (force, sync)) = (reading, place);
    let rewriting = Rewriting::new(out.clone(), None);
    let timeout = seconds(timeout, "timeout")?;
    let open = OpenOptions::default().threads(threads).timeout(timeout);
    let options = MergeOptions::default().force(force).sync(sync).open(open).cancel(rewriting.cancel());
    let report = rewriting.run(py, move || recover_file(&url, &out, &options))?;
    let lost =
        |t: &MergedTree| report.lost_entries.iter().filter(|l| l.path == t.path).map(|l| l.entries).max().unwrap_or(0);
    let d = written(py, (report.input_bytes, report.output_bytes), &report.trees, &report.remarks, ("lost", &lost))?;
    let ranges = PyList::empty(py);
    for tree in &report.lost_entries {
        for range in &tree.ranges {
            let d = PyDict::new(py);
            d.set_item("tree", Text::from(&tree.path))?;
            d.set_item("cycle", tree.cycle)?;
            d.set_item("first", range.first)?;
            d.set_item("last", range.last)?;
            d.set_item("branch", Text::from(&range.branch))?;
            d.set_item("position", range.position)?;
            d.set_item("reason", Text::from(&range.reason))?;
            ranges.append(d)?;
        }
    }
    d.set_item("objects", report.objects)?;
    d.set_item("directories", report.directories)?;
    d.set_item("lost", texts(&report.lost))?;
    d.set_item("lost_entries", ranges)?;
    Ok(d)
}

fn to_dict<'py>(py: Python<'py>, r: &MergeReport) -> PyResult<Bound<'py, PyDict>> {
    let inputs = |t: &MergedTree| t.inputs as u64;
    let d = written(py, (r.input_bytes, r.output_bytes), &r.trees, &r.remarks, ("inputs", &inputs))?;
    d.set_item("inputs", r.inputs)?;
    d.set_item("added", r.added)?;
    d.set_item("kept", r.kept)?;
    Ok(d)
}

/// What merging and recovering tell alike: bytes read and written, trees with one more number of each, and remarks.
fn written<'py>(
    py: Python<'py>,
    (read, written): (u64, u64),
    of: &[MergedTree],
    remarks: &[String],
    (name, number): (&str, &dyn Fn(&MergedTree) -> u64),
) -> PyResult<Bound<'py, PyDict>> {
    let trees = PyList::empty(py);
    for t in of {
        let d = PyDict::new(py);
        d.set_item("path", Text::from(&t.path))?;
        d.set_item("entries", t.entries)?;
        d.set_item(if t.is_ntuple { "pages" } else { "baskets" }, t.baskets)?;
        d.set_item(name, number(t))?;
        trees.append(d)?;
    }
    let d = PyDict::new(py);
    d.set_item("bytes", written)?;
    d.set_item("input_bytes", read)?;
    d.set_item("trees", trees)?;
    d.set_item("remarks", texts(remarks))?;
    Ok(d)
}
