//! RNTuple: ROOT's columnar format beside TTree, as plain structs.
//!
//! The [`Anchor`] in the file's directory leads to the header and the footer, the footer to the page lists. Source: the
//! binary format specification 1.0 in ROOT's `tree/ntuple/doc`.

mod anchor;
mod as_tree;
mod envelope;
mod footer;
mod frame_writer;
mod page;
mod page_list;
mod schema;
mod stored_pages;
mod write;

pub use anchor::Anchor;
pub use as_tree::{column_branches, tree_of};
pub use envelope::{Envelope, Frame, Kind};
pub use footer::{Footer, PageListPlace};
pub use page_list::{Cluster, ClusterColumn, PAGE_CHECKSUM, Page, PageTable};
pub use schema::{Column, Field, Role, Schema, SchemaSize, TypeInfo};
pub use stored_pages::StoredPage;
pub use write::{
    ClusterGroup, ColumnRange, LONGEST_BLOB, WRITTEN_VERSION, footer_envelope, header_envelope, header_envelope_of,
    page_list_envelope,
};

use crate::streamer::Streamers;
use sapwood_codec::Decoder;
use sapwood_span::{Error, Result, Span};
use std::sync::Arc;

/// Additional information on types: the descriptions of classes.
const CLASS_DESCRIPTIONS: u32 = 0;

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
    /// How much of them is in the header; the rest was added while the ntuple was written.
    pub in_header: SchemaSize,
    /// Clusters and pages.
    pub table: PageTable,
    /// Names of the sets of attributes that are linked to it, which are not read.
    pub attributes: Vec<String>,
    /// The classes of objects written by ROOT's streamer, as far as their descriptions can be read.
    pub streamers: Arc<Streamers>,
    /// Where header, footer and page lists are in the file.
    pub envelopes: Vec<(Kind, Span)>,
}

impl Ntuple {
    /// The schema, from header and footer, and the checksum of the header.
    ///
    /// # Errors
    /// `Corrupt` when an envelope is damaged or the two do not belong together, `Unsupported` for features of later
    /// format versions.
    pub fn open(anchor: &Anchor, header: &[u8], footer: &Footer, decoder: &mut Decoder) -> Result<(Self, u64)> {
        let header =
            Envelope::open(Kind::Header, header, anchor.header_len, decoder).map_err(|e| e.at(anchor.header))?;
        if footer.header_checksum != header.checksum {
            return Err(Error::corrupt("the footer belongs to another RNTuple than the header").at(anchor.footer));
        }
        let mut f = header.payload(Kind::Header);
        f.feature_flags()?;
        let (name, description, writer) = (f.string()?, f.string()?, f.string()?);
        let attributes = footer.attributes.clone();
        let mut out = Self { name, description, writer, attributes, ..Self::default() };
        out.schema.extend(&mut f).map_err(|e| e.at(anchor.header))?;
        out.in_header = out.schema.size();
        footer.extend(&mut out.schema).map_err(|e| e.at(anchor.footer))?;
        let mut streamers = Streamers::default();
        for info in out.schema.type_info.iter().filter(|info| info.content == CLASS_DESCRIPTIONS) {
            // only fields of these classes need them
            let _ = streamers.add_streamed_list(&info.bytes);
        }
        out.streamers = Arc::new(streamers);
        out.envelopes = vec![(Kind::Header, anchor.header), (Kind::Footer, anchor.footer)];
        Ok((out, header.checksum))
    }

    /// Adds the clusters of a page list. `header`: the checksum of the header.
    ///
    /// # Errors
    /// As [`Ntuple::open`].
    pub fn add_pages(&mut self, list: &PageListPlace, stored: &[u8], header: u64, decoder: &mut Decoder) -> Result<()> {
        let envelope = Envelope::open(Kind::PageList, stored, list.len, decoder).map_err(|e| e.at(list.span))?;
        self.envelopes.push((Kind::PageList, list.span));
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
