//! Merging files, as ROOT's `hadd` does.
//!
//! ```no_run
//! use sapwood::merge::{MergeOptions, merge};
//! use std::path::Path;
//!
//! # fn main() -> sapwood::Result<()> {
//! let inputs = ["run1.root".to_owned(), "https://example.org/run2.root".to_owned()];
//! let report = merge(Path::new("all.root"), &inputs, &MergeOptions::new().force(true))?;
//! println!("{} trees, {} objects added up", report.trees.len(), report.added);
//! # Ok(()) }
//! ```

pub use sapwood_rewrite::merge::{MergeOptions, MergeProgress, MergeReport, MergedTree, merge};
