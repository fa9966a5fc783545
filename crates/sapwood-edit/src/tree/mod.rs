//! The surveyed header of a tree: the data needed for copying its baskets, and the changes to it.

mod embedded;
mod facts;
mod header;
mod index;
mod schema;

pub use embedded::{Embedded, Fresh};
pub use facts::{Basket, BranchFacts, LeafFacts, TreeFacts, join_leaves, read_as_is, read_facts};
pub use header::{Placed, drop_branches, set, set_baskets, set_ranges};
pub use index::TreeIndex;
pub use schema::BranchSchema;
