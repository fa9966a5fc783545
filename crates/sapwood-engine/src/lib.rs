//! What runs: files, trees and scans. The only crate that starts threads.
//!
//! A [`Scan`] drives the planner: fetches run on the network runtime (or, for local files, on the unzip workers),
//! baskets are inflated and decoded by the same worker, and batches come out in the order of entries while later
//! clusters are under way.

mod chain;
mod doctor;
mod elsewhere;
mod entries;
mod entry_reader;
mod file;
mod names;
mod only_tree;
mod options;
pub mod perf;
mod recover;
mod remote;
mod report;
mod runtime;
mod scan;
mod stored_list;
mod tree;
mod unlisted;
mod wildcard;

pub use chain::{Chain, ChainOptions, ChainScan, Link, Linked, Skipped, Wanted};
pub use doctor::{Examination, ExamineOptions, Finding, Severity, examine};
pub use entries::EntryList;
pub use entry_reader::{Block, EntryReader, EntryStats};
pub use file::File;
pub use options::{Cut, OnRecovery, OpenOptions, Progress, ScanOptions, StepSize};
pub use remote::{list_directory, locate_file};
pub use report::IoReport;
pub use sapwood_source::{RemoteEntry, is_remote, redacted};
pub use scan::{Batch, Scan};
pub use stored_list::{Counted, ListPart, StoredList};
pub use tree::Tree;
pub use wildcard::{expand, fits};
