use crate::error::{Missing, exception};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sapwood::raw_text::{bytes_of, is_raw, text_of};
use sapwood::{Error, printable};
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
