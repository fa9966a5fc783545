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
    /// Longer blobs are divided into several records; 0: none is.
    pub longest_blob: u64,
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
        // not in the first released version
        let longest_blob = if members.len() >= LEAST + 8 { c.u64()? } else { 0 };
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
        Ok(Self { version, header, header_len, footer, footer_len, longest_blob })
    }

    /// Whether a blob of this length is divided into several records.
    pub fn divides(&self, len: u64) -> bool {
        self.longest_blob > 0 && len > self.longest_blob
    }

    /// The parts of a divided blob of `len` bytes, whose first record is `first`: the bytes of it that are the first part,
    /// and where the others are.
    ///
    /// # Errors
    /// `Corrupt` when its table of records is longer than the record that has it.
    pub fn parts<'a>(&self, first: &'a [u8], len: u64) -> Result<(&'a [u8], Vec<Span>)> {
        let most = self.longest_blob;
        let table = || Error::corrupt("the records of a divided blob of the RNTuple have no room for their table");
        // the positions of the other records are at the end of the first one
        let others = len.saturating_sub(most).div_ceil(most.saturating_sub(8).max(1));
        let own = others.checked_mul(8).and_then(|table| most.checked_sub(table)).ok_or_else(table)?;
        let (data, places) = usize::try_from(own).ok().and_then(|n| first.split_at_checked(n)).ok_or_else(table)?;
        let mut rest = len.saturating_sub(own);
        let part = |place: &[u8; 8]| {
            let part = Span::new(u64::from_le_bytes(*place), rest.min(most));
            rest -= part.len;
            part
        };
        Ok((data, places.as_chunks().0.iter().map(part).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(longest_blob: u64) -> Anchor {
        let nothing = Span::default();
        Anchor { version: [1, 0, 0, 0], header: nothing, header_len: 0, footer: nothing, footer_len: 0, longest_blob }
    }

    #[test]
    fn a_divided_blob_has_a_table_of_its_records() {
        let anchor = anchor(100);
        assert!(!anchor.divides(100) && anchor.divides(101));
        let mut first = vec![7; 84];
        first.extend([5000u64, 9000].into_iter().flat_map(u64::to_le_bytes));
        let (data, others) = anchor.parts(&first, 284).unwrap();
        assert_eq!((data, others), (&[7; 84][..], vec![Span::new(5000, 100), Span::new(9000, 100)]));
        // one byte less fits in one record less only with the place of the table
        let (data, others) = anchor.parts(&first, 192).unwrap();
        assert_eq!((data.len(), others), (92, vec![Span::new(9000, 100)]));
        let (data, others) = anchor.parts(&first, 193).unwrap();
        assert_eq!((data.len(), others.len(), others[1].len), (84, 2, 9));
    }

    #[test]
    fn tables_that_cannot_be_are_refused() {
        for (most, len) in [(1, 1000), (8, 1000), (9, 1000), (100, u64::MAX), (100, 100_000)] {
            let first = vec![0; most as usize];
            assert!(anchor(most).parts(&first, len).is_err(), "{most} {len}");
        }
        // a record that is shorter than it should be
        assert!(anchor(100).parts(&[0; 80], 284).is_err());
    }

    #[test]
    fn no_limit_divides_nothing() {
        assert!(!anchor(0).divides(u64::MAX));
    }
}
