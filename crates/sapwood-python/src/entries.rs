use crate::cache_size::tree_cache;
use crate::column::column;
use crate::error::{Missing, exception};
use crate::forms::forms;
use crate::sync::lock;
use crate::text::Text;
use crate::wait::wait;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, Mutex};

/// A reader of single entries.
#[pyclass(frozen, module = "sapwood._core")]
pub struct EntryReader(Arc<Mutex<sapwood::EntryReader>>);

impl EntryReader {
    pub fn new(tree: &sapwood::Tree, cache_size: Option<u64>, threads: usize) -> Self {
        let mut reader = tree.entry_reader();
        reader.set_cache_size(tree_cache(cache_size));
        reader.set_threads(threads);
        Self(Arc::new(Mutex::new(reader)))
    }

    /// Asks the reader, with the interpreter free: another thread may wait for a block of it.
    fn with<T: Send>(&self, py: Python<'_>, what: impl FnOnce(&mut sapwood::EntryReader) -> T + Send) -> T {
        py.detach(|| what(&mut lock(&self.0)))
    }
}

#[pymethods]
impl EntryReader {
    /// The values of a branch around an entry: (first entry, entry behind the last, column).
    fn block<'py>(&self, py: Python<'py>, branch: usize, entry: u64) -> PyResult<(u64, u64, Bound<'py, PyTuple>)> {
        let reader = self.0.clone();
        let got = wait(
            py,
            |_| Ok(()),
            move || {
                let mut reader = lock(&reader);
                let block = reader.get(branch, entry)?;
                Ok((block, forms(reader.tree(), &[branch])))
            },
        )?;
        let (block, forms) = got.map_err(|e: sapwood::Error| exception(py, &e, Missing::File))?;
        // the reader keeps its own for other questions about this block
        let values = (*block.column).clone();
        let made = column(py, values, forms.first().and_then(Option::as_ref))?;
        Ok((block.entries.start, block.entries.end, made))
    }

    /// Reads a branch ahead, or all that a pattern fits; how many that added.
    fn add_branch(&self, py: Python<'_>, name: Text) -> PyResult<usize> {
        self.with(py, |reader| reader.add_branch(&name)).map_err(|e| exception(py, &e, Missing::Key))
    }

    /// Reads a branch ahead no more.
    fn drop_branch(&self, py: Python<'_>, branch: usize) {
        self.with(py, |reader| reader.drop_branch(branch));
    }

    /// Goes by what has been learnt so far.
    fn stop_learning(&self, py: Python<'_>) {
        self.with(py, sapwood::EntryReader::stop_learning);
    }

    /// Learns from so many entries.
    fn set_learn_entries(&self, py: Python<'_>, entries: u64) {
        self.with(py, |reader| reader.set_learn_entries(entries));
    }

    /// Bytes of the cache; none: as ROOT would choose it.
    #[pyo3(signature = (bytes))]
    fn set_cache_size(&self, py: Python<'_>, bytes: Option<u64>) {
        self.with(py, |reader| reader.set_cache_size(tree_cache(bytes)));
    }

    /// What it did so far, as a dict; `cached` are numbers of branches.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.with(py, |reader| reader.stats());
        let d = PyDict::new(py);
        d.set_item("learning", stats.learning)?;
        d.set_item("cached", stats.cached)?;
        d.set_item("blocks", stats.blocks)?;
        d.set_item("misses", stats.misses)?;
        d.set_item("jumps", stats.jumps)?;
        Ok(d)
    }
}
