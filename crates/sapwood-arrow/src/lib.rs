//! Columns for Arrow: the C data interface and the C stream interface, without copies except for booleans, which Arrow
//! packs into bits.
//!
//! Numbers are Arrow's numbers; fixed arrays `fixed_size_list`; lists `large_list`; strings `large_string`, or
//! `large_binary` where the bytes are not UTF-8; records `struct`; optional values have validity bits, and so have the
//! alternatives of variants, which are a `struct` of them.
//!
//! [`ArrowArrayStream::of_batches`] creates a stream of batches, [`ArrowArray::of_column`] and [`ArrowSchema::of_type`]
//! export a column. The consumer calls `release` once; if dropped here, it is released here.

#![warn(unreachable_pub, unnameable_types)]

mod array;
mod data_type;
mod ffi;
mod optional;
mod schema;
mod stream;

pub use data_type::DataType;
pub use ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};
