//! Typical layouts of baskets in files.

use sapwood_plan::Basket;
use sapwood_span::Span;

/// The head of a file, before its first basket.
const HEAD: u64 = 1024;

/// Many small baskets far apart, as in an old file of which a query reads few branches: each of `branches` branches has
/// `per_branch` baskets of about `bytes` bytes and `entries` entries, in the order of entries, with gaps of about `gap`
/// bytes. Sizes vary by a quarter, always in the same way.
pub fn scattered(branches: u32, per_branch: u32, bytes: u64, gap: u64, entries: u64) -> Vec<Basket> {
    let mut offset = HEAD;
    let mut out = Vec::new();
    for index in 0..per_branch {
        for branch in 0..branches {
            let wobble = u64::from(index * 7 + branch * 13) % 16;
            let len = (bytes * (24 + wobble) / 32).max(1);
            offset += gap * (24 + 15 - wobble) / 32;
            let first = u64::from(index) * entries;
            let span = Span::new(offset, len);
            out.push(Basket { branch, index, span, first, last: first + entries, unzipped: len * 3 });
            offset = span.end();
        }
    }
    out
}

/// A file in clusters, as ROOT has written them since 2010: in each of `clusters` clusters the baskets of every branch
/// follow each other; `branches` of `of` branches are chosen, evenly spaced. A cluster has `entries` entries, a basket
/// `bytes` bytes; a branch has `per_cluster` baskets in it. Returns the baskets and the entries at which clusters
/// begin.
pub fn clustered(
    clusters: u32,
    (branches, of): (u32, u32),
    per_cluster: u32,
    bytes: u64,
    entries: u64,
) -> (Vec<Basket>, Vec<u64>) {
    let of = of.max(branches).max(1);
    let mut offset = HEAD;
    let mut out = Vec::new();
    for cluster in 0..clusters {
        let mut chosen = 0;
        for branch in 0..of {
            let take = u64::from(branch + 1) * u64::from(branches) / u64::from(of) > u64::from(chosen);
            for k in 0..u64::from(per_cluster) {
                let begin = u64::from(cluster) * entries;
                let [first, last] = [k, k + 1].map(|i| begin + entries * i / u64::from(per_cluster));
                let span = Span::new(offset, bytes);
                offset = span.end();
                if take {
                    let index = cluster * per_cluster + k as u32;
                    out.push(Basket { branch: chosen, index, span, first, last, unzipped: bytes * 3 });
                }
            }
            chosen += u32::from(take);
        }
    }
    (out, (0..u64::from(clusters)).map(|c| c * entries).collect())
}

/// The entry after the last one.
pub fn entries(baskets: &[Basket]) -> u64 {
    baskets.iter().map(|b| b.last).max().unwrap_or(0)
}
