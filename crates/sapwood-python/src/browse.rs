//! The browser page's server, which runs beside Python.

use crate::error::{Missing, exception};
use crate::sync::lock;
use crate::text::Text;
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::OpenOptions;
use sapwood_browse::{BrowseOptions, BrowseTarget};
use std::sync::Mutex;

/// A running server of the page.
#[pyclass(frozen, module = "sapwood._core")]
pub(crate) struct Browser {
    url: String,
    server: Mutex<Option<sapwood_browse::Browser>>,
}

#[pymethods]
impl Browser {
    /// The address, with its secret.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Ends the server, and what it does.
    fn close(&self) {
        drop(lock(&self.server).take());
    }
}

/// Starts the server of the page for these files, directories and URLs, each with an object or None; port 0 is any free one.
#[pyfunction]
pub(crate) fn browse(py: Python<'_>, targets: Vec<(Text, Option<Text>)>, port: u16) -> PyResult<Browser> {
    let targets: Vec<BrowseTarget> =
        targets.into_iter().map(|(url, object)| (url.0, object.map(|o| o.0)).into()).collect();
    let options = BrowseOptions::new(port, OpenOptions::default());
    let started = wait(py, |_| Ok(()), move || sapwood_browse::Browser::start(&targets, options))?;
    let server = started.map_err(|e| exception(py, &e, Missing::File))?;
    Ok(Browser { url: server.url().to_owned(), server: Mutex::new(Some(server)) })
}
