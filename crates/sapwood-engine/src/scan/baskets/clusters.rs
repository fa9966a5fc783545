//! What a scan needs of the fields of an ntuple: for each cluster the pages of a field's columns.

use super::{Chosen, ScanBasket, steps_of};
use crate::tree::Tree;
use sapwood_column::ntuple::FieldLayout;
use sapwood_span::{Error, Result, Span};
use std::ops::Range;

/// Bytes that a field may have in a cluster however few are stored of them, and per stored byte: it is decoded in one
/// piece. ROOT writes clusters of 1.25 GiB at most.
const ANY_CLUSTER: u64 = 2 << 30;
const PER_BYTE: u64 = 100;

/// Adds the clusters of a field with one of the entries; of those only the chosen ones.
pub(super) fn add_clusters(
    tree: &Tree,
    branch: usize,
    field: &FieldLayout,
    entries: &Range<u64>,
    steps: &[Range<u64>],
    chosen: impl Fn(&Range<u64>) -> bool,
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
        let mut unzipped = 0u64;
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
        out.baskets.push(ScanBasket {
            column,
            number,
            entries: cluster.entries.clone(),
            span: None,
            pages: pages.into(),
            embedded: 0,
            unzipped,
            steps: steps_of(steps, &cluster.entries),
        });
    }
    Ok(())
}
