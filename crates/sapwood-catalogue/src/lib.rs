//! Lists of files: text with one file per line, and the JSON that coffea, Rucio and DAS write.
//!
//! [`read`] takes what follows `@` on a command line and gives the files in order. Nothing is opened but the lists.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod das;
mod dialect;
mod fileset;
mod json;
mod lines;
mod list;
mod listed_file;
mod logical;
mod rucio;

pub use list::{read, read_with};
pub use listed_file::ListedFile;
pub use logical::REDIRECTOR;
