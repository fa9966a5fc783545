//! What a scan needs of the fields of an ntuple: for each cluster the pages of a field's columns.

use super::{Chosen, ScanBasket, steps_of};
use crate::tree::Tree;
use sapwood_column::ntuple::FieldLayout;
use sapwood_span::{Error, Result, Span};
use std::ops::Range;

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
