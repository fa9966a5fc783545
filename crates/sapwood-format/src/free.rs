//! The list of free segments at the end of a closed file.

use crate::cursor::Cursor;
use crate::key::Key;
use sapwood_span::{Error, Result, Span};

/// What our updates write first after the end of a complete file: eight bytes that are free, as their length says.
/// Found after the end that a header names, it shows that what follows was never committed and can be discarded,
/// whereas records of other writers could be all that is left of their work.
pub const UNCOMMITTED: [u8; 8] = [0xff, 0xff, 0xff, 0xf8, b'S', b'a', b'p', b'w'];

/// Parses the record of free segments, label included: the bytes that were freed, in the order of the file. The last
/// one begins at the end of the file.
///
/// # Errors
/// `Corrupt` when a segment ends before it begins.
pub fn parse_free_list(record: &[u8]) -> Result<Vec<Span>> {
    let mut c = Cursor::new(record, 0);
    let label = Key::read(&mut c)?;
    c.seek(label.key_len as usize)?;
    let mut out = Vec::new();
    // some writers round the record up: the rest may be less than a segment
    while c.left() >= 10 {
        let version = c.u16()?;
        let mut position = || if version > 1000 { c.u64() } else { c.u32().map(u64::from) };
        let (first, last) = (position()?, position()?);
        if first == 0 && last == 0 {
            break;
        }
        if last < first || last > i64::MAX as u64 {
            return Err(Error::corrupt(format!("a free segment from {first} to {last}")));
        }
        out.push(Span::new(first, last - first + 1));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_small_files() {
        let mut record = Vec::new();
        record.extend(58u32.to_be_bytes());
        record.extend([0, 4]);
        record.extend(20u32.to_be_bytes());
        record.extend([0; 4]);
        record.extend([0, 29, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for (first, last) in [(100u32, 199u32), (5000, 2_000_000_000)] {
            record.extend([0, 1]);
            record.extend(first.to_be_bytes());
            record.extend(last.to_be_bytes());
        }
        let found = parse_free_list(&record).unwrap();
        assert_eq!(found, [Span::new(100, 100), Span::new(5000, 1_999_995_001)]);
        let end = record.len();
        record[end - 4..].copy_from_slice(&[0; 4]);
        assert!(parse_free_list(&record).is_err());
    }
}
