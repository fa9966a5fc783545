use crate::cursor::Cursor;
use sapwood_span::{Error, Result, Span};

/// The first bytes of a ROOT file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The ROOT version that wrote the file, as 63602 for 6.36/02 (file format version, without the big-file mark).
    pub version: u32,
    /// Whether positions take 64 bits.
    pub big: bool,
    /// Position of the first record.
    pub begin: u64,
    /// The first free byte at the end.
    pub end: u64,
    /// The list of free segments.
    pub free: Span,
    /// Bytes of the first record's key, name and title: the root directory follows them.
    pub nbytes_name: u32,
    /// 100 · algorithm + level.
    pub compression: i32,
    /// The streamer information record.
    pub info: Span,
}

/// Bytes of the header that are read.
pub(crate) const HEADER_BYTES: u64 = 75;

impl Header {
    /// Parses the first bytes of a file of `size` bytes.
    ///
    /// # Errors
    /// `Corrupt` when it is not a ROOT file or its numbers are impossible.
    pub fn parse(data: &[u8]) -> Result<Self> {
        if data.get(..4) != Some(b"root".as_slice()) {
            return Err(Error::corrupt("not a ROOT file: it does not begin with \"root\"")
                .at(Span::new(0, 4.min(data.len() as u64))));
        }
        let mut c = Cursor::new(data, 0);
        c.skip(4)?;
        // signed, as ROOT compares it: updating a small file with uproot leaves a negative number here
        let version = c.i32()?;
        let begin = u64::from(c.u32()?);
        let big = version >= 1_000_000;
        let position = |c: &mut Cursor| if big { c.u64() } else { c.u32().map(u64::from) };
        let end = position(&mut c)?;
        let free = position(&mut c)?;
        let nbytes_free = u64::from(c.u32()?);
        c.u32()?; // number of free segments
        let nbytes_name = c.u32()?;
        c.u8()?; // bytes of a position
        let compression = c.i32()?;
        let info = position(&mut c)?;
        let nbytes_info = u64::from(c.u32()?);
        if !(40..=4096).contains(&begin) || !(10..=1 << 20).contains(&nbytes_name) {
            return Err(Error::corrupt(format!(
                "the file header is damaged: first record at {begin}, name of {nbytes_name} bytes"
            ))
            .at(Span::new(0, HEADER_BYTES)));
        }
        Ok(Self {
            version: version.rem_euclid(1_000_000).unsigned_abs(),
            big,
            begin,
            end,
            free: Span::new(free, nbytes_free),
            nbytes_name,
            compression,
            info: Span::new(info, nbytes_info),
        })
    }

    /// The version as usually written: `6.36.02`.
    pub fn version_text(&self) -> String {
        format!("{}.{:02}.{:02}", self.version / 10000, self.version / 100 % 100, self.version % 100)
    }
}
