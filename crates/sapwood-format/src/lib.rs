//! The ROOT file format: file, keys, directories, streamer information and the headers of trees, from bytes to
//! structs.
//!
//! Nothing here reads files: [`Opener`] returns the spans it needs next.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod builtin;
mod class_names;
/// The bounds-checked reader of big-endian bytes.
pub mod cursor;
mod directory;
mod free;
mod header;
mod key;
/// RNTuple: schema, clusters and pages.
pub mod ntuple;
/// Objects of any class.
pub mod object;
mod opener;
mod orphans;
mod packed_float;
mod payload;
mod recover;
mod step;
pub mod streamer;
pub mod tree;

pub use class_names::is_histogram;
pub use directory::{DIRECTORY_BYTES, Directory, keys_behind, parse_key_list};
pub use free::{UNCOMMITTED, parse_free_list};
pub use header::Header;
pub use key::{Key, datetime};
pub use object::{Pointed, read_base_object, read_object_array_head, read_pointer};
pub use opener::{Ahead, Chunks, Listing, ObjectAt, Opener, Target, TreeAt};
pub use orphans::{OrphanBasket, Orphans};
pub use packed_float::PackedFloat;
pub use payload::{check_payload, check_size, inflate, inflate_header};
pub use recover::{Found, Recovered, Recovery, Walk};
pub use step::Step;
pub use streamer::{ClassInfo, Element, Streamers};
