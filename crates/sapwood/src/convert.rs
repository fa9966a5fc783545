//! Trees as ntuples, and ntuples as trees.
//!
//! ```no_run
//! use sapwood::convert::{ConvertOptions, convert};
//! use std::path::Path;
//!
//! # fn main() -> sapwood::Result<()> {
//! let report = convert(Path::new("ntuple.root"), "events.root", Some("Events"), &ConvertOptions::new())?;
//! println!("{} bytes, {} before", report.output_bytes, report.input_bytes);
//! # Ok(()) }
//! ```

pub use sapwood_rewrite::convert::{
    ConvertOptions, ConvertProgress, ConvertReport, ConvertTo, ConvertedTree, SkippedBranch, convert,
};
