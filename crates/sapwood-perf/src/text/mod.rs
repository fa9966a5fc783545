//! Text for people: tables, sizes and times, and what of a file may be shown.

pub mod table;

pub use sapwood_span::units;

use sapwood_span::printable;

/// Text from a file as it may be shown, see [`printable`].
pub fn clean(text: &str) -> String {
    printable(text).into_owned()
}
