use crate::raw_text::raw_byte;
use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character controls a terminal, or shows the text around it in another order or on another line: control
/// characters (C0, DEL, C1), bidirectional marks, overrides and isolates, line and paragraph separators.
pub fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text from a file, safe to show: control characters as `\u{1b}`, `\n`, a byte that is not UTF-8 as `\xff`.
pub fn printable(text: &str) -> Cow<'_, str> {
    let odd = |c: char| is_steering(c) || raw_byte(c).is_some();
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) || !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // writing to a string never fails
        match raw_byte(c) {
            Some(byte) => drop(write!(out, "\\x{byte:02x}")),
            None if is_steering(c) => out.extend(c.escape_default()),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_text::text_of;

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert!(matches!(printable("plain π"), Cow::Borrowed("plain π")));
        assert_eq!(printable("\u{1b}[31mred\n"), "\\u{1b}[31mred\\n");
        assert_eq!(printable("\u{9b}31m\u{7f} a\u{202e}b\u{2066}"), "\\u{9b}31m\\u{7f} a\\u{202e}b\\u{2066}");
        assert_eq!(printable(&text_of(b"b\xe9 \x9b")), "b\\xe9 \\x9b");
    }
}
