use crate::text::{Text, told};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sapwood::raw_text::path_of;
use sapwood::{Error, ErrorKind, MissingItem, Setting};
use std::borrow::Cow;
use std::path::Path;

/// What it means when something is not found, unless the error itself says so.
#[derive(Clone, Copy)]
pub(crate) enum Missing {
    /// The file.
    File,
    /// An object in the file, or a branch in the tree.
    Key,
    /// The file that was to be written into, or its directory.
    Written,
}

impl Missing {
    /// That of an error of work that reads files and writes this one.
    pub(crate) fn of(error: &Error, written: &Path) -> Self {
        if error.file().is_some_and(|file| path_of(file) == written) { Missing::Written } else { Missing::File }
    }
}

/// The Python exception for an error: a class of `sapwood.errors`, with the parts of the error as attributes.
pub(crate) fn exception(py: Python<'_>, error: &Error, missing: Missing) -> PyErr {
    let missing = match (error.missing_item(), missing) {
        (Some(MissingItem::File), Missing::Key) => Missing::File,
        (Some(MissingItem::Key), _) => Missing::Key,
        (_, given) => given,
    };
    let class = match (error.kind(), missing) {
        (ErrorKind::AlreadyExists, _) => "FileThereError",
        (ErrorKind::Gone, _) | (ErrorKind::NotFound, Missing::File | Missing::Written) => "FileMissingError",
        (ErrorKind::NotFound, Missing::Key) => "KeyInFileError",
        (ErrorKind::Invalid, _) => "InvalidError",
        (ErrorKind::Unsupported, _) => "UnsupportedError",
        (ErrorKind::Corrupt, _) => "CorruptError",
        (ErrorKind::Timeout, _) => "StalledError",
        (ErrorKind::Denied, _) => "DeniedError",
        (ErrorKind::Defect, _) => "DefectError",
        (_, Missing::Written) => "WriteError",
        _ => "ReadError",
    };
    build(py, class, &in_python(error)).unwrap_or_else(|e| e)
}

/// The error with the option that helps as Python calls it.
fn in_python(error: &Error) -> Cow<'_, Error> {
    let remedy = match error.setting() {
        Some(Setting::Replace) => "replace it with recreate, or add to it with update",
        Some(Setting::Recover) => "read it with recover=True, or fetch the file again from its source",
        Some(Setting::InsecureRedirects) => "follow it anyway with insecure_redirects=True",
        Some(Setting::LocalCache) => "turn it on with sapwood.cache.configure(), SAPWOOD_CACHE_DIR or local_cache=",
        Some(Setting::Online) => "read it once without offline=True",
        Some(Setting::KeepBranch) => "copy the branch's baskets unchanged with keep=",
        Some(Setting::SkipUnsupported) => {
            "choose others with branches=, or convert without them with skip_unsupported=True"
        }
        Some(Setting::ConvertTo) => "specify to=\"ntuple\" or to=\"tree\", or the name of one",
        _ => return Cow::Borrowed(error),
    };
    Cow::Owned(error.clone().with_other_remedy(remedy))
}

/// The error of a function that has the argument `force`.
pub(crate) fn with_force(error: Error) -> Error {
    match error.setting() {
        Some(Setting::Replace) => error.with_other_remedy("choose another name, or replace it with force=True"),
        _ => error,
    }
}

fn build(py: Python<'_>, class: &str, error: &Error) -> PyResult<PyErr> {
    let parts = PyDict::new(py);
    parts.set_item("file", error.file().map(Text::from))?;
    parts.set_item("branch", error.branch().map(Text::from))?;
    parts.set_item("span", error.span().map(|s| (s.start, s.end())))?;
    let class = py.import("sapwood.errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((told(&error.to_string()),), Some(&parts))?))
}
