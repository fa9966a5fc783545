//! A tree being joined from those of the inputs, and its header once all baskets have positions.

use crate::clusters;
use crate::container::{Container, DirectoryId};
use crate::input::InputTree;
use sapwood_codec::Compression;
use sapwood_edit::Label;
use sapwood_edit::survey::{Edit, Name, Survey};
use sapwood_edit::tree::BranchSchema;
use sapwood_edit::tree::TreeIndex;
use sapwood_edit::tree::{LeafFacts, join_leaves, read_as_is};
use sapwood_edit::tree::{Placed, drop_branches, set, set_baskets, set_ranges};
use sapwood_format::Streamers;
use sapwood_span::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A tree being joined.
pub(crate) struct TreeSum {
    pub(crate) path: String,
    pub(crate) directory: DirectoryId,
    pub(crate) entries: u64,
    /// Number of trees joined.
    pub(crate) inputs: usize,
    pub(crate) branches: Vec<BranchSum>,
    class: String,
    label: Label,
    base: usize,
    header: Vec<u8>,
    /// File of the first input that has it.
    first_file: String,
    streamers: Arc<Streamers>,
    by_path: HashMap<String, Vec<usize>>,
    leaves: Vec<LeafFacts>,
    /// The index over all of them, as long as each has one of the same numbers.
    index: Option<TreeIndex>,
    boundaries: Vec<u64>,
    flushed_bytes: i64,
    saved_bytes: i64,
    /// Whether the first input's tree has lost entries.
    is_cut: bool,
    relayout: Option<Relayout>,
}

/// The new layout of a tree.
pub(crate) struct Relayout {
    /// Boundaries of its clusters, with the number of entries at the end.
    pub(crate) boundaries: Vec<u64>,
    /// Maximum bytes of a basket before compression.
    pub(crate) basket_bytes: u32,
    /// Removed branches, including those below them, by number.
    pub(crate) dropped: Vec<usize>,
    /// Branches that are no longer marked as having their offsets left out or stored as lengths.
    pub(crate) with_offsets: HashSet<usize>,
}

/// A branch being joined.
pub(crate) struct BranchSum {
    schema: BranchSchema,
    entries: u64,
    entry_number: u64,
    total_bytes: i64,
    zip_bytes: i64,
    maximum: Option<i64>,
    filled: bool,
    dropped: bool,
    baskets: Vec<Placed>,
    /// The number of the current input's first entry.
    from: u64,
}

