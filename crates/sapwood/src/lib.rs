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

pub use sapwood_codec::{Algorithm, Compression};
pub use sapwood_column::{Array, ColumnType, DType, Form, Values, with_values};
pub use sapwood_engine::perf;
pub use sapwood_engine::{
    Batch, Block, Chain, ChainOptions, ChainScan, Cut, EntryList, EntryReader, EntryStats, File, IoReport, Link,
    Linked, OpenOptions, Progress, RemoteEntry, Scan, ScanOptions, Skipped, StepSize, Tree, Wanted, expand, fits,
    list_directory, locate_file,
};
pub use sapwood_engine::{Examination, ExamineOptions, Finding, Severity, examine};
pub use sapwood_format::object::{Data, Numbers, Object, Objects, Refused, Value};
pub use sapwood_format::streamer::{ClassInfo, Element};
pub use sapwood_format::tree::{Branch, BranchElement, Leaf, Tree as TreeHeader};
pub use sapwood_format::{Header, Key, Listing, Orphans, Recovered, datetime};
pub use sapwood_plan::CacheSize;
pub use sapwood_span::{Error, ErrorKind, Result, Span};

/// Writing files: new ones, and more into those that are there.
pub mod write {
    pub use sapwood_write::{
        BranchSpec, BranchType, Class, Cluster, CppType, DirectoryId, FileOptions, FileWriter, Merger, ObjectBuffer,
        Producer, Storage, TreeOptions, TreeWriter,
    };
}
