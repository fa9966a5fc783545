//! What the verbs print: tables for people, JSON for programs.

pub mod cell;
pub mod io_report;
pub mod picture;
pub mod rows;
pub mod table;

use sapwood::{ErrorKind, Key, datetime};
use std::fs;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

/// Buffered stdout. Flush it at the end: what a closed pipe says is only heard then.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

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

/// Writes a whole file.
///
/// # Errors
/// What the system says, with the file's name.
pub fn write_file(path: &Path, bytes: &[u8]) -> sapwood::Result<()> {
    fs::write(path, bytes).map_err(|e| {
        let e = sapwood::Error::io("cannot write", e).in_file(path.display().to_string());
        if e.kind() == ErrorKind::NotFound { e.with_remedy("create its folder first") } else { e }
    })
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
