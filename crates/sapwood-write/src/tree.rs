use crate::append::Old;
use crate::basket::{Branch, Home};
use crate::basket_sizes::{Facts, choose};
use crate::column::{Data, Input};
use crate::commit;
use crate::core::{Core, Shared};
use crate::cursor::Cursor;
use crate::directory::DirectoryId;
use crate::feed::{Feed, Piece};
use crate::key::Key;
use crate::layout::Cluster;
use crate::producers::{Gathered, Lane};
use crate::schema::{BranchSpec, BranchType, check_basket_bytes, resolve};
use crate::take::{Taken, take};
use crate::tree_header::{self, TreeFacts};
use sapwood_codec::Compression;
use sapwood_column::Array;
use sapwood_span::{Error, Result};
use std::collections::HashSet;

/// How a tree is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// When all branches' baskets are written together.
    pub cluster: Cluster,
    /// Bytes of a basket before compression, key included, beyond which it is written: 100 to 536 870 912. An
    /// entry that is larger has a basket of its own.
    pub basket_bytes: u32,
    /// The baskets' compression; the file's when `None`.
    pub compression: Option<Compression>,
    /// Whether basket sizes are chosen anew at the first flush, as ROOT does, so that a cluster's entries of a branch
    /// fit into one basket.
    pub optimize_baskets: bool,
    /// Compressed bytes after which, at the next end of a cluster, the file is made whole: what a killed process loses
    /// at most. 0: never.
    pub auto_save_bytes: u64,
}

impl Default for TreeOptions {
    /// ROOT's: clusters of 30 MB compressed, baskets of 32000 bytes at first.
    fn default() -> Self {
        Self {
            cluster: Cluster::Bytes(30_000_000),
            basket_bytes: 32_000,
            compression: None,
            optimize_baskets: true,
            auto_save_bytes: 30_000_000,
        }
    }
}

/// ROOT's standing rule of when to save the header, as long as it is not known in entries (`TTree::fAutoSave`).
const AUTO_SAVE: i64 = -300_000_000;
/// Bytes of objects that are made at a time.
const STEP: usize = 8 << 20;

/// What a tree keeps between flushes.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Entries so far.
    pub(crate) entries: u64,
    /// Entries at the last end of a cluster; 0 before the first.
    pub(crate) flushed: u64,
    /// Entries when ROOT would have saved the header last.
    pub(crate) saved: u64,
    /// Where clusters are counted from.
    pub(crate) origin: u64,
    pub(crate) cluster: Cluster,
    pub(crate) auto_save: i64,
    /// Ranges of clusters that ended: last entry and entries of a cluster.
    pub(crate) ranges: Vec<(u64, u64)>,
    /// Names for expressions.
    pub(crate) aliases: Vec<(String, String)>,
}

/// Writes a tree into a file: entries in batches of columns, of any size.
///
/// The bytes written do not depend on how the entries are cut into batches, nor on the number of threads.
pub struct TreeWriter {
    core: Shared,
    home: Home,
    directory: DirectoryId,
    title: String,
    branches: Vec<Branch>,
    inputs: Vec<Input>,
    options: TreeOptions,
    progress: Progress,
    /// The key under which the tree was saved last.
    saved: Option<Key>,
    /// Bytes of baskets so far, before compression.
    submitted: u64,
    /// The same when the file was made whole last.
    submitted_at_save: u64,
    /// Compressed bytes then.
    saved_bytes: u64,
}

impl TreeWriter {
    pub(crate) fn begin(
        shared: &Shared,
        core: &mut Core,
        directory: DirectoryId,
        name: &str,
        title: &str,
        branches: &[BranchSpec],
        options: TreeOptions,
    ) -> Result<Self> {
        check_basket_bytes(options.basket_bytes)?;
        if matches!(options.cluster, Cluster::Entries(0) | Cluster::Bytes(0)) {
            return Err(Error::invalid("clusters cannot be empty").with_remedy("choose 1 or more, or Cluster::Never"));
        }
        let (columns, inputs) = resolve(branches)?;
        core.described.add_own("TTree");
        for column in &columns {
            core.described.add_own(if column.element.is_some() { "TBranchElement" } else { "TBranch" });
            if let Some(leaf) = &column.leaf {
                core.described.add_own(leaf.class);
            }
        }
        for spec in branches {
            if let BranchType::Object(ty) = &spec.ty {
                ty.describe(&mut core.described);
            }
        }
        let compression = options.compression.unwrap_or(core.compression);
        let home = Home { tree: core.tables.len(), name: name.into(), parent: core.directory(directory)?.seek };
        core.tables.push(vec![crate::core::Table::default(); columns.len()]);
        core.open_trees.push((directory, name.to_owned()));
        let branch = |column| Branch::new(column, name, options.basket_bytes, compression);
        Ok(Self {
            core: shared.clone(),
            home,
            directory,
            title: title.to_owned(),
            branches: columns.into_iter().map(branch).collect(),
            inputs,
            options,
            progress: Progress {
                entries: 0,
                flushed: 0,
                saved: 0,
                origin: 0,
                cluster: options.cluster,
                auto_save: AUTO_SAVE,
                ranges: Vec::new(),
                aliases: Vec::new(),
            },
            saved: None,
            submitted: 0,
            submitted_at_save: 0,
            saved_bytes: 0,
        })
    }

