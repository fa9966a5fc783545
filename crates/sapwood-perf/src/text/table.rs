//! Tables of aligned columns.

use super::clean;
use std::io::{self, Write};

/// Alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names and texts.
    Left,
    /// Numbers.
    Right,
}

/// Rows under titles, columns as wide as their widest cell.
///
/// A long table may be written in parts; later parts widen columns only where necessary.
#[derive(Clone, Debug)]
pub struct Table {
    titles: Vec<String>,
    align: Vec<Align>,
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
    begun: bool,
}

impl Table {
    /// A table with these titles.
    pub fn new(columns: impl IntoIterator<Item = (impl Into<String>, Align)>) -> Self {
        let (titles, align): (Vec<String>, Vec<Align>) =
            columns.into_iter().map(|(t, a)| (clean(&t.into()), a)).unzip();
        let widths = titles.iter().map(|t| width(t)).collect();
        Self { titles, align, widths, rows: Vec::new(), begun: false }
    }

    /// Adds a row; cells are stripped of control characters.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<String> = cells.into_iter().map(|c| clean(&c)).collect();
        for (w, cell) in self.widths.iter_mut().zip(&row) {
            *w = (*w).max(width(cell));
        }
        self.rows.push(row);
    }

    /// Rows that are not written yet.
    pub fn pending(&self) -> usize {
        self.rows.len()
    }

    /// Writes the rows added since the last call, with the titles the first time.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.line(&self.titles, out)?;
        }
        for row in std::mem::take(&mut self.rows) {
            self.line(&row, out)?;
        }
        Ok(())
    }

    fn line(&self, cells: &[String], out: &mut impl Write) -> io::Result<()> {
        let mut line = String::new();
        for ((cell, align), w) in cells.iter().zip(&self.align).zip(&self.widths) {
            let padding = w.saturating_sub(width(cell));
            if *align == Align::Right {
                line.extend(std::iter::repeat_n(' ', padding));
            }
            line.push_str(cell);
            if *align == Align::Left {
                line.extend(std::iter::repeat_n(' ', padding));
            }
            line.push_str("  ");
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// Columns on the terminal; names in ROOT files are rarely more than ASCII.
fn width(cell: &str) -> usize {
    cell.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut t = Table::new([("name", Align::Left), ("n", Align::Right), ("title", Align::Left)]);
        t.row(["x", "12345", ""].map(String::from));
        t.row(["longer", "1", "a\ttitle"].map(String::from));
        let mut out = Vec::new();
        t.write(&mut out).unwrap();
        t.row(["y", "2", ""].map(String::from));
        t.write(&mut out).unwrap();
        let expected = "name        n  title\nx       12345\nlonger      1  a\\ttitle\ny           2\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
