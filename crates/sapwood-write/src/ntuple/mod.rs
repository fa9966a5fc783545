//! Ntuples that are written: entries become pages, clusters and the metadata that describes them.

mod cluster;
mod columns;
mod descriptions;
mod existing;
mod extended;
mod field;
pub(crate) mod gathered;
mod node;
mod options;
mod saved;
pub(crate) mod stored;

pub use field::{FieldSpec, FieldType, Precision};
pub use options::NtupleOptions;

use crate::FileWriter;
use crate::core::{Core, OpenTree, Shared};
use crate::directory::DirectoryId;
use crate::schema::{check_name, check_title};
use columns::ColumnBuffer;
use gathered::{Fields, GatheredFields};
use node::Builder;
use sapwood_codec::Compression;
use sapwood_column::Array;
use sapwood_format::ntuple::{ColumnRange, PageTable};
use sapwood_span::{Error, Result};
use saved::{Continued, Described, Saved};
use std::collections::HashMap;
use std::sync::Arc;

/// What uncompressed bytes are taken to become before it is known: ROOT's assumption.
const ASSUMED_RATIO: u64 = 2;

/// Bytes of a whole cluster's fields that are on pages before these are compressed.
const OPEN_BYTES: u64 = 4 << 20;

/// Writes an ntuple into a file: entries in batches of columns, of any size.
///
/// ```
/// # fn main() -> sapwood_span::Result<()> {
/// # let path = std::env::temp_dir().join(format!("sapwood-ntuple-doc-{}.root", std::process::id()));
/// use sapwood_codec::Compression;
/// use sapwood_column::{Array, DType, Values};
/// use sapwood_write::{FieldSpec, FieldType, FileWriter, NtupleOptions};
///
/// let mut file = FileWriter::create(&path, Compression::default())?;
/// let y = FieldType::Number(DType::F32).vector();
/// let fields = [FieldSpec::new("x", FieldType::Number(DType::F64)), FieldSpec::new("y", y)];
/// let mut ntuple = file.ntuple(file.root(), "Events", "an example", &fields, NtupleOptions::default())?;
/// let x = Array::Flat(Values::F64(vec![1.0, 2.0]));
/// let y = Array::List { offsets: vec![0, 0, 3], content: Box::new(Array::Flat(Values::F32(vec![1.0, 2.0, 3.0]))) };
/// ntuple.extend(&[("x", &x), ("y", &y)])?;
/// ntuple.finish()?;
/// file.finish()?;
/// # std::fs::remove_file(&path).map_err(|e| sapwood_span::Error::io("cannot remove", e))
/// # }
/// ```
///
/// The bytes written do not depend on how the entries are divided into batches, nor on the number of threads.
pub struct NtupleWriter {
    core: Shared,
    /// Its number among the file's trees.
    tree: usize,
    directory: DirectoryId,
    name: String,
    description: String,
    options: NtupleOptions,
    compression: Compression,
    fields: Arc<Fields>,
    described: Described,
    columns: Vec<ColumnBuffer>,
    table: PageTable,
    /// By cluster, then by column.
    ranges: Vec<Vec<ColumnRange>>,
    entries: u64,
    /// The first entry of the cluster that is being filled.
    cluster_start: u64,
    /// Its uncompressed bytes, and those at which it ends.
    cluster_bytes: u64,
    cluster_limit: u64,
    /// Uncompressed and compressed bytes of all clusters before.
    total_bytes: u64,
    zip_bytes: u64,
    /// The compressed bytes when the file was last complete.
    saved_bytes: u64,
    saved: Option<Saved>,
    /// Of an ntuple that was in the file before.
    continued: Option<Continued>,
}

