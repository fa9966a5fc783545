//! Opening an ntuple: its anchor, header and footer, page lists.

use super::{Listing, Opener, TreeAt};
use crate::ntuple::{Anchor, Footer, Ntuple, tree_of};
use crate::payload::inflate;
use sapwood_span::{Result, Span};

impl Opener {
    /// The ntuple of this key, as a tree. Nothing when bytes are missing.
    pub(super) fn ntuple(&mut self, found: Listing) -> Result<Option<TreeAt>> {
        let Listing { path, key } = found;
        let Some(payload) = self.payload(&key)? else { return Ok(None) };
        let data = inflate(&key, &payload, &mut self.decoder)?;
        let anchor = Anchor::parse(&data).map_err(|e| e.at(key.span))?;
        // the page lists need the footer only: they are requested together with the header
        let header = self.bytes(anchor.header)?;
        let Some(footer) = self.bytes(anchor.footer)? else {
            if self.guesses_page_lists {
                self.need.extend(self.chunks.missing(page_lists(&anchor, self.size)));
            }
            return Ok(None);
        };
        let footer = Footer::open(&anchor, &footer, &mut self.decoder)?;
        let pages = footer.lists.iter().map(|list| self.bytes(list.span)).collect::<Result<Vec<_>>>()?;
        let Some(header) = header.filter(|_| pages.iter().all(Option::is_some)) else { return Ok(None) };
        let (mut ntuple, checksum) = Ntuple::open(&anchor, &header, &footer, &mut self.decoder)?;
        for (list, stored) in footer.lists.iter().zip(pages.iter().flatten()) {
            ntuple.add_pages(list, stored, checksum, &mut self.decoder)?;
        }
        ntuple.finish().map_err(|e| e.at(anchor.footer))?;
        let streamers = ntuple.streamers.clone();
        Ok(Some(TreeAt { path, key, tree: tree_of(ntuple), streamers }))
    }
}

/// Where the page lists usually are: in front of the footer. Those of one cluster are shorter than the header as a rule,
/// since both describe each column; those of a large file take less than a five hundredth of it.
fn page_lists(anchor: &Anchor, size: u64) -> Span {
    let len = anchor.header.len.max(size / 512).clamp(8 << 10, 512 << 10).min(anchor.footer.start);
    Span::new(anchor.footer.start - len, len)
}
