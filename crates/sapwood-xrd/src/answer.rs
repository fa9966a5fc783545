//! How a server divides what it sends into frames, and its answers about itself.

use crate::checksum::{Adler32, Crc32c};
use crate::code::{PAGE, request};
use crate::frame::{StatusHead, status_head_bytes};
use crate::request::{CHUNK, Chunk};
use sapwood_span::Span;
use std::ops::Range;

/// Ranges of a vector read at most: the usual limit of servers, which clients assume without a query.
pub const VECTOR_RANGES: usize = 1024;
/// Bytes of one of them, at most.
pub const VECTOR_BYTES: u32 = 2_097_136;
/// Data links of a session, at most.
pub const DATA_LINKS: usize = 15;

/// The pieces of a read, none longer than `most`, each with whether it is the last.
pub fn frames(span: Span, most: u64) -> impl Iterator<Item = (Span, bool)> {
    cut(span, move |_| most.max(1))
}

/// The pieces of a page read: all but the last end at a page boundary of the file. `most` is a multiple of the page.
pub fn page_frames(span: Span, most: u64) -> impl Iterator<Item = (Span, bool)> {
    cut(span, move |at| most.max(PAGE) - at % PAGE)
}

fn cut(span: Span, most: impl Fn(u64) -> u64) -> impl Iterator<Item = (Span, bool)> {
    let mut left = span;
    std::iter::from_fn(move || {
        let len = left.len.min(most(left.start));
        let piece = Span::new(left.start, len);
        left = Span::new(left.start + len, left.len - len);
        (len > 0).then_some((piece, left.len == 0))
    })
}

/// Which ranges of a vector read share a frame: clients accept no frame that ends within a range. A range longer than
/// `most` has its own frame.
pub fn vector_frames(chunks: &[Chunk], most: usize) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut size = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        let len = CHUNK + chunk.len as usize;
        match out.last_mut() {
            Some(frame) if size + len <= most => {
                frame.end = i + 1;
                size += len;
            }
            _ => {
                out.push(i..i + 1);
                size = len;
            }
        }
    }
    out
}

/// The header before a range's data in the answer to a vector read.
pub fn range_head(chunk: &Chunk) -> [u8; CHUNK] {
    let mut out = [0; CHUNK];
    out[..4].copy_from_slice(&chunk.handle);
    out[4..8].copy_from_slice(&chunk.len.to_be_bytes());
    out[8..].copy_from_slice(&chunk.offset.to_be_bytes());
    out
}

/// The header before `len` bytes of pages and their checksums that begin at this offset of the file.
pub fn page_head(stream: u16, last: bool, offset: u64, len: u32) -> Vec<u8> {
    let info = offset.to_be_bytes().to_vec();
    status_head_bytes(&StatusHead { stream, request: request::PGREAD, kind: u8::from(!last), info, len })
}

/// A kind of checksum of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumKind {
    /// The default of XRootD servers.
    Adler32,
    /// Castagnoli's CRC.
    Crc32c,
}

impl ChecksumKind {
    /// All of them, the usual one first.
    pub const ALL: [Self; 2] = [Self::Adler32, Self::Crc32c];

    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adler32 => "adler32",
            Self::Crc32c => "crc32c",
        }
    }

    /// The kind of this name, in lower case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Starts to compute one.
    pub fn begin(self) -> RunningChecksum {
        match self {
            Self::Adler32 => RunningChecksum::Adler32(Adler32::default()),
            Self::Crc32c => RunningChecksum::Crc32c(Crc32c::default()),
        }
    }
}

/// The name of the checksum that a path's opaque information requests (`cks.type`), in lower case; by default the usual
/// one.
pub fn checksum_wanted(opaque: &[u8]) -> String {
    let named = opaque.split(|b| *b == b'&').find_map(|pair| pair.strip_prefix(b"cks.type="));
    named.map_or_else(|| ChecksumKind::Adler32.name().to_owned(), |n| String::from_utf8_lossy(n).to_ascii_lowercase())
}

/// The answer to a query for a checksum: its kind and its hexadecimal digits.
pub fn encode_checksum(kind: &str, digits: &str) -> Vec<u8> {
    format!("{kind} {digits}\0").into_bytes()
}

