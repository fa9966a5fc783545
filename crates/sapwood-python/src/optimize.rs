use crate::rewriting::Rewriting;
use crate::seconds::seconds;
use crate::text::{Text, strings, texts, told};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sapwood::optimize::{
    ClusterSize, OptimizeOptions, OptimizeProgress, OptimizeReport, Used, optimize as optimize_file,
};
use sapwood::perf::PerfStats;
use sapwood::{Compression, OpenOptions};
use std::path::PathBuf;

/// Rewrites a file: (input, output, (force, verify, sync), compression or none, (cluster size, whether it counts
/// entries), bytes of a basket, (branches to drop, to put first, to keep whole), (perf stats of past reads as JSON, whether
/// branches that they do not need are dropped), (threads, timeout in seconds), a
/// function of (steps done, steps, bytes written)); gives a dict of what was done.
#[pyfunction]
#[pyo3(signature = (url, out, overall, compression, cluster, basket, names, used, reading, progress))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub(crate) fn optimize<'py>(
    py: Python<'py>,
    url: Text,
    out: PathBuf,
    overall: (bool, bool, bool),
    compression: Option<&str>,
    cluster: (u64, bool),
    basket: u32,
    names: (Vec<Text>, Vec<Text>, Vec<Text>),
    used: (Vec<String>, bool),
    reading: (usize, Option<f64>),
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let ((force, verify, sync), (cluster, entries)) = (overall, cluster);
    let rewriting = Rewriting::new(out.clone(), progress);
    let compression = compression.map(str::parse::<Compression>).transpose().map_err(|e| rewriting.failed(py, e))?;
    let timeout = seconds(reading.1, "timeout")?;
    let count = rewriting.counter();
    let (drop, first, keep) = names;
    let (stats, drop_unused) = used;
    let mut used = Used::default();
    for text in &stats {
        used.add(PerfStats::from_json(text).map_err(|e| rewriting.failed(py, e))?.used_branches());
    }
    let options = OptimizeOptions::default()
        .force(force)
        .compression(compression)
        .cluster(if entries { ClusterSize::Entries(cluster) } else { ClusterSize::Bytes(cluster) })
        .basket_bytes(basket)
        .drop(strings(drop))
        .first(strings(first))
        .used(used)
        .drop_unused(drop_unused)
        .keep(strings(keep))
        .verify(verify)
        .open(OpenOptions::default().threads(reading.0).timeout(timeout))
        .sync(sync)
        .progress(move |p: OptimizeProgress| count([p.done, p.total, p.bytes]))
        .cancel(rewriting.cancel());
    let report = rewriting.run(py, move || optimize_file(&out, &url, &options))?;
    to_dict(py, &report)
}

fn to_dict<'py>(py: Python<'py>, r: &OptimizeReport) -> PyResult<Bound<'py, PyDict>> {
    let trees = PyList::empty(py);
    for t in &r.trees {
        let d = PyDict::new(py);
        d.set_item("path", Text::from(&t.path))?;
        d.set_item("entries", t.entries)?;
        d.set_item("clusters", t.clusters)?;
        let (before, after) = if t.is_ntuple { ("pages_before", "pages") } else { ("baskets_before", "baskets") };
        d.set_item(before, t.baskets.0)?;
        d.set_item(after, t.baskets.1)?;
        d.set_item("bytes_before", t.bytes.0)?;
        d.set_item("bytes", t.bytes.1)?;
        d.set_item("whole", t.whole.iter().map(|(n, w)| (Text::from(n), told(w))).collect::<Vec<_>>())?;
        d.set_item("dropped", texts(&t.dropped))?;
        trees.append(d)?;
    }
    let d = PyDict::new(py);
    d.set_item("bytes", r.output_bytes)?;
    d.set_item("input_bytes", r.input_bytes)?;
    d.set_item("trees", trees)?;
    d.set_item("verified", r.verified)?;
    d.set_item("remarks", texts(&r.remarks))?;
    Ok(d)
}