impl FileWriter {
    /// Starts an ntuple in a directory of the file ([`FileWriter::root`] is its own). Several may be written at the same
    /// time, and trees beside them; each must be finished before the file.
    ///
    /// # Errors
    /// `Invalid` for an invalid name or invalid fields, `Unsupported` for types that ROOT cannot read.
    pub fn ntuple(
        &mut self,
        directory: DirectoryId,
        name: &str,
        description: &str,
        fields: &[FieldSpec],
        options: NtupleOptions,
    ) -> Result<NtupleWriter> {
        let mut core = self.shared().lock();
        core.check()?;
        let checked = check_name("ntuple", name)
            .and_then(|()| field::check_characters("ntuple", name))
            .and_then(|()| core.no_directory(directory, name))
            .and_then(|()| check_title(description))
            .and_then(|()| options.check())
            .and_then(|()| field::check_fields(fields))
            .and_then(|()| Builder::check_descriptions(fields));
        checked.map_err(|e| core.named(e))?;
        if core.writes_tree(directory, name, None) {
            let what = format!("{name} is already being written");
            return Err(core.named(Error::invalid(what).with_remedy("use another name")));
        }
        let compression = options.compression.unwrap_or(core.compression);
        let (built, _) = Builder::build(fields, compression, options.page_bytes as usize);
        core.described.add_own("ROOT::RNTuple");
        let tree = core.tables.len();
        core.tables.push(Vec::new());
        core.open_trees.push(OpenTree { tree, directory, name: name.to_owned(), cycle: None });
        Ok(NtupleWriter {
            core: self.shared().clone(),
            tree,
            directory,
            name: name.to_owned(),
            description: description.to_owned(),
            options,
            compression,
            fields: Arc::new(Fields::of(fields.to_vec())),
            described: Described {
                in_header: built.schema.size(),
                order: (0..built.columns.len()).collect(),
                schema: built.schema,
            },
            columns: built.columns,
            table: PageTable::default(),
            ranges: Vec::new(),
            entries: 0,
            cluster_start: 0,
            cluster_bytes: 0,
            cluster_limit: options.cluster_bytes.saturating_mul(ASSUMED_RATIO).min(options.largest_cluster),
            total_bytes: 0,
            zip_bytes: 0,
            saved_bytes: 0,
            saved: None,
            continued: None,
        })
    }
}

impl NtupleWriter {
    /// Entries so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Names and types of the fields.
    pub fn inputs(&self) -> Vec<(String, String)> {
        self.fields.specs.iter().map(|f| (f.name.clone(), f.ty.words())).collect()
    }

