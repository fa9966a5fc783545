mod from_python;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sapwood::printable;
use sapwood::raw_text::{bytes_of, is_raw};
use std::ops::Deref;

/// A name or another text of a file, or the name of a file. Bytes that are not UTF-8 are lone surrogates in Python
/// ("surrogateescape", as for names of files, and as uproot has it), see [`sapwood::raw_text`] for what they are in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self(text.clone())
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl<'py> IntoPyObject<'py> for Text {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        if !is_raw(&self.0) {
            return Ok(PyString::new(py, &self.0));
        }
        let bytes = PyBytes::new(py, &bytes_of(&self.0));
        Ok(bytes.call_method1("decode", ("utf-8", "surrogateescape"))?.cast_into::<PyString>()?)
    }
}

/// The texts.
pub(crate) fn texts<T: Into<Text>>(given: impl IntoIterator<Item = T>) -> Vec<Text> {
    given.into_iter().map(Into::into).collect()
}

/// The strings of texts.
pub(crate) fn strings(given: Vec<Text>) -> Vec<String> {
    given.into_iter().map(|t| t.0).collect()
}

/// What is told in words, of which names from files are a part: it may be printed anywhere.
pub(crate) fn told(words: &str) -> String {
    words.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}
