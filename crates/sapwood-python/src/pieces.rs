//! Lists of numbers as numpy arrays, one for each entry.

use crate::held_buffer::HeldBuffer;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySequence};

/// For each entry the window at its offset: `windows[n][i]` are the n items that begin at item i.
///
/// One call of numpy per entry, from here: a slice in Python costs an object for the slice and one for each of its ends, and
/// takes twice the time. Where the windows end is numpy's to check.
///
/// # Errors
/// Offsets that decrease, or an entry whose length has no window.
#[pyfunction]
pub(crate) fn pieces<'py>(
    py: Python<'py>,
    offsets: &Bound<'py, PyAny>,
    windows: Vec<Option<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyList>> {
    let offsets: Vec<i64> = HeldBuffer::of(offsets)?.copy()?;
    let mut out = Vec::with_capacity(offsets.len().saturating_sub(1));
    for pair in offsets.windows(2) {
        let (start, stop) = (pair[0], pair[1]);
        let place = usize::try_from(start).ok().zip(stop.checked_sub(start).and_then(|n| usize::try_from(n).ok()));
        let Some((start, length)) = place else {
            return Err(PyValueError::new_err(format!("offsets that decrease: {start}, {stop}")));
        };
        let Some(Some(window)) = windows.get(length) else {
            return Err(PyIndexError::new_err(format!("no window of {length} items")));
        };
        // SAFETY: get_item is PySequence_GetItem, which takes any object and raises for those that are no sequences. A numpy
        // array is one, without being registered as `collections.abc.Sequence`.
        out.push(unsafe { window.cast_unchecked::<PySequence>() }.get_item(start)?);
    }
    PyList::new(py, out)
}
