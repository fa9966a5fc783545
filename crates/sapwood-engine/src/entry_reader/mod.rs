//! Reading entry by entry, as a loop over a tree does: what is read next is learnt from what was read.
//!
//! For the first entries (100 by default) each basket is fetched as it is touched, and the branches that
//! were are noted. Then whole clusters of these branches are read, ahead of the entry and in the direction in which it
//! moves. A jump fetches the baskets of the learnt branches with that entry, and nothing else; a branch that was not
//! learnt is fetched alone, and joins the others when it is wanted for a second basket.

mod navigation;

use crate::batch::Batch;
use crate::options::ScanOptions;
use crate::scan::{Scan, basket_at};
use crate::tree::Tree;
use bytes::Bytes;
use sapwood_column::Array;
use sapwood_plan::{CacheSize, Request};
use sapwood_span::{Error, Result, Span};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Entries that are learnt from, as in `TTreeCache`.
const LEARN: u64 = 100;

/// With the first entry, the baskets of all branches come along when they have no more bytes than this.
const PREFILL: u64 = 128 << 10;

/// Records kept as they are in the file, because a later block may want other entries of them.
const KEPT: u64 = 16 << 20;

/// How often a branch that was not learnt is fetched alone before it joins the others.
const MAX_SOLO_FETCHES: u32 = 2;

/// The least that a cache of automatic size holds.
const LEAST: u64 = 256 << 10;

/// What a reader did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryStats {
    /// Whether it still learns.
    pub learning: bool,
    /// The branches that are read ahead.
    pub cached: Vec<usize>,
    /// Columns of clusters that were read ahead.
    pub blocks: u64,
    /// Baskets that had to be fetched when they were requested.
    pub misses: u64,
    /// Jumps to entries that nothing had been read for.
    pub jumps: u64,
}

/// Values of a branch: a column, and the entries of the tree that it holds.
#[derive(Clone, Debug)]
pub struct Block {
    /// Which entries.
    pub entries: Range<u64>,
    /// Their values.
    pub column: Arc<Array>,
}

/// Reads single entries of a tree, in any order.
pub struct EntryReader {
    tree: Tree,
    cache: CacheSize,
    threads: usize,
    learn: u64,
    learning: bool,
    /// The first entry that was asked for, and how many different ones have been.
    begun: Option<u64>,
    visited: u64,
    last: Option<u64>,
    /// Branches read ahead, in the order in which they were met.
    cached: Vec<usize>,
    /// What can be served.
    held: HashMap<usize, Block>,
    /// Records of baskets that were fetched alone.
    records: HashMap<u64, Bytes>,
    record_bytes: u64,
    /// The entries of the block that holds all cached branches.
    block: Range<u64>,
    forward: Option<Scan>,
    backward: VecDeque<(Range<u64>, Scan)>,
    alone: HashMap<usize, u32>,
    stats: EntryStats,
}

impl Tree {
    /// The size of ROOT's cache for this tree when nobody says one, in bytes: half as much again as a cluster takes in
    /// the file (`TTree::GetCacheAutoSize`).
    pub fn automatic_cache_size(&self) -> u64 {
        let h = self.header();
        let (zip, entries) = (h.zip_bytes as f64, h.entries as f64);
        match h.auto_flush {
            n if n < 0 => n.unsigned_abs(),
            0 => {
                let mut sizes: Vec<u64> = self.clusters().windows(2).map(|w| w[1].saturating_sub(w[0])).collect();
                sizes.sort_unstable();
                let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
                (1.5 * median as f64 * zip / (entries + 1.0)) as u64
            }
            n => (1.5 * n as f64 * zip / (entries + 1.0)) as u64,
        }
    }

    /// A reader of single entries; cache and threads are those that the file was opened with.
    pub fn entry_reader(&self) -> EntryReader {
        EntryReader {
            cache: self.file().options().cache,
            threads: 0,
            tree: self.clone(),
            learn: LEARN,
            learning: true,
            begun: None,
            visited: 0,
            last: None,
            cached: Vec::new(),
            held: HashMap::new(),
            records: HashMap::new(),
            record_bytes: 0,
            block: 0..0,
            forward: None,
            backward: VecDeque::new(),
            alone: HashMap::new(),
            stats: EntryStats::default(),
        }
    }
}

