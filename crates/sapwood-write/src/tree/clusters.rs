//! Ends of clusters: sizes chosen at the first, the file completed, the tree's header.

use super::TreeWriter;
use crate::basket::Branch;
use crate::basket_sizes::{Facts, choose};
use crate::commit;
use crate::core::Core;
use crate::layout::Cluster;
use crate::tree_header::{self, TreeFacts};
use sapwood_span::Result;
use std::collections::HashSet;

impl TreeWriter {
    /// Writes all baskets at the end of a cluster; at the first, sizes are chosen and the rule becomes one of entries.
    pub(super) fn end_cluster(&mut self, core: &mut Core) -> Result<()> {
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

    /// Completes the file when enough bytes were written since it was last complete. An updated file is not changed.
    fn auto_save(&mut self, core: &mut Core) -> Result<()> {
        let bytes = self.options.auto_save_bytes;
        // pending baskets count uncompressed, to avoid waiting for threads unnecessarily
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
        let tables = core.tables.get(self.owner.tree).map(Vec::as_slice).unwrap_or_default();
        // a branch with sub-branches keeps its size; one without a leaf is skipped
        let parents: HashSet<usize> = self.branches.iter().filter_map(|b| b.column.parent).collect();
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
                has_branches: parents.contains(&i),
                name_len: b.column.name.len(),
            })
            .collect();
        let sizes = choose(&leaves, self.total_bytes(core), self.progress.entries);
        for (branch, size) in self.branches.iter_mut().filter(|b| with_leaf(b)).zip(sizes) {
            branch.basket_bytes = size;
        }
    }

    /// Writes all baskets that hold anything.
    pub(super) fn flush_baskets(&mut self, core: &mut Core) -> Result<()> {
        for (i, branch) in self.branches.iter_mut().enumerate() {
            self.submitted += branch.write_basket(core, i, &self.owner)?;
        }
        Ok(())
    }

    /// Records that a cluster ends here, out of turn (`TTree::MarkEventCluster`).
    pub(super) fn mark_cluster(&mut self) {
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

    /// Writes the tree's header, in place of the one saved before.
    pub(super) fn write_header(&mut self, core: &mut Core) -> Result<()> {
        core.drain()?;
        let mut key = match &self.resumed {
            Some(old) => old.key(core, self.directory)?,
            None => core.new_key(self.directory, "TTree", &self.owner.name, &self.title)?,
        };
        if let Some(old) = self.saved.take() {
            key.cycle = old.cycle;
            core.space.free(old.span());
            core.directory_mut(self.directory)?.keys.retain(|k| k.seek != old.seek);
        }
        let tables = core.tables.get(self.owner.tree).cloned().unwrap_or_default();
        let facts = TreeFacts { name: &self.owner.name, title: &self.title, progress: &self.progress };
        let payload = |key_len| match &self.resumed {
            Some(old) => old.payload(&self.branches, &tables, &self.progress, key_len),
            None => tree_header::payload(&facts, &self.branches, &tables, key_len),
        };
        self.saved = Some(core.append_object(key, self.directory, core.compression, payload)?);
        Ok(())
    }

    fn zip_bytes(&self, core: &Core) -> u64 {
        core.tables.get(self.owner.tree).map_or(0, |t| t.iter().map(|b| b.zip_bytes).sum())
    }

    fn total_bytes(&self, core: &Core) -> u64 {
        core.tables.get(self.owner.tree).map_or(0, |t| t.iter().map(|b| b.total_bytes).sum())
    }
}

/// ROOT's rule for saving the header, once it is known how many bytes the entries take (`TTree::Fill`).
fn auto_save(rule: i64, zip_bytes: u64, total_bytes: u64, entries: u64) -> i64 {
    let entries = i64::try_from(entries).unwrap_or(i64::MAX);
    if rule >= 0 {
        return entries * (rule / entries);
    }
    let bytes = if zip_bytes > 0 { zip_bytes } else { total_bytes };
    let times = (-rule).checked_div(i64::try_from(bytes).unwrap_or(i64::MAX)).unwrap_or(0);
    entries.max(entries.saturating_mul(times / entries))
}
