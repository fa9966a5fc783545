//! Baskets that were never written separately and are stored in a tree's header: they become ordinary records.

use crate::label::{Label, PlacedLabel};
use sapwood_codec::{Compression, Encoder};
use sapwood_format::cursor::Cursor;
use sapwood_span::{Error, Result};

/// A basket from a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Its first entry.
    pub first: u64,
    /// How many entries it holds.
    pub entries: u32,
    label: Label,
    /// Version, buffer size, entry size (or room for offsets) and flags that follow the label.
    version: u16,
    buffer: i32,
    entry_size: i32,
    features: Option<u8>,
    /// Whether its offsets are derived from the counter.
    generated: bool,
    /// Offset of the first value: the length of the label with the basket's own members.
    key_len: u32,
    /// The same in the header that it was read from. If they differ, positions in its entries are meaningless.
    pub read_key_len: u32,
    /// The values.
    data: Vec<u8>,
    /// Where entries begin, label included, and how far they were moved.
    offsets: Option<Vec<u32>>,
    moved: Option<Vec<u32>>,
}

/// Reads a `TBasket` in the form of its streamer in a header; `None` when it is empty.
///
/// # Errors
/// `Corrupt` when its numbers are impossible.
pub(super) fn read_embedded(bytes: &[u8]) -> Result<Option<Embedded>> {
    let mut c = Cursor::new(bytes, 0);
    let (label, key_len) = Label::parse(&mut c)?;
    let key_len = key_len as u32;
    let version = c.u16()?;
    let buffer = c.i32()?;
    let mut entry_size = c.i32()?;
    let features = if entry_size < 0 { Some(c.u8()?) } else { None };
    entry_size = entry_size.saturating_abs();
    let (entries, last) = (c.i32()?, c.i32()?);
    let (Ok(entries), Ok(last)) = (u32::try_from(entries), usize::try_from(last)) else {
        return Err(Error::corrupt(format!("a basket in the header has {entries} entries that end at {last}")));
    };
    let flag = c.u8()?;
    if flag == 0 || entries == 0 {
        return Ok(None);
    }
    // 80: offsets are derived from the counter; 40: entries were moved; units: 2 without offsets
    let generated = flag >= OFFSETS_LEFT_OUT;
    let flag = if generated { flag - OFFSETS_LEFT_OUT } else { flag };
    let (mut offsets, mut moved) = (None, None);
    if !generated && flag % 10 != 2 {
        let mut table = || -> Result<Vec<u32>> {
            let n = c.count(4)?;
            (0..n).map(|_| c.u32()).collect()
        };
        // files of ROOT 3 store the length of a displacement in the upper byte
        let mask = if flag > 20 && flag < 40 { 0x00ff_ffff } else { u32::MAX };
        offsets = Some(table()?.into_iter().map(|o| o & mask).collect::<Vec<u32>>());
        if flag > 40 {
            moved = Some(table()?);
        }
    }
    if flag != 1 && flag <= 10 {
        return Ok(None);
    }
    let values = c.take(last)?.get(key_len as usize..);
    let Some(data) = values.map(<[u8]>::to_vec) else {
        return Err(Error::corrupt(format!("a basket in the header ends at {last}, before its values at {key_len}")));
    };
    if offsets.as_ref().is_some_and(|o| o.len() < entries as usize) {
        return Err(Error::corrupt("a basket in the header has too few offsets"));
    }
    let mut out = Embedded {
        first: 0,
        entries,
        label,
        version,
        buffer,
        entry_size,
        features,
        generated,
        key_len,
        read_key_len: key_len,
        data,
        offsets,
        moved,
    };
    // where the label was written for another name, offsets move with it (the earlier positions of displaced entries do
    // not)
    let length = (out.label.len() + MEMBERS + usize::from(features.is_some())) as u32;
    for o in out.offsets.iter_mut().flatten() {
        *o = o.saturating_sub(key_len).saturating_add(length);
    }
    out.key_len = length;
    Ok(Some(out))
}

/// Initial room for entries in a basket's offset table (`TTree::fDefaultEntryOffsetLen`).
const OFFSETS_AT_FIRST: u32 = 1000;

/// The feature bit of baskets whose offsets are left out, or stored as the lengths of entries: before each that of the
/// previous one (ROOT's kGenerateOffsetMap).
const GENERATES_OFFSETS: u8 = 1;

