//! Writes ROOT files with trees and ntuples, in the form of ROOT 6.40: ROOT, uproot and every other reader can open
//! them.
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
//! Where baskets and clusters end is separate arithmetic (`layout`); baskets are compressed on all cores (`pool`),
//! large ones part by part (`parts`), and go through one ordered sink. The order of writes makes updates safe
//! (`commit`); appending to a tree changes only its header (`resumed`, by [`sapwood_edit`]).
//!
//! Everything here is local: creating new files from others, which may be remote, is `sapwood-rewrite`.

#![warn(unreachable_pub, unnameable_types)]

mod access;
mod append;
mod appended_tree;
mod basket;
mod basket_sizes;
mod batch;
mod buffer;
mod classes;
mod column;
mod column_source;
mod commit;
mod core;
mod cpp;
mod cursor;
mod delete;
mod directory;
mod durable;
mod entry_list;
mod existing;
mod existing_file;
mod existing_records;
mod existing_tree;
mod file;
mod file_set;
mod key;
mod layout;
mod lock;
mod ntuple;
mod parse;
mod parts;
mod pool;
mod producers;
mod progress;
mod record;
mod replace;
pub mod sample;
mod schema;
mod serial;
mod sink;
mod space;
mod split_branches;
mod storage;
mod streamers;
pub mod target;
mod tree;
mod tree_header;
mod used_bytes;
mod whole_file;

pub use buffer::{Mark, ObjectBuffer};
pub use cpp::{Class, CppType};
pub use directory::DirectoryId;
pub use entry_list::{ENTRY_LIST_CLASSES, TreeEntries};
pub use file::{FileOptions, FileWriter};
pub use file_set::FileSet;
pub use layout::Cluster;
pub use ntuple::{FieldSpec, FieldType, NtupleOptions, NtupleWriter, Precision};
pub use producers::{Lost, Merger, Producer, ProducerListener, Summary};
pub use record::{Record, RecordWriter, Rows, Value};
pub use schema::{BranchSpec, BranchType};
pub use storage::Storage;
pub use tree::{TreeOptions, TreeWriter};
pub use whole_file::write_file;
