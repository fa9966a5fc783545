//! Changes files and objects without decoding them: the common part of appending to a tree, updating a file, merging
//! and optimising. Bytes in, bytes out: nothing here reads or writes files.
//!
//! - [`survey`] walks a streamed object along its file's class descriptions and records the positions of its parts, so
//!   that some of them can be replaced while all other bytes stay unchanged.
//! - [`tree`] is the survey of a tree's header: its branches, their baskets, and how these are replaced.
//! - [`Label`], [`FileHead`] and related types are the heads of records and of a file.

#![warn(unreachable_pub, unnameable_types)]

mod branch_compression;
mod file_head;
mod label;
mod primitives;
pub mod stamp;
pub mod survey;
pub mod tree;

pub use branch_compression::own_compression;
pub use file_head::{FileHead, ROOT_VERSION, growth, put_segment};
pub use label::{Label, PlacedLabel, patch_basket};
pub use primitives::{BIG, FIRST_RECORD, put_position, put_text, put_uuid, text_len};
