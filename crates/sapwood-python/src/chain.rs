use crate::draw::{Bins, Drawing, Drawn, draw};
use crate::error::{Missing, exception};
use crate::file::cache;
use crate::select::entries;
use crate::wait::wait;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sapwood::{Chain, ChainOptions, OpenOptions, ScanOptions};
use sapwood_query::Entries;
use std::ffi::CString;
use std::sync::Arc;
use std::time::Duration;

/// Files, each with the path of its tree where it has one.
type Files = Vec<(String, Option<String>)>;

fn chain(files: Files, cache_size: Option<u64>, timeout: f64, threads: usize, skip_bad: bool) -> PyResult<Chain> {
    let timeout = Duration::try_from_secs_f64(timeout)
        .map_err(|_| PyValueError::new_err("timeout is a positive number of seconds"))?;
    let open = OpenOptions { cache: cache(cache_size), timeout, threads, ..OpenOptions::default() };
    Ok(Chain::new(files, ChainOptions { open, skip_bad }))
}

/// Warns of the files that were left out.
fn warn(py: Python<'_>, chain: &Chain) -> PyResult<()> {
    let category = py.import("sapwood")?.getattr("SkippedFileWarning")?;
    for s in chain.skipped() {
        let words = CString::new(format!("left out: {}: {}", s.file, s.why).replace('\0', " "))?;
        PyErr::warn(py, &category, &words, 3)?;
    }
    Ok(())
}

/// The number of entries of all files; each is opened for it.
#[pyfunction]
pub fn chain_entries(
    py: Python<'_>,
    files: Files,
    cache_size: Option<u64>,
    timeout: f64,
    threads: usize,
    skip_bad: bool,
) -> PyResult<u64> {
    let chain = chain(files, cache_size, timeout, threads, skip_bad)?;
    let counted = {
        let chain = chain.clone();
        wait(py, |_| Ok(()), move || chain.entries())?
    };
    let entries = counted.map_err(|e| exception(py, &e, Missing::File))?;
    warn(py, &chain)?;
    Ok(entries)
}

/// A histogram of entries `start..stop`, or of the selected ones, of all files; see `Tree.draw`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn draw_chain(
    py: Python<'_>,
    files: Files,
    expression: &str,
    cut: &str,
    bins: Vec<(usize, f64, f64)>,
    start: u64,
    stop: u64,
    cache_size: Option<u64>,
    timeout: f64,
    threads: usize,
    progress: Option<Py<PyAny>>,
    count: Option<usize>,
    selected: Option<Bound<'_, PyAny>>,
    skip_bad: bool,
) -> PyResult<Drawn> {
    let chain = chain(files, cache_size, timeout, threads, skip_bad)?;
    let entries = match selected {
        Some(list) => Entries::List(Arc::new(entries(&list)?)),
        None => Entries::Range(start..stop),
    };
    let drawing = Drawing { expression, cut, bins: Bins { axes: bins, count }, entries };
    let drawn = draw(py, &chain, drawing, ScanOptions::default(), progress)?;
    warn(py, &chain)?;
    Ok(drawn)
}

/// The files that a path or URL with `*` or `?` stands for.
#[pyfunction]
pub fn expand(py: Python<'_>, url: String) -> PyResult<Vec<String>> {
    let found = wait(py, |_| Ok(()), move || sapwood::expand(&url, &OpenOptions::default()))?;
    found.map_err(|e| exception(py, &e, Missing::File))
}
