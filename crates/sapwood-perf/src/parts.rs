//! What the branches of a tree consist of in the file, for computations and pictures from the header alone: baskets, or
//! the pages of an ntuple.

use sapwood_column::ntuple::FieldLayout;
use sapwood_format::ntuple::{Ntuple, column_branches};
use sapwood_format::tree::Tree;
use sapwood_plan::Basket;
use sapwood_span::Span;
use std::collections::{HashMap, HashSet};

/// The baskets of a tree, or the pages of an ntuple. The latter have the number of their column where baskets have that
/// of their branch: a column with the ends of lists is read with each of the fields below the list.
pub(crate) struct Parts {
    /// Those in the file, branch by branch or column by column: without those in the tree's header or in another file.
    pub all: Vec<Basket>,
    /// For ntuples: the branch of each column.
    owners: Option<Vec<usize>>,
}

impl Parts {
    pub(crate) fn of(tree: &Tree) -> Self {
        match &tree.ntuple {
            Some(ntuple) => Self { all: pages(ntuple), owners: Some(column_branches(tree, ntuple)) },
            None => Self { all: baskets(tree), owners: None },
        }
    }

    /// What they are called.
    pub(crate) fn noun(&self) -> &'static str {
        if self.owners.is_some() { "page" } else { "basket" }
    }

    /// The branch of a basket; of a page the innermost one that a user can name.
    pub(crate) fn branch(&self, part: &Basket) -> usize {
        match &self.owners {
            Some(owners) => owners.get(part.branch as usize).copied().unwrap_or(0),
            None => part.branch as usize,
        }
    }

    /// Which of the numbers in [`Basket::branch`] are read for a branch.
    pub(crate) fn read_with(&self, tree: &Tree, branch: usize) -> HashSet<u32> {
        let (Some(ntuple), Some(field)) = (&tree.ntuple, tree.branches.get(branch).and_then(|b| b.field)) else {
            return HashSet::from([branch as u32]);
        };
        match FieldLayout::of(ntuple, field) {
            Ok(layout) => layout.columns().iter().map(|&c| c as u32).collect(),
            Err(_) => ntuple.schema.columns_below(field).into_iter().map(|c| c as u32).collect(),
        }
    }
}

/// What a tree or an ntuple consists of in its file, with numbers of which several may belong to a branch.
#[derive(Clone, Debug)]
pub struct StoredParts {
    /// The baskets, or pages.
    pub parts: Vec<Basket>,
    /// By number: the branch that a user can name.
    pub branches: Vec<usize>,
    /// By number: those that are read along with it, as the ends of lists are with what is in the lists.
    pub together: Vec<Vec<u32>>,
}

/// The baskets of a tree, where each branch has its own number, or the pages of an ntuple, where each column has.
pub fn stored_parts(tree: &Tree) -> StoredParts {
    let parts = Parts::of(tree);
    let Some(branches) = parts.owners.clone() else {
        let all = 0..tree.branches.len();
        return StoredParts { parts: parts.all, together: vec![Vec::new(); all.len()], branches: all.collect() };
    };
    let mut known: HashMap<usize, Vec<u32>> = HashMap::new();
    let with = |(number, branch): (u32, &usize)| {
        let all = known.entry(*branch).or_insert_with(|| {
            let mut all: Vec<u32> = parts.read_with(tree, *branch).into_iter().collect();
            all.sort_unstable();
            all
        });
        all.iter().copied().filter(|&other| other != number).collect()
    };
    let together = (0..).zip(&branches).map(with).collect();
    StoredParts { parts: parts.all, branches, together }
}

/// The pages of an ntuple, column by column. Each is decoded with the others of its column in the cluster.
fn pages(ntuple: &Ntuple) -> Vec<Basket> {
    let mut out: Vec<Basket> = Vec::new();
    for (column, described) in ntuple.schema.columns.iter().enumerate() {
        out.extend(ntuple.stored_pages(column).zip(0..).map(|(stored, index)| {
            let unzipped = (u64::from(stored.page.elements) * u64::from(described.bits)).div_ceil(8);
            let (first, last) = (stored.cluster.start, stored.cluster.end);
            Basket { branch: column as u32, index, span: stored.page.stored(), first, last, unzipped }
        }));
    }
    out
}

/// The baskets in the file, branch by branch.
pub fn baskets(tree: &Tree) -> Vec<Basket> {
    let mut out = Vec::new();
    for (number, b) in tree.branches.iter().enumerate().filter(|(_, b)| b.file_name.is_empty()) {
        let n = b.write_basket.min(b.basket_entry.len()).min(b.basket_seek.len()).min(b.basket_bytes.len());
        for i in 0..n {
            let (first, at, len) = (b.basket_entry[i], b.basket_seek[i], u64::from(b.basket_bytes[i]));
            let last = match b.basket_entry.get(i + 1) {
                Some(&next) if i + 1 < n || next > first => next,
                _ => b.entry_number.max(b.entries),
            };
            if at == 0 || len == 0 || last <= first || b.embedded.iter().any(|(k, _)| *k == i) {
                continue;
            }
            let part = (last - first) as f64 / b.entries.max(1) as f64;
            let unzipped = (b.total_bytes as f64 * part) as u64;
            let (branch, index) = (number as u32, i as u32);
            out.push(Basket { branch, index, span: Span::new(at, len), first, last, unzipped });
        }
    }
    out
}
