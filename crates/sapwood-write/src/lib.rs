//! Writes ROOT files with trees in them, as ROOT 6.40 would: ROOT, uproot and every other reader
//! open them.
//!
//! ```
//! # fn main() -> sapwood_span::Result<()> {
//! # let path = std::env::temp_dir().join(format!("sapwood-write-doc-{}.root", std::process::id()));
//! use sapwood_codec::Compression;
//! use sapwood_column::{Array, DType, Values};
//! use sapwood_write::{BranchSpec, FileWriter, TreeOptions};
//!
//! let mut file = FileWriter::create(&path, Compression::default())?;
//! let branches = [BranchSpec::scalar("x", DType::F64), BranchSpec::jagged("y", DType::F32)];
//! let mut tree = file.tree("Events", "an example", &branches, TreeOptions::default())?;
//! let x = Array::Flat(Values::F64(vec![1.0, 2.0]));
//! let y = Array::List { offsets: vec![0, 0, 3], content: Box::new(Array::Flat(Values::F32(vec![1.0, 2.0, 3.0]))) };
//! tree.extend(&[("x", &x), ("y", &y)])?;
//! tree.finish()?;
//! file.finish()?;
//! # std::fs::remove_file(&path).map_err(|e| sapwood_span::Error::io("cannot remove", e))
//! # }
//! ```
//!
//! Where baskets and clusters end is arithmetic of its own (`layout`); the bytes go through one
//! ordered sink. Not here yet: optimised basket sizes, updating and merging files, directories,
//! strings and objects.

mod basket;
mod batch;
mod buffer;
mod classes;
mod ending;
mod file;
mod key;
mod layout;
pub mod sample;
mod schema;
mod sink;
mod stamp;
mod streamers;
mod tree;
mod tree_header;

pub use file::{FileOptions, FileWriter};
pub use layout::Cluster;
pub use schema::{BranchSpec, BranchType};
pub use tree::{TreeOptions, TreeWriter};
