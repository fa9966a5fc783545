//! JSON whose texts cannot steer a terminal: what would is escaped, which means the same to every parser.

use sapwood_span::is_steering;
use std::io::{self, Write};

/// Escapes what is written through it, as [`escaped`] does. serde_json writes whole characters.
pub struct Escaping<W>(pub W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) => escaped(&mut self.0, text)?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes JSON, or a part of it, with DEL and the steering characters beyond ASCII escaped. They stand in strings only.
///
/// # Errors
/// When `out` cannot be written.
pub fn escaped(out: &mut impl Write, json: &str) -> io::Result<()> {
    let mut rest = json;
    let odd = |c: char| c >= '\u{7f}' && is_steering(c);
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| odd(*c)) {
        let (front, back) = rest.split_at(at);
        out.write_all(front.as_bytes())?;
        write!(out, "\\u{:04x}", u32::from(c))?;
        rest = &back[c.len_utf8()..];
    }
    out.write_all(rest.as_bytes())
}

/// Text as a JSON string.
pub fn string(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    // a string always serialises, into text
    let _ = serde_json::to_writer(Escaping(&mut out), text);
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped_and_means_the_same() {
        let value = serde_json::json!({"a\u{9b}31m": ["\u{1b}[2J\u{7f}", "b\u{202e}c π"]});
        let mut out = Vec::new();
        serde_json::to_writer(Escaping(&mut out), &value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "{\"a\\u009b31m\":[\"\\u001b[2J\\u007f\",\"b\\u202ec π\"]}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert_eq!(string("a\"\u{7f}\u{85}"), "\"a\\\"\\u007f\\u0085\"");
    }
}
