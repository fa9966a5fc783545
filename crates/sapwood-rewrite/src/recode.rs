//! A basket's record, rebuilt: with another compression, or a wider label. Pages with another compression.

use sapwood_codec::{Compression, Decoder, Encoder, xxh3};
use sapwood_edit::{Label, PlacedLabel};
use sapwood_format::cursor::Cursor;
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_format::{Key, inflate};
use sapwood_span::{Error, Result};
use std::borrow::Cow;

/// Compresses records; keeps the codecs' memory from call to call.
#[derive(Default)]
pub(crate) struct Recoder {
    decoder: Decoder,
    encoder: Encoder,
    packed: Vec<u8>,
}

impl Recoder {
    /// For new records.
    pub(crate) fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    /// A basket's label, and its decompressed payload.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be decompressed.
    pub(crate) fn inflate(&mut self, record: &[u8]) -> Result<(BasketHead, Vec<u8>)> {
        let (head, _) = BasketHead::read(record)?;
        let (_, payload) = self.open(record)?;
        Ok((head, payload))
    }

    /// Appends a page of an ntuple with `compression`, and its checksum. `size`: its uncompressed bytes.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be decompressed.
    pub(crate) fn page(&mut self, stored: &[u8], size: u64, compression: Compression, out: &mut Vec<u8>) -> Result<()> {
        let plain = self.plain_page(stored, size)?;
        self.close_page(&plain, compression, out);
        Ok(())
    }

