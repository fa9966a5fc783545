//! What the verbs print: tables for people, JSON for programs.

pub mod cell;
pub mod io_report;
pub mod picture;
pub mod rows;
mod stdout;
pub mod table;
mod whole;

pub use stdout::{Stdout, stdout};
pub use whole::write_file;

use sapwood::{Key, datetime};
use std::io::{self, Write};

/// One JSON value on one line.
///
/// # Errors
/// When stdout cannot be written.
pub fn json(value: &serde_json::Value) -> io::Result<()> {
    let mut out = stdout();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// When a key was written, as `2026-11-21 05:09:06`; ROOT keeps local time and no zone.
pub fn date(key: &Key, between: char) -> String {
    let (year, month, day, hour, minute, second) = datetime(key.datetime);
    format!("{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}")
}

/// Text from a file without anything that would steer a terminal.
pub fn clean(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(clean("plain π"), "plain π");
        assert_eq!(clean("\u{1b}[31mred\n"), "\\u{1b}[31mred\\n");
    }
}
