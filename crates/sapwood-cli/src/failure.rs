//! How a command ends when it does not end well.

use sapwood::text::clean;
use sapwood::{ErrorKind, Setting};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Reading or computing failed: exit status 1 (130 when the user interrupted, 143 when SIGTERM did).
    Error(sapwood::Error),
    /// The command line makes no sense: exit status 2.
    Usage(String),
    /// The same, already reported to the user.
    Told,
    /// The search found something, which is on stdout: exit status 1.
    Found,
    /// The output could not be written: exit status 1, and silence when the reader has gone.
    Output(io::Error),
}

impl Failure {
    /// Tells the user on stderr, unless there is nothing to tell, and gives the exit status.
    pub(crate) fn report(&self) -> u8 {
        match self {
            Failure::Error(e) if e.kind() == ErrorKind::Interrupted => {
                remark("interrupted");
                crate::interrupt::status()
            }
            Failure::Error(e) => {
                remark(&e.to_string());
                1
            }
            Failure::Usage(what) => {
                remark(what);
                2
            }
            Failure::Told => 2,
            Failure::Found => 1,
            // `sapwood ls … | head`: the reader closed the pipe
            Failure::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Output(e) => {
                remark(&format!("cannot write the output: {e}"));
                1
            }
        }
    }
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out hints from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Says something on stderr that a quiet user does not want to know.
pub(crate) fn hint(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        remark(text);
    }
}

/// Gives a hint, unless it was given before.
pub(crate) fn hint_once(text: &str) {
    static GIVEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !given.iter().any(|one| one == text) {
        given.push(text.to_owned());
        hint(text);
    }
}

/// Says something on stderr. Names out of files may hold anything: only line breaks reach the terminal as they are.
pub(crate) fn remark(text: &str) {
    let lines: Vec<String> = text.lines().map(clean).collect();
    // if stderr is closed, nobody reads this
    let _ = writeln!(io::stderr(), "sapwood: {}", lines.join("\n"));
}

impl From<sapwood::Error> for Failure {
    fn from(e: sapwood::Error) -> Self {
        let remedy = match e.setting() {
            Some(Setting::Replace) => "choose another name, or replace it with -f",
            Some(Setting::Recover) => "read it with --recover, or fetch the file again from its source",
            Some(Setting::InsecureRedirects) => "follow it anyway with --insecure-redirects",
            Some(Setting::KeepBranch) => "copy the branch's baskets unchanged with --keep",
            Some(Setting::SkipUnsupported) => "choose others with -b, or convert without them with --skip-unsupported",
            Some(Setting::ConvertTo) => "specify --to ntuple or --to tree, or the name of one",
            Some(Setting::LocalCache) => "turn it on with `sapwood cache on`, SAPWOOD_CACHE_DIR or --local-cache",
            Some(Setting::Online) => "read it once without --offline",
            _ => return Failure::Error(e),
        };
        Failure::Error(e.with_other_remedy(remedy))
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
