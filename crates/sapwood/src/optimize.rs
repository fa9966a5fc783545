//! Rewriting files for faster reading.
//!
//! ```no_run
//! use sapwood::optimize::{OptimizeOptions, optimize};
//! use std::path::Path;
//!
//! # fn main() -> sapwood::Result<()> {
//! let report = optimize(Path::new("fast.root"), "events.root", &OptimizeOptions::new())?;
//! println!("{} bytes, {} before", report.output_bytes, report.input_bytes);
//! # Ok(()) }
//! ```

pub use sapwood_rewrite::optimize::{
    ClusterSize, OptimizeOptions, OptimizeProgress, OptimizeReport, OptimizedTree, Used, optimize,
};
