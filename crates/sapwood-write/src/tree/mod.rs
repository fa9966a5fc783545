mod clusters;

use crate::appended_tree::AppendedTree;
use crate::basket::{BasketOwner, Branch};
use crate::batch::{CheckedBatch, check_batch};
use crate::column::{Column, Data, Input};
use crate::column_source::{ColumnSource, EntryValues};
use crate::core::{Core, OpenTree, Shared, Table};
use crate::cursor::Cursor;
use crate::directory::DirectoryId;
use crate::existing_tree::{ExistingBranch, Old};
use crate::key::Key;
use crate::layout::Cluster;
use crate::producers::encoded_entries::{EncodedEntries, EntryLayout};
use crate::progress::Progress;
use crate::schema::{BranchSpec, BranchType, check_basket_bytes};
use crate::split_branches::resolve;
use sapwood_codec::Compression;
use sapwood_column::Array;
use sapwood_span::{Error, Result, setters};

/// The layout of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeOptions {
    /// When all branches' baskets are written together.
    pub cluster: Cluster,
    /// Bytes of a basket before compression, key included, beyond which it is written: 100 to 536 870 912. A larger
    /// entry has its own basket.
    pub basket_bytes: u32,
    /// The baskets' compression; the file's when `None`.
    pub compression: Option<Compression>,
    /// Whether basket sizes are chosen again at the first flush, as in ROOT, so that a cluster's entries of a branch
    /// fit into one basket.
    pub optimize_baskets: bool,
    /// Compressed bytes after which, at the next end of a cluster, the file is completed: the most that a killed
    /// process loses. 0: never.
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

setters!(TreeOptions { cluster: Cluster, basket_bytes: u32, optimize_baskets: bool, auto_save_bytes: u64 } into { compression: Option<Compression> });

impl TreeOptions {
    /// ROOT's defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Bytes of objects created at a time.
const STEP: usize = 8 << 20;

/// Writes a tree into a file: entries in batches of columns, of any size.
///
/// The bytes written do not depend on how the entries are divided into batches, nor on the number of threads.
pub struct TreeWriter {
    core: Shared,
    owner: BasketOwner,
    directory: DirectoryId,
    title: String,
    branches: Vec<Branch>,
    inputs: Vec<Input>,
    options: TreeOptions,
    progress: Progress,
    /// The key under which the tree was saved last.
    saved: Option<Key>,
    /// Its header, if it was in the file before.
    resumed: Option<AppendedTree>,
    /// Bytes of baskets so far, before compression.
    submitted: u64,
    /// The same when the file was last complete.
    submitted_at_save: u64,
    /// Compressed bytes at that time.
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
            return Err(
                Error::invalid("the cluster size must not be 0").with_remedy("choose 1 or more, or disable clusters")
            );
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
        Self::new(shared, core, (directory, name, title), (columns, inputs), options)
    }

    fn new(
        shared: &Shared,
        core: &mut Core,
        (directory, name, title): (DirectoryId, &str, &str),
        (columns, inputs): (Vec<Column>, Vec<Input>),
        options: TreeOptions,
    ) -> Result<Self> {
        let compression = options.compression.unwrap_or(core.compression);
        let owner = BasketOwner { tree: core.tables.len(), name: name.into(), parent: core.directory(directory)?.seek };
        core.tables.push(vec![Table::default(); columns.len()]);
        core.open_trees.push(OpenTree { tree: owner.tree, directory, name: name.to_owned(), cycle: None });
        let number = columns.iter().filter(|c| c.data != Data::None).count();
        let branch = |column| Branch::new(column, name, number, options.basket_bytes, compression);
        Ok(Self {
            core: shared.clone(),
            owner,
            directory,
            title: title.to_owned(),
            branches: columns.into_iter().map(branch).collect(),
            inputs,
            options,
            progress: Progress::new(options.cluster),
            saved: None,
            resumed: None,
            submitted: 0,
            submitted_at_save: 0,
            saved_bytes: 0,
        })
    }

