//! From one entry to the next: forwards, backwards, or with a jump.

use super::EntryReader;
use crate::batch::Batch;
use crate::options::ScanOptions;
use crate::scan::Scan;
use sapwood_plan::CacheSize;
use sapwood_span::Result;
use std::ops::Range;

/// Blocks that are read ahead of an entry that moves backwards.
const BACK: usize = 4;

/// Inflated bytes of such a block.
const BLOCK: u64 = 4 << 20;

impl EntryReader {
    /// Makes the cached branches' block the one with this entry, which `branch` lacks.
    pub(super) fn advance(&mut self, branch: usize, entry: u64) -> Result<()> {
        let Some(before) = self.held.get(&branch).map(|b| b.entries.clone()) else {
            // branches were named, and this is the first entry of a loop; or one of them is new
            return if self.begun == Some(entry) { self.go_forward(entry) } else { self.jump(entry) };
        };
        let reach = match self.forward {
            // the ones between have been requested
            Some(_) => (before.end - before.start).max(self.learn),
            None => self.learn.max(1),
        };
        if entry >= before.end && entry - before.end < reach {
            self.go_forward(entry)
        } else if entry < before.start && before.start - entry <= self.learn.max(1) {
            self.go_back(entry)
        } else {
            self.jump(entry)
        }
    }

    fn go_forward(&mut self, entry: u64) -> Result<()> {
        self.backward.clear();
        if self.forward.is_none() {
            let branches = self.cached.clone();
            let entries = entry..self.reach();
            let options = ScanOptions { branches, ..self.options(entries, CacheSize::Bytes(self.budget())) };
            self.forward = Some(Scan::start(&self.tree, &options, false)?);
        }
        while let Some(batch) = self.forward.as_mut().and_then(Iterator::next) {
            let batch = batch?;
            self.stats.blocks += batch.columns.len() as u64;
            if batch.entries.contains(&entry) {
                self.show(batch);
                return Ok(());
            }
        }
        self.forward = None;
        self.jump(entry)
    }

    /// The entry behind the last that all cached branches have.
    fn reach(&self) -> u64 {
        self.cached.iter().map(|&b| self.tree.entries_of(b)).min().unwrap_or(0)
    }

    fn show(&mut self, batch: Batch) {
        self.block = batch.entries.clone();
        let branches = self.cached.clone();
        self.serve(&branches, Some(batch));
    }

    fn go_back(&mut self, entry: u64) -> Result<()> {
        self.forward = None;
        // what is ahead begins right in front of the block, or it is for another place
        if self.backward.front().is_some_and(|(r, _)| entry >= r.end) {
            self.backward.clear();
        }
        loop {
            self.look_back(entry)?;
            let Some((range, mut scan)) = self.backward.pop_front() else { return self.jump(entry) };
            if entry < range.start {
                continue;
            }
            let batch = scan.next().transpose()?;
            drop(scan);
            if let Some(batch) = batch {
                self.stats.blocks += batch.columns.len() as u64;
                self.show(batch);
            }
            // the next ones are on their way while this one is used
            return self.look_back(entry);
        }
    }

    /// Begins to read blocks in front of those that are begun, as far as the budget goes.
    fn look_back(&mut self, entry: u64) -> Result<()> {
        let budget = self.budget();
        loop {
            let held: u64 = self.backward.iter().map(|(_, s)| s.held_bytes()).sum();
            if self.backward.len() >= BACK || (held >= budget / 2 && !self.backward.is_empty()) {
                return Ok(());
            }
            let end = match self.backward.back() {
                Some((r, _)) => r.start,
                None if self.block.contains(&entry) => self.block.start,
                None => entry + 1,
            };
            if end == 0 {
                return Ok(());
            }
            let range = self.block_before(end);
            let branches = self.cached.clone();
            let options = ScanOptions {
                branches,
                step: crate::StepSize::All,
                ..self.options(range.clone(), CacheSize::Bytes((budget / BACK as u64).max(1)))
            };
            self.backward.push_back((range, Scan::start(&self.tree, &options, true)?));
        }
    }

    /// The clusters right in front of an entry, as many as make a block; part of one that is too large.
    fn block_before(&self, end: u64) -> Range<u64> {
        let h = self.tree.header();
        let bytes: u64 = self.cached.iter().filter_map(|&b| h.branches.get(b)).map(|b| b.total_bytes).sum();
        let per_entry = bytes as f64 / h.entries.max(1) as f64;
        let most = if per_entry > 0.0 { ((BLOCK as f64 / per_entry) as u64).max(1) } else { end };
        let least = end.saturating_sub(most);
        let clusters = self.tree.clusters();
        let at = clusters.partition_point(|&c| c < least);
        match clusters.get(at) {
            Some(&start) if start < end => start..end,
            _ => least..end,
        }
    }

    /// The baskets of the cached branches with this entry, and nothing else.
    fn jump(&mut self, entry: u64) -> Result<()> {
        self.forget_ahead();
        self.stats.jumps += 1;
        let branches = self.cached.clone();
        self.fetch(&branches, entry)?;
        self.block = entry..entry + 1;
        Ok(())
    }
}
