use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result};

/// Maximum bytes of a class's name in front of an object; the longest in real files have a few hundred.
const LONGEST_CLASS_NAME: usize = 4096;

/// References are offset by two from the position (ROOT's kMapOffset).
pub(crate) const MAP_OFFSET: u64 = 2;

/// A bounds-checked reader of big-endian values. It never reads beyond its end and never panics.
///
/// `origin` is what ROOT would call position 0 of the buffer: object references are positions
/// counted from there (for an object in a key, from the beginning of the key).
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    data: &'a [u8],
    pos: usize,
    origin: usize,
    /// Bytes of class names read through references.
    named: usize,
}

/// Bytes of class names that references may read in any record, and per byte of it: each is read again, and a reference
/// of a few bytes may refer to a long one. Of real objects that are named in this way few are shorter than the name of
/// their class, and none a tenth of it.
const ANY_NAMES: usize = 1 << 20;
const NAMES_PER_BYTE: usize = 64;

macro_rules! number {
    ($name:ident, $t:ty, $n:expr) => {
        #[doc = concat!("The next big-endian `", stringify!($t), "`.")]
        pub fn $name(&mut self) -> Result<$t> {
            let b = self.take($n)?;
            let mut a = [0; $n];
            a.copy_from_slice(b);
            Ok(<$t>::from_be_bytes(a))
        }
    };
}

impl<'a> Cursor<'a> {
    /// A reader of these bytes; `origin` is the reference position of the first of them.
    pub fn new(data: &'a [u8], origin: usize) -> Self {
        Self { data, pos: 0, origin, named: 0 }
    }

    /// Position of the next byte in the slice.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Position of the next byte, as ROOT's references count.
    pub fn reference(&self) -> u64 {
        (self.pos + self.origin) as u64
    }

    /// Bytes left.
    pub fn left(&self) -> usize {
        self.data.len() - self.pos
    }

