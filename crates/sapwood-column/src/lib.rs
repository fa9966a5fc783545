//! Typed columns: the decoded form of baskets ([`Array`]), and how they are decoded ([`Layout`]).
//!
//! A branch's layout is determined once from the tree's header and the class descriptions ([`interpret`]); it then
//! decodes whole baskets, with one dispatch on type per basket where entries are numbers, and straight runs of bytes
//! for lists of numbers. No I/O, no threads: bytes in, columns out.

#![warn(unreachable_pub, unnameable_types)]

mod array;
mod class;
mod column_type;
mod counted;
mod cpp_names;
mod decode;
mod entry_starts;
mod form;
mod input;
mod interpret;
mod item;
mod kernel;
mod links;
mod lists;
mod member_wise;
mod memory;
pub mod ntuple;
mod read;
mod schema_evolution;
mod type_name;
mod values;

pub use array::Array;
pub use column_type::ColumnType;
pub use counted::attach_counts;
pub use decode::{Decoded, Entries, Layout};
pub use form::Form;
pub use interpret::{interpret, interpret_anywhere, interpret_within, members_of_all};
pub use item::regular::Fused;
pub use item::{Item, Listing, Object, OtherVersion, Skip};
pub use sapwood_format::PackedFloat;
pub use type_name::type_name;
pub use values::{DType, Values};
