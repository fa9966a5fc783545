//! Many producers of one tree or ntuple: threads, and processes over a local socket.

use crate::convert;
use crate::seconds::seconds;
use crate::sync::lock;
use crate::text::Text;
use crate::wait::wait;
use crate::writing::WriterTree;
use crate::writing_ntuple::WriterNtuple;
use crate::written::{closed, raise, taken};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sapwood::write::{self, Merger, Producer};
use sapwood::{Error, ErrorKind};
use std::sync::TryLockError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What joins producers, and where those of other processes come in; `None` once it is closed.
#[pyclass(frozen, module = "sapwood._core")]
pub struct TreeMerger {
    home: Home,
    merger: Mutex<Option<Merger>>,
    /// The thread that closes the merger has it while it waits.
    listener: Mutex<Option<write::ProducerListener>>,
}

/// The writer that gets its tree or ntuple back.
#[derive(FromPyObject)]
enum Home {
    Tree(Py<WriterTree>),
    Ntuple(Py<WriterNtuple>),
}

/// One producer's end; `None` once it has finished.
#[pyclass(frozen, module = "sapwood._core")]
pub struct TreeProducer {
    producer: Mutex<Option<Producer>>,
    /// What it took, for queries while it waits.
    entries: AtomicU64,
    /// What a signal's handler raised while it waited.
    raised: Raised,
}

type Raised = Arc<Mutex<Option<PyErr>>>;

/// Whether no signal's handler raised anything; keeps what did.
fn no_signal(raised: &Mutex<Option<PyErr>>) -> bool {
    match Python::attach(|py| py.check_signals()) {
        Ok(()) => true,
        Err(e) => {
            *lock(raised) = Some(e);
            false
        }
    }
}

/// Finished producers, pieces, and for each that was lost: its name, entries, reason.
type Told = (u64, u64, Vec<(String, u64, String)>);

fn told(summary: write::Summary) -> Told {
    let lost = summary.lost.into_iter().map(|l| (l.producer, l.entries, l.why)).collect();
    (summary.finished, summary.pieces, lost)
}

#[pymethods]
impl TreeMerger {
    /// Takes the tree or ntuple until it is closed.
    #[new]
    fn new(py: Python<'_>, home: Home) -> PyResult<Self> {
        let merger = py.detach(|| match &home {
            Home::Tree(tree) => taken(&tree.get().0).map(Merger::new),
            Home::Ntuple(ntuple) => taken(&ntuple.get().0).map(Merger::of_ntuple),
        });
        let merger = Mutex::new(Some(raise(py, merger.ok_or_else(closed))?));
        Ok(Self { home, merger, listener: Mutex::new(None) })
    }

    /// Where producers of other processes connect.
    fn address(&self, py: Python<'_>) -> PyResult<String> {
        let address = py.detach(|| {
            let merger = self.merger()?;
            let mut listener = lock(&self.listener);
            let listening = match listener.take() {
                Some(listening) => listening,
                None => merger.listen()?,
            };
            let address = listening.address().to_string_lossy().into_owned();
            *listener = Some(listening);
            Ok(address)
        });
        raise(py, address)
    }

    /// A writer for a producer in this process.
    fn producer(&self, py: Python<'_>) -> PyResult<TreeProducer> {
        let producer = py.detach(|| self.merger()?.producer());
        Ok(TreeProducer::new(raise(py, producer)?, Raised::default()))
    }

    /// What became of producers so far.
    fn summary(&self, py: Python<'_>) -> Option<Told> {
        py.detach(|| self.merger().ok().map(|merger| told(merger.summary())))
    }