    /// The bytes that are left.
    pub fn rest(&self) -> &'a [u8] {
        self.data.get(self.pos..).unwrap_or_default()
    }

    /// Moves to a position within the slice (its end included).
    pub fn seek(&mut self, pos: usize) -> Result<()> {
        if pos > self.data.len() {
            return Err(Error::corrupt(format!("a length extends to byte {pos} of {}", self.data.len())));
        }
        self.pos = pos;
        Ok(())
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.data.get(self.pos..self.pos.saturating_add(n)) {
            Some(s) => {
                self.pos += n;
                Ok(s)
            }
            None => Err(Error::corrupt(format!(
                "the record ends too early: {n} bytes expected at {} of {}",
                self.pos,
                self.data.len()
            ))),
        }
    }

    /// Skips `n` bytes.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.take(n).map(|_| ())
    }

    number!(u8, u8, 1);
    number!(i8, i8, 1);
    number!(u16, u16, 2);
    number!(i16, i16, 2);
    number!(u32, u32, 4);
    number!(i32, i32, 4);
    number!(u64, u64, 8);
    number!(i64, i64, 8);
    number!(f32, f32, 4);
    number!(f64, f64, 8);

    /// The bytes of a TString: one length byte, or 255 and four.
    pub fn string_bytes(&mut self) -> Result<&'a [u8]> {
        let n = match self.u8()? {
            255 => {
                let n = self.i32()?;
                usize::try_from(n).map_err(|_| Error::corrupt(format!("a string of {n} bytes")))?
            }
            n => n as usize,
        };
        self.take(n)
    }

    /// A TString as text; bytes that are not UTF-8 are kept, see [`sapwood_span::raw_text`].
    pub fn string(&mut self) -> Result<String> {
        Ok(text_of(self.string_bytes()?))
    }

    /// A name that ends in a zero byte (class names in object tags), as [`Cursor::string`].
    ///
    /// It is read again for each object that refers to it: so the cost of one reference is bounded, and the cost of all
    /// is proportional to their number.
    pub fn c_string(&mut self) -> Result<String> {
        let rest = &self.data[self.pos..];
        match rest.iter().take(LONGEST_CLASS_NAME + 1).position(|&b| b == 0) {
            Some(n) => {
                self.pos += n + 1;
                Ok(text_of(&rest[..n]))
            }
            None if rest.len() > LONGEST_CLASS_NAME => {
                Err(Error::corrupt(format!("a class name of more than {LONGEST_CLASS_NAME} bytes at {}", self.pos)))
            }
            None => Err(Error::corrupt("a class name is not terminated")),
        }
    }

    /// The class that was named at this reference position (of the new-class tag in front of the name).
    pub fn class_at(&mut self, reference: u64) -> Result<String> {
        let at = reference.saturating_sub(MAP_OFFSET + self.origin as u64);
        let mut there = Cursor::new(self.data, self.origin);
        let found = usize::try_from(at).ok().filter(|&at| at < self.pos).and_then(|at| {
            there.seek(at).ok()?;
            (there.u32().ok()? == u32::MAX).then(|| there.c_string().ok()).flatten()
        });
        let class = found.ok_or_else(|| Error::corrupt(format!("the class name of an object is missing at {at}")))?;
        self.named += class.len();
        if self.named > ANY_NAMES.saturating_add(self.data.len().saturating_mul(NAMES_PER_BYTE)) {
            return Err(Error::corrupt(
                "class names are referenced more often than the size of the record can justify",
            ));
        }
        Ok(class)
    }

    /// A count of items that take at least `item` bytes each, checked against what is left.
    pub fn count(&mut self, item: usize) -> Result<usize> {
        let at = self.pos;
        let n = self.i32()?;
        match usize::try_from(n) {
            Ok(n) if n.saturating_mul(item) <= self.left() => Ok(n),
            _ => Err(Error::corrupt(format!("{n} items announced at {at}, but {} bytes are left", self.left()))),
        }
    }

    /// The header in front of a versioned object: its version and, if there is a byte count, its end.
    pub fn version(&mut self) -> Result<VersionHeader> {
        let start = self.pos;
        let first = self.u16()?;
        if first & 0x4000 == 0 {
            return Ok(VersionHeader { number: first as i16, start, end: None, member_wise: false });
        }
        let low = self.u16()?;
        let count = ((u32::from(first) & 0x3fff) << 16 | u32::from(low)) as usize;
        let end = self.pos.saturating_add(count);
        if end > self.data.len() || count < 2 {
            return Err(Error::corrupt(format!(
                "an object of {count} bytes at {start}, but {} are left",
                self.data.len() - self.pos
            )));
        }
        let raw = self.u16()?;
        // the high bit 0x4000 of a version marks a collection streamed member-wise
        let member_wise = raw & 0x4000 != 0 && raw != 0xffff && raw & 0x8000 == 0;
        let number = if member_wise { raw & !0x4000 } else { raw } as i16;
        Ok(VersionHeader { number, start, end: Some(end), member_wise })
    }

    /// Jumps to the end given by a byte count; an object that was read beyond it is damaged.
    pub fn finish(&mut self, version: &VersionHeader) -> Result<()> {
        match version.end {
            Some(end) if self.pos <= end => self.seek(end),
            Some(end) => {
                Err(Error::corrupt(format!("an object extends to byte {}, but should end at {end}", self.pos)))
            }
            None => Ok(()),
        }
    }
}

/// The header of a versioned object.
#[derive(Clone, Copy, Debug)]
pub struct VersionHeader {
    /// The class version.
    pub number: i16,
    /// Where the header began.
    pub start: usize,
    /// Where the object ends, when a byte count was written.
    pub end: Option<usize>,
    /// Whether a collection was written member by member.
    pub member_wise: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_stops_at_the_end() {
        let mut c = Cursor::new(&[0, 1, 2, b'a', b'b', 255, 0, 0, 0, 1, b'x'], 0);
        assert_eq!(c.u16().unwrap(), 1);
        assert_eq!(c.string().unwrap(), "ab");
        assert_eq!(c.string().unwrap(), "x");
        assert!(c.u8().is_err());
        assert!(Cursor::new(&[255, 255, 255, 255, 255], 0).string().is_err());
        assert!(Cursor::new(&[0x7f, 255, 255, 255, 0], 0).count(1).is_err());
    }

    #[test]
    fn names_of_other_bytes_stay_other_names() {
        let name = |bytes: &[u8]| Cursor::new(bytes, 0).string().unwrap();
        assert_eq!(
            [name(b"\x02b\xe9"), name(b"\x02b\xe8"), name("\x03b\u{e9}".as_bytes())],
            ["b\u{10ffe9}", "b\u{10ffe8}", "b\u{e9}"]
        );
    }

    #[test]
    fn versions_with_and_without_byte_count() {
        let mut c = Cursor::new(&[0x40, 0, 0, 4, 0, 3, 9, 9, 0, 2], 0);
        let v = c.version().unwrap();
        assert_eq!((v.number, v.end), (3, Some(8)));
        c.finish(&v).unwrap();
        assert_eq!(c.version().unwrap().number, 2);
        assert!(Cursor::new(&[0x40, 0, 0, 40, 0, 3], 0).version().is_err());
    }
}
