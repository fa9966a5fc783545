//! Many files into one, as ROOT's `hadd` does: trees by copying their compressed baskets untouched, histograms added,
//! other objects kept.
//!
//! Inputs are opened ahead by a few threads and read ahead by others; one thread places the records, which come in the
//! order of the inputs. So memory holds a few chunks, however many inputs there are, and a handful of files are open at
//! a time. The output appears under its name when it is complete.

mod axes;
mod buffer;
mod classes;
mod clusters;
mod collection;
mod copy;
mod efficiency;
pub(crate) mod embedded;
mod event_list;
pub(crate) mod facts;
mod filled;
mod graph;
pub(crate) mod header;
mod hist;
pub(crate) mod input;
mod labels;
mod limits;
mod multi;
mod numbers;
mod objects;
pub(crate) mod ordered;
pub(crate) mod output;
mod parameter;
mod poly;
pub(crate) mod recode;
mod recover;
mod rules;
pub(crate) mod schema;
pub(crate) mod tree;
mod tree_index;

use crate::target::Place;
use copy::{Done, Job, Pool};
pub(crate) use hist::is_histogram;
use ordered::ordered;
use output::Output;
pub use recover::{LostTree, Recovered, recover};
use sapwood_codec::Compression;
use sapwood_engine::OpenOptions;
use sapwood_span::raw_text::path_of;
use sapwood_span::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Inputs that are opened ahead of the one that is copied.
const OPEN_AHEAD: (usize, usize) = (3, 12);
/// Threads that read ahead, and chunks that may wait: near and far.
const LOCAL_READERS: (usize, usize) = (2, 6);
const REMOTE_READERS: (usize, usize) = (6, 8);

/// How files are merged.
#[derive(Clone)]
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

/// How far a merge has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Merges `inputs` (paths or URLs) into a new file `out`.
///
/// # Errors
/// `Invalid` when the output exists or inputs do not fit together, with the difference; what reading or writing says.
/// Nothing is left under the output's name, nor beside it.
pub fn merge(out: &Path, inputs: &[String], options: &MergeOptions) -> Result<MergeReport> {
    let Some(first) = inputs.first() else {
        return Err(Error::invalid("nothing to merge").with_remedy("name at least one input"));
    };
    inputs.iter().try_for_each(|i| check_differ(i, out))?;
    let header = sapwood_engine::File::open(first, &options.open)?.header().clone();
    let own = Compression::from_settings(header.compression).unwrap_or_default();
    let place = Place { replace: options.force, sync: options.sync };
    let mut output = Output::create(out, place, options.compression.unwrap_or(own), options.compression)?;
    let remote = inputs.iter().any(|i| i.contains("://"));
    let (readers, chunks) = if remote { REMOTE_READERS } else { LOCAL_READERS };
    let threads = match (options.compression, options.open.threads) {
        (None, _) => readers,
        (Some(_), 0) => std::thread::available_parallelism().map_or(1, usize::from).max(readers),
        (Some(_), n) => n,
    };
    let ahead = if remote { OPEN_AHEAD.1 } else { OPEN_AHEAD.0 };
    let pool = Pool::default();
    let bytes = AtomicU64::new(0);
    ordered(
        if remote { ahead } else { 1 },
        ahead,
        inputs.iter(),
        || (),
        |(), url: &String| check(options).and_then(|()| input::open(url, &options.open)).map(Box::new),
        |opened| {
            let jobs = opened.flat_map(|input| match input {
                Ok(input) => copy::jobs(input),
                Err(e) => vec![Job::Failed(e)],
            });
            ordered(
                threads,
                chunks.max(threads + 1),
                jobs,
                recode::Recoder::default,
                |recoder, job| check(options).and_then(|()| copy::work(job, &pool, recoder, options.compression)),
                |results| {
                    let mut done = 0;
                    for result in results {
                        check(options)?;
                        match result? {
                            Done::Begin(input) => output.begin(*input)?,
                            Done::Chunk(chunk) => pool.give(output.chunk(chunk)?),
                            Done::End => {
                                output.end()?;
                                done += 1;
                            }
                        }
                        // not after every chunk: whoever looks at it may be slow
                        if output.position() - bytes.load(Relaxed) > 4 << 20 || done == inputs.len() {
                            bytes.store(output.position(), Relaxed);
                            if let Some(tell) = &options.progress {
                                tell(MergeProgress { inputs: done, total: inputs.len(), bytes: output.position() });
                            }
                        }
                    }
                    Ok::<(), Error>(())
                },
            )
        },
    )?;
    check(options)?;
    output.finish(options)
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