    #[getter]
    fn entries(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.merger().map_or(0, |merger| merger.entries()))
    }

    /// Lets no more producers in, waits for those of other processes at most so many seconds (none: forever), and gives
    /// the tree or ntuple back. Interrupted, it can be called again.
    fn close(&self, py: Python<'_>, patience: Option<f64>) -> PyResult<Told> {
        let patience = seconds(patience, "patience")?;
        let raised = Raised::default();
        let done = py.detach(|| {
            let mut listener = match self.listener.try_lock() {
                Ok(listener) => listener,
                Err(TryLockError::Poisoned(listener)) => listener.into_inner(),
                Err(TryLockError::WouldBlock) => return Err(Error::invalid("another thread is closing the merger")),
            };
            if let Some(listening) = listener.as_mut()
                && !listening.close_while(patience, || no_signal(&raised))
            {
                return Err(Error::new(ErrorKind::Interrupted, "interrupted while the merger was closed"));
            }
            *listener = None;
            drop(listener);
            let merger = self.merger()?;
            let summary = match &self.home {
                Home::Tree(home) => {
                    let (tree, summary) = merger.into_tree()?;
                    *lock(&home.get().0) = Some(tree);
                    summary
                }
                Home::Ntuple(home) => {
                    let (ntuple, summary) = merger.into_ntuple()?;
                    *lock(&home.get().0) = Some(ntuple);
                    summary
                }
            };
            *lock(&self.merger) = None;
            Ok(told(summary))
        });
        if let Some(raised) = lock(&raised).take() {
            return Err(raised);
        }
        raise(py, done)
    }
}

impl TreeMerger {
    /// The merger while it is open. What it knows is asked of a copy: the thread that closes it waits meanwhile.
    fn merger(&self) -> Result<Merger, Error> {
        lock(&self.merger).clone().ok_or_else(closed)
    }
}

impl Drop for TreeMerger {
    fn drop(&mut self) {
        // it waits for threads that write, and these may be Python's; none is left where the interpreter has ended
        if let Some(listener) = self.listener.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            Python::try_attach(|py| py.detach(|| drop(listener)));
        }
    }
}

#[pymethods]
impl TreeProducer {
    /// A producer for the tree of another process.
    #[staticmethod]
    fn connect(py: Python<'_>, address: String) -> PyResult<Self> {
        // a merger that was stopped says nothing
        let producer = wait(py, |_| Ok(()), move || Producer::connect(address))?;
        let mut producer = raise(py, producer)?;
        let raised = Raised::default();
        let seen = raised.clone();
        producer.set_interrupt(move || no_signal(&seen));
        Ok(Self::new(producer, raised))
    }

    /// Takes entries: `(name, column)` for each branch.
    fn extend(&self, py: Python<'_>, columns: Vec<(Text, Bound<'_, PyTuple>)>) -> PyResult<()> {
        let arrays = convert::columns(&columns)?;
        self.with(py, |producer| producer.extend(&convert::given(&arrays)))
    }

    /// Hands on what it holds.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Producer::flush)
    }

    /// Hands on what it holds and goes.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| taken(&self.producer).map_or(Ok(()), Producer::finish));
        self.raise(py, done)
    }

    /// Goes and loses what it holds.
    fn abandon(&self, py: Python<'_>) {
        py.detach(|| {
            if let Some(producer) = taken(&self.producer) {
                producer.abandon();
            }
        });
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }
}

impl TreeProducer {
    fn new(producer: Producer, raised: Raised) -> Self {
        Self { producer: Mutex::new(Some(producer)), entries: AtomicU64::new(0), raised }
    }

    fn with(&self, py: Python<'_>, work: impl FnOnce(&mut Producer) -> Result<(), Error> + Send) -> PyResult<()> {
        let done = py.detach(|| {
            let mut place = lock(&self.producer);
            let producer = place.as_mut().ok_or_else(closed)?;
            let done = work(producer);
            self.entries.store(producer.entries(), Ordering::Relaxed);
            done
        });
        self.raise(py, done)
    }

    /// The error, or what a signal's handler raised.
    fn raise(&self, py: Python<'_>, done: Result<(), Error>) -> PyResult<()> {
        match lock(&self.raised).take() {
            Some(raised) => Err(raised),
            None => raise(py, done),
        }
    }
}

impl Drop for TreeProducer {
    fn drop(&mut self) {
        // it hands on what it holds, for which it may have to wait
        if let Some(producer) = self.producer.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            Python::try_attach(|py| py.detach(|| drop(producer)));
        }
    }
}
