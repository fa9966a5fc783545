//! `sapwood scan`: a tree's values as rows.

use crate::args::{Format, Global, ScanArgs};
use crate::failure::{Failure, remark};
use crate::interrupt::Interrupt;
use crate::output::rows::{RowWriter, Style};
use crate::output::{self, io_report};
use crate::reading::{self, Reading};
use crate::target::{Target, some};
use sapwood::{Array, Batch, Error, OpenOptions, Result, Tree};
use sapwood_query::{Binding, Expr, Rows};
use std::borrow::Cow;
use std::io::{BufWriter, IsTerminal, Write};
use std::ops::{ControlFlow, Range};

/// Rows of a table on a terminal when the user does not say how many.
const SCREENFUL: u64 = 25;

/// Runs the verb.
pub fn run(args: &ScanArgs, options: &OpenOptions, global: &Global, interrupt: &Interrupt) -> Result<(), Failure> {
    let exprs = match &args.expressions {
        Some(list) => Some(parse_list(list)?),
        None => None,
    };
    let cut = args.cut.as_ref().or(args.cut_option.as_ref()).map(|c| Expr::parse(c)).transpose()?;
    let target = Target::parse(&args.target);
    let file = target.open(options)?;
    let tree = target.tree(&file)?;
    let range = reading::entries(args.entries.as_deref(), tree.entries()).map_err(Failure::Usage)?;
    let person = !global.json && args.format == Format::Table && std::io::stdout().is_terminal();
    let limit = match args.limit {
        Some(0) => u64::MAX,
        Some(n) => n,
        None if person => SCREENFUL,
        None => u64::MAX,
    };
    let style = if global.json { Style::Json } else { Style::Format(args.format) };
    // rows that appear on the terminal are progress enough
    let quiet = global.quiet || global.json || std::io::stdout().is_terminal();
    let job = Job { tree: &tree, range, limit, style, quiet, interrupt };
    let Printed { writer, more, entries } = match exprs {
        Some(exprs) => job.instances(&exprs, cut.as_ref())?,
        None => job.entries(cut.as_ref(), global.quiet)?,
    };
    let rows = writer.rows();
    writer.finish(&[("entries", entries.into()), ("io", io_report::to_json(&file.io()))])?;
    if more && person && !global.quiet {
        let mut out = output::stdout();
        writeln!(out, "the first {rows} rows; --limit 0 prints all")?;
        out.flush()?;
    }
    Ok(())
}

/// Expressions divided by colons or commas; commas inside brackets belong to functions.
fn parse_list(text: &str) -> Result<Vec<Expr>> {
    let mut out = Vec::new();
    let mut depth = 0usize;
    let mut quote = None;
    let mut begin = 0;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                out.extend(Expr::parse_list(text.get(begin..i).unwrap_or_default())?);
                begin = i + 1;
            }
            _ => {}
        }
    }
    out.extend(Expr::parse_list(text.get(begin..).unwrap_or_default())?);
    Ok(out)
}

/// What was printed.
struct Printed {
    writer: RowWriter<BufWriter<output::Stdout>>,
    /// Whether rows were left out.
    more: bool,
    /// Entries that were looked at.
    entries: u64,
}

/// One scan.
struct Job<'a> {
    tree: &'a Tree,
    range: Range<u64>,
    limit: u64,
    style: Style,
    quiet: bool,
    interrupt: &'a Interrupt,
}

