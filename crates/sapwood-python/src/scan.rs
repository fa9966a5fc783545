use crate::column::{Buffer, column};
use crate::entry_list::numbers;
use crate::error::{Missing, exception};
use crate::friends::Sources;
use crate::io_report::io_report;
use crate::meter::Meter;
use crate::select::Selection;
use crate::sync::lock;
use crate::wait::wait;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use sapwood::{Error, IoReport, ScanOptions, StepSize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The step size from its Python form.
pub(crate) fn step(unit: &str, size: u64) -> PyResult<StepSize> {
    match unit {
        "all" => Ok(StepSize::All),
        "cluster" => Ok(StepSize::Cluster),
        "entries" => Ok(StepSize::Entries(size)),
        "bytes" => Ok(StepSize::Bytes(size)),
        other => Err(PyValueError::new_err(format!("no step unit {other:?}: all, cluster, entries or bytes"))),
    }
}

/// One pass over entries of some branches: an iterator of (start, stop, columns).
#[pyclass(frozen, weakref, module = "sapwood._core")]
pub struct Scan {
    state: Mutex<State>,
    cancel: Arc<AtomicBool>,
    /// The file that it reads.
    file: String,
    meter: Meter,
    /// Where its columns come from.
    sources: Sources,
    /// What the cut's function raised, where there is a cut.
    selection: Option<Selection>,
    /// What it reads, for the types of Arrow.
    tree: sapwood::Tree,
    branches: Vec<usize>,
}

enum State {
    Idle(Box<sapwood::Scan>),
    /// A thread waits for the next batch.
    Busy,
    /// Nothing more to come: the report is what is left.
    Over(IoReport),
    /// Closed before all was read.
    Closed(IoReport),
}

impl Scan {
    pub fn begin(
        py: Python<'_>,
        tree: sapwood::Tree,
        mut options: ScanOptions,
        progress: Option<Py<PyAny>>,
        selection: Option<Selection>,
        sources: Sources,
        ahead: bool,
    ) -> PyResult<Self> {
        let meter = Meter::attach(&mut options, progress);
        let cancel = options.cancel.clone();
        let file = tree.file().url().to_owned();
        let (read, branches) = (tree.clone(), options.branches.clone());
        let begun =
            wait(py, |_| Ok(()), move || if ahead { tree.scan_ahead(&options) } else { tree.scan_with(&options) });
        if begun.is_err() {
            cancel.store(true, Ordering::Relaxed);
        }
        let scan = begun?.map_err(|e| exception(py, &e, Missing::Key))?;
        Ok(Self {
            state: Mutex::new(State::Idle(Box::new(scan))),
            cancel,
            file,
            meter,
            sources,
            selection,
            tree: read,
            branches,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// First entry, entry behind the last, a column per branch, and the numbers of the entries where not all are there.
type Step<'py> = (u64, u64, Bound<'py, PyList>, Option<Buffer>);

#[pymethods]
impl Scan {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Step<'py>>> {
        let state = std::mem::replace(&mut *self.lock(), State::Busy);
        let mut scan = match state {
            State::Idle(scan) if scan.is_over() => {
                *self.lock() = State::Over(scan.report());
                self.meter.tell(py)?;
                return Ok(None);
            }
            State::Idle(scan) => scan,
            State::Busy => return Err(PyRuntimeError::new_err("another thread waits for this scan's next batch")),
            State::Over(report) => {
                *self.lock() = State::Over(report);
                return Ok(None);
            }
            State::Closed(report) => {
                *self.lock() = State::Closed(report);
                // an end would look as if everything had been read
                let e = Error::invalid("was closed while it was being read").in_file(&self.file);
                return Err(exception(py, &e, Missing::File));
            }
        };
        let waited = wait(
            py,
            |py| self.meter.tell(py),
            move || {
                let item = scan.next();
                (scan, item)
            },
        );
        let (scan, item) = match waited {
            Ok(both) => both,
            Err(e) => {
                self.cancel.store(true, Ordering::Relaxed);
                *self.lock() = State::Over(IoReport::default());
                return Err(e);
            }
        };
        match item {
            Some(Ok(batch)) => {
                *self.lock() = State::Idle(scan);
                let columns = PyList::empty(py);
                let (entries, selected) = (batch.entries.clone(), batch.selected.as_ref().map(numbers));
                for ((c, present), form) in self.sources.columns(batch).into_iter().zip(&self.sources.forms) {
                    let made = column(py, c, form.as_ref())?;
                    match present {
                        Some(present) => columns.append(("option", made, Buffer::new(present)))?,
                        None => columns.append(made)?,
                    }
                }
                self.meter.tell(py)?;
                Ok(Some((entries.start, entries.end, columns, selected)))
            }
            Some(Err(e)) => {
                *self.lock() = State::Over(scan.report());
                if let Some(raised) = self.selection.as_ref().and_then(Selection::raised) {
                    return Err(raised);
                }
                // a branch is found before the scan begins: what is missing now is the file
                Err(exception(py, &e, Missing::File))
            }
            None => {
                *self.lock() = State::Over(scan.report());
                self.meter.tell(py)?;
                Ok(None)
            }
        }
    }

    /// Arrow's PyCapsule interface: the batches to come as a stream of record batches. The scan is over for Python then.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // a request that need not be kept: consumers cast what they get
        drop(requested_schema);
        if !self.sources.friends.is_empty() {
            let e = Error::unsupported("an Arrow stream cannot contain branches of friends")
                .with_remedy("read them with arrays(library=\"pa\")");
            return Err(exception(py, &e, Missing::File));
        }
        let state = std::mem::replace(&mut *self.lock(), State::Busy);
        let scan = match state {
            State::Idle(scan) => {
                *self.lock() = State::Over(scan.report());
                scan
            }
            other => {
                *self.lock() = other;
                let e = Error::invalid("this scan is over or in use: a stream needs a new one").in_file(&self.file);
                return Err(exception(py, &e, Missing::File));
            }
        };
        let (tree, branches) = (self.tree.clone(), self.branches.clone());
        let begun = wait(py, |_| Ok(()), move || sapwood::arrow::stream_of(&tree, &branches, *scan));
        if begun.is_err() {
            self.cancel.store(true, Ordering::Relaxed);
        }
        let stream = begun?.map_err(|e| {
            let raised = self.selection.as_ref().and_then(Selection::raised);
            raised.unwrap_or_else(|| exception(py, &e, Missing::File))
        })?;
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Stops reading; requests in flight are dropped.
    fn close(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        let mut state = self.lock();
        if let State::Idle(scan) = &*state {
            let report = scan.report();
            *state = if scan.is_over() { State::Over(report) } else { State::Closed(report) };
        }
    }

    /// Whether all that it needs has been asked for, and how many compressed bytes it holds.
    fn asked(&self) -> (bool, u64) {
        match &*self.lock() {
            State::Idle(scan) => (scan.has_asked_all(), scan.held_bytes()),
            State::Busy | State::Over(_) | State::Closed(_) => (true, 0),
        }
    }

    /// Another budget of compressed bytes.
    fn set_budget(&self, bytes: u64) {
        if let State::Idle(scan) = &*self.lock() {
            scan.set_budget(bytes);
        }
    }

    /// What the scan has done so far, as a dict.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = match &*self.lock() {
            State::Idle(scan) => scan.report(),
            State::Over(report) | State::Closed(report) => report.clone(),
            State::Busy => return Err(PyRuntimeError::new_err("another thread waits for this scan's next batch")),
        };
        io_report(py, &report)
    }
}
