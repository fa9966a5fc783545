use crate::column::column;
use crate::convert::values;
use crate::entry_list::numbers;
use crate::forms::forms;
use crate::sync::lock;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use sapwood::{Batch, Cut, Error, ErrorKind, Form, Tree, Values};
use std::sync::{Arc, Mutex};

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
                    *lock(&raised) = Some(e);
                    Error::new(ErrorKind::Interrupted, "the cut cannot be computed")
                })
            })
        };
        Cut::new(self.branches.clone(), test)
    }

    /// What the function raised.
    pub fn raised(&self) -> Option<PyErr> {
        lock(&self.raised).take()
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
        _ => Err(PyRuntimeError::new_err("a cut must evaluate to booleans")),
    }
}
