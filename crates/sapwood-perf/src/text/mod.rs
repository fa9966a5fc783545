//! Formatted text: tables, values, sizes and times, and safe display of text from files.

pub mod branch;
pub mod cell;
pub mod json;
pub mod shell;
pub mod table;

pub use sapwood_span::units;

use sapwood_span::printable;

/// Text from a file, safe to show, see [`printable`].
pub fn clean(text: &str) -> String {
    printable(text).into_owned()
}
