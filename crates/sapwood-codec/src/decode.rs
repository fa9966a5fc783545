use crate::block::{self, Block, Codec, HEADER, LZ4_CHECKSUM};
use crate::damage::Damage;
use crate::lanes::Lanes;
use crate::{lz4, lzma};
use sapwood_span::{Error, ErrorKind, Result};
use std::fmt;
use twox_hash::XxHash64;
use zstd::zstd_safe::DCtx as ZstdDecompressor;

/// Decompresses chains of blocks; keeps its codecs' working memory from call to call.
///
/// One per thread: it is [`Send`], and each call needs it mutably.
#[derive(Default)]
pub struct Decoder {
    deflate: Option<libdeflater::Decompressor>,
    pub(crate) lanes: Option<Box<Lanes>>,
    zstd: Option<ZstdDecompressor<'static>>,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Decoder {
    /// A decoder; each codec's memory is allocated when a block first needs it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decompresses `compressed` into the whole of `out`, whose length is the size in the key.
    ///
    /// Bytes of `compressed` after the block that fills `out` are ignored, as in ROOT. On an error (kind `Corrupt`,
    /// with the block's offset in `compressed`) the content of `out` is meaningless.
    pub fn decompress(&mut self, compressed: &[u8], out: &mut [u8]) -> Result<()> {
        let mut at = 0;
        let mut filled = 0;
        while filled < out.len() {
            let block = block::parse(compressed, at, out.len() - filled)?;
            let to = out.get_mut(filled..filled + block.size).unwrap_or_default();
            self.unpack(block, to)?;
            filled += block.size;
            at += HEADER + block.payload.len();
        }
        Ok(())
    }

    /// The same into a vector, which becomes exactly `size` bytes long and keeps its capacity.
    ///
    /// Only bytes beyond the vector's old length are set to zero first, so passing in the vector of the last call costs
    /// nothing. The headers are checked against `size` before memory is taken; where they state far more than data
    /// usually decompress to, memory is taken block by block, as the blocks turn out to hold it. On an error the vector
    /// is empty.
    pub fn decompress_vec(&mut self, compressed: &[u8], out: &mut Vec<u8>, size: usize) -> Result<()> {
        let result = block::check_sizes(compressed, size).and_then(|()| {
            if size <= out.len() || size <= usual(compressed) {
                out.resize(size, 0);
                return self.decompress(compressed, out);
            }
            self.grow(compressed, out, size)
        });
        if result.is_err() {
            out.clear();
        }
        result
    }

    /// Decompresses `size` bytes and keeps none of them: memory is taken for one block at a time.
    ///
    /// # Errors
    /// As [`Self::decompress`].
    pub fn check(&mut self, compressed: &[u8], size: usize) -> Result<()> {
        block::check_sizes(compressed, size)?;
        let (mut at, mut filled, mut out) = (0, 0, Vec::new());
        while filled < size {
            let block = block::parse(compressed, at, size - filled)?;
            if out.len() < block.size {
                out.resize(block.size, 0);
            }
            self.unpack(block, out.get_mut(..block.size).unwrap_or_default())?;
            filled += block.size;
            at += HEADER + block.payload.len();
        }
        Ok(())
    }

    /// Decompresses into a vector that grows with each block.
    fn grow(&mut self, compressed: &[u8], out: &mut Vec<u8>, size: usize) -> Result<()> {
        out.clear();
        let mut at = 0;
        while out.len() < size {
            let filled = out.len();
            let block = block::parse(compressed, at, size - filled)?;
            if out.capacity() < filled + block.size {
                out.reserve_exact((filled + filled / 2).max(filled + block.size).min(size) - filled);
            }
            out.resize(filled + block.size, 0);
            self.unpack(block, out.get_mut(filled..).unwrap_or_default())?;
            at += HEADER + block.payload.len();
        }
        Ok(())
    }

    fn unpack(&mut self, block: Block<'_>, out: &mut [u8]) -> Result<()> {
        let data = block.payload;
        let written = match block.codec {
            Codec::Zlib => self.deflate().zlib_decompress(data, out).map_err(|e| bad(block, Damage::of_deflate(e)))?,
            Codec::OldDeflate => {
                self.deflate().deflate_decompress(data, out).map_err(|e| bad(block, Damage::of_deflate(e)))?
            }
            Codec::Lzma => lzma::decompress(data, out).map_err(|damage| bad(block, damage))?,
            Codec::Zstd => self.zstd()?.decompress(out, data).map_err(|code| bad(block, Damage::of_zstd(code)))?,
            Codec::Lz4 => {
                let (sum, body) =
                    data.split_first_chunk::<LZ4_CHECKSUM>().ok_or_else(|| bad(block, Damage::NoChecksum))?;
                let (said, is) = (u64::from_be_bytes(*sum), XxHash64::oneshot(0, body));
                if said != is {
                    return Err(bad(block, Damage::Checksum { said, is }));
                }
                lz4::decompress(body, out).ok_or_else(|| bad(block, Damage::Invalid))?
            }
        };
        if written != out.len() {
            return Err(bad(block, Damage::TooShort(written)));
        }
        Ok(())
    }

    fn deflate(&mut self) -> &mut libdeflater::Decompressor {
        self.deflate.get_or_insert_with(libdeflater::Decompressor::new)
    }

    fn zstd(&mut self) -> Result<&mut ZstdDecompressor<'static>> {
        if self.zstd.is_none() {
            self.zstd = ZstdDecompressor::try_create();
        }
        self.zstd.as_mut().ok_or_else(|| Error::new(ErrorKind::Io, "not enough memory for a zstd decoder"))
    }
}

/// The usual upper limit of the decompressed size: memory for more is only taken as it is filled.
pub(crate) fn usual(compressed: &[u8]) -> usize {
    compressed.len().saturating_mul(100).saturating_add(block::MAX_BLOCK)
}

fn bad(block: Block<'_>, damage: Damage) -> Error {
    let why = damage.describe(block.size);
    Error::corrupt(format!("{} block at offset {}: {why}", block.codec.name(), block.at))
}
