//! Reading expressions from the trees of one file or of several, batch by batch, with progress and Ctrl-C.

use crate::failure::{Failure, remark};
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use crate::target::several;
use sapwood::{
    Array, Chain, ChainOptions, EntryList, Error, IoReport, Link, Linked, OpenOptions, Result, ScanOptions, StepSize,
    Tree,
};
use sapwood_query::{Bind, Bound, Entries, Expr, Reader, Rows};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One verb's way of reading trees.
pub struct Reading<'a> {
    chain: Chain,
    /// The tree of the first file that is not left out.
    first: Tree,
    total: Cell<u64>,
    quiet: bool,
    interrupt: &'a Interrupt,
    cancel: Arc<AtomicBool>,
    entries: Cell<u64>,
    /// What reading did, file by file.
    io: RefCell<BTreeMap<usize, IoReport>>,
}

/// What `draw` and `scan` read from: the files, and how they are opened.
pub struct Inputs<'a> {
    /// File and tree, a pattern of files, or `@` and a list.
    pub target: &'a str,
    /// More of them.
    pub add: &'a [String],
    /// Whether files that cannot be opened are left out.
    pub skip_bad: bool,
    /// How files are opened.
    pub open: &'a OpenOptions,
}

impl Inputs<'_> {
    /// The chain of all files; the first is opened.
    ///
    /// # Errors
    /// Patterns that nothing fits; a first file that cannot be opened.
    pub fn chain(&self) -> Result<Chain> {
        let targets = several(std::iter::once(self.target).chain(self.add.iter().map(String::as_str)), self.open)?;
        let files = targets.iter().map(|t| (t.url.clone(), t.object.clone())).collect();
        let options = ChainOptions { open: self.open.clone(), skip_bad: self.skip_bad };
        let chain = Chain::new(files, options);
        match targets.as_slice() {
            // opened in the usual way: it says more about what may be wrong
            [first, others @ ..] if others.is_empty() || !self.skip_bad => {
                let file = first.open(self.open)?;
                let tree = first.tree(&file)?;
                Ok(chain.with_first(tree))
            }
            _ => Ok(chain),
        }
    }
}

impl<'a> Reading<'a> {
    /// Takes over Ctrl-C; shows progress unless `quiet`. A first file that is open already is not opened again.
    ///
    /// # Errors
    /// Files that cannot be opened, up to the first that can.
    pub fn new(chain: Chain, quiet: bool, interrupt: &'a Interrupt) -> Result<Self> {
        let (chain, first) = chain.first()?;
        Ok(Self {
            total: Cell::new(first.entries()),
            chain,
            first,
            quiet,
            interrupt,
            cancel: interrupt.defer(),
            entries: Cell::new(0),
            io: RefCell::default(),
        })
    }

    /// The tree of the first file.
    pub fn first(&self) -> &Tree {
        &self.first
    }

    /// Whether no file follows this one.
    pub fn is_last(&self, link: &Link) -> bool {
        link.file + 1 >= self.chain.files().len()
    }

    /// The entries that `--entries` names; all files are opened where they are counted from the end.
    ///
    /// # Errors
    /// `Usage` when the text makes no sense.
    pub fn chosen(&self, text: Option<&str>) -> Result<Entries, Failure> {
        let total = match text {
            _ if self.chain.files().len() == 1 => Some(self.first.entries()),
            Some(text) if text.contains('-') && !Path::new(text).exists() => Some(self.chain.entries()?),
            _ => None,
        };
        entries(text, total).map_err(Failure::Usage)
    }

