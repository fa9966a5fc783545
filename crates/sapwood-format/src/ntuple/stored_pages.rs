//! The pages of a column with the entries they belong to: for maps, costs and what is fetched ahead.

use super::{Ntuple, Page, Role};
use std::ops::Range;

/// A page of a column that has bytes in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPage {
    /// The page.
    pub page: Page,
    /// The entries of its cluster, which is decoded as a whole.
    pub cluster: Range<u64>,
    /// Its first entry if each entry of the cluster has as many elements: exact for fields that are not in a list.
    pub first_entry: u64,
}

impl Ntuple {
    /// The pages of a column that have bytes, by entry.
    pub fn stored_pages(&self, column: usize) -> impl Iterator<Item = StoredPage> {
        self.table.clusters.iter().filter(|c| !c.entries.is_empty()).flat_map(move |cluster| {
            let range = cluster.columns.get(column).map_or(0..0, |c| c.pages.clone());
            let pages = self.table.pages.get(range).unwrap_or_default();
            let elements = pages.iter().map(|page| u128::from(page.elements)).sum::<u128>().max(1);
            let entries = cluster.entries.end - cluster.entries.start;
            let mut before = 0;
            pages.iter().filter_map(move |page| {
                // less than the number of entries
                let passed = (u128::from(entries) * before / elements) as u64;
                before += u128::from(page.elements);
                let first_entry = cluster.entries.start + passed.min(entries - 1);
                let stored = StoredPage { page: *page, cluster: cluster.entries.clone(), first_entry };
                (!page.stored().is_empty()).then_some(stored)
            })
        })
    }

    /// The column that says how many elements of this one an entry has.
    pub fn counting_column(&self, column: usize) -> Option<usize> {
        let described = self.schema.columns.get(column)?;
        let field = self.schema.fields.get(described.field)?;
        // of a string or a list, each representation begins with the ends
        let own = field.columns.first().copied().filter(|&first| first != column);
        let above = |&at: &usize| self.schema.fields.get(at).and_then(|f| f.parent);
        let mut lists = std::iter::successors(field.parent, above).filter_map(|at| self.schema.fields.get(at));
        own.or_else(|| lists.find(|f| f.role == Role::Collection).and_then(|f| f.columns.first().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntuple::{Cluster, ClusterColumn, Column, Field, PageTable, Schema};
    use sapwood_span::Span;

    /// A list field with its ends, and its items; two clusters.
    fn ntuple(elements: &[u32], entries: u64) -> Ntuple {
        let field = |parent, role, columns| Field { parent, role, columns, ..Field::default() };
        let fields = vec![field(None, Role::Collection, vec![0]), field(Some(0), Role::Leaf, vec![1])];
        let column = |field| Column { code: 0, bits: 32, field, representation: 0, first_element: 0, range: None };
        let schema = Schema { fields, columns: vec![column(0), column(1)], type_info: Vec::new() };
        let page = |(i, &elements): (usize, &u32)| {
            let span = if elements == 0 { Span::default() } else { Span::new(100 * i as u64, 8) };
            Page { elements, has_checksum: elements > 0, span }
        };
        let pages: Vec<Page> = elements.iter().enumerate().map(page).collect();
        let columns = vec![
            ClusterColumn::default(),
            ClusterColumn { pages: 0..pages.len(), is_suppressed: false, compression: 0 },
        ];
        let clusters = vec![
            Cluster { entries: 0..0, columns: Vec::new() },
            Cluster { entries: 10..10 + entries, columns },
            // a column that was added later
            Cluster { entries: 10 + entries..20 + entries, columns: Vec::new() },
        ];
        Ntuple { schema, table: PageTable { clusters, pages }, ..Ntuple::default() }
    }

    #[test]
    fn pages_have_the_entries_of_their_share() {
        let firsts = |elements: &[u32], entries| {
            ntuple(elements, entries).stored_pages(1).map(|p| p.first_entry).collect::<Vec<_>>()
        };
        assert_eq!(firsts(&[50, 50], 100), [10, 60]);
        assert_eq!(firsts(&[100, 0, 200], 6), [10, 12]);
        assert_eq!(
            firsts(&[u32::MAX, u32::MAX, u32::MAX], u64::MAX >> 1),
            [10, 10 + (u64::MAX >> 1) / 3, 10 + (u64::MAX >> 1) / 3 * 2]
        );
        assert_eq!(firsts(&[0], 6), [0; 0]);
        assert_eq!(ntuple(&[1], 1).stored_pages(7).count(), 0);
    }

    #[test]
    fn ends_count_items() {
        let ntuple = ntuple(&[], 1);
        assert_eq!((ntuple.counting_column(0), ntuple.counting_column(1)), (None, Some(0)));
        assert_eq!(ntuple.counting_column(2), None);
    }
}
