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
use crate::{Array, ColumnType, Form};
use layout::Node;
use read::Reader;
use sapwood_format::ntuple::{Cluster, Ntuple};
use sapwood_span::Result;

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

    /// The values of all entries of a cluster.
    ///
    /// # Errors
    /// `Corrupt` when pages have other numbers of elements than they should, or cannot be read.
    pub fn decode(&self, ntuple: &Ntuple, cluster: &Cluster, pages: &mut impl Pages) -> Result<Array> {
        let n = cluster.entries.end - cluster.entries.start;
        Reader { ntuple, cluster, pages }.read(&self.node, n)
    }
}
