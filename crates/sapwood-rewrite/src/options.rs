//! Options of a merge or a recovery, and their reports.

use sapwood_codec::Compression;
use sapwood_engine::{OpenOptions, local_path};
use sapwood_span::{Error, ErrorKind, Result, setters};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How to merge files.
#[derive(Clone)]
#[non_exhaustive]
pub struct MergeOptions {
    /// Replace the output if it exists.
    pub force: bool,
    /// Compression of the output; by default baskets are copied unchanged, and other objects are compressed like the
    /// first input.
    pub compression: Option<Compression>,
    /// Whether ntuples may have different fields: values of a field that an input lacks are zero, or empty. Otherwise
    /// they are refused.
    pub union: bool,
    /// How to open inputs; `threads` is also the number of threads that recompress baskets (0: one per core).
    pub open: OpenOptions,
    /// Wait until the output and its name are on disk.
    pub sync: bool,
    /// Called with the progress from time to time.
    pub progress: Option<Arc<dyn Fn(MergeProgress) + Send + Sync>>,
    /// Set from another thread to end with an `Interrupted` error; no output file remains.
    pub cancel: Arc<AtomicBool>,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            force: false,
            compression: None,
            union: false,
            open: OpenOptions::default(),
            sync: true,
            progress: None,
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}

setters!(MergeOptions { force: bool, union: bool, open: OpenOptions, sync: bool, cancel: Arc<AtomicBool> } into { compression: Option<Compression> });

impl MergeOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a function with the progress from time to time.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(MergeProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

/// Progress of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeProgress {
    /// Number of inputs that are done.
    pub inputs: usize,
    /// Number of inputs.
    pub total: usize,
    /// Bytes written.
    pub bytes: u64,
}

/// What a merge did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeReport {
    /// Inputs.
    pub inputs: usize,
    /// Bytes of all inputs.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Trees in the order of the output.
    pub trees: Vec<MergedTree>,
    /// Number of objects that were added: histograms, numbers, lists of them.
    pub added: usize,
    /// Number of objects that were copied unchanged.
    pub kept: usize,
    /// Remarks for the user.
    pub remarks: Vec<String>,
}

/// A tree or ntuple of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedTree {
    /// Directories and name.
    pub path: String,
    /// Entries.
    pub entries: u64,
    /// Baskets copied, or pages of an ntuple.
    pub baskets: u64,
    /// Inputs that have it.
    pub inputs: usize,
    /// Whether it is an ntuple.
    pub is_ntuple: bool,
}

/// Refuses an input that is the output.
pub(crate) fn check_differ(input: &str, out: &Path) -> Result<()> {
    let there = |path: &Path| std::fs::canonicalize(path).ok();
    let input_path = local_path(input).and_then(|path| there(&path));
    if input_path.is_some() && input_path == there(out) {
        Err(Error::invalid("the file is both an input and the output").in_file(input.to_owned()))
    } else {
        Ok(())
    }
}

/// An error when the user has cancelled.
pub(crate) fn check(options: &MergeOptions) -> Result<()> {
    if options.cancel.load(Relaxed) { Err(Error::new(ErrorKind::Interrupted, "interrupted")) } else { Ok(()) }
}