/// A checksum of bytes that arrive piece by piece.
#[derive(Clone, Copy, Debug)]
pub enum RunningChecksum {
    /// An Adler-32.
    Adler32(Adler32),
    /// A CRC32C.
    Crc32c(Crc32c),
}

impl RunningChecksum {
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Adler32(sum) => sum.update(bytes),
            Self::Crc32c(sum) => sum.update(bytes),
        }
    }

    /// The checksum of all bytes so far.
    pub fn value(self) -> u32 {
        match self {
            Self::Adler32(sum) => sum.value(),
            Self::Crc32c(sum) => sum.value(),
        }
    }
}

/// The answer to a query for settings: a line for each word. An unknown word is echoed, as servers do.
pub fn settings(words: &str, version: &str) -> Vec<u8> {
    let mut out = String::new();
    for word in words.split_ascii_whitespace() {
        let value = match word {
            "bind_max" => DATA_LINKS.to_string(),
            "chksum" => {
                let kinds = ChecksumKind::ALL.iter().enumerate().map(|(i, kind)| format!("{i}:{}", kind.name()));
                kinds.collect::<Vec<_>>().join(",")
            }
            "readv_iov_max" => VECTOR_RANGES.to_string(),
            "readv_ior_max" => VECTOR_BYTES.to_string(),
            "role" => "server".to_owned(),
            "version" => version.to_owned(),
            // means that nothing is copied between servers, and that no site has been named
            _ => word.to_owned(),
        };
        out.push_str(&value);
        out.push('\n');
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(offset: u64, len: u32) -> Chunk {
        Chunk { handle: [1, 0, 0, 0], offset, len }
    }

    #[test]
    fn pieces_cover_a_read_in_order() {
        for (start, len, most) in [(0, 10, 3), (5, 9, 100), (7, 4096, 4096), (4095, 20_000, 8192), (0, 0, 5)] {
            let span = Span::new(start, len);
            for (pages, pieces) in
                [(false, frames(span, most).collect::<Vec<_>>()), (true, page_frames(span, most).collect())]
            {
                let mut at = start;
                for (i, (piece, last)) in pieces.iter().enumerate() {
                    assert_eq!(piece.start, at);
                    at = piece.end();
                    assert_eq!(*last, i + 1 == pieces.len());
                    assert!(*last || !pages || at % PAGE == 0, "{at}");
                    assert!(piece.len <= if pages { most.max(PAGE) } else { most });
                }
                assert_eq!(at, start + len);
            }
        }
    }

    #[test]
    fn no_frame_ends_within_a_range() {
        let chunks = [chunk(0, 10), chunk(50, 10), chunk(100, 1000), chunk(2000, 0), chunk(3000, 10)];
        assert_eq!(vector_frames(&chunks, 60), [0..2, 2..3, 3..5]);
        assert_eq!(vector_frames(&chunks, 10_000), [Range { start: 0, end: 5 }]);
        assert!(vector_frames(&[], 10).is_empty());
    }

    #[test]
    fn settings_that_are_not_known_stand_for_themselves() {
        let answer = settings("readv_iov_max readv_ior_max tpc chksum", "sapwood/1");
        assert_eq!(
            answer, b"1024\n2097136\ntpc\n0:adler32,1:crc32c\n",
            "no zero behind it: clients take it for a line"
        );
        assert_eq!(crate::reply::vector_limits(&answer), (Some(1024), Some(2_097_136)));
    }

    #[test]
    fn kinds_of_checksums() {
        let wanted = |opaque: &[u8]| ChecksumKind::named(&checksum_wanted(opaque));
        assert_eq!(wanted(b""), Some(ChecksumKind::Adler32));
        assert_eq!(wanted(b"a=b&cks.type=CRC32C"), Some(ChecksumKind::Crc32c));
        assert_eq!(wanted(b"cks.type=md5"), None);
        let mut running = ChecksumKind::Crc32c.begin();
        running.update(b"12345");
        running.update(b"6789");
        assert_eq!(encode_checksum("crc32c", &format!("{:08x}", running.value())), b"crc32c e3069283\0");
    }
}
