//! RNTuple: ROOT's columnar format beside TTree, as plain structs.
//!
//! The [`Anchor`] in the file's directory leads to the header and the footer, the footer to the page lists. Source: the
//! binary format specification 1.0 in ROOT's `tree/ntuple/doc`.

mod anchor;
mod as_tree;
mod envelope;
mod page_list;
mod schema;

pub use anchor::Anchor;
pub use as_tree::tree_of;
pub use envelope::{Envelope, Frame, Kind};
pub use page_list::{Cluster, ClusterColumn, PAGE_CHECKSUM, Page, PageTable};
pub use schema::{Column, Field, Role, Schema};

use sapwood_codec::Decoder;
use sapwood_span::{Error, Result, Span};

/// Everything about an ntuple but its values.
#[derive(Clone, Debug, Default)]
pub struct Ntuple {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// The program that wrote it.
    pub writer: String,
    /// Entries.
    pub entries: u64,
    /// Fields and columns.
    pub schema: Schema,
    /// Clusters and pages.
    pub table: PageTable,
}

/// A page list of an ntuple: where it is stored, and its decompressed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageListPlace {
    /// Its bytes in the file.
    pub span: Span,
    /// Bytes that it decompresses to.
    pub len: u64,
}

/// Bytes that a cluster group takes at least.
const GROUP: usize = 8 + 20 + 8 + 12;

impl Ntuple {
    /// The schema, from header and footer; and where the page lists are.
    ///
    /// # Errors
    /// `Corrupt` when an envelope is damaged or the two do not belong together, `Unsupported` for features of later
    /// format versions.
    pub fn open(
        anchor: &Anchor,
        header: &[u8],
        footer: &[u8],
        decoder: &mut Decoder,
    ) -> Result<(Self, u64, Vec<PageListPlace>)> {
        let header =
            Envelope::open(Kind::Header, header, anchor.header_len, decoder).map_err(|e| e.at(anchor.header))?;
        let footer =
            Envelope::open(Kind::Footer, footer, anchor.footer_len, decoder).map_err(|e| e.at(anchor.footer))?;
        let mut f = header.payload(Kind::Header);
        f.feature_flags()?;
        let (name, description, writer) = (f.string()?, f.string()?, f.string()?);
        let mut out = Self { name, description, writer, ..Self::default() };
        out.schema.extend(&mut f).map_err(|e| e.at(anchor.header))?;
        let mut f = footer.payload(Kind::Footer);
        f.feature_flags()?;
        if f.u64()? != header.checksum {
            return Err(Error::corrupt("the footer belongs to another RNTuple than the header").at(anchor.footer));
        }
        let mut extension = f.record()?;
        if extension.left() > 0 {
            out.schema.extend(&mut extension).map_err(|e| e.at(anchor.footer))?;
        }
        let (mut groups, n) = f.list(GROUP)?;
        let mut lists = Vec::with_capacity(n);
        for _ in 0..n {
            let mut group = groups.record()?;
            let (_first, _entries, _clusters) = (group.u64()?, group.u64()?, group.u32()?);
            let len = group.u64()?;
            lists.push(PageListPlace { span: group.locator()?, len });
        }
        Ok((out, header.checksum, lists))
    }

    /// Adds the clusters of a page list. `header`: the checksum of the header.
    ///
    /// # Errors
    /// As [`Ntuple::open`].
    pub fn add_pages(&mut self, list: &PageListPlace, stored: &[u8], header: u64, decoder: &mut Decoder) -> Result<()> {
        let envelope = Envelope::open(Kind::PageList, stored, list.len, decoder).map_err(|e| e.at(list.span))?;
        self.table.extend(&mut envelope.payload(Kind::PageList), header).map_err(|e| e.at(list.span))
    }

    /// Once all page lists are added: the entries, which the clusters must cover without a gap.
    ///
    /// # Errors
    /// `Corrupt` when they do not.
    pub fn finish(&mut self) -> Result<()> {
        self.table.clusters.sort_by_key(|c| c.entries.start);
        let mut end = 0;
        for cluster in &self.table.clusters {
            if cluster.entries.start != end {
                let what = format!("a cluster of the RNTuple begins at entry {}, not {end}", cluster.entries.start);
                return Err(Error::corrupt(what));
            }
            end = cluster.entries.end;
        }
        self.entries = end;
        Ok(())
    }
}
