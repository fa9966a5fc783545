//! An ntuple as a tree: its fields are branches, its clusters the tree's clusters. What reads trees reads ntuples this way.

use super::Ntuple;
use super::schema::user_name;
use crate::tree::{Branch, Tree};
use std::sync::Arc;

/// The class of the branches that are fields.
const FIELD_CLASS: &str = "ROOT::RField";

/// The header of the tree that shows an ntuple. Its branches have no baskets and no leaves.
pub fn tree_of(ntuple: Ntuple) -> Tree {
    let bytes = ColumnBytes::of(&ntuple);
    let mut tree = Tree {
        name: ntuple.name.clone(),
        title: ntuple.description.clone(),
        class: "ROOT::RNTuple".to_owned(),
        entries: ntuple.entries,
        total_bytes: bytes.unzipped.iter().fold(0, |a: u64, &b| a.saturating_add(b)),
        zip_bytes: bytes.zipped.iter().fold(0, |a: u64, &b| a.saturating_add(b)),
        // (the last entry, the number of entries) of each cluster
        cluster_ranges: ntuple
            .table
            .clusters
            .iter()
            .filter(|c| !c.entries.is_empty())
            .map(|c| (c.entries.end - 1, c.entries.end - c.entries.start))
            .collect(),
        ..Tree::default()
    };
    for id in 0..ntuple.schema.fields.len() {
        if ntuple.schema.fields[id].parent.is_none() {
            let top = add(&ntuple, &bytes, id, None, &mut tree);
            tree.top.push(top);
        }
    }
    tree.ntuple = Some(Arc::new(ntuple));
    tree
}

/// The branch of each column of an ntuple that is shown as a tree: the innermost one that a user can name.
pub fn column_branches(tree: &Tree, ntuple: &Ntuple) -> Vec<usize> {
    let fields = &ntuple.schema.fields;
    let mut branch_of = vec![None; fields.len()];
    for (number, b) in tree.branches.iter().enumerate() {
        if let Some(of) = b.field.and_then(|f| branch_of.get_mut(f)) {
            *of = Some(number);
        }
    }
    let branch = |field: usize| {
        let above = |&at: &usize| fields.get(at).and_then(|f| f.parent);
        std::iter::successors(Some(field), above).find_map(|f| branch_of.get(f).copied().flatten()).unwrap_or(0)
    };
    ntuple.schema.columns.iter().map(|c| branch(c.field)).collect()
}

/// Bytes of each column, and the compression setting of its first pages.
struct ColumnBytes {
    unzipped: Vec<u64>,
    zipped: Vec<u64>,
    compression: Vec<Option<i32>>,
}

impl ColumnBytes {
    fn of(ntuple: &Ntuple) -> Self {
        let n = ntuple.schema.columns.len();
        let mut out = Self { unzipped: vec![0; n], zipped: vec![0; n], compression: vec![None; n] };
        for cluster in &ntuple.table.clusters {
            for (c, column) in cluster.columns.iter().enumerate().take(n) {
                if !column.pages.is_empty() && out.compression[c].is_none() {
                    out.compression[c] = i32::try_from(column.compression).ok();
                }
                for page in ntuple.table.pages.get(column.pages.clone()).unwrap_or_default() {
                    let bits = u64::from(page.elements) * u64::from(ntuple.schema.columns[c].bits);
                    out.unzipped[c] = out.unzipped[c].saturating_add(bits.div_ceil(8));
                    out.zipped[c] = out.zipped[c].saturating_add(page.span.len);
                }
            }
        }
        out
    }
}

/// Adds a field and those below it that a user can name. Returns its branch.
fn add(ntuple: &Ntuple, bytes: &ColumnBytes, id: usize, parent: Option<usize>, tree: &mut Tree) -> usize {
    let field = &ntuple.schema.fields[id];
    let columns = ntuple.schema.columns_below(id);
    let sum = |of: &[u64]| columns.iter().fold(0u64, |a, &c| a.saturating_add(of[c]));
    let branch = tree.branches.len();
    tree.branches.push(Branch {
        // members of tuples have numbers; at the top a name like theirs is one
        name: if parent.is_none() { &field.name } else { user_name(&field.name) }.to_owned(),
        title: field.description.clone(),
        class: FIELD_CLASS.to_owned(),
        entries: ntuple.entries,
        entry_number: ntuple.entries,
        total_bytes: sum(&bytes.unzipped),
        zip_bytes: sum(&bytes.zipped),
        compression: columns.iter().find_map(|&c| bytes.compression[c]).unwrap_or(0),
        parent,
        field: Some(id),
        ..Branch::default()
    });
    let mut members = ntuple.schema.members(id);
    // in the order of the schema: those of base classes first, as in uproot's lists of names
    members.sort_by_cached_key(|(member, _)| {
        let above = |&at: &usize| ntuple.schema.fields[at].parent.filter(|&p| p != id);
        let mut chain: Vec<usize> = std::iter::successors(Some(*member), above).collect();
        chain.reverse();
        chain
    });
    for (child, name) in members {
        let child = add(ntuple, bytes, child, Some(branch), tree);
        tree.branches[child].name = name;
        tree.branches[branch].children.push(child);
    }
    branch
}
