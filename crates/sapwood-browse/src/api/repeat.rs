//! The command and the lines of Python that give the same.

use crate::parameters::Parameters;
use sapwood::text::shell::quoted;
use sapwood::{File, Tree};
use std::fmt::Write;

/// How to do the same without the page.
pub(super) struct Repeat {
    /// One line of a shell.
    pub command: String,
    /// Three lines of Python.
    pub python: String,
}

/// A draw.
pub(super) fn draw(tree: &Tree, parameters: &Parameters) -> Repeat {
    let (expression, cut, bins, option) = (
        parameters.text("expression"),
        parameters.text("cut"),
        parameters.text("bins").trim(),
        parameters.text("option").trim(),
    );
    let mut command = format!("sapwood draw {} {}", quoted(&target(tree)), quoted(expression));
    let mut python = format!("tree.draw({}", literal(expression));
    if !cut.trim().is_empty() {
        let _ = write!(command, " --cut {}", quoted(cut));
        let _ = write!(python, ", {}", literal(cut));
    }
    if !bins.is_empty() {
        let _ = write!(command, " --bins {}", quoted(bins));
        let _ = write!(python, ", bins={}", python_bins(bins));
    }
    if !option.is_empty() {
        let _ = write!(command, " --option {}", quoted(option));
        let _ = write!(python, ", option={}", literal(option));
    }
    python.push(')');
    Repeat { command, python: format!("{}{python}", opened(tree)) }
}

/// A table of entries.
pub(super) fn scan(tree: &Tree, expressions: Option<&[String]>, cut: &str, first: u64, stop: u64) -> Repeat {
    let mut command = format!("sapwood scan {}", quoted(&target(tree)));
    let mut python = "tree.arrays(".to_owned();
    if let Some(expressions) = expressions {
        let _ = write!(command, " {}", quoted(&expressions.join(":")));
        let all: Vec<String> = expressions.iter().map(|e| literal(e)).collect();
        let _ = write!(python, "[{}], ", all.join(", "));
    }
    if !cut.trim().is_empty() {
        let _ = write!(command, " --cut {}", quoted(cut));
        let _ = write!(python, "cut={}, ", literal(cut));
    }
    let _ = write!(command, " --entries {first}:{stop}");
    let _ = write!(python, "entry_start={first}, entry_stop={stop})");
    Repeat { command, python: format!("{}{python}", opened(tree)) }
}

/// An object of a file, named with its directories and its cycle.
pub(super) fn object(file: &File, path: &str) -> Repeat {
    let command = format!("sapwood show {}", quoted(&format!("{}:{path}", file.url())));
    let opened = format!("import sapwood\nfile = sapwood.open({})\n", literal(file.url()));
    Repeat { command, python: format!("{opened}file[{}]", literal(path)) }
}

fn opened(tree: &Tree) -> String {
    format!("import sapwood\ntree = sapwood.open({})\n", literal(&target(tree)))
}

/// File and tree in one text, without credentials.
fn target(tree: &Tree) -> String {
    format!("{}:{}", tree.file().url(), tree.path())
}

/// A string of Python.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A binning of `--bins` as Python has it: numbers in parentheses, edges in brackets.
fn python_bins(bins: &str) -> String {
    if bins.starts_with('[') { bins.to_owned() } else { format!("({bins})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(literal("a\"b\\c\n\u{1}"), r#""a\"b\\c\n\x01""#);
        assert_eq!((python_bins("10,0,1"), python_bins("[0,1]")), ("(10,0,1)".into(), "[0,1]".into()));
    }
}
