use super::table::{Align, Table};
use super::{cell, clean, string};
use crate::args::Format;
use sapwood::Array;
use sapwood::raw_text::bytes_of;
use std::io::{self, Write};

/// Rows of a table that are held back to find how wide its columns are.
const PART: usize = 1000;

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As the user chose with `--format`.
    Format(Format),
    /// CSV on a terminal: what would steer it is escaped, which CSV itself does not know.
    CsvOnTerminal,
    /// `--json`: one object with all rows; see [`RowWriter::finish`].
    Json,
}

/// Prints rows one by one.
pub(crate) struct RowWriter<W: Write> {
    out: W,
    style: Style,
    titles: Vec<String>,
    /// Titles as JSON strings, for objects.
    keys: Vec<String>,
    labels: Vec<&'static str>,
    table: Option<Table>,
    line: String,
    rows: u64,
}

impl<W: Write> RowWriter<W> {
    /// For columns of these titles. `labels` names the numbers that a table shows in front of a row: `entry`, and
    /// `instance` where entries have several.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub(crate) fn new(out: W, style: Style, titles: Vec<String>, labels: Vec<&'static str>) -> io::Result<Self> {
        let keys = titles.iter().map(|t| string(t)).collect();
        let mut writer = Self { out, style, titles, keys, labels, table: None, line: String::new(), rows: 0 };
        match style {
            Style::Json => write!(writer.out, "{{\"columns\":[{}],\"rows\":[", writer.keys.join(","))?,
            Style::Format(Format::Csv) | Style::CsvOnTerminal => {
                let titles: Vec<String> = writer.titles.iter().map(|t| field(style, t)).collect();
                writer.out.write_all(&bytes_of(&titles.join(",")))?;
                writeln!(writer.out)?;
            }
            Style::Format(Format::Jsonl | Format::Table) => {}
        }
        Ok(writer)
    }

    /// Rows printed so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Prints item `i` of each column that has one: `null` in JSON, else blank where it has none. `numbers` belong to
    /// the labels.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn row<A: AsRef<Array>>(
        &mut self,
        columns: &[A],
        i: usize,
        numbers: &[u64],
        has: impl Fn(usize) -> bool,
    ) -> io::Result<()> {
        self.rows += 1;
        let Style::Format(Format::Table) = self.style else { return self.line(columns, i, has) };
        let table = self.table.get_or_insert_with(|| {
            let labels = self.labels.iter().map(|l| ((*l).to_owned(), Align::Right));
            let titles = self
                .titles
                .iter()
                .zip(columns)
                .map(|(t, c)| (t.clone(), if cell::is_number(c.as_ref()) { Align::Right } else { Align::Left }));
            Table::new(labels.chain(titles))
        });
        let labels = numbers.iter().take(self.labels.len()).map(u64::to_string);
        table.row(labels.chain(columns.iter().enumerate().map(|(n, c)| {
            let mut text = String::new();
            if has(n) {
                cell::plain(&mut text, c.as_ref(), i);
            }
            text
        })));
        if table.pending() >= PART { table.write(&mut self.out) } else { Ok(()) }
    }

    fn line<A: AsRef<Array>>(&mut self, columns: &[A], i: usize, has: impl Fn(usize) -> bool) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        match self.style {
            Style::Json => {
                line.push_str(if self.rows > 1 { ",[" } else { "[" });
                for (n, c) in columns.iter().enumerate() {
                    if n > 0 {
                        line.push(',');
                    }
                    value(line, c.as_ref(), i, has(n));
                }
                line.push(']');
            }
            Style::Format(Format::Jsonl) => {
                line.push('{');
                for (n, (c, key)) in columns.iter().zip(&self.keys).enumerate() {
                    if n > 0 {
                        line.push(',');
                    }
                    line.push_str(key);
                    line.push(':');
                    value(line, c.as_ref(), i, has(n));
                }
                line.push_str("}\n");
            }
            Style::Format(Format::Csv | Format::Table) | Style::CsvOnTerminal => {
                let mut text = String::new();
                for (n, c) in columns.iter().enumerate() {
                    if n > 0 {
                        line.push(',');
                    }
                    text.clear();
                    if has(n) {
                        cell::plain(&mut text, c.as_ref(), i);
                    }
                    line.push_str(&field(self.style, &text));
                }
                line.push('\n');
            }
        }
        match self.style {
            // strings that are not UTF-8 are what they were
            Style::Format(Format::Csv) => self.out.write_all(&bytes_of(line)),
            _ => self.out.write_all(line.as_bytes()),
        }
    }

    /// Ends the output: with `--json` by these further members of the object.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn finish(mut self, members: &[(&str, serde_json::Value)]) -> io::Result<()> {
        match self.style {
            Style::Json => {
                write!(self.out, "]")?;
                for (name, value) in members {
                    write!(self.out, ",\"{name}\":{value}")?;
                }
                writeln!(self.out, "}}")?;
            }
            Style::Format(Format::Table) => {
                // the titles are printed also when there is no row
                let titles = self.titles.iter().map(String::as_str);
                let empty = || Table::new(self.labels.iter().copied().chain(titles).map(|t| (t, Align::Left)));
                self.table.take().unwrap_or_else(empty).write(&mut self.out)?;
            }
            Style::Format(Format::Csv | Format::Jsonl) | Style::CsvOnTerminal => {}
        }
        self.out.flush()
    }
}

