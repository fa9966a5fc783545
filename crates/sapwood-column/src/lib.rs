//! Typed columns: what a basket's bytes become ([`Array`]).
//!
//! No I/O, no threads: bytes in, columns out.

mod array;
mod values;

pub use array::Array;
pub use values::{DType, Values};