impl Job<'_> {
    /// The rows of TTree::Scan that pass the cut: one for every instance, at least one for an entry.
    fn instances(&self, exprs: &[Expr], cut: Option<&Expr>) -> Result<Printed, Failure> {
        let binding = Binding::scan(self.tree, exprs, cut)?;
        let labels = if binding.nested { vec!["entry", "instance"] } else { vec!["entry"] };
        let titles = binding.query.titles().to_vec();
        let mut writer = RowWriter::new(output::stdout(), self.style, titles, labels)?;
        let (entries, more) = self.read(binding.branches.clone(), |reading, batch| {
            let rows = selected(&binding, reading, batch, &batch.columns)?;
            let columns: Vec<Cow<Array>> = rows.columns.iter().map(Cow::Borrowed).collect();
            for (i, (&entry, &index)) in rows.entry.iter().zip(&rows.index).enumerate() {
                if writer.rows() == self.limit {
                    return Ok(ControlFlow::Break(()));
                }
                writer.row(&columns, i, &[entry, u64::from(index)], |column| rows.has(column, i))?;
            }
            Ok(self.enough(writer.rows(), batch))
        })?;
        Ok(Printed { writer, more, entries })
    }

    /// A row for every entry of which an instance passes the cut, lists and records whole.
    fn entries(&self, cut: Option<&Expr>, quiet: bool) -> Result<Printed, Failure> {
        let shown = self.readable(quiet)?;
        let binding = cut.map(|cut| Binding::new(self.tree, &[], Some(cut))).transpose()?;
        let titles = shown.iter().map(|&i| self.tree.name_of(i)).collect();
        let mut writer = RowWriter::new(output::stdout(), self.style, titles, vec!["entry"])?;
        // the branches of the cut lie behind those that are shown
        let mut branches = shown.clone();
        branches.extend(binding.iter().flat_map(|b| b.branches.iter().copied()));
        let (entries, more) = self.read(branches, |reading, batch| {
            let (columns, hidden) = batch.columns.split_at(shown.len().min(batch.columns.len()));
            let columns: Vec<Cow<Array>> = columns.iter().map(Cow::Borrowed).collect();
            let entries: Vec<u64> = match &binding {
                None => batch.entries.clone().collect(),
                Some(binding) => {
                    let mut entries = selected(binding, reading, batch, hidden)?.entry;
                    entries.dedup();
                    entries
                }
            };
            for entry in entries {
                if writer.rows() == self.limit {
                    return Ok(ControlFlow::Break(()));
                }
                let i = usize::try_from(entry - batch.entries.start).unwrap_or(usize::MAX);
                writer.row(&columns, i, &[entry], |_| true)?;
            }
            Ok(self.enough(writer.rows(), batch))
        })?;
        Ok(Printed { writer, more, entries })
    }

    /// Stops behind a batch that completes the rows wanted, when others would follow.
    fn enough(&self, rows: u64, batch: &Batch) -> ControlFlow<()> {
        if rows == self.limit && batch.entries.end < self.range.end {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// All branches with values that this version reads.
    fn readable(&self, quiet: bool) -> Result<Vec<usize>> {
        let mut refused = Vec::new();
        let branches = &self.tree.header().branches;
        let holds_values = |i: &usize| branches.get(*i).is_some_and(|b| b.children.is_empty());
        let mut shown = Vec::new();
        for i in self.tree.order().iter().copied().filter(holds_values) {
            match self.tree.column_type(i) {
                Ok(_) => shown.push(i),
                Err(_) => refused.push(self.tree.name_of(i)),
            }
        }
        if refused.is_empty() && shown.is_empty() {
            return Err(Error::not_found("the tree has no branches").in_file(self.tree.file().url()));
        }
        if shown.is_empty() {
            return Err(Error::unsupported("no branch of the tree can be read")
                .in_file(self.tree.file().url())
                .with_remedy("`sapwood show` tells why"));
        }
        if !refused.is_empty() && !quiet {
            remark(&format!("left out ({} branches; `sapwood show` tells why): {}", refused.len(), some(&refused, 6)));
        }
        Ok(shown)
    }

    /// Reads until `f` breaks, in growing parts when it may; gives the entries read, and whether it did.
    fn read(
        &self,
        branches: Vec<usize>,
        mut f: impl FnMut(&Reading, &Batch) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(u64, bool), Failure> {
        let reading = Reading::new(self.tree, branches, self.quiet, self.interrupt);
        let parts = match self.limit {
            u64::MAX => vec![self.range.clone()],
            _ => reading::growing(self.tree.clusters(), self.range.clone()),
        };
        for part in parts {
            if reading.each(part, |batch| f(&reading, batch))? {
                return Ok((reading.entries(), true));
            }
        }
        Ok((reading.entries(), false))
    }
}

/// The rows of a batch that pass the binding's cut.
fn selected(binding: &Binding, reading: &Reading, batch: &Batch, columns: &[Array]) -> Result<Rows> {
    let columns = binding.columns(columns)?;
    let columns = columns.iter().map(AsRef::as_ref).collect();
    binding.query.rows(&reading.query_batch(batch, columns))
}

#[cfg(test)]
mod tests {
    use super::parse_list;

    #[test]
    fn colons_and_commas_divide_expressions() {
        let texts = |s: &str| -> Vec<String> { parse_list(s).unwrap().iter().map(|e| e.text().to_owned()).collect() };
        assert_eq!(texts("a:b, c"), ["a", "b", "c"]);
        assert_eq!(texts("max(a,b):c[0]"), ["max(a,b)", "c[0]"]);
        assert_eq!(texts("a==\"x,y\",b"), ["a==\"x,y\"", "b"]);
        assert!(parse_list("a,,b").is_err());
        assert!(parse_list("").is_err());
    }
}
