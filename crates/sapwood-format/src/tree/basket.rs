use crate::cursor::Cursor;
use crate::key::Key;
use sapwood_span::{Error, Result};
use std::borrow::Cow;

/// A basket's label with its information about the buffer (TBasket's members after those of the key).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BasketHead {
    /// Length of the label, included in offsets.
    pub key_len: u32,
    /// Bytes of the decompressed payload.
    pub object_len: u32,
    /// Entries.
    pub entries: u32,
    /// Where the values end, label included.
    pub last: u32,
    /// Whether offsets that cannot be derived are stored as the lengths of entries (ROOT's kGenerateOffsetMap).
    pub lengths: bool,
}

/// A basket that was never written separately and is stored in the tree's header.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct EmbeddedBasket {
    /// Entries.
    pub entries: u32,
    /// The values.
    pub data: Vec<u8>,
    /// Where each entry begins in `data`, when entries differ in size.
    pub offsets: Option<Vec<u32>>,
    /// Length of the label that precedes `data`: ROOT's references count from the label's beginning.
    pub key_len: u32,
}

/// A basket's decompressed values, and where its entries begin.
#[derive(Clone, Debug)]
pub struct BasketData<'a> {
    /// Entries.
    pub entries: usize,
    /// The values.
    pub data: &'a [u8],
    /// The table of offsets as stored in the file: big-endian, label included; subtract `key_len`.
    pub offsets: Option<Cow<'a, [u8]>>,
    /// See `offsets`.
    pub key_len: u32,
}

/// The feature bit of baskets whose offsets are left out or stored as lengths (ROOT's kGenerateOffsetMap).
const GENERATES_OFFSETS: u8 = 1;

/// Added to a basket's flag: its offsets are derived from the counter (ROOT's kGenerateOffsetMap).
const OFFSETS_LEFT_OUT: u8 = 80;

impl BasketHead {
    /// Reads the label of a basket record; also returns the key.
    pub fn read(record: &[u8]) -> Result<(Self, Key)> {
        let (head, key) = Self::read_label(record)?;
        if key.span.len > record.len() as u64 || (key.key_len as usize) > record.len() {
            return Err(Error::corrupt(format!(
                "a basket of {} bytes, the tree's header says {}",
                key.span.len,
                record.len()
            )));
        }
        Ok((head, key))
    }

    /// As [`Self::read`], from the label alone.
    ///
    /// # Errors
    /// `Corrupt` when it is not a basket's label.
    pub fn read_label(label: &[u8]) -> Result<(Self, Key)> {
        let mut c = Cursor::new(label, 0);
        let key = Key::read(&mut c)?;
        let (head, flag) = read_members(&mut c, &key)?;
        if !matches!(flag, 0 | OFFSETS_LEFT_OUT) {
            // it flags the parts that follow within a tree's header; in front of a record it is meaningless
            return Err(Error::corrupt(format!("a basket's label with the flag {flag}")));
        }
        Ok((head, key))
    }
}

fn read_members(c: &mut Cursor, key: &Key) -> Result<(BasketHead, u8)> {
    c.u16()?; // version
    c.i32()?; // buffer size
    // a negative sign means that a byte of input/output features follows
    let features = if c.i32()? < 0 { c.u8()? } else { 0 };
    let entries = c.i32()?;
    let last = c.i32()?;
    let flag = c.u8()?;
    if entries < 0 || last < 0 {
        return Err(Error::corrupt(format!("a basket with {entries} entries that end at byte {last}")));
    }
    let head = BasketHead {
        key_len: key.key_len,
        object_len: key.object_len,
        entries: entries as u32,
        last: last as u32,
        lengths: features & GENERATES_OFFSETS != 0,
    };
    Ok((head, flag))
}

