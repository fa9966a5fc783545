//! Errors that show where in the text they arose.

use sapwood_span::similar::near_misses;
use sapwood_span::{Error, ErrorKind};
use std::collections::HashSet;

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

/// "; did you mean …?" with the candidates that are similar to a name; empty where none is.
pub(crate) fn suggestion<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    match near_misses(name, candidates).as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

/// "; the branches are …" with a few of the names.
pub(crate) fn some_of(names: &[String]) -> String {
    let mut shown: Vec<&str> = Vec::new();
    let mut all: HashSet<&str> = HashSet::new();
    for name in names {
        if all.insert(name) && shown.len() < 6 {
            shown.push(name);
        }
    }
    match all.len() - shown.len() {
        _ if shown.is_empty() => String::new(),
        0 => format!("; the branches are {}", shown.join(", ")),
        more => format!("; the branches are {}, and {more} more", shown.join(", ")),
    }
}

/// So much of an alias as a line of a message holds.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
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
