//! What a scan needs of the fields of an ntuple: for each cluster the pages of a field's columns.

use super::{Chosen, ScanBasket, steps_of};
use crate::tree::Tree;
use sapwood_column::ntuple::FieldLayout;
use sapwood_span::{Error, Result, Span};
use std::ops::Range;

/// Bytes that a field may have in a cluster however few are stored of them, and per stored byte: it may be decoded in one
/// piece. ROOT writes clusters of 1.25 GiB at most.
const ANY_CLUSTER: u64 = 2 << 30;
const PER_BYTE: u64 = 100;
/// Bytes of a field that are decoded in one piece, about, where its clusters can be divided.
const PART: u64 = 1 << 20;

/// Adds the clusters of a field with one of the entries; of those only the chosen ones, in parts where `divided`.
pub(super) fn add_clusters(
    tree: &Tree,
    (branch, field): (usize, &FieldLayout),
    entries: &Range<u64>,
    steps: &[Range<u64>],
    chosen: impl Fn(&Range<u64>) -> bool,
    divided: bool,
    out: &mut Chosen,
) -> Result<()> {
    let (Some(ntuple), column) = (&tree.header().ntuple, out.columns.len()) else { return Ok(()) };
    let file = tree.basket_file(branch)?;
    let clusters = &ntuple.table.clusters;
    let start = clusters.partition_point(|c| c.entries.end <= entries.start);
    for (number, cluster) in clusters.iter().enumerate().skip(start) {
        if cluster.entries.start >= entries.end {
            break;
        }
        if cluster.entries.is_empty() || !chosen(&cluster.entries) {
            continue;
        }
        let mut pages = Vec::new();
        let (mut unzipped, mut part) = (0u64, PART);
        for &c in field.columns() {
            let Some(stored) = cluster.columns.get(c) else { continue };
            for i in stored.pages.clone() {
                let Some(page) = ntuple.table.pages.get(i) else { continue };
                let span = page.stored();
                if span.end() > file.size {
                    return Err(Error::corrupt(format!("a page is outside the file of {} bytes", file.size))
                        .at(span)
                        .in_branch(tree.name_of(branch))
                        .in_file(&*file.name)
                        .with_remedy("the file is truncated or damaged: fetch it again"));
                }
                let bits = u64::from(page.elements) * u64::from(ntuple.schema.columns[c].bits);
                unzipped = unzipped.saturating_add(bits.div_ceil(8));
                // each part with some of a page decodes all of it
                part = part.max(bits.div_ceil(8));
                if !span.is_empty() {
                    pages.push((i, Span::new(span.start.saturating_add(file.begin), span.len)));
                }
            }
        }
        let stored = pages.iter().fold(0u64, |sum, (_, span): &(usize, Span)| sum.saturating_add(span.len));
        if unzipped > ANY_CLUSTER.max(PER_BYTE.saturating_mul(stored)) {
            let what = format!("cluster {number} claims {unzipped} bytes of it, of {stored} compressed");
            return Err(Error::unsupported(what).in_branch(tree.name_of(branch)).in_file(&*file.name));
        }
        let is_divided = divided && unzipped / 2 >= part && field.is_divisible(ntuple, cluster);
        let parts = if is_divided { parts(&cluster.entries, unzipped / part) } else { vec![cluster.entries.clone()] };
        let needed: Vec<Range<u64>> =
            parts.iter().filter(|p| p.start < entries.end && p.end > entries.start).cloned().collect();
        let share = unzipped / parts.len().max(1) as u64;
        let positions = out.baskets.len()..out.baskets.len() + needed.len();
        for entries in needed {
            out.baskets.push(ScanBasket {
                column,
                number,
                steps: steps_of(steps, &entries),
                entries,
                span: None,
                // the first part has them
                pages: std::mem::take(&mut pages).into(),
                parts: positions.clone(),
                embedded: 0,
                unzipped: share,
            });
        }
    }
    Ok(())
}

/// Entries in so many parts of the same length, or as many as there are entries.
fn parts(entries: &Range<u64>, n: u64) -> Vec<Range<u64>> {
    let all = entries.end - entries.start;
    let each = all.div_ceil(n.max(1)).max(1);
    (0..all.div_ceil(each)).map(|i| entries.start + i * each..entries.end.min(entries.start + (i + 1) * each)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_parts() {
        assert_eq!(parts(&(5..15), 3), [5..9, 9..13, 13..15]);
        assert_eq!(parts(&(5..7), 9), [5..6, 6..7]);
        assert_eq!(parts(&(5..15), 1), vec![Range { start: 5, end: 15 }]);
    }
}
