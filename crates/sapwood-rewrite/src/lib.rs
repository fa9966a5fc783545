//! Files made of other files: merged, laid out anew, recovered. Trees are not decoded: their baskets are copied, cut or
//! joined as bytes, and their headers are changed where they must be ([`sapwood_edit`]).
//!
//! - [`merge`]: many files into one, as ROOT's `hadd` does; what is no tree is added up in `objects`.
//! - [`optimize`]: a file laid out anew so that it reads fast.
//! - [`recover`]: what can be found of a damaged file, in a new one.
//!
//! All of them open inputs with `input`, move baskets with `copy` and `recode` in the threads of `ordered`, and put the
//! new file together in `output`: trees (`tree`, `clusters`), objects, class descriptions (`classes`), on top of
//! `container`, which knows records and directories and nothing of what they hold.

#![warn(unreachable_pub, unnameable_types)]

mod classes;
mod clusters;
mod container;
mod copy;
mod input;
pub mod merge;
mod objects;
pub mod optimize;
mod options;
mod ordered;
mod output;
mod recode;
pub mod recover;
mod tree;

pub use ordered::{Results, ordered};
