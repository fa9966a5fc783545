use sapwood_format::cursor::Cursor;
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, Result};

/// Beyond this offset ROOT writes 64-bit positions (`TFile::kStartBigFile`).
pub(super) const BIG: u64 = 2_000_000_000;
/// Added to a label's version when its positions have 64 bits.
const BIG_VERSION: u16 = 1000;
/// The lower bits of a parent's position; above them stands which process ids the record's references mean.
pub(crate) const PARENT_BITS: u32 = 48;

/// What a record's label says beside sizes and positions. Names are bytes: nothing says that they are UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) class: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) title: Vec<u8>,
    pub(crate) cycle: u16,
    pub(crate) datime: u32,
    /// Whether positions have 64 bits.
    pub(crate) big: bool,
    /// Which process ids references mean (`TKey::fPidOffset`).
    pub(crate) pid: u16,
}

/// A label whose record has its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedLabel {
    pub(crate) label: Label,
    /// Where the record begins.
    pub(crate) seek: u64,
    /// Where its directory begins.
    pub(crate) parent: u64,
    /// Bytes behind the label in the file.
    pub(crate) stored: u32,
    /// Bytes of the object when inflated.
    pub(crate) size: u32,
}

impl Label {
    /// For an object that is made anew.
    pub(crate) fn new(class: &str, name: &[u8], title: &[u8]) -> Self {
        let (class, name, title) = (bytes_of(class).into_owned(), name.to_vec(), title.to_vec());
        Self { class, name, title, cycle: 1, datime: 0, big: false, pid: 0 }
    }

    /// Reads the label of a record; also gives how many bytes it takes there.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are no label.
    pub(crate) fn read(record: &[u8]) -> Result<(Self, usize)> {
        let mut c = Cursor::new(record, 0);
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
        let label = Self { class: text()?, name: text()?, title: text()?, cycle, datime, big, pid };
        if c.pos() > length || length > record.len() {
            return Err(Error::corrupt(format!("a label of {length} bytes reads on to byte {}", c.pos())));
        }
        Ok((label, length))
    }

    /// Bytes that it takes.
    pub(crate) fn len(&self) -> usize {
        let text = |t: &[u8]| t.len() + if t.len() < 255 { 1 } else { 5 };
        18 + if self.big { 16 } else { 8 } + text(&self.class) + text(&self.name) + text(&self.title)
    }
}

impl PlacedLabel {
    /// Appends it.
    ///
    /// # Errors
    /// `Unsupported` when a position does not fit.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
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

/// Appends a `TString`.
pub(super) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    match u8::try_from(text.len()) {
        Ok(n) if n < 255 => out.push(n),
        _ => {
            out.push(255);
            out.extend_from_slice(&(text.len() as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text);
}

/// Gives the label of a copied basket its new place; the length of the label stays, and with it every offset in the
/// payload. False when it cannot: a label with 32-bit positions that would lie beyond 2 GiB, or whose references
/// need another process id.
#[must_use]
pub(crate) fn patch_basket(record: &mut [u8], seek: u64, parent: u64, pid: u16) -> bool {
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
