//! Saving what is left of a damaged file to a new one.
//!
//! ```no_run
//! use sapwood::merge::MergeOptions;
//! use sapwood::recover::recover;
//! use std::path::Path;
//!
//! # fn main() -> sapwood::Result<()> {
//! let found = recover("broken.root", Path::new("whole.root"), &MergeOptions::new())?;
//! found.lost.iter().for_each(|what| println!("lost: {what}"));
//! # Ok(()) }
//! ```

pub use sapwood_rewrite::merge::{MergeOptions, MergeProgress, MergedTree};
pub use sapwood_rewrite::recover::{LostRange, LostTree, Recovered, recover};