    /// Appends entries: for each field, by name and in any order, a column of the same length.
    ///
    /// # Errors
    /// Everything is checked first: after an error of kind `Invalid` or `NotFound` nothing was appended and the ntuple
    /// can continue. Errors of the disk end the file.
    pub fn extend(&mut self, columns: &[(&str, &Array)]) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        let (arrays, entries) = self.fields.check(columns).map_err(|e| core.named(e))?;
        core.attempt(|core| self.fill(core, &arrays, entries).map_err(|e| core.named(e)))
    }

    /// Appends entries that are a cluster of their own, whatever its size: for each field a column of the same length. What
    /// was appended before ends its cluster first. A column is dropped when its values are on pages, and these are
    /// compressed at once: of a cluster little more than its compressed pages is in memory.
    ///
    /// # Errors
    /// As [`NtupleWriter::extend`].
    pub fn extend_cluster(&mut self, columns: Vec<(&str, Array)>) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        let given: Vec<(&str, &Array)> = columns.iter().map(|(name, array)| (*name, array)).collect();
        let (_, entries) = self.fields.check(&given).map_err(|e| core.named(e))?;
        core.attempt(|core| self.fill_cluster(core, columns, entries).map_err(|e| core.named(e)))
    }

    /// The fields, for producers.
    pub(crate) fn fields(&self) -> &Arc<Fields> {
        &self.fields
    }

    /// Appends entries that a producer collected for these fields.
    pub(crate) fn extend_gathered(&mut self, gathered: &GatheredFields) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.check()?;
        let arrays: Vec<&Array> = gathered.columns.iter().collect();
        core.attempt(|core| self.fill(core, &arrays, gathered.entries).map_err(|e| core.named(e)))
    }

    /// Appends entries of checked columns, and ends clusters where they are full.
    fn fill(&mut self, core: &mut Core, arrays: &[&Array], entries: usize) -> Result<()> {
        let fields = self.fields.clone();
        let nodes = || fields.nodes.iter().map(|(_, node)| node).zip(arrays);
        let mut from = 0;
        while from < entries {
            let room = self.cluster_limit.saturating_sub(self.cluster_bytes);
            let bytes = |to: usize| -> u64 { nodes().map(|(node, array)| node.bytes(array, from..to)).sum() };
            // the fewest entries with which the cluster is full, or all
            let (mut less, mut to) = (from, entries);
            if bytes(entries) >= room {
                while less + 1 < to {
                    let middle = less + (to - less) / 2;
                    if bytes(middle) >= room { to = middle } else { less = middle }
                }
            }
            self.cluster_bytes += bytes(to);
            for (node, array) in nodes() {
                node.append(array, from..to, &mut self.columns, &mut core.pool);
            }
            self.entries += (to - from) as u64;
            from = to;
            if self.cluster_bytes >= self.cluster_limit {
                self.end_cluster(core)?;
                self.auto_save(core)?;
            }
        }
        Ok(())
    }

    /// A cluster of checked columns, field after field.
    fn fill_cluster(&mut self, core: &mut Core, columns: Vec<(&str, Array)>, entries: usize) -> Result<()> {
        self.end_cluster(core)?;
        let fields = self.fields.clone();
        let mut columns: HashMap<&str, Array> = columns.into_iter().collect();
        let mut open = 0;
        for (name, node) in &fields.nodes {
            let Some(array) = columns.remove(&**name) else { continue };
            let bytes = node.bytes(&array, 0..entries);
            node.append(&array, 0..entries, &mut self.columns, &mut core.pool);
            (self.cluster_bytes, open) = (self.cluster_bytes + bytes, open + bytes);
            if open >= OPEN_BYTES {
                // whole fields: nothing more comes to their pages
                self.columns.iter_mut().for_each(|column| column.end_page(&mut core.pool));
                open = 0;
            }
        }
        self.entries += entries as u64;
        self.end_cluster(core)?;
        self.auto_save(core)
    }

    /// Ends the cluster here, whatever its size, so that later entries start a new one.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn flush(&mut self) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.attempt(|core| self.end_cluster(core))
    }

    /// Discards a new ntuple: the file continues as if it had not been started. Bytes written for it stay unused. An
    /// ntuple that was saved before is finished instead, with its current entries.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn abandon(self) -> Result<()> {
        if self.saved.is_some() {
            return self.finish();
        }
        let mut core = self.core.lock();
        core.open_trees.retain(|open| open.tree != self.tree);
        core.pending_blobs.retain(|(tree, _)| *tree != self.tree);
        Ok(())
    }

    /// Writes the remaining entries and the ntuple's metadata.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn finish(mut self) -> Result<()> {
        let shared = self.core.clone();
        let mut core = shared.lock();
        core.attempt(|core| {
            self.end_cluster(core)?;
            // an ntuple that was opened to append to it, and got nothing, stays as it is
            let is_changed = self.continued.as_ref().is_none_or(|c| c.has_new_fields);
            if is_changed || !self.table.clusters.is_empty() {
                self.save(core)?;
            }
            core.open_trees.retain(|open| open.tree != self.tree);
            // from here on the anchor leads to them
            core.pending_blobs.retain(|(tree, _)| *tree != self.tree);
            Ok(())
        })
    }
}

impl std::fmt::Debug for NtupleWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("NtupleWriter");
        f.field("name", &self.name).field("entries", &self.entries).finish_non_exhaustive()
    }
}
