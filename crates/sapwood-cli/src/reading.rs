//! Reading chosen branches of a tree batch by batch, with progress and Ctrl-C.

use crate::interrupt::Interrupt;
use crate::progress::Bar;
use sapwood::{Array, Batch, Error, Result, ScanOptions, StepSize, Tree};
use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One verb's way of reading a tree.
pub struct Reading<'a> {
    tree: &'a Tree,
    branches: Vec<usize>,
    quiet: bool,
    interrupt: &'a Interrupt,
    cancel: Arc<AtomicBool>,
    entries: Cell<u64>,
}

impl<'a> Reading<'a> {
    /// Takes over Ctrl-C; shows progress unless `quiet`.
    pub fn new(tree: &'a Tree, branches: Vec<usize>, quiet: bool, interrupt: &'a Interrupt) -> Self {
        Self { tree, branches, quiet, interrupt, cancel: interrupt.defer(), entries: Cell::new(0) }
    }

    /// Calls `f` with one batch after another until it breaks; true when it did.
    ///
    /// # Errors
    /// What reading or `f` says; `Interrupted` after Ctrl-C.
    pub fn each<E: From<Error>>(
        &self,
        entries: Range<u64>,
        mut f: impl FnMut(&Batch) -> Result<ControlFlow<()>, E>,
    ) -> Result<bool, E> {
        let bar = Bar::new(self.quiet, self.tree, &self.branches, &entries);
        let options = ScanOptions {
            branches: self.branches.clone(),
            entries: Some(entries),
            step: StepSize::Cluster,
            progress: bar.callback(),
            cancel: self.cancel.clone(),
            ..ScanOptions::default()
        };
        for batch in self.tree.scan(&options)? {
            self.interrupt.check()?;
            let batch = batch?;
            self.entries.set(self.entries.get() + batch.entries.end.saturating_sub(batch.entries.start));
            if f(&batch)?.is_break() {
                return Ok(true);
            }
        }
        self.interrupt.check()?;
        Ok(false)
    }

    /// Entries read so far.
    pub fn entries(&self) -> u64 {
        self.entries.get()
    }

    /// What the query language wants to know of a batch.
    pub fn query_batch<'b>(&self, batch: &Batch, columns: Vec<&'b Array>) -> sapwood_query::Batch<'b> {
        sapwood_query::Batch {
            first_entry: batch.entries.start,
            first_local_entry: batch.entries.start,
            total_entries: self.tree.entries(),
            entries: usize::try_from(batch.entries.end.saturating_sub(batch.entries.start)).unwrap_or(usize::MAX),
            columns,
        }
    }
}

/// Entries from `START:STOP` as in a slice of Python's: either may be left out, negative ones count from the end, and
/// what lies outside is cut; a number alone is that entry. All when not given.
///
/// # Errors
/// `Invalid` when it is not two numbers in order, or a single entry is not there.
pub fn entries(text: Option<&str>, total: u64) -> Result<Range<u64>, String> {
    let Some(text) = text else { return Ok(0..total) };
    let bad = || format!("--entries {text}: write START:STOP, as in 0:1000, 5000: or -100:, or one entry's number");
    // beyond the end is cut later; in front of the beginning is none
    let place = |part: &str| match part.strip_prefix('-') {
        Some(back) => back.parse::<u64>().map(|n| total.checked_sub(n)).map_err(|_| bad()),
        None => part.parse::<u64>().map(Some).map_err(|_| bad()),
    };
    let Some((start, stop)) = text.split_once(':') else {
        return match place(text.trim())? {
            Some(entry) if entry < total => Ok(entry..entry + 1),
            _ => Err(format!("--entries {text}: the tree has {total} entries, the first is 0")),
        };
    };
    let end = |part: &str, otherwise: u64| match part.trim() {
        "" => Ok(otherwise),
        digits => place(digits).map(|n| n.unwrap_or(0)),
    };
    let (start, stop) = (end(start, 0)?, end(stop, total)?);
    if start > stop {
        return Err(format!("--entries {text}: the first entry lies behind the last"));
    }
    Ok(start.min(total)..stop.min(total))
}

/// Parts of a range of entries along the clusters, each twice as many clusters as the one before: who stops early has
/// not read far ahead, and who does not stop has soon asked for all.
pub fn growing(clusters: &[u64], range: Range<u64>) -> Vec<Range<u64>> {
    let mut out = Vec::new();
    let mut start = range.start;
    let mut step = 1;
    while start < range.end {
        let next = clusters.partition_point(|&c| c <= start);
        let stop = clusters.get(next + step - 1).copied().unwrap_or(range.end).clamp(start + 1, range.end);
        out.push(start..stop);
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
        assert_eq!(entries(None, 10), Ok(0..10));
        assert_eq!(entries(Some("2:5"), 10), Ok(2..5));
        assert_eq!(entries(Some("2:"), 10), Ok(2..10));
        assert_eq!(entries(Some(":50"), 10), Ok(0..10));
        assert_eq!(entries(Some("20:30"), 10), Ok(10..10));
        assert_eq!(entries(Some("-3:"), 10), Ok(7..10));
        assert_eq!(entries(Some("-30: -2"), 10), Ok(0..8));
        assert_eq!((entries(Some("5"), 10), entries(Some("-1"), 10)), (Ok(5..6), Ok(9..10)));
        for text in ["", "10", "-11", "--1", "5:2", "a:b", "-1:3", "1:2:3"] {
            assert!(entries(Some(text), 10).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_double_along_the_clusters() {
        let parts = |clusters: &[u64], range: Range<u64>| -> Vec<(u64, u64)> {
            growing(clusters, range).into_iter().map(|r| (r.start, r.end)).collect()
        };
        let clusters = [0, 10, 20, 30, 40, 50, 60, 70, 75];
        assert_eq!(parts(&clusters, 0..75), [(0, 10), (10, 30), (30, 70), (70, 75)]);
        assert_eq!(parts(&clusters, 5..35), [(5, 10), (10, 30), (30, 35)]);
        assert_eq!(parts(&[0, 7], 0..7), [(0, 7)]);
        assert_eq!(parts(&[], 3..9), [(3, 9)]);
        assert_eq!(parts(&clusters, 5..5), []);
    }
}
