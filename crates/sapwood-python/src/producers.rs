//! Many producers of one tree: threads, and processes over a local socket.

use crate::taking;
use crate::writing::{WriterTree, closed, lock, raise};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sapwood::Error;
use sapwood::write::{self, Merger, Producer};
use std::sync::Mutex;
use std::time::Duration;

/// What joins producers, and where those of other processes come in; `None` once it is closed.
#[pyclass(frozen, module = "sapwood._core")]
pub struct TreeMerger {
    tree: Py<WriterTree>,
    inner: Mutex<Option<Inner>>,
}

struct Inner {
    merger: Merger,
    #[cfg(unix)]
    gate: Option<write::Gate>,
}

/// One producer's end; `None` once it has finished.
#[pyclass(frozen, module = "sapwood._core")]
pub struct TreeProducer(Mutex<Option<Producer>>);

/// Finished producers, pieces, and for each that was lost: who, entries, why.
type Told = (u64, u64, Vec<(String, u64, String)>);

fn told(summary: write::Summary) -> Told {
    let lost = summary.lost.into_iter().map(|l| (l.producer, l.entries, l.why)).collect();
    (summary.finished, summary.pieces, lost)
}

#[pymethods]
impl TreeMerger {
    /// Takes the tree until it is closed.
    #[new]
    fn new(py: Python<'_>, tree: Py<WriterTree>) -> PyResult<Self> {
        let taken = lock(&tree.get().0).take().ok_or_else(closed);
        let merger = Merger::new(raise(py, taken)?);
        #[cfg(unix)]
        let inner = Inner { merger, gate: None };
        #[cfg(not(unix))]
        let inner = Inner { merger };
        Ok(Self { tree, inner: Mutex::new(Some(inner)) })
    }

    /// Where producers of other processes connect.
    fn address(&self, py: Python<'_>) -> PyResult<String> {
        let address = py.detach(|| {
            let mut inner = lock(&self.inner);
            let inner = inner.as_mut().ok_or_else(closed)?;
            #[cfg(unix)]
            {
                let gate = match inner.gate.take() {
                    Some(gate) => gate,
                    None => inner.merger.listen()?,
                };
                let address = gate.address().to_string_lossy().into_owned();
                inner.gate = Some(gate);
                Ok(address)
            }
            #[cfg(not(unix))]
            Err(Error::unsupported("producers in other processes, on this system").with_remedy("use threads"))
        });
        raise(py, address)
    }

    /// A writer for a producer in this process.
    fn producer(&self, py: Python<'_>) -> PyResult<TreeProducer> {
        let inner = lock(&self.inner);
        let producer = inner.as_ref().ok_or_else(closed).and_then(|inner| inner.merger.producer());
        Ok(TreeProducer(Mutex::new(Some(raise(py, producer)?))))
    }

    /// What became of producers so far.
    fn summary(&self) -> Option<Told> {
        lock(&self.inner).as_ref().map(|inner| told(inner.merger.summary()))
    }

    #[getter]
    fn entries(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.inner).as_ref().map_or(0, |inner| inner.merger.entries()))
    }

    /// Lets no more producers in, waits for those of other processes at most so long, and gives the tree back.
    fn close(&self, py: Python<'_>, patience: f64) -> PyResult<Told> {
        let done = py.detach(|| {
            let mut place = lock(&self.inner);
            let inner = place.as_mut().ok_or_else(closed)?;
            #[cfg(unix)]
            if let Some(gate) = inner.gate.take() {
                gate.close(Duration::try_from_secs_f64(patience).unwrap_or(Duration::MAX));
            }
            let (tree, summary) = inner.merger.clone().into_tree()?;
            *place = None;
            *lock(&self.tree.get().0) = Some(tree);
            Ok(told(summary))
        });
        raise(py, done)
    }
}

#[pymethods]
impl TreeProducer {
    /// A producer for the tree of another process.
    #[staticmethod]
    fn connect(py: Python<'_>, address: &str) -> PyResult<Self> {
        #[cfg(unix)]
        let producer = py.detach(|| Producer::connect(address));
        #[cfg(not(unix))]
        let producer = Err(Error::unsupported(format!("a producer for {address}, on this system")));
        Ok(Self(Mutex::new(Some(raise(py, producer)?))))
    }

    /// Takes entries: `(name, column)` for each branch.
    fn extend(&self, py: Python<'_>, columns: Vec<(String, Bound<'_, PyTuple>)>) -> PyResult<()> {
        let arrays = taking::columns(&columns)?;
        self.with(py, |producer| producer.extend(&taking::given(&arrays)))
    }

    /// Hands on what it holds.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Producer::flush)
    }

    /// Hands on what it holds and goes.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let Some(producer) = lock(&self.0).take() else { return Ok(()) };
        let done = py.detach(|| producer.finish());
        raise(py, done)
    }

    /// Goes and loses what it holds.
    fn abandon(&self, py: Python<'_>) {
        if let Some(producer) = lock(&self.0).take() {
            py.detach(|| producer.abandon());
        }
    }

    #[getter]
    fn entries(&self) -> u64 {
        lock(&self.0).as_ref().map_or(0, Producer::entries)
    }
}

impl TreeProducer {
    fn with(&self, py: Python<'_>, work: impl FnOnce(&mut Producer) -> Result<(), Error> + Send) -> PyResult<()> {
        let done = py.detach(|| work(lock(&self.0).as_mut().ok_or_else(closed)?));
        raise(py, done)
    }
}
