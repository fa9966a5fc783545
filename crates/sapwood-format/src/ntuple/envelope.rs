//! Envelopes: the blocks of metadata of an ntuple, and the frames in them. All numbers are little-endian.

use sapwood_codec::{Decoder, xxh3};
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result, Span};

/// What an envelope contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// Fields and columns.
    Header = 1,
    /// Where the page lists are, and fields and columns that were added later.
    Footer = 2,
    /// Where the pages of a group of clusters are.
    PageList = 3,
}

impl Kind {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Header => "header",
            Kind::Footer => "footer",
            Kind::PageList => "page list",
        }
    }
}

/// Bytes that an envelope may decompress to however little was stored of it, and per stored byte.
const ANY_ENVELOPE: u64 = 64 << 20;
const PER_BYTE: u64 = 100;

/// Type and length in front, the checksum behind.
const LEAST: usize = 16;

/// A decompressed envelope whose checksum has been verified.
#[derive(Clone, Debug)]
pub struct Envelope {
    data: Vec<u8>,
    /// Its checksum, which other envelopes repeat.
    pub checksum: u64,
}

impl Envelope {
    /// Decompresses and verifies an envelope of this kind. `len`: its decompressed size.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be decompressed, is of another kind or does not match its checksum; `Unsupported` when it
    /// would be far larger than its stored bytes suggest.
    pub fn open(kind: Kind, stored: &[u8], len: u64, decoder: &mut Decoder) -> Result<Self> {
        let name = kind.name();
        if len > ANY_ENVELOPE.max(PER_BYTE.saturating_mul(stored.len() as u64)) {
            let what = format!("the {name} of the RNTuple claims {len} bytes, of {} compressed", stored.len());
            return Err(Error::unsupported(what));
        }
        let size = usize::try_from(len).unwrap_or(usize::MAX);
        let data = if size == stored.len() {
            stored.to_vec()
        } else {
            let mut data = Vec::new();
            decoder.decompress_vec(stored, &mut data, size)?;
            data
        };
        let Some((content, sum)) = data.split_last_chunk::<8>().filter(|_| data.len() >= LEAST) else {
            return Err(Error::corrupt(format!("the {name} of the RNTuple has {} bytes", data.len())));
        };
        let (stated, checksum) = (u64::from_le_bytes(*sum), xxh3(content));
        if stated != checksum {
            let what = format!("the {name} of the RNTuple does not match its checksum");
            return Err(Error::corrupt(format!("{what}: {checksum:016x}, not {stated:016x}")));
        }
        let mut start = Frame { data: content, name };
        let first = start.u64()?;
        if (first & 0xffff) != kind as u64 {
            return Err(Error::corrupt(format!("an envelope of type {} instead of the {name}", first & 0xffff)));
        }
        if first >> 16 != data.len() as u64 {
            let what = format!("the {name} of the RNTuple has {} bytes, it states {}", data.len(), first >> 16);
            return Err(Error::corrupt(what));
        }
        Ok(Self { data, checksum })
    }

    /// Its payload. `kind` names it in errors.
    pub fn payload(&self, kind: Kind) -> Frame<'_> {
        Frame { data: self.data.get(8..self.data.len().saturating_sub(8)).unwrap_or_default(), name: kind.name() }
    }
}

/// What is left of a frame or an envelope. Each call takes from the front; nothing is read beyond the end.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    data: &'a [u8],
    name: &'static str,
}

macro_rules! number {
    ($name:ident, $t:ty) => {
        #[doc = concat!("The next `", stringify!($t), "`.")]
        pub fn $name(&mut self) -> Result<$t> {
            let (head, rest) = self.data.split_first_chunk().ok_or_else(|| self.ends())?;
            self.data = rest;
            Ok(<$t>::from_le_bytes(*head))
        }
    };
}

impl<'a> Frame<'a> {
    number!(u16, u16);
    number!(u32, u32);
    number!(i32, i32);
    number!(u64, u64);
    number!(i64, i64);
    number!(f64, f64);

    fn ends(&self) -> Error {
        Error::corrupt(format!("a part of the {} of the RNTuple ends too early", self.name))
    }

    /// Bytes left.
    pub fn left(&self) -> usize {
        self.data.len()
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.data.split_at_checked(n).ok_or_else(|| self.ends())?;
        self.data = rest;
        Ok(head)
    }

    /// The bytes of a string, behind their number.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.u32()? as usize;
        self.take(n)
    }

    /// A string: its length and its bytes, as in [`sapwood_span::raw_text`].
    pub fn string(&mut self) -> Result<String> {
        self.bytes().map(text_of)
    }

    /// The bytes behind the size of the next frame, and whether it is a list.
    fn frame(&mut self) -> Result<(Self, bool)> {
        let size = self.i64()?;
        let len = size.unsigned_abs().checked_sub(8).and_then(|n| usize::try_from(n).ok());
        let data = self.take(len.ok_or_else(|| self.ends())?)?;
        Ok((Self { data, name: self.name }, size < 0))
    }

    /// The next record frame. What a later format version has appended to it stays unread.
    pub fn record(&mut self) -> Result<Self> {
        match self.frame()? {
            (frame, false) => Ok(frame),
            _ => Err(Error::corrupt(format!("a list instead of a record in the {} of the RNTuple", self.name))),
        }
    }

    /// The next list frame and its number of items, each of which takes at least `least` bytes.
    pub fn list(&mut self, least: usize) -> Result<(Self, usize)> {
        let (mut frame, is_list) = self.frame()?;
        if !is_list {
            return Err(Error::corrupt(format!("a record instead of a list in the {} of the RNTuple", self.name)));
        }
        let n = frame.u32()? as usize;
        if n.saturating_mul(least) > frame.left() {
            let what = format!("a list of {n} items in {} bytes of the {} of the RNTuple", frame.left(), self.name);
            return Err(Error::corrupt(what));
        }
        Ok((frame, n))
    }

    /// The place of a block of bytes: size and position.
    ///
    /// # Errors
    /// `Unsupported` for blocks that are not in the file.
    pub fn locator(&mut self) -> Result<Span> {
        let head = self.i32()?;
        let span = if head >= 0 {
            Span::new(self.u64()?, u64::from(head.unsigned_abs()))
        } else {
            let head = head.unsigned_abs();
            let (size, kind) = ((head & 0xffff) as usize, head >> 24);
            let payload = size.checked_sub(4).ok_or_else(|| self.ends())?;
            let mut own = Self { data: self.take(payload)?, name: self.name };
            if kind != 1 {
                return Err(Error::unsupported(format!("a locator of type {kind}: data outside of the file")));
            }
            let len = own.u64()?;
            Span::new(own.u64()?, len)
        };
        match span.start.checked_add(span.len) {
            Some(_) => Ok(span),
            None => Err(Error::corrupt(format!("a position beyond any file in the {} of the RNTuple", self.name))),
        }
    }

    /// The feature flags.
    ///
    /// # Errors
    /// `Unsupported` when one is set: there is none that is known.
    pub fn feature_flags(&mut self) -> Result<()> {
        let mut base = 0;
        loop {
            let flags = self.u64()?;
            let known = flags & !(1 << 63);
            if known != 0 {
                let bit = base + known.trailing_zeros();
                return Err(Error::unsupported(format!("the RNTuple uses feature {bit} of a later format version"))
                    .with_remedy("update Sapwood"));
            }
            if flags >> 63 == 0 {
                return Ok(());
            }
            base += 63;
        }
    }
}
