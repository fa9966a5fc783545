//! Columns as Arrow sees them: the C data interface and the C stream interface, without a copy but for booleans, which
//! Arrow packs into bits.
//!
//! Numbers are Arrow's numbers; fixed arrays `fixed_size_list`; lists `large_list`; strings `large_string`, or
//! `large_binary` where the bytes are not UTF-8; records `struct`.
//!
//! [`ArrowArrayStream::of_batches`] makes a stream of batches, [`ArrowArray::of_column`] and [`ArrowSchema::of_type`]
//! export a column. Whoever takes one over calls its `release` once; dropped here, it is released here.

#![warn(unreachable_pub, unnameable_types)]

mod array;
mod data_type;
mod ffi;
mod schema;
mod stream;

pub use data_type::DataType;
pub use ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};
