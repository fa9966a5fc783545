//! What tables of branches show.

use sapwood_codec::Compression;
use sapwood_format::tree::{Branch, Tree};

/// Baskets in the file and in the header of the tree.
pub fn baskets(branch: &Branch) -> u64 {
    let written = branch.basket_seek.iter().filter(|&&seek| seek != 0).count();
    (written + branch.embedded.len()) as u64
}

/// What a branch consists of: its baskets, or the pages of a field and of those below it.
pub fn parts(tree: &Tree, branch: usize) -> u64 {
    let Some(b) = tree.branches.get(branch) else { return 0 };
    let (Some(ntuple), Some(field)) = (&tree.ntuple, b.field) else { return baskets(b) };
    let columns = ntuple.schema.columns_below(field);
    let clusters = ntuple.table.clusters.iter();
    clusters.flat_map(|k| columns.iter().filter_map(|&c| k.columns.get(c))).map(|c| c.pages.len() as u64).sum()
}

/// What [`parts`] counts.
pub fn parts_noun(tree: &Tree) -> &'static str {
    if tree.ntuple.is_some() { "pages" } else { "baskets" }
}

/// Whether a branch has no values of its own: they are in its branches.
pub fn is_split(branch: &Branch) -> bool {
    !branch.children.is_empty() && baskets(branch) == 0
}

/// Algorithm and level of new baskets; the number of the file where it means none.
pub fn compression(branch: &Branch) -> String {
    Compression::from_settings(branch.compression).map_or_else(|_| branch.compression.to_string(), |c| c.to_string())
}
