use crate::primitives::{put_text, text_len};
use sapwood_format::cursor::Cursor;
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, Result};

/// Added to a label's version when its positions have 64 bits.
const BIG_VERSION: u16 = 1000;
/// The lower bits of a parent's position; the bits above select the process ids of the record's references.
const PARENT_BITS: u32 = 48;

/// A record's label, except for sizes and positions. Names are bytes: nothing guarantees that they are UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The object's class.
    pub class: Vec<u8>,
    /// The object's name.
    pub name: Vec<u8>,
    /// The object's title.
    pub title: Vec<u8>,
    /// Its number among the objects of its name.
    pub cycle: u16,
    /// When it was written, as [`datime`](crate::stamp::datime) packs it.
    pub datime: u32,
    /// Whether positions have 64 bits.
    pub big: bool,
    /// Selects the process ids of references (`TKey::fPidOffset`).
    pub pid: u16,
}

/// A label whose record has a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedLabel {
    /// The description of the object.
    pub label: Label,
    /// Position of the record.
    pub seek: u64,
    /// Position of its directory.
    pub parent: u64,
    /// Bytes after the label in the file.
    pub stored: u32,
    /// Bytes of the decompressed object.
    pub size: u32,
}

impl Label {
    /// For a new object.
    pub fn new(class: &str, name: &[u8], title: &[u8]) -> Self {
        let (class, name, title) = (bytes_of(class).into_owned(), name.to_vec(), title.to_vec());
        Self { class, name, title, cycle: 1, datime: 0, big: false, pid: 0 }
    }

    /// Reads the label of a record; also returns its length there.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are not a label.
    pub fn read(record: &[u8]) -> Result<(Self, usize)> {
        let mut c = Cursor::new(record, 0);
        let (label, length) = Self::parse(&mut c)?;
        if c.pos() > length || length > record.len() {
            return Err(Error::corrupt(format!("a label of {length} bytes extends to byte {}", c.pos())));
        }
        Ok((label, length))
    }

    /// Reads a label, and the length stated in it.
    pub(crate) fn parse(c: &mut Cursor) -> Result<(Self, usize)> {
        c.skip(4)?;
        let version = c.u16()?;
        c.skip(4)?;
        let datime = c.u32()?;
        let length = usize::from(c.u16()?);
        let cycle = c.u16()?;
        let big = version > BIG_VERSION;
        let pid = if big {
            c.skip(8)?;
            (c.u64()? >> PARENT_BITS) as u16
        } else {
            c.skip(8)?;
            0
        };
        let mut text = || c.string_bytes().map(<[u8]>::to_vec);
        Ok((Self { class: text()?, name: text()?, title: text()?, cycle, datime, big, pid }, length))
    }

    /// Bytes that it takes.
    #[expect(clippy::len_without_is_empty, reason = "no label is empty")]
    pub fn len(&self) -> usize {
        let texts = text_len(&self.class) + text_len(&self.name) + text_len(&self.title);
        18 + if self.big { 16 } else { 8 } + texts
    }
}

impl PlacedLabel {
    /// Appends it.
    ///
    /// # Errors
    /// `Unsupported` when a position does not fit.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let l = &self.label;
        let length = u16::try_from(l.len()).map_err(|_| Error::unsupported("names of more than 65 kB"))?;
        let total = i32::try_from(u64::from(self.stored) + u64::from(length));
        let total = total.map_err(|_| Error::unsupported("a record of more than 2 GiB"))?;
        out.extend_from_slice(&total.to_be_bytes());
        out.extend_from_slice(&(4 + if l.big { BIG_VERSION } else { 0 }).to_be_bytes());
        out.extend_from_slice(&self.size.to_be_bytes());
        out.extend_from_slice(&l.datime.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&l.cycle.to_be_bytes());
        if l.big {
            out.extend_from_slice(&self.seek.to_be_bytes());
            out.extend_from_slice(&(self.parent | u64::from(l.pid) << PARENT_BITS).to_be_bytes());
        } else {
            for position in [self.seek, self.parent] {
                let position = i32::try_from(position)
                    .map_err(|_| Error::unsupported("a record beyond 2 GiB needs a label with 64-bit positions"))?;
                out.extend_from_slice(&position.to_be_bytes());
            }
        }
        for text in [&l.class, &l.name, &l.title] {
            put_text(out, text);
        }
        Ok(())
    }
}

/// Updates the label of a copied basket with its new position; the length of the label stays, and with it every offset
/// in the payload. False when that is impossible: a label with 32-bit positions beyond 2 GiB, or one whose references
/// need another process id.
#[must_use]
pub fn patch_basket(record: &mut [u8], seek: u64, parent: u64, pid: u16) -> bool {
    let big = matches!(record, [_, _, _, _, a, b, ..] if u16::from_be_bytes([*a, *b]) > BIG_VERSION);
    if big {
        let Some(place) = record.get_mut(18..34) else { return false };
        let old = u16::from_be_bytes([place[8], place[9]]);
        let pid = old.saturating_add(pid);
        place[..8].copy_from_slice(&seek.to_be_bytes());
        place[8..].copy_from_slice(&(parent | u64::from(pid) << PARENT_BITS).to_be_bytes());
        return true;
    }
    let (Ok(seek), Ok(parent), Some(place)) = (i32::try_from(seek), i32::try_from(parent), record.get_mut(18..26))
    else {
        return false;
    };
    place[..4].copy_from_slice(&seek.to_be_bytes());
    place[4..].copy_from_slice(&parent.to_be_bytes());
    pid == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_survive_writing_and_reading() {
        for big in [false, true] {
            let label = Label { cycle: 3, datime: 7, big, pid: 0, ..Label::new("TBasket", &[0xe9; 300], b"t") };
            let placed = PlacedLabel { label: label.clone(), seek: 1000, parent: 100, stored: 5, size: 9 };
            let mut out = Vec::new();
            placed.write(&mut out).unwrap();
            assert_eq!(out.len(), label.len());
            assert_eq!(Label::read(&out).unwrap(), (label, out.len()));
        }
    }

    #[test]
    fn baskets_move_and_keep_their_length() {
        let label = Label { big: true, pid: 2, ..Label::new("TBasket", b"x", b"t") };
        let mut out = Vec::new();
        PlacedLabel { label, seek: 1, parent: 2, stored: 0, size: 0 }.write(&mut out).unwrap();
        assert!(patch_basket(&mut out, 5_000_000_000, 100, 3));
        let (moved, _) = Label::read(&out).unwrap();
        assert_eq!(moved.pid, 5);
        assert_eq!(sapwood_format::Key::read(&mut Cursor::new(&out, 0)).unwrap().span.start, 5_000_000_000);
        let mut small = Vec::new();
        let label = Label::new("TBasket", b"x", b"t");
        PlacedLabel { label, seek: 1, parent: 2, stored: 0, size: 0 }.write(&mut small).unwrap();
        assert!(!patch_basket(&mut small, 5_000_000_000, 100, 0));
        assert!(!patch_basket(&mut small, 5, 100, 1));
        assert!(patch_basket(&mut small, 5, 100, 0));
    }
}
