//! Opening an ntuple: its anchor, header and footer, page lists.

use super::{Listing, Opener, TreeAt};
use crate::ntuple::{Anchor, Footer, Ntuple, tree_of};
use crate::payload::inflate;
use bytes::Bytes;
use sapwood_span::{Error, Result, Span};

impl Opener {
    /// The ntuple of this key, as a tree. Nothing when bytes are missing.
    pub(super) fn ntuple(&mut self, found: Listing) -> Result<Option<TreeAt>> {
        let Listing { path, key } = found;
        let Some(payload) = self.payload(&key)? else { return Ok(None) };
        let data = inflate(&key, &payload, &mut self.decoder)?;
        let anchor = Anchor::parse(&data).map_err(|e| e.at(key.span))?;
        // the page lists need the footer only: they are requested together with the header
        let header = self.blob(&anchor, anchor.header)?;
        let Some(footer) = self.blob(&anchor, anchor.footer)? else {
            if self.guesses_page_lists {
                self.need.extend(self.chunks.missing(page_lists(&anchor, self.size)));
            }
            return Ok(None);
        };
        let footer = Footer::open(&anchor, &footer, &mut self.decoder)?;
        let pages = footer.lists.iter().map(|list| self.blob(&anchor, list.span)).collect::<Result<Vec<_>>>()?;
        let Some(header) = header.filter(|_| pages.iter().all(Option::is_some)) else { return Ok(None) };
        let (mut ntuple, checksum) = Ntuple::open(&anchor, &header, &footer, &mut self.decoder)?;
        for (list, stored) in footer.lists.iter().zip(pages.iter().flatten()) {
            ntuple.add_pages(list, stored, checksum, &mut self.decoder)?;
        }
        ntuple.finish().map_err(|e| e.at(anchor.footer))?;
        if let Some(page) = ntuple.table.pages.iter().find(|page| anchor.divides(page.stored().len)) {
            let what = format!("a page of {} bytes, divided into records of {}", page.span.len, anchor.longest_blob);
            return Err(Error::unsupported(what)
                .at(page.span)
                .with_remedy("write it again with smaller pages, or with ROOT's default size of keys"));
        }
        let streamers = ntuple.streamers.clone();
        Ok(Some(TreeAt { path, key, tree: tree_of(ntuple), streamers }))
    }

    /// The bytes of an envelope, which may be divided into several records. Nothing when bytes are missing.
    fn blob(&mut self, anchor: &Anchor, span: Span) -> Result<Option<Bytes>> {
        if !anchor.divides(span.len) || span.len > self.size {
            return self.bytes(span);
        }
        let Some(first) = self.bytes(Span::new(span.start, anchor.longest_blob))? else { return Ok(None) };
        let (data, others) = anchor.parts(&first, span.len).map_err(|e| e.at(span))?;
        let others = others.into_iter().map(|part| self.bytes(part)).collect::<Result<Option<Vec<_>>>>()?;
        let Some(others) = others else { return Ok(None) };
        Ok(Some([data, &others.concat()].concat().into()))
    }
}

/// Where the page lists usually are: in front of the footer. Those of one cluster are shorter than the header as a rule,
/// since both describe each column; those of a large file take less than a five hundredth of it.
fn page_lists(anchor: &Anchor, size: u64) -> Span {
    let len = anchor.header.len.max(size / 512).clamp(8 << 10, 512 << 10).min(anchor.footer.start);
    Span::new(anchor.footer.start - len, len)
}
