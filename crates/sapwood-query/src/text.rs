//! Errors that show where in the text they arose.

pub(crate) use sapwood_span::similar::near_misses;
use sapwood_span::{Error, ErrorKind};

/// Characters of the expression shown on either side of the caret.
const CONTEXT: usize = 60;

/// An `Invalid` error: the message, the text, and a caret below the byte `at`.
pub(crate) fn error_at(text: &str, at: usize, message: &str) -> Error {
    kind_at(ErrorKind::Invalid, text, at, message)
}

/// Like [`error_at`], of another kind.
pub(crate) fn kind_at(kind: ErrorKind, text: &str, at: usize, message: &str) -> Error {
    Error::new(kind, shown_at(text, at, message))
}

/// The message, the text, and a caret below the byte `at`.
pub(crate) fn shown_at(text: &str, at: usize, message: &str) -> String {
    let before: Vec<char> = text.char_indices().take_while(|(i, _)| *i < at).map(|(_, c)| c).collect();
    let column = before.len();
    let from = column.saturating_sub(CONTEXT);
    let shown: String =
        text.chars().skip(from).take(2 * CONTEXT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let caret = " ".repeat(column - from);
    format!("{message} (column {})\n    {shown}\n    {caret}^", column + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_column() {
        let e = error_at("a + é $", 7, "no");
        assert_eq!(e.what(), "no (column 7)\n    a + é $\n          ^");
    }
}
