use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `sapwood` with these arguments, of which the first is the program's name, and returns its exit
/// status.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>, stdout_was_closed: bool) -> u8 {
    py.detach(|| match stdout_was_closed {
        true => sapwood_cli::main_without_stdout(arguments),
        false => sapwood_cli::main(arguments),
    })
}
