//! Friends read beside a scan: ordinary scans of their trees, whose rows are put together for the entries of each batch.

mod row_buffer;

use crate::entries::EntryList;
use crate::friend_rows::{FriendEntries, FriendReader, FriendRequest, FriendRows};
use crate::options::{ScanOptions, StepSize};
use crate::scan::Scan;
use crate::tree::{FriendTree, Tree};
use row_buffer::{RowBuffer, append_default};
use sapwood_column::Array;
use sapwood_span::Result;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An entry that a friend does not have.
const NONE: u64 = u64::MAX;

/// Decoded bytes of a friend's columns that are held as a whole, where its entries are asked for in any order; beyond
/// that, its baskets are read again for each batch.
const MOST_HELD: f64 = 256e6;

/// Which entry of a friend belongs to an entry of a tree.
#[derive(Clone)]
pub enum FriendMatch {
    /// That of the same number, counted from this entry of the friend.
    Entry(u64),
    /// For entries from the first of the range on, those that this gives; `None` where there is none.
    ByIndex(FriendLookup),
}

/// Gives the entry of a friend for each entry of a range; `None` where there is none.
pub type FriendLookup = Arc<dyn Fn(Range<u64>) -> Result<Vec<Option<u64>>> + Send + Sync>;

/// A request for branches of a friend, given as indices into the header of its first tree.
///
/// # Errors
/// As [`FriendTree::first`].
pub fn friend_request(friend: &FriendTree, branches: &[usize], matching: FriendMatch) -> Result<FriendRequest> {
    let first = friend.first()?;
    let header = first.header();
    let bytes: u64 = branches.iter().filter_map(|&b| header.branches.get(b)).map(|b| b.total_bytes).sum();
    let per_entry = bytes as f64 / first.entries().max(1) as f64;
    let empty = branches.iter().map(|&b| Ok(first.column_type(b)?.empty())).collect::<Result<Vec<_>>>()?;
    let (friend, branches) = (friend.clone(), branches.to_vec());
    let names: Vec<String> = branches.iter().map(|&b| first.name_of(b)).collect();
    Ok(FriendRequest::new(per_entry, move |asked| {
        let columns = Columns {
            friend: friend.clone(),
            branches: branches.clone(),
            names: names.clone(),
            empty: empty.clone(),
            cancel: asked.cancel.clone(),
        };
        let reader = Reader::begin(columns, &matching, &asked, per_entry)?;
        Ok(Box::new(reader) as Box<dyn FriendReader>)
    }))
}

/// What is read of a friend.
struct Columns {
    friend: FriendTree,
    /// In its first tree.
    branches: Vec<usize>,
    names: Vec<String>,
    empty: Vec<Array>,
    cancel: Arc<AtomicBool>,
}

impl Columns {
    /// A scan of those of the entries that lie in a file, and the entries before it; nothing where none does.
    fn scan(&self, file: usize, wanted: &EntryList, step: StepSize) -> Result<Option<(Scan, u64)>> {
        let (tree, first) = self.friend.file(file)?;
        let list = wanted.within(&(first..first.saturating_add(tree.entries())));
        if list.is_empty() {
            return Ok(None);
        }
        let list = EntryList::from_ranges(list.runs().iter().map(|r| r.start - first..r.end - first).collect());
        let branches = if file == 0 { self.branches.clone() } else { self.branches_of(&tree)? };
        let whole = list.runs().len() < 2;
        let options = ScanOptions::new(branches).entries(Some(list.hull())).step(step).cancel(self.cancel.clone());
        let options = options.selected((!whole).then(|| Arc::new(list)));
        Ok(Some((tree.scan_ahead(&options)?, first)))
    }

    fn branches_of(&self, tree: &Tree) -> Result<Vec<usize>> {
        self.names.iter().map(|name| tree.find(name)).collect()
    }
}

/// How entries of the tree become entries of the friend.
enum Lookup {
    /// By adding this.
    Offset(u64),
    /// By this table, which begins with an entry of the tree.
    Table(u64, Vec<u64>),
}

impl Lookup {
    fn of(&self, entry: u64) -> u64 {
        match self {
            Lookup::Offset(by) => entry.saturating_add(*by),
            Lookup::Table(first, table) => {
                let at = entry.checked_sub(*first).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| table.get(at)).copied().unwrap_or(NONE)
            }
        }
    }
}

/// A friend that is being read.
struct Reader {
    columns: Columns,
    lookup: Lookup,
    /// Whether its entries are asked for in ascending order: then they are read once, and forgotten behind the last.
    ascends: bool,
    /// Whether it may lack entries: then it says of each batch which it has.
    may_lack: bool,
    /// Whether each batch reads what it needs by itself.
    by_batch: bool,
    wanted: EntryList,
    /// The next of its files.
    next: usize,
    scan: Option<(Scan, u64)>,
    held: VecDeque<RowBuffer>,
}

