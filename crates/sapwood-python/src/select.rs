use crate::column::{Buffer, column};
use crate::convert::values;
use crate::forms::forms;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use sapwood::{Batch, Cut, EntryList, Error, ErrorKind, Form, Tree, Values};
use std::sync::{Arc, Mutex, PoisonError};

/// Entries from a numpy array of their numbers (int64, ascending).
pub fn entries(given: &Bound<'_, PyAny>) -> PyResult<EntryList> {
    match values(given)? {
        Values::I64(v) => {
            let numbers: std::result::Result<Vec<u64>, _> = v.into_iter().map(u64::try_from).collect();
            numbers
                .map(EntryList::from_numbers)
                .map_err(|_| PyValueError::new_err("an entry number cannot be negative"))
        }
        _ => Err(PyValueError::new_err("entries are numbers of int64")),
    }
}

/// The numbers of entries as int64.
pub fn numbers(list: &EntryList) -> Buffer {
    Buffer::new(Values::I64(list.iter().map(|n| n as i64).collect()))
}

/// A cut that is a Python function. It is called on the thread that waits for the scan's next batch, with the interpreter
/// taken for as long as it runs.
pub struct Selection {
    branches: Vec<usize>,
    function: Arc<Py<PyAny>>,
    forms: Arc<Vec<Option<Form>>>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Selection {
    /// A cut that needs these branches.
    pub fn new(tree: &Tree, branches: Vec<usize>, function: Py<PyAny>) -> Self {
        let forms = Arc::new(forms(tree, &branches));
        Self { branches, function: Arc::new(function), forms, raised: Arc::default() }
    }

    /// The same for a scan.
    pub fn cut(&self) -> Cut {
        let (function, forms, raised) = (self.function.clone(), self.forms.clone(), self.raised.clone());
        let test = move |batch: &Batch| {
            Python::attach(|py| {
                ask(py, &function, &forms, batch).map_err(|e| {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
                    Error::new(ErrorKind::Interrupted, "the cut cannot be computed")
                })
            })
        };
        Cut::new(self.branches.clone(), test)
    }

    /// What the function raised.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn ask(py: Python<'_>, function: &Py<PyAny>, forms: &[Option<Form>], batch: &Batch) -> PyResult<Vec<bool>> {
    let columns = PyList::empty(py);
    for (i, c) in batch.columns.iter().enumerate() {
        columns.append(column(py, c.clone(), forms.get(i).and_then(Option::as_ref))?)?;
    }
    let selected = batch.selected.as_ref().map(numbers);
    let passed = function.bind(py).call1((batch.entries.start, batch.entries.end, selected, columns))?;
    match values(&passed)? {
        Values::Bool(v) => Ok(v.into_iter().map(|p| p != 0).collect()),
        _ => Err(PyRuntimeError::new_err("a cut gives truth values")),
    }
}
