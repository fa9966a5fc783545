//! `sapwood scan`: a tree's values as rows.

use crate::args::{Format, Global, ScanArgs};
use crate::command_line;
use crate::entries;
use crate::failure::{Failure, remark};
use crate::given_aliases;
use crate::interrupt::Interrupt;
use crate::output::root_table::RootTable;
use crate::output::rows::{RowWriter, Style};
use crate::output::{self, io_report};
use crate::reading::{Inputs, Reading};
use crate::target::some;
use sapwood::query::{Bind, Binding, Bound, Entries, Expr, Leaves, ScanOption, bind_each};
use sapwood::{Array, ChainBatch, ChainFile, EntryList, Error, OpenOptions, Result, Tree};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::io::{BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows of a table on a terminal when the user does not say how many.
const SCREENFUL: u64 = 25;

/// Runs the command.
pub(crate) fn run(
    args: &ScanArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let words = [&args.expressions, &args.cut, &args.cut_option];
    command_line::refuse_options("scan", words.into_iter().flatten())?;
    let option = args.option.as_ref().or(args.scan_option.as_ref()).filter(|text| !text.trim().is_empty());
    let option = option.map(|text| text.parse::<ScanOption>()).transpose();
    let option = option.map_err(|e| Failure::Usage(e.to_string()))?;
    crate::friends::check(&args.friends)?;
    let aliases = given_aliases::parse(&args.aliases)?;
    let exprs = match args.expressions.as_deref().map(str::trim).filter(|list| !list.is_empty()) {
        Some("*") => Wanted::Leaves(usize::MAX),
        Some(list) => {
            Wanted::Expressions(Expr::parse_columns(list)?.into_iter().map(|e| e.with_aliases(&aliases)).collect())
        }
        None if option.is_some() => Wanted::Leaves(DEFAULT_COLUMNS),
        None => Wanted::Branches,
    };
    if let Some(option) = option.as_ref().filter(|o| args.entries.is_some() && (o.first.is_some() || o.count.is_some()))
    {
        let key = if option.first.is_some() { "first" } else { "n" };
        return Err(Failure::Usage(format!("--entries and {key}= both select entries: use only one of them")));
    }
    let cut = args.cut.as_ref().or(args.cut_option.as_ref()).map_or(Ok(None), |c| Expr::selection(c))?;
    let cut = cut.map(|e| e.with_aliases(&aliases));
    let inputs =
        Inputs { target: &args.target, add: &args.add, skip_bad: args.skip_bad, friends: &args.friends, open: options };
    // rows that appear on the terminal are progress enough
    let quiet = global.quiet || global.json || std::io::stdout().is_terminal();
    let reading = Reading::new(inputs.chain()?, quiet, interrupt)?;
    let chosen = match option.as_ref().map(|o| (o.first, o.count)) {
        Some((first, count)) if first.is_some() || count.is_some() => {
            let first = first.unwrap_or(0);
            Entries::Range(first..first.saturating_add(count.unwrap_or(u64::MAX)))
        }
        _ => reading.chosen(args.entries.as_deref())?,
    };
    let exprs = match exprs {
        Wanted::Expressions(exprs) => Some((exprs, None)),
        Wanted::Leaves(most) => {
            let Leaves { expressions, titles, .. } = leaves(reading.first(), most, global.quiet)?;
            Some((expressions, Some(titles)))
        }
        Wanted::Branches => None,
    };
    reading.count(exprs.iter().flat_map(|(exprs, _)| exprs).chain(cut.as_ref()))?;
    let person = !global.json && args.format == Format::Table && std::io::stdout().is_terminal();
    let limit = match args.limit {
        Some(0) => u64::MAX,
        Some(n) => n,
        None if person => SCREENFUL,
        None => u64::MAX,
    };
    let style = match args.format {
        _ if global.json => Style::Json,
        Format::Csv if std::io::stdout().is_terminal() => Style::CsvOnTerminal,
        format => Style::Format(format),
    };
    let job = Job { reading: &reading, chosen, limit, style };
    let (rows, more) = match (exprs, option) {
        (Some((exprs, titles)), Some(option)) => job.table_of_root(exprs, titles, cut, option)?,
        (exprs, _) => {
            let Printed { writer, more } = match exprs {
                Some((exprs, _)) => job.instances(exprs, cut)?,
                None => job.entries(cut.as_ref(), global.quiet)?,
            };
            let rows = writer.rows();
            writer.finish(&[("entries", reading.entries().into()), ("io", io_report::to_json(&reading.io()))])?;
            (rows, more)
        }
    };
    reading.tell_skipped();
    if more && person && !global.quiet {
        let mut out = output::stdout();
        writeln!(out, "the first {rows} rows; --limit 0 prints all")?;
        out.flush()?;
    }
    Ok(())
}

/// Columns of TTree::Scan without expressions.
const DEFAULT_COLUMNS: usize = 8;

/// What is printed.
enum Wanted {
    Expressions(Vec<Expr>),
    /// So many leaves at most, as TTree::Scan prints them for `*`.
    Leaves(usize),
    /// All branches, each as a whole.
    Branches,
}

/// What was printed.
struct Printed {
    writer: RowWriter<BufWriter<output::Stdout>>,
    /// Whether rows were left out.
    more: bool,
}

/// One scan.
struct Job<'a> {
    reading: &'a Reading<'a>,
    chosen: Entries,
    limit: u64,
    style: Style,
}

