//! What both faces say of files, as text for people and as JSON for programs: the doctor's report, the map of a file.

#![forbid(unsafe_code)]

pub mod doctor;
pub mod map;
pub mod table;

pub use sapwood_span::units;

use sapwood::printable;

/// Text from a file as it may be shown, see [`printable`].
pub fn clean(text: &str) -> String {
    printable(text).into_owned()
}