    /// Goes on with a tree that is in the file.
    pub(crate) fn resume(
        shared: &Shared,
        core: &mut Core,
        old: Old,
        specs: &[BranchSpec],
        options: TreeOptions,
    ) -> Result<Self> {
        let (tree, directory) = (&old.tree, old.directory);
        // laid out before anything is noted in the core
        let (columns, _) = resolve(specs)?;
        let branches = old.branches(&columns)?;
        let tables = branches.iter().map(|b| old.table(b)).collect::<Result<Vec<_>>>()?;
        let mut new = Self::begin(shared, core, directory, &tree.name, &tree.title, specs, options)?;
        let (cluster, origin, ranges) = old.clusters(options.cluster);
        for (branch, was) in new.branches.iter_mut().zip(&branches) {
            branch.basket_bytes = was.basket_size.max(100);
            branch.baskets = was.write_basket;
            branch.largest = was.element.as_ref().map_or(0, |e| i64::from(e.maximum));
            if let Some(leaf) = was.leaves.first().and_then(|&l| tree.leaves.get(l)) {
                branch.largest = branch.largest.max(leaf.maximum);
            }
            if branch.offsets_len > 0 {
                branch.offsets_len = u32::try_from(was.entry_offset_len).unwrap_or(0).max(10);
            }
        }
        if let Some(place) = core.tables.get_mut(new.home.tree) {
            *place = tables;
        }
        new.progress = Progress {
            entries: tree.entries,
            flushed: if matches!(cluster, Cluster::Entries(_)) { tree.entries } else { 0 },
            saved: 0,
            origin,
            cluster,
            auto_save: new.progress.auto_save,
            ranges,
            aliases: tree.aliases.clone(),
        };
        new.saved = Some(old.key);
        // counters are filled from what they count, unless they are given
        for input in &mut new.inputs {
            let counts = new.branches.get(input.feed.column()).is_some_and(|b| b.column.counts());
            input.automatic |= counts && matches!(input.feed, Feed::Numbers { .. });
        }
        Ok(new)
    }

    /// Entries so far.
    pub fn entries(&self) -> u64 {
        self.progress.entries
    }

    pub(crate) fn input_list(&self) -> &[Input] {
        &self.inputs
    }

    /// Names of the columns to be given, and what each holds: numpy's name of its numbers, or a C++ type.
    pub fn inputs(&self) -> Vec<(String, String)> {
        self.inputs.iter().filter(|i| !i.automatic).map(|i| (i.name.clone(), i.feed.type_name())).collect()
    }