impl EntryReader {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Reads a branch ahead, or all that a pattern fits (`*`), without learning them; gives how many it added. After
    /// `*` there is nothing left to learn.
    ///
    /// # Errors
    /// `NotFound` when nothing fits; `Unsupported` for one branch that cannot be read.
    pub fn add_branch(&mut self, name: &str) -> Result<usize> {
        let before = self.cached.len();
        for branch in self.tree.find_all(name)? {
            self.tree.column_type(branch)?;
            self.join(branch);
        }
        if name == "*" {
            self.stop_learning();
        }
        Ok(self.cached.len() - before)
    }

    /// Reads a branch ahead no more.
    pub fn drop_branch(&mut self, branch: usize) {
        self.cached.retain(|&b| b != branch);
        self.forget_ahead();
    }

    /// Goes by what has been learnt so far.
    pub fn stop_learning(&mut self) {
        self.learning = false;
    }

    /// Learns from so many entries; those behind it were learnt from already if there were more.
    pub fn set_learn_entries(&mut self, entries: u64) {
        self.learn = entries;
        self.learning &= self.visited < entries;
    }

    /// Holds at most so many compressed bytes from now on. Off: basket by basket, nothing ahead.
    pub fn set_cache_size(&mut self, cache: CacheSize) {
        self.cache = cache;
        self.forget_ahead();
    }

    /// Number of threads that decompress and decode; 0: as set when the file was opened.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// What it did so far.
    pub fn stats(&self) -> EntryStats {
        EntryStats { learning: self.learning, cached: self.cached.clone(), ..self.stats.clone() }
    }

    /// The values of a branch around an entry: a column that holds it.
    ///
    /// # Errors
    /// An entry that the branch does not have, a branch that cannot be read, and whatever fails below.
    pub fn get(&mut self, branch: usize, entry: u64) -> Result<Block> {
        let first = self.held.is_empty();
        if let Some(block) = self.held.get(&branch).filter(|b| b.entries.contains(&entry)) {
            let block = block.clone();
            if self.learning {
                // it came along with another
                self.join(branch);
            }
            return Ok(block);
        }
        if entry >= self.tree.entries_of(branch) {
            return Err(Error::invalid(format!(
                "there is no entry {entry}: there are {}",
                self.tree.entries_of(branch)
            ))
            .in_file(self.tree.file().url()));
        }
        self.visit(entry);
        if matches!(self.cache, CacheSize::Off | CacheSize::Bytes(0)) {
            self.fetch(&[branch], entry)?;
        } else if self.cached.contains(&branch) && !self.learning {
            self.advance(branch, entry)?;
        } else {
            self.miss(branch, entry, first)?;
        }
        let block = self.held.get(&branch).filter(|b| b.entries.contains(&entry));
        block
            .cloned()
            .ok_or_else(|| Error::invalid(format!("entry {entry} was not read")).in_file(self.tree.file().url()))
    }

    fn visit(&mut self, entry: u64) {
        let begun = *self.begun.get_or_insert(entry);
        if self.last != Some(entry) {
            self.visited += 1;
        }
        self.last = Some(entry);
        // what was served without being asked for counts as well
        if self.visited > self.learn || entry.abs_diff(begun) >= self.learn {
            self.learning = false;
        }
    }

    fn join(&mut self, branch: usize) {
        if !self.cached.contains(&branch) {
            self.cached.push(branch);
            self.forget_ahead();
        }
    }

    /// What was begun was for other branches, or with another budget.
    fn forget_ahead(&mut self) {
        self.forward = None;
        self.backward.clear();
    }