/// Added to a basket's flag: its offsets are derived from the counter (ROOT's kGenerateOffsetMap).
const OFFSETS_LEFT_OUT: u8 = 80;

/// Bytes of a basket's own members after its label: version, buffer size, entry size, entries, end of values, flag.
const MEMBERS: usize = 2 + 4 * 4 + 1;

/// A basket assembled from entries of others.
pub struct Fresh {
    /// Its first entry.
    pub first: u64,
    /// How many entries it holds.
    pub entries: u32,
    /// Its values, entry by entry.
    pub data: Vec<u8>,
    /// Where each entry begins in `data`, when they differ in size.
    pub starts: Option<Vec<u32>>,
    /// Bytes of an entry, when all have the same size.
    pub entry_size: u32,
}

impl Embedded {
    /// Whether its entries begin at other positions than in the header, so that references to positions in the basket
    /// would be wrong.
    pub fn is_shifted(&self) -> bool {
        self.key_len != self.read_key_len
    }

    /// A new basket with the label of another one of its branch.
    pub fn fresh(label: &Label, fresh: Fresh, buffer: u32) -> Self {
        let label = Label { big: true, ..label.clone() };
        let key_len = (label.len() + MEMBERS) as u32;
        let whole = key_len as usize + fresh.data.len();
        let room = OFFSETS_AT_FIRST.max(fresh.entries.saturating_add(1));
        let entry_size = if fresh.starts.is_some() { room } else { fresh.entry_size };
        Self {
            first: fresh.first,
            entries: fresh.entries,
            label,
            version: 3,
            buffer: i32::try_from(whole.max(buffer as usize)).unwrap_or(i32::MAX),
            entry_size: i32::try_from(entry_size).unwrap_or(i32::MAX),
            features: None,
            generated: false,
            key_len,
            read_key_len: key_len,
            data: fresh.data,
            offsets: fresh.starts.map(|s| s.into_iter().map(|o| o + key_len).collect()),
            moved: None,
        }
    }

    /// The basket as a record (which has no position yet), and its uncompressed size.
    ///
    /// # Errors
    /// `Unsupported` when it is too large for a record.
    pub fn record(&self, compression: Compression, encoder: &mut Encoder) -> Result<(Vec<u8>, u64)> {
        let mut payload = self.data.clone();
        for (i, table) in [&self.offsets, &self.moved].into_iter().enumerate() {
            let Some(table) = table else { continue };
            let n = self.entries as usize;
            payload.extend_from_slice(&(n as u32 + 1).to_be_bytes());
            // such a basket has offsets only in a header
            let as_lengths = i == 0 && self.features.is_some_and(|f| f & GENERATES_OFFSETS != 0);
            let mut before = table.first().copied().unwrap_or(0);
            for &o in table.iter().take(n) {
                let number = if as_lengths { o.saturating_sub(before) } else { o };
                payload.extend_from_slice(&number.to_be_bytes());
                before = o;
            }
            // the offset after the last entry is never read: ROOT writes zero
            payload.extend_from_slice(&[0; 4]);
        }
        let mut packed = Vec::new();
        let shrunk = encoder.compress(&payload, compression, &mut packed);
        let stored = if shrunk { &packed } else { &payload };
        let extra = MEMBERS + usize::from(self.features.is_some());
        let mut out = Vec::with_capacity(self.key_len as usize + stored.len());
        let (seek, parent) = (0, 0);
        let size = payload.len() as u32;
        PlacedLabel { label: self.label.clone(), seek, parent, stored: (stored.len() + extra) as u32, size }
            .write(&mut out)?;
        // the label includes the basket's own members
        if let Some(place) = out.get_mut(14..16) {
            place.copy_from_slice(&(self.key_len as u16).to_be_bytes());
        }
        out.extend_from_slice(&self.version.to_be_bytes());
        out.extend_from_slice(&self.buffer.to_be_bytes());
        match self.features {
            Some(bits) => {
                out.extend_from_slice(&(-self.entry_size).to_be_bytes());
                out.push(bits);
            }
            None => out.extend_from_slice(&self.entry_size.to_be_bytes()),
        }
        out.extend_from_slice(&self.entries.to_be_bytes());
        out.extend_from_slice(&(self.key_len + self.data.len() as u32).to_be_bytes());
        out.push(if self.generated { OFFSETS_LEFT_OUT } else { 0 });
        out.extend_from_slice(stored);
        Ok((out, u64::from(self.key_len) + payload.len() as u64))
    }
}