/// A value as JSON, `null` where there is none.
fn value(line: &mut String, column: &Array, i: usize, has: bool) {
    if has { cell::json(line, column, i) } else { line.push_str("null") }
}

/// A CSV field for a file or for a terminal.
fn field(style: Style, text: &str) -> String {
    if style == Style::CsvOnTerminal { quoted(&clean(text)) } else { quoted(text) }
}

/// A CSV field, in quotes where RFC 4180 wants them.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood::Values;

    fn written(style: Style) -> String {
        let columns = [
            Box::new(Array::Flat(Values::F64(vec![1.5, f64::NAN]))),
            Box::new(Array::Text { offsets: vec![0, 1, 4], bytes: b"a,\"b".to_vec() }),
        ];
        let mut out = Vec::new();
        let mut w = RowWriter::new(&mut out, style, vec!["x".into(), "max(s,t)".into()], vec!["entry"]).unwrap();
        w.row(&columns, 0, &[7], |_| true).unwrap();
        w.row(&columns, 1, &[8], |_| true).unwrap();
        w.row(&columns, 1, &[9], |_| false).unwrap();
        assert_eq!(w.rows(), 3);
        w.finish(&[("entries", 2.into())]).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn bytes_that_are_not_utf8_are_kept_in_files_and_shown_on_terminals() {
        let csv = |style| {
            let column = [Box::new(Array::Text { offsets: vec![0, 6], bytes: b"\xe9\x1b[2J\n".to_vec() })];
            let mut out = Vec::new();
            let mut w = RowWriter::new(&mut out, style, vec!["s".into()], vec!["entry"]).unwrap();
            w.row(&column, 0, &[0], |_| true).unwrap();
            w.finish(&[]).unwrap();
            out
        };
        assert_eq!(csv(Style::Format(Format::Csv)), b"s\n\"\xe9\x1b[2J\n\"\n");
        assert_eq!(csv(Style::CsvOnTerminal), b"s\n\\xe9\\u{1b}[2J\\n\n");
    }

    #[test]
    fn every_style() {
        assert_eq!(written(Style::Format(Format::Csv)), "x,\"max(s,t)\"\n1.5,a\nnan,\",\"\"b\"\n,\n");
        assert_eq!(
            written(Style::Format(Format::Jsonl)),
            "{\"x\":1.5,\"max(s,t)\":\"a\"}\n{\"x\":null,\"max(s,t)\":\",\\\"b\"}\n{\"x\":null,\"max(s,t)\":null}\n"
        );
        assert_eq!(
            written(Style::Format(Format::Table)),
            "entry    x  max(s,t)\n    7  1.5  a\n    8  nan  ,\"b\n    9\n"
        );
        let value: serde_json::Value = serde_json::from_str(&written(Style::Json)).unwrap();
        let expected = serde_json::json!({
            "columns": ["x", "max(s,t)"], "rows": [[1.5, "a"], [null, ",\"b"], [null, null]], "entries": 2
        });
        assert_eq!(value, expected);
    }
}