impl TreeSum {
    /// Starts with the first input's tree.
    pub(crate) fn new(
        tree: &mut InputTree,
        directory: DirectoryId,
        streamers: &Arc<Streamers>,
        file: &str,
    ) -> (Self, Vec<usize>) {
        let mut by_path: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, b) in tree.facts.branches.iter().enumerate() {
            by_path.entry(b.schema.path.clone()).or_default().push(i);
        }
        let branches = tree.facts.branches.iter().map(|b| BranchSum {
            schema: b.schema.clone(),
            entries: b.entries,
            entry_number: b.entry_number,
            total_bytes: b.total_bytes,
            zip_bytes: b.zip_bytes,
            maximum: b.maximum,
            filled: b.filled,
            dropped: false,
            baskets: Vec::new(),
            from: 0,
        });
        let sum = Self {
            path: tree.path.clone(),
            directory,
            entries: 0,
            inputs: 1,
            branches: branches.collect(),
            class: tree.class.clone(),
            label: tree.label.clone(),
            base: tree.base,
            header: std::mem::take(&mut tree.header),
            first_file: file.to_owned(),
            streamers: streamers.clone(),
            by_path,
            leaves: tree.facts.leaves.clone(),
            index: tree.facts.index.take(),
            boundaries: tree.facts.clusters.clone(),
            flushed_bytes: tree.facts.flushed_bytes,
            saved_bytes: tree.facts.saved_bytes,
            is_cut: tree.facts.is_cut,
            relayout: None,
        };
        let identity = (0..sum.branches.len()).collect();
        (sum, identity)
    }

    /// Adds another input's tree; returns for each of its branches the one here.
    ///
    /// # Errors
    /// `Invalid`, naming the first difference, when they cannot be joined.
    pub(crate) fn join(&mut self, tree: &InputTree) -> Result<Vec<usize>> {
        let map = self.matching(tree)?;
        let f = &tree.facts;
        for (b, &at) in f.branches.iter().zip(&map) {
            let Some(sum) = self.branches.get_mut(at) else { continue };
            // in trees without entries each branch was filled separately
            sum.from = if self.entries == 0 { sum.entry_number } else { self.entries };
            sum.total_bytes += b.total_bytes;
            sum.zip_bytes += b.zip_bytes;
            sum.entries += b.entries;
            sum.entry_number += b.entry_number;
            sum.maximum = sum.maximum.max(b.maximum);
            sum.filled |= b.filled;
        }
        join_leaves(&mut self.leaves, &f.leaves);
        let from = self.entries;
        if let Some(index) = &mut self.index
            && !f.index.as_ref().is_some_and(|other| index.append(other, from))
        {
            self.index = None;
        }
        if self.boundaries.is_empty() {
            self.boundaries.push(0);
        }
        self.boundaries.extend(f.clusters.iter().skip(1).map(|c| from + c));
        self.flushed_bytes += f.flushed_bytes;
        self.saved_bytes += f.saved_bytes;
        self.inputs += 1;
        Ok(map)
    }

    /// Maps branches here to those there; refuses differences.
    fn matching(&self, tree: &InputTree) -> Result<Vec<usize>> {
        let differs = |branch: &str, what: String| {
            Error::invalid(format!("tree {}: branch {branch} {what} (compared with {})", self.path, self.first_file))
                .with_remedy("merge files of one kind, or omit this one")
        };
        if tree.class != self.class {
            let (a, b) = (&tree.class, &self.class);
            return Err(Error::invalid(format!("{} is a {a}, but a {b} in {}", self.path, self.first_file)));
        }
        let mut used = vec![false; self.branches.len()];
        let mut map = Vec::with_capacity(tree.facts.branches.len());
        for (i, b) in tree.facts.branches.iter().enumerate() {
            let path = &b.schema.path;
            // nearly always in the same order; repeated names are matched in order
            let same = self.branches.get(i).is_some_and(|s| s.schema.path == *path) && used.get(i) == Some(&false);
            let known = || self.by_path.get(path)?.iter().copied().find(|&k| used.get(k) == Some(&false));
            let Some(at) = (if same { Some(i) } else { known() }) else {
                let what = format!("tree {}: branch {path} is not in {}", self.path, self.first_file);
                return Err(Error::invalid(what).with_remedy("merge only files with the same branches"));
            };
            used[at] = true;
            let Some(mine) = self.branches.get(at) else { continue };
            if let Some(what) = mine.schema.difference(&b.schema, b.filled) {
                return Err(differs(path, what));
            }
            let (there, here) = (tree.facts.entries, self.entries);
            if mine.filled != b.filled && there > 0 && here > 0 {
                let what = if b.filled { "has values" } else { "has no values" };
                return Err(differs(path, what.to_owned()));
            }
            if mine.filled && mine.entry_number != here && (here > 0 || there > 0) {
                return Err(differs(path, format!("had {} entries of {here}", mine.entry_number)));
            }
            map.push(at);
        }
        match self.branches.iter().zip(&used).find(|(_, used)| !**used) {
            Some((missing, _)) => Err(differs(&missing.schema.path, "is missing".to_owned())),
            None => Ok(map),
        }
    }

    /// Records the new position of a basket of the current input.
    pub(crate) fn place(&mut self, branch: usize, first: u64, seek: u64, bytes: u32, zip: i64, total: i64) {
        if let Some(b) = self.branches.get_mut(branch) {
            b.baskets.push(Placed { seek, bytes, first: b.from + first });
            b.zip_bytes += zip;
            b.total_bytes += total;
        }
    }

    /// Whether a branch's baskets must have offsets, where those of another input differ.
    pub(crate) fn other_offsets(&self, branch: usize, other: &BranchSchema) -> Option<bool> {
        let mine = self.branches.get(branch)?.schema.has_offsets();
        (mine != other.has_offsets()).then_some(mine)
    }

    /// Whether a branch's entries mean the same anywhere in a basket, and its name.
    pub(crate) fn is_plain(&self, branch: usize) -> (bool, &str) {
        self.branches.get(branch).map_or((false, ""), |b| (b.schema.is_plain(), &b.schema.path))
    }

    /// From here on rebuilt baskets follow.
    pub(crate) fn relayout(&mut self, layout: Relayout) {
        for b in &mut self.branches {
            (b.total_bytes, b.zip_bytes) = (0, 0);
        }
        for &i in &layout.dropped {
            if let Some(b) = self.branches.get_mut(i) {
                b.dropped = true;
            }
        }
        self.boundaries.clone_from(&layout.boundaries);
        self.relayout = Some(layout);
    }

    /// Writes the header: the first input's, with the tables of all.
    ///
    /// # Errors
    /// When the header would exceed the limits of its version of ROOT or of a record.
    pub(crate) fn write(
        mut self,
        file: &mut Container,
        compression: Option<Compression>,
        remarks: &mut Vec<String>,
    ) -> Result<()> {
        let header = std::mem::take(&mut self.header);
        let (facts, survey) = read_as_is(&header, self.base, &self.class, &self.streamers)?;
        let mut edits = Vec::new();
        self.tree_edits(&survey, &mut edits, remarks)?;
        for (i, (b, f)) in self.branches.iter_mut().zip(&facts.branches).enumerate() {
            let path = b.schema.path.clone();
            if b.dropped {
                continue;
            }
            b.edits((&survey, f.node), compression, self.is_cut, &mut edits).map_err(|e| e.in_branch(path))?;
            if let Some(r) = self.relayout.as_ref().filter(|_| b.filled) {
                set(&survey, f.node, Name::BasketSize, Some(i64::from(r.basket_bytes)), &mut edits)?;
                if let Some(features) = survey.field(f.node, Name::IoFeatures).filter(|_| r.with_offsets.contains(&i)) {
                    // its last byte are the bits, of which there is one
                    edits.push(Edit { at: features.at.end - 1..features.at.end, bytes: vec![0] });
                }
            }
        }
        let nodes: Vec<usize> =
            self.branches.iter().zip(&facts.branches).filter(|(b, _)| b.dropped).map(|(_, f)| f.node).collect();
        drop_branches(&survey, &nodes, &mut edits)?;
        for (l, f) in self.leaves.iter().zip(&facts.leaves) {
            set(&survey, f.node, Name::Maximum, l.maximum.filter(|_| l.maximum != f.maximum), &mut edits)?;
            set(&survey, f.node, Name::Len, l.len.filter(|_| l.len != f.len), &mut edits)?;
        }
        for (at, class) in &survey.unknown {
            let pointer = survey.marks.binary_search_by_key(&at.start, |(p, _)| *p).is_ok();
            if !pointer {
                return Err(Error::unsupported(format!(
                    "{}: its header contains {class}, which cannot be moved",
                    self.path
                )));
            }
            edits.push(Edit { at: at.clone(), bytes: vec![0; 4] });
            remarks.push(format!("{}: an object of class {class} in its header is omitted", self.path));
        }
        let label = Label { pid: 0, big: false, ..self.label.clone() };
        let path = self.path.clone();
        file.put_object(self.directory, label, |base| survey.rewrite(&mut edits, base)).map_err(|e| {
            let what = format!("{path}: {}", e.what());
            e.worded(what)
        })?;
        Ok(())
    }

    fn tree_edits(&mut self, s: &Survey, edits: &mut Vec<Edit>, remarks: &mut Vec<String>) -> Result<()> {
        let total: i64 = self.branches.iter().filter(|b| !b.dropped).map(|b| b.total_bytes).sum();
        let zip: i64 = self.branches.iter().filter(|b| !b.dropped).map(|b| b.zip_bytes).sum();
        let (flushed, saved) = (self.flushed_bytes, self.saved_bytes);
        for (name, value) in [
            (Name::Entries, self.entries as i64),
            (Name::TotBytes, total),
            (Name::ZipBytes, zip),
            (Name::FlushedBytes, if self.relayout.is_some() { zip } else { flushed }),
            (Name::SavedBytes, if self.relayout.is_some() { zip } else { saved }),
        ] {
            set(s, 0, name, Some(value), edits)?;
        }
        if self.inputs > 1 || self.relayout.is_some() || self.is_cut {
            self.cluster_edits(s, edits)?;
        }
        if self.inputs < 2 && !self.is_cut {
            return Ok(());
        }
        // an index counts entries of its own tree: that of the first is replaced by one over all, or removed
        if let Some(index) = self.index.as_mut().filter(|_| !self.is_cut) {
            return index.edits(s, edits);
        }
        let has_index =
            s.child(0, Name::TreeIndex).is_some() || s.field(0, Name::IndexValues).is_some_and(|f| f.at.len() > 4);
        for name in [Name::IndexValues, Name::Index, Name::TreeIndex] {
            if let Some(f) = s.field(0, name) {
                edits.push(Edit { at: f.at.clone(), bytes: vec![0; 4] });
            }
        }
        if has_index {
            let why = if self.is_cut { "entries are lost" } else { "not all inputs have the same" };
            remarks
                .push(format!("{}: its index is omitted, because {why}; rebuild it with TTree::BuildIndex", self.path));
        }
        Ok(())
    }

    fn cluster_edits(&self, s: &Survey, edits: &mut Vec<Edit>) -> Result<()> {
        let t = clusters::table(&self.boundaries);
        if !set_ranges(s, &t.ranges, edits)? {
            return Ok(());
        }
        set(s, 0, Name::AutoFlush, Some(t.auto_flush as i64), edits)
    }
}

impl BranchSum {
    /// `is_cut`: the header may list removed baskets.
    fn edits(
        &mut self,
        (s, node): (&Survey, usize),
        compression: Option<Compression>,
        is_cut: bool,
        edits: &mut Vec<Edit>,
    ) -> Result<()> {
        self.baskets.sort_by_key(|b| b.first);
        for (name, value) in [
            (Name::Entries, Some(self.entries as i64)),
            (Name::EntryNumber, Some(self.entry_number as i64)),
            (Name::TotBytes, Some(self.total_bytes)),
            (Name::ZipBytes, Some(self.zip_bytes)),
            (Name::Maximum, self.maximum),
            (Name::Compress, compression.map(|c| i64::from(c.settings()))),
        ] {
            set(s, node, name, value, edits)?;
        }
        if self.baskets.is_empty() && !(is_cut && self.filled) {
            return Ok(());
        }
        set_baskets(s, node, &self.baskets, self.entry_number, edits)
    }
}
