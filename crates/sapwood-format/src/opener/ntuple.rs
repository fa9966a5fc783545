//! Opening an ntuple: its anchor, header and footer, page lists.

use super::{Listing, Opener, TreeAt};
use crate::ntuple::{Anchor, Ntuple, tree_of};
use crate::payload::inflate;
use crate::streamer::Streamers;
use sapwood_span::Result;
use std::sync::Arc;

impl Opener {
    /// The ntuple of this key, as a tree. Nothing when bytes are missing.
    pub(super) fn ntuple(&mut self, found: Listing) -> Result<Option<TreeAt>> {
        let Listing { path, key } = found;
        let Some(payload) = self.payload(&key)? else { return Ok(None) };
        let data = inflate(&key, &payload, &mut self.decoder)?;
        let anchor = Anchor::parse(&data).map_err(|e| e.at(key.span))?;
        // both in one request
        let (header, footer) = (self.bytes(anchor.header)?, self.bytes(anchor.footer)?);
        let (Some(header), Some(footer)) = (header, footer) else { return Ok(None) };
        let (mut ntuple, checksum, lists) = Ntuple::open(&anchor, &header, &footer, &mut self.decoder)?;
        let pages = lists.iter().map(|list| self.bytes(list.span)).collect::<Result<Vec<_>>>()?;
        if pages.iter().any(Option::is_none) {
            return Ok(None);
        }
        for (list, stored) in lists.iter().zip(pages.iter().flatten()) {
            ntuple.add_pages(list, stored, checksum, &mut self.decoder)?;
        }
        ntuple.finish().map_err(|e| e.at(anchor.footer))?;
        Ok(Some(TreeAt { path, key, tree: tree_of(ntuple), streamers: Arc::new(Streamers::default()) }))
    }
}
