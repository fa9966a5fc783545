//! ROOT trees, near or far.
//!
//! ```no_run
//! use sapwood::{File, OpenOptions, ScanOptions};
//!
//! # fn main() -> sapwood::Result<()> {
//! let file = File::open("https://example.org/events.root", &OpenOptions::default())?;
//! let tree = file.tree("Events")?;
//! let branches = vec![tree.find("Muon_pt")?, tree.find("Muon_eta")?];
//! for batch in tree.scan(&ScanOptions { branches, ..ScanOptions::default() })? {
//!     let batch = batch?;
//!     println!("{} entries, {} columns", batch.entries.end - batch.entries.start, batch.columns.len());
//! }
//! println!("{} requests", file.io().requests);
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

pub use sapwood_codec::{Algorithm, Compression};
pub use sapwood_column::{Array, ColumnType, DType, Form, Values, with_values};
pub use sapwood_engine::perf;
pub use sapwood_engine::{
    Batch, Block, Chain, ChainBatch, ChainFile, ChainOptions, ChainScan, Counted, Cut, EntryList, EntryListObject,
    EntryReader, EntryStats, File, IoReport, ListPart, OnRecovery, OpenOptions, Progress, ReadRequest, RemoteEntry,
    Scan, ScanOptions, Skipped, StepSize, Tree, expand, glob_match, is_remote, list_directory, locate_file, redacted,
};
pub use sapwood_engine::{Examination, ExamineOptions, Finding, Severity, examine};
pub use sapwood_engine::{local_cache, size_text};
pub use sapwood_format::object::{Data, Numbers, Object, Objects, Refused, Value};
pub use sapwood_format::streamer::{ClassInfo, Element};
pub use sapwood_format::tree::{Branch, BranchElement, Leaf, Tree as TreeHeader};
pub use sapwood_format::{Header, Key, Listing, Orphans, Recovered, datetime};
pub use sapwood_plan::CacheSize;
pub use sapwood_span::{Error, ErrorKind, Result, Span, defect, is_steering, printable, raw_text};

/// Writing files: new ones, and more into those that are there.
///
/// A struct is a row of a tree; each of its fields is a branch ([`Record`](macro@write::Record) lists the attributes):
///
/// ```
/// use sapwood::write::{FileWriter, Record, TreeOptions};
///
/// #[derive(Record)]
/// struct Hit {
///     x: f32,
///     channel: u16,
/// }
///
/// #[derive(Record)]
/// struct Event {
///     run: u32,
///     #[record(compression = "zstd:5")]
///     weights: Vec<f64>,
///     #[record(split = 0)]
///     hits: Vec<Hit>,
/// }
///
/// # fn main() -> sapwood::Result<()> {
/// # let path = std::env::temp_dir().join(format!("sapwood-record-doc-{}.root", std::process::id()));
/// let mut file = FileWriter::create(&path, sapwood::Compression::default())?;
/// let mut tree = file.records::<Event>("events", "", TreeOptions::default())?;
/// tree.fill(&Event { run: 1, weights: vec![0.5, 1.5], hits: vec![Hit { x: 1.0, channel: 3 }] })?;
/// tree.finish()?;
/// file.finish()?;
/// # std::fs::remove_file(&path).map_err(|e| sapwood::Error::io("cannot remove", e))
/// # }
/// ```
///
/// What has no branches is refused by the compiler: a field of a type that is no [`Value`](write::Value), parameters, a
/// word that is not known.
///
/// ```compile_fail
/// #[derive(sapwood::write::Record)]
/// struct Event { when: std::time::Duration }
/// ```
///
/// ```compile_fail
/// #[derive(sapwood::write::Record)]
/// struct Event<T> { x: T }
/// ```
///
/// ```compile_fail
/// #[derive(sapwood::write::Record)]
/// struct Event { #[record(colour = "red")] x: f32 }
/// ```
pub mod write {
    pub use sapwood_derive::Record;
    pub use sapwood_write::{
        BranchSpec, BranchType, Class, Cluster, CppType, DirectoryId, FileOptions, FileWriter, Lost, Merger,
        ObjectBuffer, Producer, Record, RecordWriter, Rows, Storage, Summary, TreeOptions, TreeWriter, Value,
        write_file,
    };

    #[cfg(unix)]
    pub use sapwood_write::ProducerListener;

    pub use sapwood_write::sample;
}

/// Many files into one, as ROOT's `hadd` does.
///
/// ```no_run
/// use sapwood::merge::{MergeOptions, merge};
/// use std::path::Path;
///
/// # fn main() -> sapwood::Result<()> {
/// let inputs = ["run1.root".to_owned(), "https://example.org/run2.root".to_owned()];
/// let report = merge(Path::new("all.root"), &inputs, &MergeOptions::default())?;
/// println!("{} trees, {} objects added up", report.trees.len(), report.added);
/// # Ok(()) }
/// ```
pub mod merge {
    pub use sapwood_rewrite::merge::{MergeOptions, MergeProgress, MergeReport, MergedTree, merge};
}

/// Files laid out anew so that they read fast.
///
/// ```no_run
/// use sapwood::optimize::{OptimizeOptions, optimize};
/// use std::path::Path;
///
/// # fn main() -> sapwood::Result<()> {
/// let report = optimize(Path::new("fast.root"), "events.root", &OptimizeOptions::default())?;
/// println!("{} bytes, {} before", report.output_bytes, report.input_bytes);
/// # Ok(()) }
/// ```
pub mod optimize {
    pub use sapwood_rewrite::optimize::{
        ClusterSize, OptimizeOptions, OptimizeProgress, OptimizeReport, OptimizedTree, Used, optimize,
    };
}

/// What can be found of a damaged file, in a new one.
///
/// ```no_run
/// use sapwood::merge::MergeOptions;
/// use sapwood::recover::recover;
/// use std::path::Path;
///
/// # fn main() -> sapwood::Result<()> {
/// let found = recover("broken.root", Path::new("whole.root"), &MergeOptions::default())?;
/// found.lost.iter().for_each(|what| println!("lost: {what}"));
/// # Ok(()) }
/// ```
pub mod recover {
    pub use sapwood_rewrite::recover::{LostTree, Recovered, recover};
}