    /// Tells what `Entries$` is, where one of the expressions has it.
    ///
    /// # Errors
    /// As [`Chain::entries`].
    pub fn count<'e>(&self, expressions: impl Iterator<Item = &'e Expr>) -> Result<()> {
        self.total.set(Reader::total(&self.chain, self.first.entries(), expressions)?);
        Ok(())
    }

    /// Calls `f` with one batch after another until it breaks; true when it did. `branches` are those of the first file
    /// that will be read, for the progress bar.
    ///
    /// # Errors
    /// What reading or `f` says; `Interrupted` after Ctrl-C.
    pub fn each<E: From<Error>>(
        &self,
        chosen: Entries,
        branches: &[usize],
        bind: Bind,
        mut f: impl FnMut(&Linked<Bound>) -> Result<ControlFlow<()>, E>,
    ) -> Result<bool, E> {
        let bar = Bar::new(self.quiet || self.chain.files().len() > 1, &self.first, branches, &chosen);
        let options = ScanOptions {
            step: StepSize::Cluster,
            progress: bar.callback(),
            cancel: self.cancel.clone(),
            ..ScanOptions::default()
        };
        let (chain, total) = (self.chain.clone(), self.total.get());
        let list = match &chosen {
            Entries::List(list) => Some(list.clone()),
            Entries::Range(_) => None,
        };
        let mut current: Option<Link> = None;
        let mut broken = false;
        for part in (Reader { chain, entries: chosen, total, options, bind }).read() {
            self.interrupt.check()?;
            let part = part?;
            if current.as_ref().is_none_or(|link| link.file != part.link.file) {
                self.note(current.replace(part.link.clone()));
            }
            let r = &part.batch.entries;
            let here = part.link.first_entry + r.start..part.link.first_entry + r.end;
            let looked_at = list.as_ref().map_or(r.end - r.start, |list| list.within(&here).len());
            self.entries.set(self.entries.get() + looked_at);
            if f(&part)?.is_break() {
                broken = true;
                break;
            }
        }
        self.note(current);
        self.interrupt.check()?;
        Ok(broken)
    }

    /// Keeps what reading a file did.
    fn note(&self, link: Option<Link>) {
        if let Some(link) = link {
            self.io.borrow_mut().insert(link.file, link.tree.file().io());
        }
    }

    /// The rows of a batch, as `TTree::Scan` has them.
    ///
    /// # Errors
    /// Columns that are not as the query was told.
    pub fn rows(&self, part: &Linked<Bound>) -> Result<Rows> {
        self.with(part, |query, batch| query.rows(batch))
    }

    /// Gives the batch to `f` as the query takes it.
    ///
    /// # Errors
    /// As [`Reading::rows`], and what `f` says.
    pub fn with<R>(
        &self,
        part: &Linked<Bound>,
        f: impl FnOnce(&sapwood_query::Query, &sapwood_query::Batch<'_>) -> Result<R>,
    ) -> Result<R> {
        let Linked { link, prepared, batch } = part;
        let columns: &[Array] = batch.columns.get(prepared.shown.len()..).unwrap_or_default();
        let query = &prepared.binding.query;
        prepared.binding.with_batch(batch, columns, link.first_entry, self.total.get(), |b| f(query, b))
    }

    /// Entries looked at so far.
    pub fn entries(&self) -> u64 {
        self.entries.get()
    }

    /// What opening and reading did so far.
    pub fn io(&self) -> IoReport {
        let mut sum = IoReport::default();
        self.io.borrow().values().for_each(|io| sum += io);
        if self.io.borrow().is_empty() { self.first.file().io() } else { sum }
    }

    /// Says on stderr which files were left out.
    pub fn tell_skipped(&self) {
        for s in self.chain.skipped() {
            remark(&format!("left out: {}: {}", s.file, s.why));
        }
    }
}

/// How many numbers a list of entries may hold.
const MOST_NUMBERS: u64 = 256 << 20;

/// Entries from `--entries`: the name of a file with their numbers, or, divided by commas, numbers and `START:STOP` as
/// slices of Python's: either may be left out, negative ones count from the end, and what lies outside is cut. All when
/// not given. `total` is how many entries there are, where that is known.
///
/// # Errors
/// A text that is none of that, or one number that is no entry.
pub fn entries(text: Option<&str>, total: Option<u64>) -> Result<Entries, String> {
    let Some(text) = text else { return Ok(Entries::ALL) };
    if Path::new(text).is_file() {
        return listed(text);
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let ranges = parts.iter().map(|part| slice(text, part, total)).collect::<Result<Vec<_>, _>>()?;
    match ranges.as_slice() {
        [one] => Ok(Entries::Range(one.clone())),
        _ => Ok(Entries::List(Arc::new(EntryList::from_ranges(ranges)))),
    }
}

fn slice(text: &str, part: &str, total: Option<u64>) -> Result<std::ops::Range<u64>, String> {
    let bad = || {
        format!(
            "--entries {text}: write START:STOP, as in 0:1000, 5000: or -100:, numbers, several of these with commas, or \
             the name of a file with numbers"
        )
    };
    // beyond the end is cut later; in front of the beginning is none
    let place = |part: &str| match part.strip_prefix('-') {
        Some(back) => back.parse::<u64>().map(|n| total.and_then(|t| t.checked_sub(n))).map_err(|_| bad()),
        None => part.parse::<u64>().map(Some).map_err(|_| bad()),
    };
    let most = total.unwrap_or(u64::MAX);
    let Some((start, stop)) = part.split_once(':') else {
        return match place(part)? {
            Some(entry) if entry < most => Ok(entry..entry + 1),
            _ => Err(format!("--entries {text}: the tree has {most} entries, the first is 0")),
        };
    };
    let end = |part: &str, otherwise: u64| match part.trim() {
        "" => Ok(otherwise),
        digits => place(digits).map(|n| n.unwrap_or(0)),
    };
    let (start, stop) = (end(start, 0)?, end(stop, most)?);
    if start > stop {
        return Err(format!("--entries {text}: the first entry lies behind the last"));
    }
    Ok(start.min(most)..stop.min(most))
}

/// The numbers in a file, divided by spaces, commas or line ends; `#` begins a remark.
fn listed(path: &str) -> Result<Entries, String> {
    let failed = |why: &dyn std::fmt::Display| format!("--entries {path}: {why}");
    let size = std::fs::metadata(path).map_err(|e| failed(&e))?.len();
    if size > MOST_NUMBERS * 8 {
        return Err(failed(&"the file is too large for a list of entries"));
    }
    let text = std::fs::read_to_string(path).map_err(|e| failed(&e))?;
    let mut numbers = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split([' ', '\t', ',']).filter(|w| !w.is_empty()) {
            let n = word.parse::<u64>();
            numbers.push(n.map_err(|_| failed(&format!("line {}: {word} is no number of an entry", i + 1)))?);
        }
    }
    Ok(Entries::List(Arc::new(EntryList::from_numbers(numbers))))
}

