//! What files, trees and ntuples that are written have in common.

use crate::error::{Missing, exception};
use crate::sync::lock;
use pyo3::prelude::*;
use sapwood::{Compression, Error};
use std::sync::Mutex;

/// Takes what is there.
pub(crate) fn taken<T>(mutex: &Mutex<Option<T>>) -> Option<T> {
    lock(mutex).take()
}

/// The error of what was closed.
pub(crate) fn closed() -> Error {
    Error::invalid("the file was closed; open it again with update")
}

/// The result, or its error as an exception of Python.
pub(crate) fn raise<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|e| exception(py, &e, Missing::Written))
}

/// A compression setting from its text.
pub(crate) fn compression(py: Python<'_>, text: &str) -> PyResult<Compression> {
    raise(py, text.parse())
}
