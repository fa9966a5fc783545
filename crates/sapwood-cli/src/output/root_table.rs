//! Rows in the layout of TTree::Scan.

use super::clean;
use sapwood::query::{Cell, ScanOption};
use sapwood::raw_text::{bytes_of, text_of};
use std::io::{self, Write};

/// Prints rows one by one.
pub(crate) struct RootTable<W: Write> {
    out: W,
    option: ScanOption,
    instances: bool,
    border: String,
    rows: u64,
}

impl<W: Write> RootTable<W> {
    /// For columns of these titles; `instances` says whether an entry can have several rows.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub(crate) fn new(mut out: W, option: ScanOption, titles: &[String], instances: bool) -> io::Result<Self> {
        let mut head = "*    Row   *".to_owned();
        let mut width = head.len();
        if instances {
            head.push_str(" Instance *");
            width = head.len();
        }
        for (i, title) in titles.iter().enumerate() {
            head.push_str(&fitted(&bytes_of(title), option.width(i)));
            width += option.width(i) + 3;
        }
        let border = "*".repeat(width);
        writeln!(out, "{border}\n{head}\n{border}")?;
        Ok(Self { out, option, instances, border, rows: 0 })
    }

    /// Rows printed so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Prints a row; a column without a value is blank.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn row<'c>(
        &mut self,
        entry: u64,
        instance: u32,
        cells: impl Iterator<Item = Option<Cell<'c>>>,
    ) -> io::Result<()> {
        self.rows += 1;
        let mut line = format!("* {entry:8} *");
        if self.instances {
            line.push_str(&format!(" {instance:8} *"));
        }
        for (i, cell) in cells.enumerate() {
            let text = cell.map(|cell| self.option.text(i, &cell)).unwrap_or_default();
            line.push_str(&fitted(&text, self.option.width(i)));
        }
        writeln!(self.out, "{line}")
    }

    /// Ends the table; `selected` says whether there was a selection.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn finish(mut self, selected: bool) -> io::Result<()> {
        writeln!(self.out, "{}", self.border)?;
        if selected {
            writeln!(self.out, "==> {} selected {}", self.rows, if self.rows == 1 { "entry" } else { "entries" })?;
        }
        self.out.flush()
    }
}

/// A column: on the right, without what is too much.
fn fitted(text: &[u8], width: usize) -> String {
    let text = text.get(..width).unwrap_or(text);
    format!(" {}{} *", " ".repeat(width - text.len()), clean(&text_of(text)))
}