/// Parts of a range of entries along the clusters of the first file, each twice as many clusters as the one before: who
/// stops early has not read far ahead, and who does not stop has soon asked for all.
pub fn growing(clusters: &[u64], chosen: &Entries) -> Vec<Entries> {
    let Entries::Range(range) = chosen else { return vec![chosen.clone()] };
    let mut out = Vec::new();
    let mut start = range.start;
    let mut step = 1;
    while start < range.end {
        let next = clusters.partition_point(|&c| c <= start);
        let stop = clusters.get(next + step - 1).copied().unwrap_or(range.end).clamp(start + 1, range.end);
        out.push(Entries::Range(start..stop));
        start = stop;
        step *= 2;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_entries() {
        let entries = |text, total| entries(text, Some(total));
        let range = |r: std::ops::Range<u64>| Ok(Entries::Range(r));
        assert_eq!(entries(None, 10), Ok(Entries::ALL));
        assert_eq!(entries(Some("2:5"), 10), range(2..5));
        assert_eq!(entries(Some("2:"), 10), range(2..10));
        assert_eq!(entries(Some(":50"), 10), range(0..10));
        assert_eq!(entries(Some("20:30"), 10), range(10..10));
        assert_eq!(entries(Some("-3:"), 10), range(7..10));
        assert_eq!(entries(Some("-30: -2"), 10), range(0..8));
        assert_eq!((entries(Some("5"), 10), entries(Some("-1"), 10)), (range(5..6), range(9..10)));
        for text in ["", "10", "-11", "--1", "5:2", "a:b", "-1:3", "1:2:3", "1,,2", "1,x"] {
            assert!(entries(Some(text), 10).is_err(), "{text}");
        }
        let list = EntryList::from_numbers(vec![1, 4, 5, 6, 9]);
        assert_eq!(entries(Some("4:7, -1,1"), 10), Ok(Entries::List(Arc::new(list))));
        assert_eq!(super::entries(Some("5:"), None), Ok(Entries::Range(5..u64::MAX)));
    }

    #[test]
    fn entries_from_a_file() {
        let path = std::env::temp_dir().join(format!("sapwood-entries-{}.txt", std::process::id()));
        let name = path.to_str().unwrap();
        std::fs::write(&path, "3 # three\n5,4\n\n 1000\t7\n").unwrap();
        let list = EntryList::from_numbers(vec![3, 4, 5, 7, 1000]);
        assert_eq!(entries(Some(name), Some(10)), Ok(Entries::List(Arc::new(list))));
        std::fs::write(&path, "3\nx\n").unwrap();
        assert!(entries(Some(name), None).unwrap_err().contains("line 2: x is no number"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn parts_double_along_the_clusters() {
        let parts = |clusters: &[u64], range: std::ops::Range<u64>| -> Vec<(u64, u64)> {
            let parts = growing(clusters, &Entries::Range(range)).into_iter();
            let ends = |part| match part {
                Entries::Range(r) => (r.start, r.end),
                Entries::List(_) => panic!("ranges stay ranges"),
            };
            parts.map(ends).collect()
        };
        let clusters = [0, 10, 20, 30, 40, 50, 60, 70, 75];
        assert_eq!(parts(&clusters, 0..75), [(0, 10), (10, 30), (30, 70), (70, 75)]);
        assert_eq!(parts(&clusters, 5..35), [(5, 10), (10, 30), (30, 35)]);
        assert_eq!(parts(&[0, 7], 0..7), [(0, 7)]);
        assert_eq!(parts(&[], 3..9), [(3, 9)]);
        assert_eq!(parts(&clusters, 5..5), []);
    }
}
