//! A basket's record, packed anew: with another compression, or behind a wider label.

use crate::container::{Label, PlacedLabel};
use sapwood_codec::{Compression, Decoder, Encoder};
use sapwood_format::cursor::Cursor;
use sapwood_format::tree::BasketHead;
use sapwood_format::{Key, inflate};
use sapwood_span::{Error, Result};

/// Packs records; keeps the codecs' memory from call to call.
#[derive(Default)]
pub(crate) struct Recoder {
    decoder: Decoder,
    encoder: Encoder,
    packed: Vec<u8>,
}

impl Recoder {
    /// For records that are made anew.
    pub(crate) fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    /// What a basket's label says, and its payload inflated.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be inflated.
    pub(crate) fn inflate(&mut self, record: &[u8]) -> Result<(BasketHead, Vec<u8>)> {
        let (head, _) = BasketHead::read(record)?;
        let (_, payload) = self.open(record)?;
        Ok((head, payload))
    }

    /// Appends the record with its payload compressed as `compression` says. Label, offsets and values stay.
    ///
    /// # Errors
    /// `Corrupt` when the basket cannot be inflated.
    pub(crate) fn recompress(&mut self, record: &[u8], compression: Compression, out: &mut Vec<u8>) -> Result<()> {
        let (key, payload) = self.open(record)?;
        let start = out.len();
        out.extend_from_slice(record.get(..key.key_len as usize).unwrap_or_default());
        self.close(start, &payload, compression, out)
    }

    /// Appends the record with a label of 64-bit positions, for whose 8 bytes all offsets move.
    ///
    /// # Errors
    /// `Corrupt` when the basket cannot be inflated.
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
        // the end of the values stands in front of the last byte, a flag
        let at = out.len() - 5;
        set(out, at, &(head.last + grown).to_be_bytes());
        let border = (head.last - head.key_len) as usize;
        // behind the values stands the table of offsets; one of displacements behind that says where entries were
        // written at first, which does not change
        let n = payload.get(border..border + 4).map_or(0, be32).saturating_sub(1) as usize;
        for place in (0..n).map(|i| border + 4 + 4 * i) {
            let Some(offset) = payload.get(place..place + 4).map(be32) else { break };
            set(&mut payload, place, &(offset + grown).to_be_bytes());
        }
        self.close(start, &payload, compression, out)
    }

    fn open(&mut self, record: &[u8]) -> Result<(Key, Vec<u8>)> {
        let key = Key::read(&mut Cursor::new(record, 0))?;
        let payload = record
            .get(key.key_len as usize..key.span.len as usize)
            .ok_or_else(|| Error::corrupt(format!("a basket of {} bytes where {} are", key.span.len, record.len())))?;
        let payload = inflate(&key, payload, &mut self.decoder)?;
        Ok((key, payload))
    }

    /// Appends the payload behind the label that begins at `start`, and tells the label how long all is.
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