impl Job<'_> {
    /// The rows of TTree::Scan that pass the cut: one for every instance, at least one for an entry.
    fn instances(&self, exprs: Vec<Expr>, cut: Option<Expr>) -> Result<Printed, Failure> {
        let binding = Binding::scan(self.reading.first(), &exprs, cut.as_ref())?;
        let labels = if binding.nested { vec!["entry", "instance"] } else { vec!["entry"] };
        let titles = binding.query.titles().to_vec();
        let mut writer = RowWriter::new(output::stdout(), self.style, titles, labels)?;
        let more = self.read(&binding.branches, bind_each(exprs, cut, true), |part| {
            let rows = self.reading.rows(part)?;
            let columns: Vec<Cow<Array>> = rows.columns.iter().map(Cow::Borrowed).collect();
            for (i, (&entry, &index)) in rows.entry.iter().zip(&rows.index).enumerate() {
                if writer.rows() == self.limit {
                    return Ok(ControlFlow::Break(()));
                }
                writer.row(&columns, i, &[entry, u64::from(index)], |column| rows.has(column, i))?;
            }
            Ok(self.enough(writer.rows(), part))
        })?;
        Ok(Printed { writer, more })
    }

    /// The same in ROOT's layout; says how many rows, and whether some were left out. `titles` are the expressions where
    /// there are no others.
    fn table_of_root(
        self,
        exprs: Vec<Expr>,
        titles: Option<Vec<String>>,
        cut: Option<Expr>,
        option: ScanOption,
    ) -> Result<(u64, bool), Failure> {
        let binding = Binding::scan(self.reading.first(), &exprs, cut.as_ref())?;
        option.check(&binding.query)?;
        let titles = titles.unwrap_or_else(|| binding.query.titles().to_vec());
        // ROOT prints a string in the first row of an entry only
        let once: Vec<bool> =
            (0..exprs.len()).map(|i| binding.query.is_text(i) && binding.query.is_repeated(i)).collect();
        let most = option.most_instances.unwrap_or(u32::MAX);
        let has_cut = cut.is_some();
        let mut table = RootTable::new(output::stdout(), option, &titles, binding.query.has_instances())?;
        let more = self.read(&binding.branches, bind_each(exprs, cut, true), |part| {
            let rows = self.reading.rows(part)?;
            for (i, (&entry, &index)) in rows.entry.iter().zip(&rows.index).enumerate().filter(|(_, (_, i))| **i < most)
            {
                if table.rows() == self.limit {
                    return Ok(ControlFlow::Break(()));
                }
                let cells = once.iter().enumerate().map(
                    |(column, once)| {
                        if *once && index > 0 { None } else { rows.cell(column, i) }
                    },
                );
                table.row(entry, index, cells)?;
            }
            Ok(self.enough(table.rows(), part))
        })?;
        let rows = table.rows();
        table.finish(has_cut)?;
        Ok((rows, more))
    }

    /// A row for every entry of which an instance passes the cut, lists and records whole.
    fn entries(&self, cut: Option<&Expr>, quiet: bool) -> Result<Printed, Failure> {
        let first = self.reading.first();
        let shown = readable(first, quiet)?;
        let titles: Vec<String> = shown.iter().map(|&i| first.name_of(i)).collect();
        let mut branches = shown.clone();
        if let Some(cut) = cut {
            branches.extend(Binding::new(first, &[], Some(cut))?.branches);
        }
        let mut writer = RowWriter::new(output::stdout(), self.style, titles.clone(), vec!["entry"])?;
        let each = bind_each(Vec::new(), cut.cloned(), false);
        let bind = move |link: &ChainFile| Ok(Bound { shown: named(&link.tree, &titles)?, ..each(link)? });
        let more = self.read(&branches, Arc::new(bind), |part| {
            let batch = &part.batch;
            let columns: Vec<Cow<Array>> = batch.columns.iter().take(shown.len()).map(Cow::Borrowed).collect();
            let all = || EntryList::from(batch.entries.clone());
            let came = batch.selected.clone().unwrap_or_else(all);
            let mut passed = match cut {
                None => Vec::new(),
                Some(_) => self.reading.rows(part)?.entry,
            };
            passed.dedup();
            let mut passed = passed.into_iter().peekable();
            for (i, entry) in came.iter().enumerate() {
                let entry = part.link.first_entry + entry;
                if cut.is_some() && passed.next_if_eq(&entry).is_none() {
                    continue;
                }
                if writer.rows() == self.limit {
                    return Ok(ControlFlow::Break(()));
                }
                writer.row(&columns, i, &[entry], |_| true)?;
            }
            Ok(self.enough(writer.rows(), part))
        })?;
        Ok(Printed { writer, more })
    }

    /// Stops behind a batch that completes the rows wanted, when others may follow.
    fn enough(&self, rows: u64, part: &ChainBatch<Bound>) -> ControlFlow<()> {
        let end = match &self.chosen {
            Entries::Range(r) => r.end,
            Entries::List(list) => list.hull().end,
        };
        let behind = part.link.first_entry + part.batch.entries.end;
        let last = self.reading.is_last(&part.link) && part.batch.entries.end >= part.link.tree.entries();
        if rows == self.limit && behind < end && !last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Reads until `f` breaks, in growing parts when it may; says whether it did.
    fn read(
        &self,
        branches: &[usize],
        bind: Bind,
        mut f: impl FnMut(&ChainBatch<Bound>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<bool, Failure> {
        let parts = match self.limit {
            u64::MAX => vec![self.chosen.clone()],
            _ => entries::growing(self.reading.first().clusters(), &self.chosen),
        };
        for part in parts {
            if self.reading.each(part, branches, bind.clone(), &mut f)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The leaves that TTree::Scan prints for `*`, so many at most; tells which ones are left out.
fn leaves(tree: &Tree, most: usize, quiet: bool) -> Result<Leaves> {
    let leaves = Leaves::of(tree, most)?;
    if !leaves.refused.is_empty() && !quiet {
        let (count, names) = (leaves.refused.len(), some(&leaves.refused, 6));
        remark(&format!("omitted ({count} branches; `sapwood show` shows why): {names}"));
    }
    Ok(leaves)
}

/// The branches that hold values: those that this version reads, and the others.
fn with_values(tree: &Tree) -> (Vec<usize>, Vec<usize>) {
    let branches = &tree.header().branches;
    let holds_values = |i: &usize| branches.get(*i).is_some_and(|b| b.children.is_empty());
    tree.order().iter().copied().filter(holds_values).partition(|&i| tree.column_type(i).is_ok())
}

/// The branches of these names in a tree of the chain; branches that have one name, as ROOT allows, each in its turn.
fn named(tree: &Tree, names: &[String]) -> Result<Vec<usize>> {
    let mut places: HashMap<String, VecDeque<usize>> = HashMap::new();
    for i in with_values(tree).0 {
        places.entry(tree.name_of(i)).or_default().push_back(i);
    }
    let next = |name: &String| places.get_mut(name).and_then(VecDeque::pop_front).map_or_else(|| tree.find(name), Ok);
    names.iter().map(next).collect()
}

/// All branches with values that this version reads.
fn readable(tree: &Tree, quiet: bool) -> Result<Vec<usize>> {
    let (shown, refused) = with_values(tree);
    if refused.is_empty() && shown.is_empty() {
        return Err(Error::not_found("the tree has no branches").in_file(tree.file().url()));
    }
    if shown.is_empty() {
        return Err(Error::unsupported("no branch of the tree can be read")
            .in_file(tree.file().url())
            .with_remedy("`sapwood show` shows why"));
    }
    if !refused.is_empty() && !quiet {
        let refused: Vec<String> = refused.iter().map(|&i| tree.name_of(i)).collect();
        remark(&format!("omitted ({} branches; `sapwood show` shows why): {}", refused.len(), some(&refused, 6)));
    }
    Ok(shown)
}
