//! What of an ntuple's metadata is in the file.

use crate::key::Key;
use sapwood_format::ntuple::{Anchor, ClusterGroup, Schema, SchemaSize};
use sapwood_span::Span;

/// The records of the metadata as written last.
pub(super) struct Saved {
    pub(super) anchor: Key,
    pub(super) blobs: Vec<Span>,
}

/// What stays of an ntuple that is continued.
pub(super) struct Continued {
    pub(super) anchor: Anchor,
    /// Checksum of its header.
    pub(super) header_checksum: u64,
    pub(super) groups: Vec<ClusterGroup>,
    /// Whether it got fields since: the footer is written anew, also without new entries.
    pub(super) has_new_fields: bool,
}

/// The schema in the order of the file.
pub(super) struct Described {
    /// All of it.
    pub(super) schema: Schema,
    /// How much of it is in the header; the rest is in the footer.
    pub(super) in_header: SchemaSize,
    /// By column: the one that is filled.
    pub(super) order: Vec<usize>,
}
