//! The header of a tree to which entries are appended: unchanged except for counters, tables of baskets and clusters.

use crate::basket::Branch;
use crate::core::{Core, Table};
use crate::existing_tree::Old;
use crate::key::Key;
use crate::progress::Progress;
use sapwood_edit::survey::{Edit, Name, Survey};
use sapwood_edit::tree::{BranchFacts, Placed, read_facts, set, set_baskets, set_ranges};
use sapwood_format::Streamers;
use sapwood_span::Result;

/// A header as it was when the tree was opened.
pub(crate) struct AppendedTree {
    key: Key,
    /// Its payload, for a label of `base` bytes.
    payload: Vec<u8>,
    base: usize,
    streamers: Streamers,
    /// For each branch that is written: its number in the header, and that of its leaf if it has one.
    places: Vec<(usize, Option<usize>)>,
    entries: u64,
    total_bytes: u64,
    zip_bytes: u64,
    auto_flush: i64,
    /// The previous tables of its branches.
    tables: Vec<Table>,
}

impl AppendedTree {
    /// The header of `old`; `order` holds the numbers of its branches in the order in which they are written.
    pub(crate) fn new(old: Old, order: &[usize], tables: &[Table]) -> Self {
        let tree = &old.tree;
        let leaf = |b: usize| tree.branches.get(b).and_then(|b| b.leaves.first().copied());
        Self {
            places: order.iter().map(|&b| (b, leaf(b))).collect(),
            entries: tree.entries,
            total_bytes: tree.total_bytes,
            zip_bytes: tree.zip_bytes,
            auto_flush: tree.auto_flush,
            tables: tables.to_vec(),
            key: old.key,
            payload: old.payload,
            base: old.base,
            streamers: old.streamers,
        }
    }

    /// A key for the header, with the tree's name.
    pub(crate) fn key(&self, core: &Core, directory: crate::directory::DirectoryId) -> Result<Key> {
        core.new_key(directory, &self.key.class, &self.key.name, &self.key.title)
    }

    /// The header's payload for a label of `base` bytes.
    pub(crate) fn payload(&self, branches: &[Branch], tables: &[Table], p: &Progress, base: usize) -> Result<Vec<u8>> {
        let (facts, s) = read_facts(&self.payload, self.base, &self.key.class, &self.streamers)?;
        let mut edits = Vec::new();
        self.tree_edits(&s, tables, p, &mut edits)?;
        let more = p.entries - self.entries.min(p.entries);
        for (((branch, table), before), (number, leaf)) in
            branches.iter().zip(tables).zip(&self.tables).zip(&self.places)
        {
            let Some(f) = facts.branches.get(*number) else { continue };
            branch_edits(&s, f, branch, table, before, more, &mut edits)
                .map_err(|e| e.in_branch(&branch.column.name))?;
            let Some(leaf) = leaf.and_then(|l| facts.leaves.get(l)) else { continue };
            if branch.column.counts() || branch.ranged {
                let most = s.integer(leaf.node, Name::Maximum).unwrap_or(0).max(branch.largest);
                set(&s, leaf.node, Name::Maximum, Some(most.min(i64::from(i32::MAX))), &mut edits)?;
            }
            if branch.column.is_c_string() {
                for length in [Name::Len, Name::Maximum] {
                    let most = s.integer(leaf.node, length).unwrap_or(0).max(branch.largest);
                    set(&s, leaf.node, length, Some(most.min(i64::from(i32::MAX))), &mut edits)?;
                }
            }
        }
        s.rewrite(&mut edits, base)
    }

    fn tree_edits(&self, s: &Survey, tables: &[Table], p: &Progress, edits: &mut Vec<Edit>) -> Result<()> {
        let signed = |n: u64| Some(i64::try_from(n).unwrap_or(i64::MAX));
        let sum = |tables: &[Table], of: fn(&Table) -> u64| tables.iter().map(of).sum::<u64>();
        let grown = |was: u64, of: fn(&Table) -> u64| was + (sum(tables, of) - sum(&self.tables, of));
        set(s, 0, Name::Entries, signed(p.entries), edits)?;
        set(s, 0, Name::TotBytes, signed(grown(self.total_bytes, |t| t.total_bytes)), edits)?;
        set(s, 0, Name::ZipBytes, signed(grown(self.zip_bytes, |t| t.zip_bytes)), edits)?;
        if p.entries == self.entries {
            return Ok(());
        }
        if p.flushed > self.entries {
            let baskets = tables.iter().flat_map(|t| &t.baskets).filter(|b| b.first_entry < p.flushed);
            set(s, 0, Name::FlushedBytes, signed(baskets.map(|b| b.span.len).sum()), edits)?;
        }
        if p.cluster.auto_flush() != self.auto_flush {
            set(s, 0, Name::AutoFlush, Some(p.cluster.auto_flush()), edits)?;
        }
        set_ranges(s, &p.ranges, edits).map(drop)
    }
}

fn branch_edits(
    s: &Survey,
    f: &BranchFacts,
    branch: &Branch,
    table: &Table,
    before: &Table,
    more: u64,
    edits: &mut Vec<Edit>,
) -> Result<()> {
    let signed = |n: u64| Some(i64::try_from(n).unwrap_or(i64::MAX));
    set(s, f.node, Name::Entries, signed(f.entries + more), edits)?;
    if f.maximum.is_some() && branch.column.counts() {
        set(s, f.node, Name::Maximum, f.maximum.max(Some(branch.largest)), edits)?;
    }
    if table.baskets.len() == before.baskets.len() {
        return Ok(());
    }
    set(s, f.node, Name::EntryNumber, signed(table.entries), edits)?;
    set(s, f.node, Name::TotBytes, signed(table.total_bytes), edits)?;
    set(s, f.node, Name::ZipBytes, signed(table.zip_bytes), edits)?;
    set(s, f.node, Name::BasketSize, Some(i64::from(branch.basket_bytes)), edits)?;
    if s.integer(f.node, Name::EntryOffsetLen) == Some(0) && branch.offsets_len > 0 {
        set(s, f.node, Name::EntryOffsetLen, Some(i64::from(branch.offsets_len)), edits)?;
    }
    let baskets: Vec<Placed> = table
        .baskets
        .iter()
        .map(|b| Placed { seek: b.span.start, bytes: b.span.len as u32, first: b.first_entry })
        .collect();
    set_baskets(s, f.node, &baskets, table.entries, edits)
}
