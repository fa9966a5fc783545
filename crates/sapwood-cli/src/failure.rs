//! How a command ends when it does not end well.

use sapwood::ErrorKind;
use std::io;
use std::process::ExitCode;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// Reading or computing failed: exit status 1 (130 when the user interrupted).
    Error(sapwood::Error),
    /// The command line makes no sense: exit status 2.
    Usage(String),
    /// The output could not be written: exit status 1, and silence when the reader has gone.
    Output(io::Error),
}

impl Failure {
    /// Tells the user on stderr, unless there is nothing to tell, and gives the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Error(e) if e.kind() == ErrorKind::Interrupted => {
                eprintln!("sapwood: interrupted");
                ExitCode::from(130)
            }
            Failure::Error(e) => {
                eprintln!("sapwood: {e}");
                ExitCode::FAILURE
            }
            Failure::Usage(what) => {
                eprintln!("sapwood: {what}");
                ExitCode::from(2)
            }
            // `sapwood ls … | head`: whoever stops reading has what he wants
            Failure::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Failure::Output(e) => {
                eprintln!("sapwood: cannot write the output: {e}");
                ExitCode::FAILURE
            }
        }
    }
}

impl From<sapwood::Error> for Failure {
    fn from(e: sapwood::Error) -> Self {
        Failure::Error(e)
    }
}

/// Only writing to stdout gives a bare I/O error; everything else is a [`sapwood::Error`] that names its file.
impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Failure::Output(e)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(e: serde_json::Error) -> Self {
        Failure::Output(e.into())
    }
}
