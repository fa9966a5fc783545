use crate::cursor::Cursor;
use sapwood_span::{Error, Result, Span};

/// A record's label: its object, its position, its size with and without compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name of the object.
    pub name: String,
    /// Title of the object.
    pub title: String,
    /// Its class.
    pub class: String,
    /// Its cycle: a later one replaces an earlier one of the same name.
    pub cycle: i16,
    /// The whole record in the file, label included.
    pub span: Span,
    /// Bytes of the label: the payload follows it.
    pub key_len: u32,
    /// Bytes of the decompressed payload.
    pub object_len: u32,
    /// When it was written, in ROOT's packed form (see [`datetime`]).
    pub datetime: u32,
    /// Position of the directory that holds it.
    pub parent: u64,
}

impl Key {
    /// Reads a label; the cursor is then after its title.
    pub fn read(c: &mut Cursor) -> Result<Self> {
        let at = c.pos();
        let nbytes = c.i32()?;
        let version = c.u16()?;
        let object_len = c.u32()?;
        let datetime = c.u32()?;
        let key_len = u32::from(c.u16()?);
        let cycle = c.i16()?;
        let (seek, parent) =
            if version > 1000 { (c.u64()?, c.u64()?) } else { (u64::from(c.u32()?), u64::from(c.u32()?)) };
        let class = c.string()?;
        let name = c.string()?;
        let title = c.string()?;
        if nbytes <= 0 || (nbytes as u32) < key_len || seek > i64::MAX as u64 || object_len > i32::MAX as u32 {
            return Err(Error::corrupt(format!(
                "a key at {at} of its record is damaged: {nbytes} bytes, label of {key_len}, at {seek}"
            )));
        }
        // the directory's position has 48 bits; the rest is the process id of references
        let span = Span::new(seek, nbytes as u64);
        Ok(Self { name, title, class, cycle, span, key_len, object_len, datetime, parent: parent & 0xffff_ffff_ffff })
    }

    /// Whether the label in front of the object agrees with the directory's copy: the same lengths, class and name.
    pub fn is_told_by(&self, label: &[u8]) -> bool {
        Self::read(&mut Cursor::new(label, 0)).is_ok_and(|own| {
            (own.span.len, own.key_len, own.object_len) == (self.span.len, self.key_len, self.object_len)
                && own.class == self.class
                && own.name == self.name
        })
    }

    /// Span of the payload in the file, as stored.
    pub fn payload(&self) -> Span {
        Span::new(self.span.start + u64::from(self.key_len), self.span.len - u64::from(self.key_len))
    }

    /// Whether the payload is stored uncompressed.
    pub fn is_raw(&self) -> bool {
        self.payload().len == u64::from(self.object_len)
    }

    /// Whether the object is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.class.as_str(), "TDirectory" | "TDirectoryFile")
    }

    /// Whether the object is a tree.
    pub fn is_ntuple(&self) -> bool {
        matches!(self.class.as_str(), "ROOT::RNTuple" | "ROOT::Experimental::RNTuple")
    }

    /// Whether it is a tree.
    pub fn is_tree(&self) -> bool {
        matches!(self.class.as_str(), "TTree" | "TNtuple" | "TNtupleD" | "TChain")
    }
}

/// ROOT's packed date (since 1995) as (year, month, day, hour, minute, second).
pub fn datetime(packed: u32) -> (u32, u32, u32, u32, u32, u32) {
    ((packed >> 26) + 1995, packed >> 22 & 15, packed >> 17 & 31, packed >> 12 & 31, packed >> 6 & 63, packed & 63)
}
