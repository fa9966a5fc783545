//! Creates files from other files: merging, optimising the layout, recovering. Trees are not decoded: their baskets are
//! copied, divided or joined as bytes, and their headers are changed where necessary ([`sapwood_edit`]).
//!
//! - [`merge`]: many files into one, like ROOT's `hadd`; objects other than trees are added up in `objects`.
//! - [`convert`]: trees as ntuples and ntuples as trees; values are decoded and written again.
//! - [`optimize`]: a file with a new layout that is fast to read.
//! - [`recover`]: the readable data of a damaged file, in a new one.
//!
//! All of them open inputs with `input`, move baskets with `copy` and `recode` in the threads of `ordered`, and
//! assemble the new file in `output`: trees (`tree`, `clusters`), ntuples (`ntuple`), objects, class descriptions
//! (`classes`), on top of `container`, which handles records and directories without interpreting their content.

#![warn(unreachable_pub, unnameable_types)]

mod classes;
mod clusters;
mod container;
pub mod convert;
mod copy;
mod input;
pub mod merge;
mod ntuple;
mod objects;
pub mod optimize;
mod options;
mod ordered;
mod output;
mod recode;
pub mod recover;
mod tree;

pub use ordered::{Results, ordered};

/// The program that wrote an ntuple, as its header names it.
const WRITER: &str = concat!("Sapwood ", env!("CARGO_PKG_VERSION"));
