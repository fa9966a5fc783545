//! From a tree's header to the map of its baskets, or of an ntuple's pages.

use sapwood_format::ntuple::{Ntuple, column_branches};
use sapwood_format::tree::{BasketPlace, Tree, stored_baskets};
use sapwood_prefetch::{BasketMap, BranchBaskets};
use sapwood_span::Span;

/// The baskets of a tree's branches in this file; none when there are too many.
pub(crate) fn basket_map(tree: &Tree) -> Option<BasketMap> {
    if let Some(ntuple) = &tree.ntuple {
        return page_map(tree, ntuple);
    }
    let order = tree.in_order();
    let mut places = vec![None; tree.branches.len()];
    order.iter().enumerate().for_each(|(place, &branch)| places[branch] = Some(place));
    let paths: Vec<String> = order.iter().map(|&branch| tree.path(branch)).collect();
    let described = order.iter().zip(&paths).map(|(&branch, path)| BranchBaskets {
        path,
        counter: counter(tree, branch).and_then(|counter| places.get(counter).copied().flatten()),
        baskets: baskets(tree, branch),
    });
    BasketMap::new(&tree.name, tree.entries, described)
}

/// The pages of an ntuple's columns. A column has the name of its field, so that columns of one object and members of
/// several are recognised as branches of trees are.
fn page_map(tree: &Tree, ntuple: &Ntuple) -> Option<BasketMap> {
    let owners = column_branches(tree, ntuple);
    let paths: Vec<String> = tree.branches.iter().enumerate().map(|(branch, _)| tree.path(branch)).collect();
    let described = owners.iter().enumerate().map(|(column, &owner)| BranchBaskets {
        path: paths.get(owner).map_or("", |path| path),
        counter: ntuple.counting_column(column),
        baskets: ntuple.stored_pages(column).map(|stored| (stored.first_entry, stored.page.stored())).collect(),
    });
    BasketMap::new(&tree.name, tree.entries, described)
}

/// First entry and span of each basket, unless they are in another file.
fn baskets(tree: &Tree, branch: usize) -> Vec<(u64, Span)> {
    let branch = &tree.branches[branch];
    if branch.external_file().is_some() {
        return Vec::new();
    }
    let in_file = |basket: sapwood_format::tree::StoredBasket| match basket.place {
        BasketPlace::File(span) => Some((basket.entries.start, span)),
        BasketPlace::Header(_) => None,
    };
    stored_baskets(branch).into_iter().filter_map(in_file).collect()
}

/// The branch that holds the number of items of this one.
fn counter(tree: &Tree, branch: usize) -> Option<usize> {
    let this = &tree.branches[branch];
    let of_leaf = |&leaf: &usize| tree.leaves.get(tree.leaves.get(leaf)?.count?)?.branch;
    let of_element = || this.element.as_ref().and_then(|element| element.count);
    this.leaves.iter().find_map(of_leaf).or_else(of_element).filter(|&counter| counter != branch)
}