    /// The page that `change` makes of its uncompressed bytes, and its checksum.
    ///
    /// # Errors
    /// As [`Recoder::page`], and those of `change`.
    pub(crate) fn changed_page(
        &mut self,
        stored: &[u8],
        size: u64,
        compression: Compression,
        change: impl FnOnce(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let changed = change(&self.plain_page(stored, size)?)?;
        let mut out = Vec::new();
        self.close_page(&changed, compression, &mut out);
        Ok(out)
    }

    fn plain_page<'a>(&mut self, stored: &'a [u8], size: u64) -> Result<Cow<'a, [u8]>> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size == stored.len() {
            return Ok(Cow::Borrowed(stored));
        }
        let mut plain = Vec::new();
        self.decoder.decompress_vec(stored, &mut plain, size)?;
        Ok(Cow::Owned(plain))
    }

    fn close_page(&mut self, plain: &[u8], compression: Compression, out: &mut Vec<u8>) {
        let start = out.len();
        if !self.encoder.compress(plain, compression, out) {
            out.extend_from_slice(plain);
        }
        let checksum = xxh3(out.get(start..).unwrap_or_default());
        out.extend_from_slice(&checksum.to_le_bytes());
    }

    /// Appends the record with its payload compressed with `compression`. Label, offsets and values stay.
    ///
    /// # Errors
    /// `Corrupt` when the basket cannot be decompressed.
    pub(crate) fn recompress(&mut self, record: &[u8], compression: Compression, out: &mut Vec<u8>) -> Result<()> {
        let (key, payload) = self.open(record)?;
        let start = out.len();
        out.extend_from_slice(record.get(..key.key_len as usize).unwrap_or_default());
        self.close(start, &payload, compression, out)
    }

    /// Appends the record with a label of 64-bit positions, which moves all offsets by 8 bytes.
    ///
    /// # Errors
    /// `Corrupt` when the basket cannot be decompressed.
    pub(crate) fn widen(&mut self, record: &[u8], compression: Compression, out: &mut Vec<u8>) -> Result<()> {
        let (head, key) = BasketHead::read(record)?;
        let (_, mut payload) = self.open(record)?;
        let (label, label_len) = read_label(record)?;
        let members = record.get(label_len..key.key_len as usize).unwrap_or_default();
        let start = out.len();
        let wide = Label { big: true, ..label };
        let size = key.object_len;
        PlacedLabel { seek: 0, parent: 0, stored: members.len() as u32, size, label: wide }.write(out)?;
        let key_len = (out.len() - start + members.len()) as u16;
        out.extend_from_slice(members);
        let grown = u32::from(key_len) - key.key_len;
        set(out, start + 14, &key_len.to_be_bytes());
        // the end of the values is stored before the last byte, a flag
        let at = out.len() - 5;
        set(out, at, &(head.last + grown).to_be_bytes());
        let border = (head.last - head.key_len) as usize;
        // the values are followed by the table of offsets; a table of displacements after it holds the original
        // positions of entries, which does not change
        let n = payload.get(border..border + 4).map_or(0, be32).saturating_sub(1) as usize;
        for place in (0..n).map(|i| border + 4 + 4 * i) {
            let Some(offset) = payload.get(place..place + 4).map(be32) else { break };
            set(&mut payload, place, &(offset + grown).to_be_bytes());
        }
        self.close(start, &payload, compression, out)
    }

    /// Appends the record with a table of offsets, or without, as `wanted` says: returns by how many uncompressed bytes
    /// it grew. None where it is so already. Only entries of one size can do without.
    ///
    /// # Errors
    /// `Unsupported` when its entries have several sizes.
    pub(crate) fn set_offsets(
        &mut self,
        record: &[u8],
        wanted: bool,
        compression: Compression,
        out: &mut Vec<u8>,
    ) -> Result<Option<i64>> {
        let (head, key) = BasketHead::read(record)?;
        let border = head.last.saturating_sub(head.key_len);
        if (head.object_len > border) == wanted || head.entries == 0 {
            return Ok(None);
        }
        let (_, mut payload) = self.open(record)?;
        let basket = split_basket(&head, &payload)?;
        let (key_len, n) = (key.key_len as usize, head.entries);
        // the label is followed by version, size of the buffer, size of an entry or room for offsets, entries, end,
        // flag
        let (buffer_at, size_at) = (key_len.saturating_sub(17), key_len.saturating_sub(13));
        let number = |at: usize| record.get(at..at + 4).map_or(0, be32);
        let size = if wanted { number(size_at) } else { border / n };
        let starts = (0..n).map(|i| (head.key_len + i * size).to_be_bytes());
        let even = size.checked_mul(n) == Some(border)
            && !head.lengths
            && basket.offsets.as_ref().is_none_or(|raw| starts.clone().flatten().eq(raw.iter().copied()));
        if !even {
            return Err(Error::unsupported("stores entry offsets differently, and they are needed")
                .with_remedy("run sapwood optimize on both files first"));
        }
        payload.truncate(border as usize);
        if wanted {
            payload.extend_from_slice(&(n + 1).to_be_bytes());
            payload.extend(starts.flatten());
            // the offset after the last entry is never read: ROOT writes zero
            payload.extend_from_slice(&[0; 4]);
        }
        let start = out.len();
        out.extend_from_slice(record.get(..key_len).unwrap_or_default());
        let len = payload.len() as u32;
        set(out, start + 6, &len.to_be_bytes());
        set(out, start + buffer_at, &number(buffer_at).max(head.key_len + len).to_be_bytes());
        set(out, start + size_at, &if wanted { n + 1 } else { size }.to_be_bytes());
        self.close(start, &payload, compression, out)?;
        Ok(Some(i64::from(len) - i64::from(head.object_len)))
    }

    fn open(&mut self, record: &[u8]) -> Result<(Key, Vec<u8>)> {
        let key = Key::read(&mut Cursor::new(record, 0))?;
        let payload = record
            .get(key.key_len as usize..key.span.len as usize)
            .ok_or_else(|| Error::corrupt(format!("a basket of {} bytes, not {}", key.span.len, record.len())))?;
        let payload = inflate(&key, payload, &mut self.decoder)?;
        Ok((key, payload))
    }

    /// Appends the payload after the label that begins at `start`, and sets the total length in the label.
    fn close(&mut self, start: usize, payload: &[u8], compression: Compression, out: &mut Vec<u8>) -> Result<()> {
        self.packed.clear();
        let shrunk = self.encoder.compress(payload, compression, &mut self.packed);
        out.extend_from_slice(if shrunk { &self.packed } else { payload });
        let total = i32::try_from(out.len() - start).map_err(|_| Error::unsupported("a basket of more than 2 GiB"))?;
        set(out, start, &total.to_be_bytes());
        Ok(())
    }
}

/// The label without the basket's own members, and its length.
fn read_label(record: &[u8]) -> Result<(Label, usize)> {
    let (label, _) = Label::read(record)?;
    let len = label.len();
    Ok((label, len))
}

fn be32(b: &[u8]) -> u32 {
    b.try_into().map_or(0, u32::from_be_bytes)
}

fn set(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
