use crate::basket::Branch;
use crate::batch::{self, Batch};
use crate::file::{Core, Shared};
use crate::layout::{Cluster, basket_end};
use crate::schema::{BranchSpec, check_name, check_title, resolve};
use crate::tree_header::{self, TreeFacts};
use sapwood_codec::Compression;
use sapwood_column::Array;
use sapwood_span::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a tree is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// When all branches' baskets are written together.
    pub cluster: Cluster,
    /// Bytes of a basket before compression, beyond which it is written: 100 to 536 870 912. An
    /// entry that is larger has a basket of its own.
    pub basket_bytes: u32,
    /// The baskets' compression; the file's when `None`.
    pub compression: Option<Compression>,
}

impl Default for TreeOptions {
    /// ROOT's: clusters of 30 MB compressed, baskets of 32000 bytes.
    fn default() -> Self {
        Self { cluster: Cluster::Bytes(30_000_000), basket_bytes: 32_000, compression: None }
    }
}

/// Writes a tree into a file: entries in batches of columns, of any size.
///
/// The bytes written do not depend on how the entries are cut into batches.
pub struct TreeWriter {
    core: Shared,
    name: String,
    title: String,
    branches: Vec<Branch>,
    basket_bytes: u32,
    compression: Compression,
    cluster: Cluster,
    /// Entries so far.
    entries: u64,
    /// Compressed bytes at the last flush of all baskets.
    flushed_bytes: u64,
}

impl TreeWriter {
    pub(crate) fn new(
        core: Shared,
        name: &str,
        title: &str,
        branches: &[BranchSpec],
        options: TreeOptions,
        compression: Compression,
    ) -> Result<Self> {
        check_name("tree", name)?;
        check_title(title)?;
        if !(100..=1 << 29).contains(&options.basket_bytes) {
            return Err(Error::invalid(format!("baskets cannot have {} bytes", options.basket_bytes))
                .with_remedy("choose 100 to 536870912"));
        }
        if matches!(options.cluster, Cluster::Entries(0) | Cluster::Bytes(0)) {
            return Err(Error::invalid("clusters cannot be empty").with_remedy("choose 1 or more, or Cluster::Never"));
        }
        let branches = resolve(branches)?.into_iter().map(Branch::new).collect();
        Ok(Self {
            core,
            name: name.to_owned(),
            title: title.to_owned(),
            branches,
            basket_bytes: options.basket_bytes,
            compression: options.compression.unwrap_or(compression),
            cluster: options.cluster,
            entries: 0,
            flushed_bytes: 0,
        })
    }

