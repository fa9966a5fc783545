use crate::block::{self, Block, Codec, HEADER, LZ4_CHECKSUM};
use crate::inflate::{OUT_ROOM, Pair, Stream};
use crate::{lz4, lzma};
use sapwood_span::{Error, Result};
use std::fmt;
use std::ops::Range;
use twox_hash::XxHash64;
use zstd::bulk::Decompressor as ZstdDecompressor;

/// Unpacks chains of compressed blocks; keeps its codecs' working memory from call to call.
///
/// One per thread: it is [`Send`], and each call needs it mutably.
#[derive(Default)]
pub struct Decoder {
    deflate: Option<libdeflater::Decompressor>,
    pair: Option<Box<Pair>>,
    zstd: Option<ZstdDecompressor<'static>>,
}

/// A chain of blocks to unpack.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    /// The blocks.
    pub compressed: &'a [u8],
    /// The size the key promised.
    pub size: usize,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Decoder {
    /// A decoder; each codec's memory is taken when a block first needs it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Unpacks `compressed` into the whole of `out`, whose length is the size the key promised.
    ///
    /// Bytes of `compressed` behind the block that fills `out` are ignored, as ROOT does. On an
    /// error (kind `Corrupt`, with the block's offset in `compressed`) what `out` holds means
    /// nothing.
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
    /// Only bytes beyond the vector's old length are set to zero first, so a vector that is handed
    /// in as the last call left it costs nothing. The headers are checked against `size` before
    /// memory is taken; on an error the vector is empty.
    pub fn decompress_vec(&mut self, compressed: &[u8], out: &mut Vec<u8>, size: usize) -> Result<()> {
        let result = check_sizes(compressed, size).and_then(|()| {
            out.resize(size, 0);
            self.decompress(compressed, out)
        });
        if result.is_err() {
            out.clear();
        }
        result
    }

    /// Unpacks many chains into one vector, and says where each of them lies there.
    ///
    /// This is faster than one after the other where they are of one zlib block each, as baskets are. The vector
    /// grows as far as the sum of the sizes needs, after the headers were checked, and never shrinks.
    pub fn decompress_all(&mut self, chains: &[Chain<'_>], out: &mut Vec<u8>) -> Vec<Result<Range<usize>>> {
        let mut end = 0;
        let mut places = Vec::with_capacity(chains.len());
        for chain in chains {
            places.push(check_sizes(chain.compressed, chain.size).map(|()| end..end + chain.size));
            if let Some(Ok(place)) = places.last() {
                end = place.end + OUT_ROOM;
            }
        }
        if out.len() < end {
            out.resize(end, 0);
        }
        let mut rest = out.as_mut_slice();
        let (mut streams, mut numbers) = (Vec::new(), Vec::new());
        for (i, chain) in chains.iter().enumerate().filter(|(i, _)| places[*i].is_ok()) {
            let to = rest.split_off_mut(..chain.size + OUT_ROOM).unwrap_or_default();
            if let Some(input) = chain.zlib() {
                streams.push(Stream { input, out: to, size: chain.size });
                numbers.push(i);
            }
        }
        let mut done = vec![false; chains.len()];
        // a single one is faster with libdeflate
        if streams.len() > 1 {
            let pair = self.pair.get_or_insert_with(|| Box::new(Pair::new()));
            numbers.into_iter().zip(pair.inflate(streams)).for_each(|(i, right)| done[i] = right);
        }
        for ((chain, place), done) in chains.iter().zip(&mut places).zip(done) {
            // it is of another kind, or damaged: here its errors are found
            if let (Ok(span), false) = (&*place, done) {
                let to = out.get_mut(span.clone()).unwrap_or_default();
                if let Err(e) = self.decompress(chain.compressed, to) {
                    *place = Err(e);
                }
            }
        }
        places
    }

    fn unpack(&mut self, block: Block<'_>, out: &mut [u8]) -> Result<()> {
        let data = block.payload;
        let written = match block.codec {
            Codec::Zlib => self.deflate().zlib_decompress(data, out).map_err(|e| bad(block, &e.to_string()))?,
            Codec::OldDeflate => {
                self.deflate().deflate_decompress(data, out).map_err(|e| bad(block, &e.to_string()))?
            }
            Codec::Lzma => lzma::decompress(data, out).map_err(|e| bad(block, &e))?,
            Codec::Zstd => self.zstd()?.decompress_to_buffer(data, out).map_err(|e| bad(block, &e.to_string()))?,
            Codec::Lz4 => {
                let (sum, body) =
                    data.split_first_chunk::<LZ4_CHECKSUM>().ok_or_else(|| bad(block, "no room for its checksum"))?;
                let (said, is) = (u64::from_be_bytes(*sum), XxHash64::oneshot(0, body));
                if said != is {
                    return Err(bad(block, &format!("its checksum is {is:016x}, not {said:016x}")));
                }
                lz4::decompress(body, out).ok_or_else(|| bad(block, "not an LZ4 stream of this size"))?
            }
        };
        if written != out.len() {
            return Err(bad(block, &format!("it unpacks to {written} bytes, not the {} it claims", out.len())));
        }
        Ok(())
    }

    fn deflate(&mut self) -> &mut libdeflater::Decompressor {
        self.deflate.get_or_insert_with(libdeflater::Decompressor::new)
    }

    fn zstd(&mut self) -> Result<&mut ZstdDecompressor<'static>> {
        if self.zstd.is_none() {
            self.zstd = Some(ZstdDecompressor::new().map_err(|e| Error::io("no memory for a zstd decoder", e))?);
        }
        self.zstd.as_mut().ok_or_else(|| Error::unsupported("no zstd decoder"))
    }
}

impl<'a> Chain<'a> {
    /// The payload, where it is all of one zlib block.
    fn zlib(&self) -> Option<&'a [u8]> {
        let block = block::parse(self.compressed, 0, self.size).ok()?;
        (block.codec == Codec::Zlib && block.size == self.size).then_some(block.payload)
    }
}

fn bad(block: Block<'_>, why: &str) -> Error {
    Error::corrupt(format!("{} block at offset {} is damaged: {why}", block.codec.name(), block.at))
}

/// Walks the headers alone: whether they promise `size` bytes and lie inside the buffer.
fn check_sizes(compressed: &[u8], size: usize) -> Result<()> {
    let (mut at, mut filled) = (0, 0);
    while filled < size {
        let block = block::parse(compressed, at, size - filled)?;
        filled += block.size;
        at += HEADER + block.payload.len();
    }
    Ok(())
}
