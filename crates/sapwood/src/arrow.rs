//! Batches of a scan through Arrow's C stream interface, which arrow-rs, pyarrow, polars and others read.
//!
//! ```no_run
//! # fn main() -> sapwood::Result<()> {
//! let tree = sapwood::read::open("events.root")?.tree("Events")?;
//! let stream = sapwood::arrow::stream(tree.scan().branches(["Muon_pt", "MET_pt"]))?;
//! // hand `&mut stream` as a pointer to the consumer, which takes it over
//! # drop(stream);
//! # Ok(()) }
//! ```

pub use sapwood_arrow::{ArrowArray, ArrowArrayStream, ArrowSchema, DataType};

use crate::read::{Scan, ScanBuilder, Tree};
use sapwood_span::Result;

/// Begins a scan as a stream of record batches.
///
/// # Errors
/// As [`ScanBuilder::build`]; what reading the first batch says; `Unsupported` for names that Arrow does not have.
pub fn stream(scan: ScanBuilder) -> Result<ArrowArrayStream> {
    let (tree, options) = scan.into_options()?;
    stream_of(&tree, &options.branches, tree.scan_with(&options)?)
}

/// The batches to come of a scan of these branches of a tree.
///
/// # Errors
/// What reading the first batch says; `Unsupported` for names that Arrow does not have.
pub fn stream_of(tree: &Tree, branches: &[usize], scan: Scan) -> Result<ArrowArrayStream> {
    let column = |&b: &usize| Ok((tree.name_of(b), tree.column_type(b)?, tree.form(b)?));
    let columns = branches.iter().map(column).collect::<Result<Vec<_>>>()?;
    ArrowArrayStream::of_batches(&columns, scan.map(|batch| batch.map(|b| b.columns)))
}
