//! The command and the lines of Python that give the same.

use crate::parameters::Parameters;
use sapwood::query::{Axis, AxisBins, Bins, Expr};
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

/// A draw; `bins` are those of its box as Python has them.
pub(super) fn draw(tree: &Tree, parameters: &Parameters, bins: Option<&str>) -> Repeat {
    let (expression, cut, option) =
        (parameters.text("expression"), parameters.text("cut"), parameters.text("option").trim());
    let mut opened = opened(tree);
    let mut command = format!("sapwood draw {} {}", quoted(&target(tree)), quoted(expression));
    let mut python = format!("tree.draw({}", literal(expression));
    if !cut.trim().is_empty() {
        let _ = write!(command, " --cut {}", quoted(cut));
        let _ = write!(python, ", {}", literal(cut));
    }
    if let Some(bins) = bins {
        let _ = write!(command, " --bins {}", quoted(parameters.text("bins").trim()));
        let _ = write!(python, ", bins={bins}");
        if bins.contains("np.") {
            opened.insert_str(0, "import numpy as np\n");
        }
    }
    if !option.is_empty() {
        let _ = write!(command, " --option {}", quoted(option));
        let _ = write!(python, ", option={}", literal(option));
    }
    python.push(')');
    Repeat { command, python: opened + &python }
}

/// A table of entries: of these columns, as they were written and one by one, or of all branches.
pub(super) fn scan(tree: &Tree, columns: &str, exprs: &[Expr], cut: &str, first: u64, stop: u64) -> Repeat {
    let mut command = format!("sapwood scan {}", quoted(&target(tree)));
    let range = format!("entry_start={first}, entry_stop={stop}");
    let has_cut = !cut.trim().is_empty();
    if !exprs.is_empty() {
        let _ = write!(command, " {}", quoted(columns));
    }
    if has_cut {
        let _ = write!(command, " --cut {}", quoted(cut));
    }
    let _ = write!(command, " --entries {first}:{stop}");
    // `arrays` has the language of Python, cuts of the page that of ROOT
    let python = if !exprs.is_empty() {
        let all: Vec<&str> = exprs.iter().map(Expr::text).collect();
        let cut = if has_cut { format!("{}, ", literal(cut)) } else { String::new() };
        format!("list(tree.query({}, {cut}{range}))", literal(&all.join(":")))
    } else if has_cut {
        format!("tree.arrays(entries=tree.draw(\">>passed\", {}, option=\"entrylist\", {range}))", literal(cut))
    } else {
        format!("tree.arrays({range})")
    };
    Repeat { command, python: opened(tree) + &python }
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

/// A binning as the argument `bins` of Python: a number, a tuple, an array of edges, or one of these for each axis. Python has no
/// limits without a number of bins: it is that of the axis that was made.
pub(super) fn python_bins(bins: &Bins, made: &[Axis]) -> String {
    let one = |(i, given): (usize, &AxisBins)| match (&given.axis, given.limits) {
        (Some(axis), _) => {
            let edges: Vec<f64> = (0..=axis.bins()).map(|i| axis.edge(i)).collect();
            format!("np.array({edges:?})")
        }
        (None, Some((low, high))) => {
            let count = given.count.or_else(|| made.get(i).map(Axis::bins)).unwrap_or(1);
            format!("({count}, {low:?}, {high:?})")
        }
        (None, None) => given.count.map_or_else(|| "None".to_owned(), |count| count.to_string()),
    };
    let all: Vec<String> = bins.axes.iter().enumerate().map(one).collect();
    match all.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(literal("a\"b\\c\n\u{1}"), r#""a\"b\\c\n\x01""#);
    }
    #[test]
    fn any_binning_is_one_of_python() {
        let made = [Axis::new(40, 0.0, 8.0).unwrap(), Axis::new(30, -1.0, 5.0).unwrap()];
        for (text, expected) in [
            ("20,0,10", "(20, 0.0, 10.0)"),
            ("10", "10"),
            ("100,,60", "(100, 0.0, 60.0)"),
            (",-1,2", "(40, -1.0, 2.0)"),
            ("300,,,300,,", "(300, 300)"),
            (",,,30,0,5", "(None, (30, 0.0, 5.0))"),
            ("10,0,5,,0,1", "((10, 0.0, 5.0), (30, 0.0, 1.0))"),
            ("[0,1,5,20]", "np.array([0.0, 1.0, 5.0, 20.0])"),
            ("[0,1,5,20],20,-1,1", "(np.array([0.0, 1.0, 5.0, 20.0]), (20, -1.0, 1.0))"),
        ] {
            assert_eq!(python_bins(&Bins::parse_exactly(text).unwrap(), &made), expected, "{text}");
        }
    }
}
