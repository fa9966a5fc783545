//! The baskets in a tree's header, for computations and pictures from the header alone.

use sapwood_format::tree::Tree;
use sapwood_plan::Basket;
use sapwood_span::Span;

/// The baskets in the file, branch by branch: without those in the tree's header or in another file.
pub(crate) fn baskets(tree: &Tree) -> Vec<Basket> {
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
