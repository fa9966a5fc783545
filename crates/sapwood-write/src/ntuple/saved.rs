//! What of an ntuple's metadata is in the file.

use crate::key::Key;
use sapwood_format::ntuple::{Anchor, ClusterGroup};
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
    /// By column of the header: the one that is filled.
    pub(super) order: Vec<usize>,
}
