//! Texts that Python gives.

use super::Text;
use crate::error::{Missing, exception};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sapwood::Error;
use sapwood::raw_text::{is_raw, text_of};

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let given = given.cast::<PyString>()?;
        match given.to_str() {
            Ok(text) if !is_raw(text) => Ok(Self(text.to_owned())),
            _ => match given.call_method1("encode", ("utf-8", "surrogateescape")) {
                Ok(bytes) => Ok(Self(text_of(bytes.cast::<PyBytes>()?.as_bytes()))),
                Err(_) => {
                    let text = given.repr()?.to_string();
                    let e = Error::invalid(format!("{text} is not valid Unicode: it contains a lone surrogate"));
                    Err(exception(given.py(), &e, Missing::Key))
                }
            },
        }
    }
}