    /// Entries given so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends entries: for each branch, by name and in any order, a column of the same length.
    /// Counters that were not declared as branches are filled from the columns they count.
    ///
    /// Everything is checked first: after an error of kind `Invalid` or `NotFound` nothing was
    /// appended and the tree can go on.
    pub fn extend(&mut self, columns: &[(&str, &Array)]) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        let schema: Vec<_> = self.branches.iter().map(|b| &b.column).collect();
        let (batches, len) = batch::check(&schema, columns).map_err(|e| core.named(e))?;
        for (branch, batch) in self.branches.iter_mut().zip(&batches) {
            branch.survey(batch);
        }
        core.attempt(|core| self.fill(core, &batches, len))
    }

    /// Writes what is left and the tree's header.
    pub fn finish(mut self) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        core.attempt(|core| {
            self.flush(core)?;
            let facts = TreeFacts {
                name: &self.name,
                title: &self.title,
                entries: self.entries,
                auto_flush: self.cluster.auto_flush(),
                flushed_bytes: self.flushed_bytes,
                basket_bytes: self.basket_bytes,
                compression: self.compression,
            };
            let payload = |key_len| tree_header::payload(&facts, &self.branches, key_len);
            let key = core.append_record("TTree", &self.name, &self.title, payload)?;
            core.keys.push(key);
            Ok(())
        })
    }

    /// Appends the batch's entries, writing each basket when an entry comes that it has no room for.
    fn fill(&mut self, core: &mut Core, batches: &[Batch<'_>], len: usize) -> Result<()> {
        let mut cursor = Cursor::new(self, batches, len);
        while cursor.at < len {
            let boundary = self
                .cluster
                .end_after(self.entries)
                .and_then(|end| usize::try_from(end - self.entries).ok())
                .map_or(len, |n| len.min(cursor.at.saturating_add(n)));
            match cursor.next_before(boundary) {
                Some((at, i)) => {
                    self.advance(&mut cursor, at);
                    let Some((branch, batch)) = self.branches.get_mut(i).zip(batches.get(i)) else { continue };
                    cursor.catch_up(branch, batch, i, at);
                    branch.write_basket(core, &self.name, self.compression, self.basket_bytes)?;
                    cursor.plan(branch, batch, i, self.basket_bytes);
                    if let Cluster::Bytes(limit) = self.cluster
                        && self.zip_bytes() > limit
                    {
                        self.cluster = Cluster::Entries(self.entries.max(1));
                        self.flush_at(core, &mut cursor, batches)?;
                    }
                }
                None => {
                    self.advance(&mut cursor, boundary);
                    if self.cluster.end_after(self.entries.saturating_sub(1)) == Some(self.entries) {
                        self.flush_at(core, &mut cursor, batches)?;
                    }
                }
            }
        }
        for (i, (branch, batch)) in self.branches.iter_mut().zip(batches).enumerate() {
            cursor.catch_up(branch, batch, i, len);
        }
        Ok(())
    }

    fn advance(&mut self, cursor: &mut Cursor, to: usize) {
        self.entries += (to - cursor.at) as u64;
        cursor.at = to;
    }

    /// Ends the cluster where the cursor is.
    fn flush_at(&mut self, core: &mut Core, cursor: &mut Cursor, batches: &[Batch<'_>]) -> Result<()> {
        for (i, (branch, batch)) in self.branches.iter_mut().zip(batches).enumerate() {
            cursor.catch_up(branch, batch, i, cursor.at);
        }
        self.flush(core)?;
        cursor.plan_all(self, batches);
        Ok(())
    }

    /// Writes all baskets that hold anything.
    fn flush(&mut self, core: &mut Core) -> Result<()> {
        for branch in &mut self.branches {
            branch.write_basket(core, &self.name, self.compression, self.basket_bytes)?;
        }
        self.flushed_bytes = self.zip_bytes();
        Ok(())
    }

    fn zip_bytes(&self) -> u64 {
        self.branches.iter().map(|b| b.zip_bytes).sum()
    }
}

impl std::fmt::Debug for TreeWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeWriter").field("name", &self.name).field("entries", &self.entries).finish_non_exhaustive()
    }
}

/// Where a batch's entries have come to, branch by branch.
struct Cursor {
    /// The entry of the batch that all branches are at, or could be.
    at: usize,
    len: usize,
    /// The entry of the batch that each branch is at.
    taken: Vec<usize>,
    /// The entry before which each branch's basket must be written, earliest first.
    ends: BinaryHeap<Reverse<(usize, usize)>>,
}

impl Cursor {
    fn new(tree: &TreeWriter, batches: &[Batch<'_>], len: usize) -> Self {
        let mut cursor = Self { at: 0, len, taken: vec![0; batches.len()], ends: BinaryHeap::new() };
        cursor.plan_all(tree, batches);
        cursor
    }

    fn plan_all(&mut self, tree: &TreeWriter, batches: &[Batch<'_>]) {
        self.ends.clear();
        for (i, (branch, batch)) in tree.branches.iter().zip(batches).enumerate() {
            self.plan(branch, batch, i, tree.basket_bytes);
        }
    }

    /// Notes where the branch's basket ends, if it does so within the batch.
    fn plan(&mut self, branch: &Branch, batch: &Batch<'_>, i: usize, basket_bytes: u32) {
        let from = self.taken.get(i).copied().unwrap_or(0);
        if let Some(end) = basket_end(branch.pending(), batch.sizes(), from, self.len, u64::from(basket_bytes)) {
            self.ends.push(Reverse((end, i)));
        }
    }

    /// The next basket that ends before this entry.
    fn next_before(&mut self, boundary: usize) -> Option<(usize, usize)> {
        let &Reverse((at, _)) = self.ends.peek()?;
        if at >= boundary {
            return None;
        }
        self.ends.pop().map(|Reverse(next)| next)
    }

    /// Hands the branch its entries up to `to`.
    fn catch_up(&mut self, branch: &mut Branch, batch: &Batch<'_>, i: usize, to: usize) {
        if let Some(taken) = self.taken.get_mut(i) {
            branch.append(batch, *taken, to);
            *taken = to;
        }
    }
}
