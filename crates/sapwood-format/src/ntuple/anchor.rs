//! The object in a file's directory that leads to the parts of an ntuple.

use crate::cursor::Cursor;
use sapwood_codec::xxh3;
use sapwood_span::{Error, Result, Span};

/// Set in the first word of an object: the rest is the number of bytes that follow.
const HAS_BYTE_COUNT: u32 = 0x4000_0000;

/// Bytes of the members that every version has.
const LEAST: usize = 4 * 2 + 6 * 8;

/// Where an ntuple's header and footer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Epoch, major, minor and patch of the format version that the writer supports.
    pub version: [u16; 4],
    /// The header envelope, as stored.
    pub header: Span,
    /// Bytes that it decompresses to.
    pub header_len: u64,
    /// The footer envelope, as stored.
    pub footer: Span,
    /// Bytes that it decompresses to.
    pub footer_len: u64,
}

impl Anchor {
    /// Parses a `ROOT::RNTuple` object, decompressed.
    ///
    /// # Errors
    /// `Corrupt` when it is too short or does not match its checksum; `Unsupported` for an ntuple of the time before the
    /// format was released.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut c = Cursor::new(data, 0);
        let first = c.u32()?;
        if first & HAS_BYTE_COUNT == 0 {
            return Err(Error::corrupt("an RNTuple object without a byte count"));
        }
        let end = c.pos().saturating_add((first & !HAS_BYTE_COUNT) as usize);
        c.u16()?;
        let begin = c.pos();
        // later versions may append members
        let members = data.get(begin..end).filter(|m| m.len() >= LEAST);
        let members = members.ok_or_else(|| Error::corrupt("an RNTuple object ends too early"))?;
        let mut version = [0; 4];
        for v in &mut version {
            *v = c.u16()?;
        }
        if version[0] == 0 {
            return Err(Error::unsupported(format!(
                "an RNTuple of the preliminary format 0.{}.{}.{}: only files of the released format (1.0) can be read",
                version[1], version[2], version[3]
            ))
            .with_remedy("write it again with ROOT 6.34 or later"));
        }
        let mut words = [0; 6];
        for w in &mut words {
            *w = c.u64()?;
        }
        c.seek(end)?;
        let (stated, actual) = (c.u64()?, xxh3(members));
        if stated != actual {
            return Err(Error::corrupt(format!(
                "the RNTuple object does not match its checksum: {actual:016x}, not {stated:016x}"
            )));
        }
        let [seek_header, header, header_len, seek_footer, footer, footer_len] = words;
        let (header, footer) = (Span::new(seek_header, header), Span::new(seek_footer, footer));
        for span in [header, footer] {
            if span.start.checked_add(span.len).is_none() {
                return Err(Error::corrupt("an RNTuple object with a position beyond any file"));
            }
        }
        Ok(Self { version, header, header_len, footer, footer_len })
    }
}