/// Splits a decompressed basket into its values and its table of offsets.
///
/// # Errors
/// `Corrupt` when the label's numbers do not match the payload.
pub fn split_basket<'a>(head: &BasketHead, payload: &'a [u8]) -> Result<BasketData<'a>> {
    let bad = |what: String| Err(Error::corrupt(what));
    let border = match (head.last as usize).checked_sub(head.key_len as usize) {
        Some(b) if b <= payload.len() => b,
        _ => {
            return bad(format!(
                "a basket's values end at {}, its label at {}, its payload has {} bytes",
                head.last,
                head.key_len,
                payload.len()
            ));
        }
    };
    let (data, rest) = payload.split_at(border);
    let entries = head.entries as usize;
    let offsets = if rest.is_empty() {
        None
    } else {
        let mut c = Cursor::new(rest, 0);
        let n = c.count(4)?;
        if n < entries {
            return bad(format!("a basket of {entries} entries has {n} offsets"));
        }
        let table = c.take(entries * 4)?;
        Some(if head.lengths { Cow::Owned(starts_of(table, head)?) } else { Cow::Borrowed(table) })
    };
    Ok(BasketData { entries, data, offsets, key_len: head.key_len })
}

/// Converts a table of lengths to offsets: before each entry is the length of the previous one, before the first
/// nothing.
fn starts_of(lengths: &[u8], head: &BasketHead) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(lengths.len());
    let mut at = head.key_len;
    for length in lengths.as_chunks::<4>().0 {
        at = at.checked_add(u32::from_be_bytes(*length)).filter(|&at| at <= head.last).ok_or_else(|| {
            Error::corrupt(format!("the lengths of a basket's entries add up to more than its {} bytes", head.last))
        })?;
        out.extend_from_slice(&at.to_be_bytes());
    }
    Ok(out)
}

/// Reads a TBasket stored in a tree's header.
pub(super) fn read_embedded(c: &mut Cursor) -> Result<Option<EmbeddedBasket>> {
    let key = read_loose_key(c)?;
    let (head, flag) = read_members(c, &key)?;
    if flag == 0 {
        return Ok(None);
    }
    let generated = flag >= OFFSETS_LEFT_OUT;
    let flag = if generated { flag - OFFSETS_LEFT_OUT } else { flag };
    let mut offsets = None;
    if !generated && flag % 10 != 2 {
        if head.entries > 0 {
            let n = c.count(4)?;
            let mut raw = Cursor::new(c.take(n * 4)?, 0);
            let mask = if flag > 20 && flag < 40 { 0x00ff_ffff } else { u32::MAX };
            let all = (0..n).map(|_| raw.u32().map(|o| o & mask)).collect::<Result<Vec<_>>>()?;
            offsets = Some(all);
        }
        if flag > 40 {
            let n = c.count(4)?;
            c.skip(n * 4)?;
        }
    }
    if flag != 1 && flag <= 10 {
        return Ok(None);
    }
    let buffer = c.take(head.last as usize)?;
    let Some(data) = buffer.get(head.key_len as usize..) else {
        return Err(Error::corrupt(format!(
            "a basket in the tree's header ends at {} before its values begin at {}",
            head.last, head.key_len
        )));
    };
    if let Some(o) = &mut offsets {
        if o.len() < head.entries as usize {
            return Err(Error::corrupt(format!("a basket of {} entries has {} offsets", head.entries, o.len())));
        }
        o.truncate(head.entries as usize);
        for x in o.iter_mut() {
            *x = x.saturating_sub(head.key_len);
        }
    }
    Ok(Some(EmbeddedBasket { entries: head.entries, data: data.to_vec(), offsets, key_len: head.key_len }))
}

/// The key of a basket in a header may have no length yet: it was never written.
fn read_loose_key(c: &mut Cursor) -> Result<Key> {
    c.i32()?;
    let version = c.u16()?;
    let object_len = c.u32()?;
    let datetime = c.u32()?;
    let key_len = u32::from(c.u16()?);
    let cycle = c.i16()?;
    c.skip(if version > 1000 { 16 } else { 8 })?;
    let class = c.string()?;
    let name = c.string()?;
    let title = c.string()?;
    Ok(Key { name, title, class, cycle, span: Default::default(), key_len, object_len, datetime, parent: 0 })
}
