//! What callers say of a merge or a recovery, and what they are told.

use sapwood_codec::Compression;
use sapwood_engine::OpenOptions;
use sapwood_span::raw_text::path_of;
use sapwood_span::{Error, ErrorKind, Result, setters};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How files are merged.
#[derive(Clone)]
#[non_exhaustive]
pub struct MergeOptions {
    /// Replace the output if it exists.
    pub force: bool,
    /// Compress everything so; by default baskets stay as they are, and the rest is as the first input has it.
    pub compression: Option<Compression>,
    /// How inputs are opened; its `threads` pack baskets when they are compressed anew (0: one per core).
    pub open: OpenOptions,
    /// Wait until the output and its name are on disk for good.
    pub sync: bool,
    /// Called now and then with how far it is.
    pub progress: Option<Arc<dyn Fn(MergeProgress) + Send + Sync>>,
    /// Set from another thread to end with an `Interrupted` error; nothing is left behind.
    pub cancel: Arc<AtomicBool>,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            force: false,
            compression: None,
            open: OpenOptions::default(),
            sync: true,
            progress: None,
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}

setters!(MergeOptions { force: bool, open: OpenOptions, sync: bool, cancel: Arc<AtomicBool> } into { compression: Option<Compression> });

impl MergeOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a function now and then with how far it is.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(MergeProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

/// How far a merge has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeProgress {
    /// Inputs that are done, and all.
    pub inputs: usize,
    /// All inputs.
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
    /// Objects that were added up: histograms, numbers, lists of them.
    pub added: usize,
    /// Objects that were kept as they are.
    pub kept: usize,
    /// What a user should know, in words.
    pub remarks: Vec<String>,
}

/// A tree of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedTree {
    /// Directories and name.
    pub path: String,
    /// Entries.
    pub entries: u64,
    /// Baskets copied.
    pub baskets: u64,
    /// Inputs that have it.
    pub inputs: usize,
}

/// Refuses an input that is the output.
pub(crate) fn check_differ(input: &str, out: &Path) -> Result<()> {
    let same = std::fs::canonicalize(path_of(input)).is_ok_and(|i| std::fs::canonicalize(out).is_ok_and(|o| o == i));
    if same { Err(Error::invalid("is both an input and the output").in_file(input.to_owned())) } else { Ok(()) }
}

/// An error when the user wants no more.
pub(crate) fn check(options: &MergeOptions) -> Result<()> {
    if options.cancel.load(Relaxed) { Err(Error::new(ErrorKind::Interrupted, "interrupted")) } else { Ok(()) }
}
