//! Options of a conversion, and its report.

use sapwood_codec::Compression;
use sapwood_engine::OpenOptions;
use sapwood_span::setters;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a file is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvertTo {
    /// ROOT's RNTuple.
    Ntuple,
    /// ROOT's TTree.
    Tree,
}

impl ConvertTo {
    /// Its name in words.
    pub const fn name(self) -> &'static str {
        match self {
            ConvertTo::Ntuple => "ntuple",
            ConvertTo::Tree => "tree",
        }
    }
}

/// How to convert a file.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// What to; by default the kind that the input does not have.
    pub to: Option<ConvertTo>,
    /// Replace the output if it exists.
    pub force: bool,
    /// Compression of the output; zstd with level 5, ROOT's default for ntuples, by default.
    pub compression: Option<Compression>,
    /// Only these branches: names or paths with `*` and `?`; all by default.
    pub branches: Vec<String>,
    /// Only these entries; all by default.
    pub entries: Option<Range<u64>>,
    /// Convert the rest where branches cannot be converted, instead of refusing.
    pub skip_unsupported: bool,
    /// Read the output back and compare every value with the input before it gets its name.
    pub verify: bool,
    /// How to open the input, and the number of threads that compress.
    pub open: OpenOptions,
    /// Wait until the output and its name are on disk.
    pub sync: bool,
    /// Called with the progress from time to time.
    pub progress: Option<Arc<dyn Fn(ConvertProgress) + Send + Sync>>,
    /// Set from another thread to end with an `Interrupted` error; no output file remains.
    pub cancel: Arc<AtomicBool>,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self {
            to: None,
            force: false,
            compression: None,
            branches: Vec::new(),
            entries: None,
            skip_unsupported: false,
            verify: true,
            open: OpenOptions::default(),
            sync: true,
            progress: None,
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}

setters!(ConvertOptions { force: bool, skip_unsupported: bool, verify: bool, open: OpenOptions, sync: bool, cancel: Arc<AtomicBool> } into { to: Option<ConvertTo>, compression: Option<Compression>, branches: Vec<String>, entries: Option<Range<u64>> });

impl ConvertOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a function with the progress from time to time.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(ConvertProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

/// Progress of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertProgress {
    /// Entries written, and entries compared.
    pub done: u64,
    /// The total of these.
    pub total: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// The result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertReport {
    /// What the output has.
    pub to: ConvertTo,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// The trees or ntuples that were written.
    pub trees: Vec<ConvertedTree>,
    /// Branches that were skipped.
    pub skipped: Vec<SkippedBranch>,
    /// Whether every value was compared with the input.
    pub verified: bool,
    /// Remarks for the user.
    pub remarks: Vec<String>,
}

/// A tree or ntuple that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertedTree {
    /// Directories and name.
    pub path: String,
    /// Entries.
    pub entries: u64,
    /// Branches or fields at the top.
    pub branches: u64,
    /// Those that have another name than in the input: the old and the new one.
    pub renamed: Vec<(String, String)>,
}

/// A branch that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedBranch {
    /// The tree or ntuple.
    pub tree: String,
    /// The branch.
    pub branch: String,
    /// Why it cannot be converted.
    pub reason: String,
}