    /// Appends entries: for each branch, by name and in any order, a column of the same length.
    /// Counters that were not declared as branches are filled from the columns they count.
    ///
    /// # Errors
    /// Everything is checked first: after an error of kind `Invalid` or `NotFound` nothing was
    /// appended and the tree can go on. What the disk says ends the file.
    pub fn extend(&mut self, columns: &[(&str, &Array)]) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        let inputs = std::mem::take(&mut self.inputs);
        let done = take(&inputs, columns).map_err(|e| core.named(e)).and_then(|taken| {
            core.attempt(|core| self.extend_in_steps(core, &inputs, &taken).map_err(|e| core.named(e)))
        });
        self.inputs = inputs;
        done
    }

    fn extend_in_steps(&mut self, core: &mut Core, inputs: &[Input], taken: &Taken<'_>) -> Result<()> {
        let step = if inputs.iter().any(|i| i.feed.makes_bytes()) { taken.step(STEP) } else { taken.entries };
        let mut from = 0;
        while from < taken.entries {
            let to = taken.entries.min(from + step.max(1));
            let mut pieces: Vec<Option<Piece<'_>>> = self.branches.iter().map(|_| None).collect();
            taken.hand(inputs, from..to, &mut pieces)?;
            for (branch, piece) in self.branches.iter_mut().zip(&pieces) {
                if let Some(piece) = piece {
                    branch.survey(piece);
                }
            }
            self.fill(core, &pieces, to - from)?;
            from = to;
        }
        Ok(())
    }

    /// What its branches' baskets hold.
    pub(crate) fn lanes(&self) -> Vec<Lane> {
        self.branches.iter().map(|b| Lane::of(&b.column)).collect()
    }

    /// Appends entries whose bytes a producer made for these branches.
    pub(crate) fn extend_gathered(&mut self, gathered: &Gathered) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.attempt(|core| {
            for (branch, strand) in self.branches.iter_mut().zip(&gathered.strands) {
                branch.largest = branch.largest.max(strand.largest);
            }
            self.fill(core, &gathered.pieces(), gathered.entries).map_err(|e| core.named(e))
        })
    }

    /// Ends the cluster here, whatever its size, so that what follows begins a new one.
    ///
    /// # Errors
    /// What the disk says.
    pub fn flush(&mut self) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.attempt(|core| {
            self.flush_baskets(core)?;
            self.progress.flushed = self.progress.entries;
            self.mark_cluster();
            Ok(())
        })
    }

    /// Writes what is left and the tree's header.
    ///
    /// # Errors
    /// What the disk says.
    pub fn finish(mut self) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.attempt(|core| {
            self.flush_baskets(core)?;
            self.write_header(core)?;
            core.open_trees.retain(|(d, t)| *d != self.directory || **t != *self.home.name);
            Ok(())
        })
    }

    /// Appends the batch's entries, writing each basket when it is full.
    fn fill(&mut self, core: &mut Core, pieces: &[Option<Piece<'_>>], len: usize) -> Result<()> {
        let mut cursor = Cursor::new(&self.branches, pieces, len);
        while cursor.at < len {
            let boundary = self
                .progress
                .cluster
                .end_after(self.progress.entries, self.progress.origin)
                .and_then(|end| usize::try_from(end - self.progress.entries).ok())
                .map_or(len, |n| len.min(cursor.at.saturating_add(n)));
            let at = cursor.next_end().map_or(boundary, |end| end.min(boundary));
            self.progress.entries += (at - cursor.at) as u64;
            cursor.at = at;
            let mut written = false;
            while let Some(i) = cursor.pop_at(at) {
                let Some((branch, Some(piece))) = self.branches.get_mut(i).zip(pieces.get(i)) else { continue };
                cursor.catch_up(core, branch, piece, i);
                self.submitted += branch.write_basket(core, i, &self.home)?;
                cursor.plan(branch, piece, i);
                written = true;
            }
            let progress = &self.progress;
            let whole = progress.entries > 0
                && progress.cluster.end_after(progress.entries - 1, progress.origin) == Some(progress.entries);
            let full = match progress.cluster {
                Cluster::Bytes(limit) if written => core.exceeds(self.home.tree, limit)?,
                _ => false,
            };
            if whole || full {
                for (i, (branch, piece)) in self.branches.iter_mut().zip(pieces).enumerate() {
                    if let Some(piece) = piece {
                        cursor.catch_up(core, branch, piece, i);
                    }
                }
                self.end_cluster(core)?;
                cursor.plan_all(&self.branches, pieces);
            }
        }
        for (i, (branch, piece)) in self.branches.iter_mut().zip(pieces).enumerate() {
            if let Some(piece) = piece {
                cursor.catch_up(core, branch, piece, i);
            }
        }
        Ok(())
    }

    /// Writes all baskets at the end of a cluster; at the first, sizes are chosen and the rule is made one of entries.
    fn end_cluster(&mut self, core: &mut Core) -> Result<()> {
        if self.progress.flushed == 0 {
            core.drain()?;
            let zip_before = self.zip_bytes(core);
            self.flush_baskets(core)?;
            core.drain()?;
            if self.options.optimize_baskets {
                self.choose_sizes(core);
            }
            let entries = self.progress.entries.max(1);
            self.progress.cluster = Cluster::Entries(entries);
            self.progress.auto_save = auto_save(self.progress.auto_save, zip_before, self.total_bytes(core), entries);
        } else {
            self.flush_baskets(core)?;
        }
        let progress = &mut self.progress;
        progress.flushed = progress.entries;
        if u64::try_from(progress.auto_save).is_ok_and(|n| n > 0 && progress.entries.is_multiple_of(n)) {
            progress.saved = progress.entries;
        }
        self.auto_save(core)
    }

    /// Makes the file whole when enough bytes came since it was so last. A file that is updated stays what it was.
    fn auto_save(&mut self, core: &mut Core) -> Result<()> {
        let bytes = self.options.auto_save_bytes;
        // what is on its way counts uncompressed, so that threads need not be waited for without need
        if bytes == 0 || core.updating || self.submitted.saturating_sub(self.submitted_at_save) < bytes {
            return Ok(());
        }
        core.drain()?;
        let zip_bytes = self.zip_bytes(core);
        if zip_bytes.saturating_sub(self.saved_bytes) >= bytes {
            self.saved_bytes = zip_bytes;
            self.submitted_at_save = self.submitted;
            self.write_header(core)?;
            commit::write(core)?;
        }
        Ok(())
    }

    fn choose_sizes(&mut self, core: &Core) {
        let tables = core.tables.get(self.home.tree).map(Vec::as_slice).unwrap_or_default();
        // a branch with sub-branches keeps its size; one without a leaf is not asked
        let mothers: HashSet<usize> = self.branches.iter().filter_map(|b| b.column.parent).collect();
        let with_leaf = |b: &Branch| b.column.leaf.is_some();
        let leaves: Vec<Facts> = self
            .branches
            .iter()
            .zip(tables)
            .enumerate()
            .filter(|(_, (b, _))| with_leaf(b))
            .map(|(i, (b, table))| Facts {
                total_bytes: table.total_bytes,
                entries: table.entries,
                basket_bytes: b.basket_bytes,
                offsets_len: b.offsets_len,
                mother: mothers.contains(&i),
                name_len: b.column.name.len(),
            })
            .collect();
        let sizes = choose(&leaves, self.total_bytes(core), self.progress.entries);
        for (branch, size) in self.branches.iter_mut().filter(|b| with_leaf(b)).zip(sizes) {
            branch.basket_bytes = size;
        }
    }

    /// Writes all baskets that hold anything.
    fn flush_baskets(&mut self, core: &mut Core) -> Result<()> {
        for (i, branch) in self.branches.iter_mut().enumerate() {
            self.submitted += branch.write_basket(core, i, &self.home)?;
        }
        Ok(())
    }

    /// Notes that a cluster ends here, out of turn (`TTree::MarkEventCluster`).
    fn mark_cluster(&mut self) {
        let p = &mut self.progress;
        let begun = p.ranges.last().map_or(0, |(last, _)| last + 1);
        if p.entries > begun {
            let size = match p.cluster {
                Cluster::Entries(n) => n,
                _ => p.entries - begun,
            };
            p.ranges.push((p.entries - 1, size));
            p.origin = p.entries;
        }
    }

    /// Writes the tree's header, in the place of the one saved before.
    fn write_header(&mut self, core: &mut Core) -> Result<()> {
        core.drain()?;
        let mut key = core.new_key(self.directory, "TTree", &self.home.name, &self.title)?;
        if let Some(old) = self.saved.take() {
            key.cycle = old.cycle;
            core.space.free(old.span());
            core.directory_mut(self.directory)?.keys.retain(|k| k.seek != old.seek);
        }
        let tables = core.tables.get(self.home.tree).cloned().unwrap_or_default();
        let facts = TreeFacts { name: &self.home.name, title: &self.title, progress: &self.progress };
        let payload = |key_len| tree_header::payload(&facts, &self.branches, &tables, key_len);
        self.saved = Some(core.append_object(key, self.directory, core.compression, payload)?);
        Ok(())
    }

    fn zip_bytes(&self, core: &Core) -> u64 {
        core.tables.get(self.home.tree).map_or(0, |t| t.iter().map(|b| b.zip_bytes).sum())
    }

    fn total_bytes(&self, core: &Core) -> u64 {
        core.tables.get(self.home.tree).map_or(0, |t| t.iter().map(|b| b.total_bytes).sum())
    }
}

/// ROOT's rule of saving the header, once it is known how many bytes the entries take (`TTree::Fill`).
fn auto_save(rule: i64, zip_bytes: u64, total_bytes: u64, entries: u64) -> i64 {
    let entries = i64::try_from(entries).unwrap_or(i64::MAX);
    if rule >= 0 {
        return entries * (rule / entries);
    }
    let bytes = if zip_bytes > 0 { zip_bytes } else { total_bytes };
    let times = (-rule).checked_div(i64::try_from(bytes).unwrap_or(i64::MAX)).unwrap_or(0);
    entries.max(entries.saturating_mul(times / entries))
}

impl std::fmt::Debug for TreeWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("TreeWriter");
        f.field("name", &self.home.name).field("entries", &self.progress.entries).finish_non_exhaustive()
    }
}

impl Branch {
    /// Whether it has baskets of its own.
    pub(crate) fn has_data(&self) -> bool {
        self.column.data != Data::None
    }
}
