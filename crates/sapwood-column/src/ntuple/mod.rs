//! Fields of ntuples: from pages to columns of entries.

mod element;
mod encode;
mod layout;
mod read;

pub use encode::{
    PageEncoding, column_of, half_column, index_column, quantized_column, switch_column, text_column, truncated_column,
};
pub use read::Pages;

use crate::class::Context;
use crate::{Array, ColumnType, DType, Form, Values};
use layout::Node;
use read::Reader;
use sapwood_format::ntuple::{Cluster, Column, Ntuple};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// The real numbers of a page, uncompressed, in a field of this type: in single precision, or in double precision where
/// that needs it.
///
/// # Errors
/// `Corrupt` when the page has not as many elements, or the column's description is impossible; `Unsupported` for a type
/// of a later format version.
pub fn numbers_of(column: &Column, dtype: DType, page: &[u8], elements: usize) -> Result<Values> {
    let element = element::Element::of(column)?.in_field_of(dtype);
    if element.page_bytes(elements) != Some(page.len()) {
        return Err(Error::corrupt("a page with another number of elements than its list says"));
    }
    let mut out = Values::with_capacity(element.dtype(), elements);
    element.append(page, elements, &mut out)?;
    Ok(out)
}

/// How a field's clusters are decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldLayout {
    node: Node,
    columns: Vec<usize>,
}

impl FieldLayout {
    /// Chooses it from the schema.
    ///
    /// # Errors
    /// `Unsupported` for types that this version does not read, `Corrupt` for an impossible schema.
    pub fn of(ntuple: &Ntuple, field: usize) -> Result<Self> {
        Self::with(ntuple, field, &Context::new(&ntuple.streamers, usize::MAX))
    }

    /// The same with these descriptions of classes.
    pub(crate) fn with(ntuple: &Ntuple, field: usize, cx: &Context) -> Result<Self> {
        let node = Node::of(&ntuple.schema, field, cx)?.within(&ntuple.schema, field)?;
        let mut columns = Vec::new();
        node.columns(&mut columns);
        columns.sort_unstable();
        columns.dedup();
        Ok(Self { node, columns })
    }

    /// The columns whose pages it needs.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The type of the column in memory.
    pub fn column_type(&self) -> ColumnType {
        self.node.column_type()
    }

    /// What that type does not include.
    pub fn form(&self) -> Form {
        self.node.form()
    }

    /// Whether some entries of a cluster can be decoded without those before.
    pub fn is_divisible(&self, ntuple: &Ntuple, cluster: &Cluster) -> bool {
        // elements that were not written have no place among the pages
        let is_whole = |&c: &usize| {
            cluster.columns.len() > c && ntuple.schema.columns.get(c).is_some_and(|column| column.first_element == 0)
        };
        !self.node.has_variant() && self.columns.iter().all(is_whole)
    }

    /// The values of these entries, counted in the cluster: all of them, or some where it is divisible.
    ///
    /// # Errors
    /// `Corrupt` when pages have other numbers of elements than they should, or cannot be read.
    pub fn decode(
        &self,
        ntuple: &Ntuple,
        cluster: &Cluster,
        entries: Range<u64>,
        pages: &mut impl Pages,
    ) -> Result<Array> {
        let n = cluster.entries.end - cluster.entries.start;
        if entries.start > entries.end || entries.end > n {
            return Err(Error::invalid("entries beyond the cluster"));
        }
        let is_end = entries.end == n;
        Reader { ntuple, cluster, pages, is_end }.read(&self.node, entries)
    }
}
