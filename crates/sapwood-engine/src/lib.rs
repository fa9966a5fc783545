//! What runs: files, trees and scans. The only crate that starts threads.
//!
//! A [`Scan`] drives the planner: fetches run on the network runtime (or, for local files, on the unzip workers),
//! baskets are inflated and decoded by the same worker, and batches come out in the order of entries while later
//! clusters are under way.

mod doctor;
mod file;
mod glob;
mod names;
mod options;
pub mod perf;
mod recover;
mod remote;
mod report;
mod runtime;
mod scan;
mod tree;

pub use doctor::{Examination, ExamineOptions, Finding, Severity, examine};
pub use file::File;
pub use glob::fits;
pub use options::{OpenOptions, Progress, ScanOptions, StepSize};
pub use remote::{list_directory, locate_file};
pub use report::IoReport;
pub use sapwood_source::RemoteEntry;
pub use scan::{Batch, Scan};
pub use tree::Tree;
