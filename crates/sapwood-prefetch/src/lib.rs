//! Predicts what a reader of a tree will request next, for a cache in front of a distant file that sees only the
//! requests.
//!
//! A [`Reader`] watches the spans that one client requests through one handle. With the [`BasketMap`] of the file's
//! trees it knows which baskets these are, and returns which ones to fetch ahead: the next baskets of the same branches
//! in the order of entries, and when a branch is touched for the first time, those of related branches. Spans without
//! baskets are followed as streams. The caller requests from the origin what it returns, in as few requests as the
//! origin allows. It has no I/O, no threads and no clock.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod budget;
mod guess;
mod long_read;
mod map;
mod memory;
mod pieces;
mod queue;
mod reader;
mod request;
mod stream;
mod structure;
mod tree_reader;

pub use budget::Stats;
pub use long_read::LongRead;
pub use map::{BasketMap, BranchBaskets};
pub use memory::Memory;
pub use pieces::{AHEAD_AT_ONCE, BEGINNING, FETCHES_AT_ONCE, LONGEST_FETCH, USUAL_AHEAD, divided, pieces};
pub use queue::{Purpose, Queued, next_request};
pub use reader::{FileMap, Reader, RequestedSpan, TreeAt};