impl Reader {
    fn begin(columns: Columns, matching: &FriendMatch, asked: &FriendEntries, per_entry: f64) -> Result<Self> {
        let asked_for = asked
            .selected
            .as_ref()
            .map_or_else(|| EntryList::from(asked.entries.clone()), |list| list.within(&asked.entries));
        let (lookup, wanted, ascends) = match matching {
            FriendMatch::Entry(first) => {
                let shifted = |r: &Range<u64>| r.start.saturating_add(*first)..r.end.saturating_add(*first);
                (Lookup::Offset(*first), EntryList::from_ranges(asked_for.runs().iter().map(shifted).collect()), true)
            }
            FriendMatch::ByIndex(look) => {
                let range = asked_for.hull();
                let table: Vec<u64> = look(range.clone())?.into_iter().map(|e| e.unwrap_or(NONE)).collect();
                let lookup = Lookup::Table(range.start, table);
                let found: Vec<u64> = asked_for.iter().map(|e| lookup.of(e)).filter(|e| *e != NONE).collect();
                let ascends = found.is_sorted();
                (lookup, EntryList::from_numbers(found), ascends)
            }
        };
        let may_lack = match matching {
            FriendMatch::ByIndex(_) => true,
            FriendMatch::Entry(_) => {
                columns.friend.files() == 1 && columns.friend.first()?.entries() < wanted.hull().end
            }
        };
        let by_batch = !ascends && per_entry * wanted.len() as f64 > MOST_HELD;
        let mut reader =
            Self { columns, lookup, ascends, may_lack, by_batch, wanted, next: 0, scan: None, held: VecDeque::new() };
        if !by_batch && !reader.wanted.is_empty() {
            // what is needed first is on its way while the tree's own baskets are
            reader.open_next()?;
        }
        Ok(reader)
    }

    /// Begins to read the next file that has wanted entries; whether there was one.
    fn open_next(&mut self) -> Result<bool> {
        let end = self.wanted.hull().end;
        while self.next < self.columns.friend.files() {
            let file = self.next;
            self.next += 1;
            // files that were counted before are not opened for nothing
            match self.columns.friend.known_entries(file) {
                Some(known) if known.start >= end => break,
                Some(known) if !self.wanted.touches(&known) => continue,
                _ => {}
            }
            self.scan = self.columns.scan(file, &self.wanted, StepSize::Cluster)?;
            if self.scan.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads another batch; false when there is no more.
    fn read_more(&mut self) -> Result<bool> {
        loop {
            if let Some((scan, first)) = &mut self.scan {
                if let Some(batch) = scan.next() {
                    self.held.push_back(RowBuffer::new(batch?, *first));
                    return Ok(true);
                }
                self.scan = None;
            }
            if !self.open_next()? {
                return Ok(false);
            }
        }
    }

    /// Appends the rows of these entries of the friend, and says which it has.
    fn gather(&mut self, entries: &[u64]) -> Result<FriendRows> {
        let mut columns = self.columns.empty.clone();
        let mut missing: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while let Some(&entry) = entries.get(at) {
            let rest = &entries[at..];
            let count = match self.find(entry)? {
                Some(held) => {
                    let run = held.run(rest);
                    for (out, column) in columns.iter_mut().zip(&held.columns) {
                        out.append_range(column, run.clone())?;
                    }
                    run.len()
                }
                None => {
                    let count = rest.iter().take_while(|e| **e == entry || **e == NONE).count();
                    columns.iter_mut().for_each(|out| append_default(out, count));
                    missing.push(at..at + count);
                    count
                }
            };
            at += count.max(1);
        }
        let present = (self.may_lack || !missing.is_empty()).then(|| {
            let mut present = vec![true; entries.len()];
            missing.into_iter().for_each(|r| present[r].fill(false));
            present
        });
        Ok(FriendRows { columns, present })
    }

    /// What is held with this entry; reads on until it comes.
    fn find(&mut self, entry: u64) -> Result<Option<&RowBuffer>> {
        if entry == NONE {
            return Ok(None);
        }
        loop {
            if self.ascends {
                while self.held.front().is_some_and(|h| h.end() <= entry) {
                    self.held.pop_front();
                }
            }
            let behind = self.held.back().is_none_or(|h| h.end() <= entry);
            if !behind || !self.read_more()? {
                break;
            }
        }
        let at = self.held.partition_point(|h| h.end() <= entry);
        Ok(self.held.get(at).filter(|h| h.has(entry)))
    }
}

impl FriendReader for Reader {
    fn rows(&mut self, entries: Range<u64>, selected: Option<&EntryList>) -> Result<FriendRows> {
        let entries: Vec<u64> = match selected {
            Some(list) => list.iter().map(|e| self.lookup.of(e)).collect(),
            None => entries.map(|e| self.lookup.of(e)).collect(),
        };
        if self.by_batch {
            (self.next, self.scan) = (0, None);
            self.held.clear();
            self.wanted = EntryList::from_numbers(entries.iter().copied().filter(|e| *e != NONE).collect());
        }
        self.gather(&entries)
    }
}
