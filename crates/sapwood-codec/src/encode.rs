use crate::block::{self, Codec, HEADER, LZ4_CHECKSUM, MAX_BLOCK};
use crate::deflate::{Columns, Outcome};
use crate::zstd_planes::PlaneEncoders;
use crate::{Algorithm, Compression, lz4, lzma};
use std::fmt;
use twox_hash::XxHash64;
use zstd::bulk::Compressor as ZstdCompressor;

/// ROOT's level of Zstandard from which it is worth finding out whether a page needs its search.
const ZSTD_PLANES_FROM: u8 = 2;

/// Compresses buffers into chains of blocks; keeps its codecs' working memory from call to call.
#[derive(Default)]
pub struct Encoder {
    columns: Option<Columns>,
    deflate: Option<(u8, libdeflater::Compressor)>,
    zstd: Option<(u8, ZstdCompressor<'static>)>,
    zstd_planes: Option<Box<PlaneEncoders>>,
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl Encoder {
    /// An encoder; each codec's memory is allocated when it is first used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `data` to `out` as blocks of at most 16 777 215 bytes each.
    ///
    /// False, with `out` unchanged, when there is no compression setting or it does not make the data smaller: then the
    /// file stores them uncompressed.
    #[must_use]
    pub fn compress(&mut self, data: &[u8], compression: Compression, out: &mut Vec<u8>) -> bool {
        self.compress_planes(data, 1, compression, out)
    }

    /// The same for data in so many parts of the same length, each with another byte of all items: pages of ntuples.
    #[must_use]
    pub fn compress_planes(&mut self, data: &[u8], planes: usize, compression: Compression, out: &mut Vec<u8>) -> bool {
        let codec = match compression.algorithm() {
            Algorithm::None => return false,
            Algorithm::Zlib => Codec::Zlib,
            Algorithm::Lzma => Codec::Lzma,
            Algorithm::Lz4 => Codec::Lz4,
            Algorithm::Zstd => Codec::Zstd,
        };
        let start = out.len();
        // several blocks do not end where planes do
        let planes = if data.len() <= MAX_BLOCK { planes } else { 1 };
        if codec == Codec::Zstd && planes > 1 && compression.level() >= ZSTD_PLANES_FROM {
            if self.zstd_planes(data, planes, out).is_some() {
                return true;
            }
            out.truncate(start);
        }
        for part in data.chunks(MAX_BLOCK) {
            if self.block(codec, compression.level(), part, planes, out).is_none() {
                out.truncate(start);
                return false;
            }
        }
        if out.len() - start < data.len() {
            return true;
        }
        out.truncate(start);
        false
    }

    /// Appends one block, or `None` (with arbitrary bytes appended) when it would not be smaller than its part.
    fn block(&mut self, codec: Codec, level: u8, part: &[u8], planes: usize, out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        let body = start + HEADER + if codec == Codec::Lz4 { LZ4_CHECKSUM } else { 0 };
        let room = if codec == Codec::Lz4 { lz4::bound(part.len()) } else { part.len() };
        out.resize(body + room, 0);
        let to = out.get_mut(body..)?;
        let written = match codec {
            Codec::Zlib | Codec::OldDeflate => self.zlib(level, part, planes, to)?,
            Codec::Lzma => lzma::compress(part, level, to)?,
            Codec::Lz4 => lz4::compress(part, level, to)?,
            Codec::Zstd => self.zstd(level)?.compress_to_buffer(part, to).ok()?,
        };
        out.truncate(body + written);
        if codec == Codec::Lz4 {
            let sum = XxHash64::oneshot(0, out.get(body..)?);
            out.get_mut(start + HEADER..body)?.copy_from_slice(&sum.to_be_bytes());
        }
        let packed = out.len() - start - HEADER;
        if packed + HEADER >= part.len() {
            return None;
        }
        let header = block::header(codec, packed, part.len())?;
        out.get_mut(start..start + HEADER)?.copy_from_slice(&header);
        Some(())
    }

    /// Level 1 has a separate encoder for suitable data.
    fn zlib(&mut self, level: u8, part: &[u8], planes: usize, to: &mut [u8]) -> Option<usize> {
        let own = match level {
            1 if planes > 1 => self.columns.get_or_insert_default().zlib_planes(part, planes, to),
            1 => self.columns.get_or_insert_default().zlib(part, to),
            _ => Outcome::Unsuited,
        };
        match own {
            Outcome::Compressed(len) => Some(len),
            Outcome::NoRoom => None,
            Outcome::Unsuited => self.deflate(level).zlib_compress(part, to).ok(),
        }
    }

    fn deflate(&mut self, level: u8) -> &mut libdeflater::Compressor {
        let fresh = || {
            let l = libdeflater::CompressionLvl::new(i32::from(level)).unwrap_or_default();
            (level, libdeflater::Compressor::new(l))
        };
        let kept = self.deflate.take_if(|(l, _)| *l == level);
        &mut self.deflate.insert(kept.unwrap_or_else(fresh)).1
    }

    /// Appends a block for each plane; `None`, with arbitrary bytes appended, where a search would find more.
    fn zstd_planes(&mut self, data: &[u8], planes: usize, out: &mut Vec<u8>) -> Option<()> {
        if self.zstd_planes.is_none() {
            self.zstd_planes = Some(Box::new(PlaneEncoders::new()?));
        }
        self.zstd_planes.as_mut()?.compress(data, planes, out)
    }

    fn zstd(&mut self, level: u8) -> Option<&mut ZstdCompressor<'static>> {
        if self.zstd.as_ref().is_none_or(|(l, _)| *l != level) {
            // ROOT maps its nine levels to Zstandard's: level · 2.
            self.zstd = Some((level, ZstdCompressor::new(2 * i32::from(level)).ok()?));
        }
        self.zstd.as_mut().map(|(_, z)| z)
    }
}