    /// Continues a tree in the file.
    pub(crate) fn resume(
        shared: &Shared,
        core: &mut Core,
        old: Old,
        specs: &[BranchSpec],
        options: TreeOptions,
    ) -> Result<Self> {
        let (tree, directory) = (&old.tree, old.directory);
        // determined before anything is changed in the core
        let (columns, inputs) = resolve(specs)?;
        let branches = old.branches(&columns, &core.described)?;
        let place = (directory, &*tree.name, &*tree.title);
        let mut new = Self::new(shared, core, place, (columns, inputs), options)?;
        let (cluster, origin, ranges) = old.clusters();
        for (branch, ExistingBranch { number, table, offsets }) in new.branches.iter_mut().zip(&branches) {
            let Some(was) = tree.branches.get(*number) else { continue };
            branch.basket_bytes = was.basket_size.max(100);
            branch.baskets = table.baskets.len();
            branch.largest = was.element.as_ref().map_or(0, |e| i64::from(e.maximum));
            if let Some(leaf) = was.leaves.first().and_then(|&l| tree.leaves.get(l)) {
                branch.largest = branch.largest.max(leaf.maximum);
                if branch.column.is_c_string() {
                    branch.largest = branch.largest.max(i64::from(leaf.len));
                }
                branch.ranged = leaf.is_range && was.element.is_none();
            }
            branch.resume(*offsets, &tree.name, u32::try_from(was.entry_offset_len).unwrap_or(0));
        }
        let (order, tables): (Vec<usize>, Vec<Table>) = branches.into_iter().map(|b| (b.number, b.table)).unzip();
        if let Some(place) = core.tables.get_mut(new.owner.tree) {
            place.clone_from(&tables);
        }
        new.progress = Progress {
            entries: tree.entries,
            flushed: if matches!(cluster, Cluster::Entries(_)) { tree.entries } else { 0 },
            origin,
            ranges,
            aliases: tree.aliases.clone(),
            ..Progress::new(cluster)
        };
        // a tree may be stored under another name than its own
        if let Some(open) = core.open_trees.iter_mut().find(|open| open.tree == new.owner.tree) {
            (open.name, open.cycle) = (old.key.name.clone(), Some(old.key.cycle));
        }
        new.saved = Some(old.key.clone());
        new.resumed = Some(AppendedTree::new(old, &order, &tables));
        // counters are derived from the columns they count, unless they are given
        for input in &mut new.inputs {
            let counts = new.branches.get(input.feed.column()).is_some_and(|b| b.column.counts());
            input.automatic |= counts && matches!(input.feed, ColumnSource::Numbers { .. });
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

    /// Names and types of the columns to be given: numpy's name of the numbers, or a C++ type, in which classes are
    /// spelled as their members: `vector<{x: int, y: 3 * float64}>`.
    pub fn inputs(&self) -> Vec<(String, String)> {
        self.inputs.iter().filter(|i| !i.automatic).map(|i| (i.name.clone(), i.feed.type_name())).collect()
    }

    /// Names of the counters that are derived from the columns they count, and numpy's names of their types. They may
    /// be given, too, and must agree then.
    pub fn counters(&self) -> Vec<(String, String)> {
        self.inputs.iter().filter(|i| i.automatic).map(|i| (i.name.clone(), i.feed.type_name())).collect()
    }

    /// Appends entries: for each branch, by name and in any order, a column of the same length. Counters that were not
    /// declared as branches are derived from the columns they count.
    ///
    /// # Errors
    /// Everything is checked first: after an error of kind `Invalid` or `NotFound` nothing was appended and the tree
    /// can continue. Errors of the disk end the file.
    pub fn extend(&mut self, columns: &[(&str, &Array)]) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        let inputs = std::mem::take(&mut self.inputs);
        let done = check_batch(&inputs, columns).map_err(|e| core.named(e)).and_then(|batch| {
            core.attempt(|core| self.extend_in_steps(core, &inputs, &batch).map_err(|e| core.named(e)))
        });
        self.inputs = inputs;
        done
    }

    fn extend_in_steps(&mut self, core: &mut Core, inputs: &[Input], batch: &CheckedBatch<'_>) -> Result<()> {
        let step = if inputs.iter().any(|i| i.feed.makes_bytes()) { batch.step(STEP) } else { batch.entries };
        let mut from = 0;
        while from < batch.entries {
            let to = batch.entries.min(from + step.max(1));
            let mut pieces: Vec<Option<EntryValues<'_>>> = self.branches.iter().map(|_| None).collect();
            batch.distribute(inputs, from..to, &mut pieces)?;
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

    /// The properties of its branches' baskets.
    pub(crate) fn layouts(&self) -> Vec<EntryLayout> {
        self.branches.iter().map(|b| EntryLayout::of(&b.column)).collect()
    }

    /// Appends entries whose bytes a producer prepared for these branches.
    pub(crate) fn extend_gathered(&mut self, gathered: &EncodedEntries) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.attempt(|core| {
            for (branch, strand) in self.branches.iter_mut().zip(&gathered.strands) {
                branch.largest = branch.largest.max(strand.largest);
            }
            let pieces = gathered.pieces();
            for (branch, piece) in self.branches.iter_mut().zip(&pieces) {
                if let Some(piece) = piece.as_ref().filter(|_| branch.column.is_c_string()) {
                    branch.largest = branch.largest.max(piece.longest());
                }
            }
            self.fill(core, &pieces, gathered.entries).map_err(|e| core.named(e))
        })
    }

    /// Ends the cluster here, whatever its size, so that later entries start a new one.
    ///
    /// # Errors
    /// Errors of the disk.
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

    /// Discards a new tree: the file continues as if it had not been started. Bytes written for it stay unused. A tree
    /// whose header was saved before is finished instead, with its current entries.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn abandon(self) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        if core.open_trees.iter().any(|open| open.tree == self.owner.tree && open.cycle.is_some()) {
            drop(core);
            return self.finish();
        }
        core.open_trees.retain(|open| open.tree != self.owner.tree);
        core.tables.get_mut(self.owner.tree).map(Vec::clear);
        Ok(())
    }

    /// Writes the remaining entries and the tree's header.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn finish(mut self) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.attempt(|core| {
            self.flush_baskets(core)?;
            self.write_header(core)?;
            core.open_trees.retain(|open| open.tree != self.owner.tree);
            // from here on the header locates its baskets
            core.tables.get_mut(self.owner.tree).map(Vec::clear);
            Ok(())
        })
    }

    /// Appends the batch's entries, writing each basket when it is full.
    fn fill(&mut self, core: &mut Core, pieces: &[Option<EntryValues<'_>>], len: usize) -> Result<()> {
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
                self.submitted += branch.write_basket(core, i, &self.owner)?;
                cursor.plan(branch, piece, i);
                written = true;
            }
            let progress = &self.progress;
            let whole = progress.entries > 0
                && progress.cluster.end_after(progress.entries - 1, progress.origin) == Some(progress.entries);
            let full = match progress.cluster {
                Cluster::Bytes(limit) if written => core.exceeds(self.owner.tree, limit)?,
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
}

impl std::fmt::Debug for TreeWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("TreeWriter");
        f.field("name", &self.owner.name).field("entries", &self.progress.entries).finish_non_exhaustive()
    }
}

impl Branch {
    /// Whether it has its own baskets.
    pub(crate) fn has_data(&self) -> bool {
        self.column.data != Data::None
    }
}
