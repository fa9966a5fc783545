//! What runs: files, trees and scans. The only crate that starts threads.
//!
//! A [`Scan`] drives the planner: fetches run on the network runtime (or, for local files, on the unzip workers),
//! baskets are inflated and decoded by the same worker, and batches come out in the order of entries while later
//! clusters are under way.

mod batch;
mod chain;
mod doctor;
mod entries;
mod entry_list_object;
mod entry_reader;
mod external_files;
mod file;
pub mod local_cache;
mod names;
mod only_tree;
mod open_source;
mod options;
pub mod perf;
mod read_source;
mod recognise;
mod recover;
mod remote;
mod report;
mod runtime;
mod scan;
pub mod size_text;
mod stored_baskets;
mod tree;
mod unlisted;
mod wildcard;

pub use batch::Batch;
pub use chain::{Chain, ChainBatch, ChainFile, ChainOptions, ChainScan, ReadRequest, Skipped};
pub use doctor::{Examination, ExamineOptions, Finding, Severity, examine};
pub use entries::EntryList;
pub use entry_list_object::{Counted, EntryListObject, ListPart};
pub use entry_reader::{Block, EntryReader, EntryStats};
pub use file::File;
pub use options::{Cut, OnRecovery, OpenOptions, Progress, ScanOptions, StepSize};
pub use remote::{list_directory, locate_file};
pub use report::IoReport;
pub use sapwood_source::{RemoteEntry, is_remote, redacted};
pub use scan::Scan;
pub use tree::Tree;
pub use wildcard::{expand, glob_match};
