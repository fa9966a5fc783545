//! The nine bytes before each block: tag, method, and two 24-bit little-endian sizes
//! (ROOT's `core/zip`, the same for keys, baskets and RNTuple pages).

use sapwood_span::{Error, Result};

/// Bytes of a block's header.
pub(crate) const HEADER: usize = 9;

/// The most bytes one block can hold, on either side: three bytes of size.
pub(crate) const MAX_BLOCK: usize = 0xff_ffff;

/// Bytes of checksum before an LZ4 payload.
pub(crate) const LZ4_CHECKSUM: usize = 8;

/// The codec of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Zlib,
    Lzma,
    OldDeflate,
    Lz4,
    Zstd,
}

impl Codec {
    fn from_tag(tag: [u8; 2]) -> Option<Self> {
        match &tag {
            b"ZL" => Some(Codec::Zlib),
            b"XZ" => Some(Codec::Lzma),
            b"CS" => Some(Codec::OldDeflate),
            b"L4" => Some(Codec::Lz4),
            b"ZS" => Some(Codec::Zstd),
            _ => None,
        }
    }

    /// The tag and the method byte as ROOT writes them.
    pub(crate) const fn tag(self) -> [u8; 3] {
        match self {
            Codec::Zlib => *b"ZL\x08",
            Codec::Lzma => *b"XZ\x00",
            Codec::OldDeflate => *b"CS\x08",
            Codec::Lz4 => *b"L4\x01",
            Codec::Zstd => *b"ZS\x01",
        }
    }

    /// The most bytes that each byte of a payload can decompress to.
    ///
    /// Deflate codes copies of 258 bytes in two bits (RFC 1951). LZ4 lengthens a copy by 255 with each byte.
    /// Zstandard's largest block, 128 KiB, may be a run, which takes four bytes (RFC 8878). LZMA codes a copy of 273
    /// bytes in fourteen decisions, none of them below a fiftieth of a bit.
    const fn max_ratio(self) -> usize {
        match self {
            Codec::Zlib | Codec::OldDeflate => 1032,
            Codec::Lz4 => 255,
            Codec::Zstd => 32_768,
            Codec::Lzma => 8192,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Codec::Zlib => "zlib",
            Codec::Lzma => "xz",
            Codec::OldDeflate => "old deflate",
            Codec::Lz4 => "LZ4",
            Codec::Zstd => "zstd",
        }
    }
}

/// One block of a chain: its codec, where it begins in the buffer, its payload, its decompressed size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) codec: Codec,
    pub(crate) at: usize,
    pub(crate) payload: &'a [u8],
    pub(crate) size: usize,
}

/// Reads the block that begins at `at`; `left` is how many decompressed bytes are still wanted.
pub(crate) fn parse(buffer: &[u8], at: usize, left: usize) -> Result<Block<'_>> {
    let rest = buffer.get(at..).unwrap_or_default();
    let Some((&[a, b, _method, c0, c1, c2, u0, u1, u2], body)) = rest.split_first_chunk::<HEADER>() else {
        return Err(Error::corrupt(format!(
            "compressed data end at offset {at} of {} with {left} decompressed bytes missing",
            buffer.len()
        )));
    };
    let Some(codec) = Codec::from_tag([a, b]) else {
        let tag = [a, b].escape_ascii().to_string();
        return Err(Error::corrupt(format!("no compressed block at offset {at}: its tag is \"{tag}\"")));
    };
    let packed = u32::from_le_bytes([c0, c1, c2, 0]) as usize;
    let size = u32::from_le_bytes([u0, u1, u2, 0]) as usize;
    let name = codec.name();
    let Some(payload) = body.get(..packed) else {
        return Err(Error::corrupt(format!(
            "{name} block at offset {at} claims {packed} bytes, but only {} are left",
            body.len()
        )));
    };
    if size > left {
        return Err(Error::corrupt(format!(
            "{name} block at offset {at} decompresses to {size} bytes, but only {left} are expected"
        )));
    }
    if size == 0 || size > packed.saturating_mul(codec.max_ratio()) {
        return Err(Error::corrupt(format!(
            "{name} block at offset {at} claims to decompress {packed} bytes to {size}, which is impossible"
        )));
    }
    Ok(Block { codec, at, payload, size })
}

/// Checks only the headers: whether they add up to `size` bytes and stay inside the buffer.
pub(crate) fn check_sizes(compressed: &[u8], size: usize) -> Result<()> {
    let (mut at, mut filled) = (0, 0);
    while filled < size {
        let block = parse(compressed, at, size - filled)?;
        filled += block.size;
        at += HEADER + block.payload.len();
    }
    Ok(())
}

/// The header of a payload of `packed` bytes; `None` when a size does not fit.
pub(crate) fn header(codec: Codec, packed: usize, size: usize) -> Option<[u8; HEADER]> {
    if packed > MAX_BLOCK || size > MAX_BLOCK {
        return None;
    }
    let [t0, t1, m] = codec.tag();
    let [c0, c1, c2, _] = (packed as u32).to_le_bytes();
    let [u0, u1, u2, _] = (size as u32).to_le_bytes();
    Some([t0, t1, m, c0, c1, c2, u0, u1, u2])
}
