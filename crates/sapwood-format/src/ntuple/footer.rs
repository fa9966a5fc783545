//! The footer: fields added while writing, and where the page lists are.

use super::{Anchor, ClusterGroup, Envelope, Frame, Kind, Schema};
use sapwood_codec::Decoder;
use sapwood_span::{Error, Result, Span};

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

/// Bytes that a set of attributes takes at least.
const ATTRIBUTES: usize = 8 + 2 * 2 + 4 + 12 + 4;

/// The sets of attributes: ntuples of their own, which are not read. Early files have no such list.
fn attributes(f: &mut Frame<'_>) -> Result<Vec<String>> {
    if f.left() == 0 {
        return Ok(Vec::new());
    }
    let (mut list, n) = f.list(ATTRIBUTES)?;
    let mut names = Vec::with_capacity(n);
    for _ in 0..n {
        let mut set = list.record()?;
        let (_major, _minor, _len) = (set.u16()?, set.u16()?, set.u32()?);
        set.locator()?;
        names.push(set.string()?);
    }
    Ok(names)
}

/// A footer, checked. It can be read without the header, so that page lists need not wait for that.
#[derive(Clone, Debug)]
pub struct Footer {
    envelope: Envelope,
    /// The checksum of the header that it belongs to.
    pub header_checksum: u64,
    /// The page lists, in the order of their cluster groups.
    pub lists: Vec<PageListPlace>,
    /// Names of the sets of attributes that are linked to it.
    pub attributes: Vec<String>,
}

impl Footer {
    /// Reads a stored footer.
    ///
    /// # Errors
    /// `Corrupt` when it is damaged, `Unsupported` for features of later format versions.
    pub fn open(anchor: &Anchor, stored: &[u8], decoder: &mut Decoder) -> Result<Self> {
        let envelope = Envelope::open(Kind::Footer, stored, anchor.footer_len, decoder);
        envelope.and_then(Self::parse).map_err(|e| e.at(anchor.footer))
    }

    fn parse(envelope: Envelope) -> Result<Self> {
        let mut f = envelope.payload(Kind::Footer);
        f.feature_flags()?;
        let header_checksum = f.u64()?;
        f.record()?;
        let (mut groups, n) = f.list(GROUP)?;
        let mut lists = Vec::with_capacity(n);
        for _ in 0..n {
            let mut group = groups.record()?;
            let (_first, _entries, _clusters) = (group.u64()?, group.u64()?, group.u32()?);
            let len = group.u64()?;
            lists.push(PageListPlace { span: group.locator()?, len });
        }
        let attributes = attributes(&mut f)?;
        Ok(Self { envelope, header_checksum, lists, attributes })
    }

    /// The cluster groups, for a writer that adds some behind them and writes the footer again.
    ///
    /// # Errors
    /// `Unsupported` where the footer has attributes, which would be lost.
    pub fn groups(&self) -> Result<Vec<ClusterGroup>> {
        let mut f = self.envelope.payload(Kind::Footer);
        f.feature_flags()?;
        f.u64()?;
        f.record()?;
        let (mut groups, n) = f.list(GROUP)?;
        let mut out = Vec::with_capacity(n);
        for _ in 0..n {
            let mut group = groups.record()?;
            let (first, entries, clusters) = (group.u64()?, group.u64()?, group.u32()?);
            let len = group.u64()?;
            let list = PageListPlace { span: group.locator()?, len };
            out.push(ClusterGroup { entries: first..first.saturating_add(entries), clusters, list });
        }
        if f.left() > 0 && f.list(0)?.1 > 0 {
            return Err(Error::unsupported("it has attributes"));
        }
        Ok(out)
    }

    /// Adds the fields and columns that were added after the header was written.
    pub(super) fn extend(&self, schema: &mut Schema) -> Result<()> {
        let mut f = self.envelope.payload(Kind::Footer);
        f.feature_flags()?;
        f.u64()?;
        let mut extension = f.record()?;
        if extension.left() > 0 {
            schema.extend(&mut extension)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntuple::frame_writer::FrameWriter;
    use sapwood_codec::Decoder;

    fn opened(write: impl FnOnce(&mut FrameWriter)) -> Result<Footer> {
        let mut f = FrameWriter::envelope(Kind::Footer);
        f.u64(0);
        f.u64(7);
        f.record(|_| ());
        f.list(0, |_| ());
        write(&mut f);
        let (bytes, _) = f.finish();
        let len = bytes.len() as u64;
        let (header, footer) = (Span::new(100, 1), Span::new(200, len));
        let anchor = Anchor { version: [1, 0, 1, 0], header, header_len: 1, footer, footer_len: len, longest_blob: 0 };
        Footer::open(&anchor, &bytes, &mut Decoder::new())
    }

    #[test]
    fn sets_of_attributes_are_known_by_name() {
        // early files have no such list
        assert!(opened(|_| ()).unwrap().attributes.is_empty());
        let set = |f: &mut FrameWriter| {
            f.record(|f| {
                f.u16(1);
                f.u16(0);
                f.u32(78);
                f.locator(Span::new(5000, 78));
                f.string("Lumi");
            });
        };
        assert_eq!(opened(|f| f.list(1, set)).unwrap().attributes, ["Lumi"]);
        assert!(opened(|f| f.list(2, set)).is_err());
    }
}
