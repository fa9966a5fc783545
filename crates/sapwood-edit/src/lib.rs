//! Files and objects that are changed without being decoded: what appending to a tree, updating a file, merging and
//! optimising have in common. Bytes in, bytes out: nothing here reads or writes files.
//!
//! - [`survey`] walks a streamed object along its file's class descriptions and notes where its parts lie, so that some
//!   of them can be exchanged while all other bytes stay as they are.
//! - [`tree`] is the survey of a tree's header: its branches, their baskets, and how these are exchanged.
//! - [`Label`], [`FileHead`] and their kin are what stands in front of records and of a file.

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
