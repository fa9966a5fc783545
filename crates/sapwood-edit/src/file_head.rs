//! The first bytes of a file, and the segments of its list of free bytes.

use crate::primitives::{BIG, FIRST_RECORD, put_position, put_uuid};
use sapwood_codec::Compression;
use sapwood_span::Span;

/// The version of ROOT that new files declare: 6.40.00.
pub const ROOT_VERSION: u32 = 64_000;
/// Added to versions where positions have 64 bits.
const BIG_VERSION: u32 = 1_000_000;
/// How far ROOT lets a file grow at a time, once it is large.
const GROWTH: u64 = 1_000_000_000;

/// The content of the first bytes.
pub struct FileHead<'a> {
    /// The version of ROOT whose rules for objects apply in the file.
    pub version: u32,
    /// Length of the file.
    pub end: u64,
    /// The record of class descriptions.
    pub info: Span,
    /// The record of free bytes.
    pub free: Span,
    /// Number of segments in that record.
    pub segments: u32,
    /// Bytes before the directory's own members: label, name and title.
    pub name_len: u32,
    /// The compression setting of the file.
    pub compression: Compression,
    /// The file's id.
    pub uuid: &'a [u8; 16],
}

impl FileHead<'_> {
    /// The bytes before the first record.
    pub fn bytes(&self) -> Vec<u8> {
        let big = self.end > BIG;
        let mut out = b"root".to_vec();
        let version = self.version + if big { BIG_VERSION } else { 0 };
        for n in [version, FIRST_RECORD as u32] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        put_position(&mut out, self.end, big);
        put_position(&mut out, self.free.start, big);
        for n in [self.free.len as u32, self.segments, self.name_len] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        // bytes per position
        out.push(if big { 8 } else { 4 });
        out.extend_from_slice(&self.compression.settings().to_be_bytes());
        put_position(&mut out, self.info.start, big);
        out.extend_from_slice(&(self.info.len as u32).to_be_bytes());
        put_uuid(&mut out, self.uuid);
        out.resize(FIRST_RECORD as usize, 0);
        out
    }
}

/// Appends a free segment: version, first and last byte.
pub fn put_segment(out: &mut Vec<u8>, first: u64, last: u64) {
    let big = last > BIG;
    out.extend_from_slice(&if big { 1001_u16 } else { 1 }.to_be_bytes());
    put_position(out, first, big);
    put_position(out, last, big);
}

/// How far a file that ends here may grow.
pub fn growth(end: u64) -> u64 {
    if end > BIG { (end / GROWTH + 1) * GROWTH } else { BIG }
}