    /// A branch that nothing was read ahead for.
    fn miss(&mut self, branch: usize, entry: u64, first: bool) -> Result<()> {
        if self.learning {
            self.join(branch);
        }
        if first && self.learning {
            // ROOT reads the first cluster of all branches; here only what costs next to nothing comes along
            let all: Vec<usize> = self.neighbours(branch);
            let bytes: u64 = all.iter().filter_map(|&b| self.span(b, entry)).map(|s| s.len).sum();
            if bytes <= PREFILL {
                let before = self.stats.misses;
                self.fetch(&all, entry)?;
                self.stats.misses = before + 1;
                return Ok(());
            }
        }
        self.fetch(&[branch], entry)?;
        let count = self.alone.entry(branch).or_default();
        *count += 1;
        if *count >= MAX_SOLO_FETCHES && !self.learning {
            self.join(branch);
        }
        Ok(())
    }

    /// All branches with values, this one first.
    fn neighbours(&self, branch: usize) -> Vec<usize> {
        let header = self.tree.header();
        let others = self.tree.order().iter().copied().filter(|&b| {
            b != branch
                && header.branches[b].children.is_empty()
                && self.tree.entries_of(b) == self.tree.entries()
                && self.tree.column_type(b).is_ok()
        });
        std::iter::once(branch).chain(others).collect()
    }

    /// Position of the record of a branch's basket with an entry; none in the tree's header.
    fn span(&self, branch: usize, entry: u64) -> Option<Span> {
        basket_at(&self.tree, branch, entry).and_then(|(_, span)| span)
    }

    /// Fetches the baskets of these branches with an entry in one request, and serves them.
    fn fetch(&mut self, branches: &[usize], entry: u64) -> Result<()> {
        let known = |s: &Span| self.records.contains_key(&s.start);
        let size = self.tree.file().size();
        let spans: Vec<Span> = branches.iter().filter_map(|&b| self.span(b, entry)).collect();
        let mut missing: Vec<Span> = spans.into_iter().filter(|s| !known(s) && s.end() <= size).collect();
        missing.sort();
        missing.dedup();
        if !missing.is_empty() {
            self.stats.misses += missing.len() as u64;
            for (span, bytes) in missing.iter().zip(self.tree.file().read(&missing)?) {
                self.keep(*span, bytes);
            }
        }
        for &branch in branches {
            let Some((entries, _)) = basket_at(&self.tree, branch, entry) else { continue };
            let batch = self.scan(&[branch], entries.clone(), false)?.next().transpose()?;
            self.serve(&[branch], batch);
        }
        Ok(())
    }

    fn keep(&mut self, span: Span, bytes: Bytes) {
        if self.record_bytes + span.len > KEPT.min(self.budget().max(span.len)) {
            self.records.clear();
            self.record_bytes = 0;
        }
        self.record_bytes += span.len;
        self.records.insert(span.start, bytes);
    }

    fn scan(&self, branches: &[usize], entries: Range<u64>, ahead: bool) -> Result<Scan> {
        let options = ScanOptions {
            branches: branches.to_vec(),
            step: crate::StepSize::All,
            ..self.options(entries, CacheSize::Bytes(self.budget()))
        };
        Scan::start(&self.tree, &options, ahead)
    }

    fn options(&self, entries: Range<u64>, cache: CacheSize) -> ScanOptions {
        ScanOptions {
            entries: Some(entries),
            cache: Some(cache),
            threads: self.threads,
            known: Arc::new(self.records.clone()),
            ..ScanOptions::default()
        }
    }

    /// Compressed bytes that may be held.
    fn budget(&self) -> u64 {
        match self.cache {
            CacheSize::Bytes(n) => n.max(1),
            CacheSize::Auto | CacheSize::Off => self.tree.automatic_cache_size().clamp(LEAST, Request::DEFAULT_HOLD),
        }
    }

    fn serve(&mut self, branches: &[usize], batch: Option<Batch>) {
        let Some(batch) = batch else { return };
        for (&branch, column) in branches.iter().zip(batch.columns) {
            let block = Block { entries: batch.entries.clone(), column: Arc::new(column) };
            self.held.insert(branch, block);
        }
    }
}
