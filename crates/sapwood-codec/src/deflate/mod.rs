//! A deflate for columns: the bytes of numbers, all items alike.
//!
//! What compresses in such data is near: the same byte is at the same place of the previous item, or a few items back.
//! So repetitions are searched for at four distances only, by comparing the data with itself, sixteen bytes at a time,
//! without a table of earlier occurrences; and Huffman's codes do the rest. That is faster than any search, and mostly
//! smaller: a distance among four costs a bit or two. Data of other kinds (text, records, repetitions after a kilobyte)
//! are detected by a sample, and left to a general deflate.

mod bits;
mod block;
mod code;
mod lanes;
mod planes;
mod sample;
mod tokens;
mod wide;

#[cfg(test)]
mod tests;

use crate::adler::adler32;
use bits::Bits;
use block::Coder;
use lanes::WAYS;
use sample::Past;
use tokens::{Cutter, PARTS};

/// Bytes of a block, each with its own code; the last may be half as long again.
const BLOCK: usize = 64 << 10;
/// Distances at which repetitions are searched for: four items of four bytes, or two of eight.
const DISTANCES: [usize; WAYS] = [4, 8, 12, 16];
/// Data shorter than this are not worth a sample.
const SHORT: usize = 4 << 10;

/// The result of compressing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The data were compressed to this many bytes.
    Compressed(usize),
    /// They do not fit into the room.
    NoRoom,
    /// A general deflate would do better.
    Unsuited,
}

/// Compresses columns; keeps its working memory (about 600 KB) from call to call.
#[derive(Default)]
pub(crate) struct Columns {
    parts: [Cutter; PARTS],
    coder: Coder,
    past: Past,
}

impl Columns {
    /// Compresses suitable data into a zlib stream. The same data give the same bytes, on every machine.
    pub(crate) fn zlib(&mut self, data: &[u8], out: &mut [u8]) -> Outcome {
        if data.len() < SHORT { Outcome::Unsuited } else { self.stream(data, out, true) }
    }

    /// The same for any length; suitability is only checked if `ask` is set.
    fn stream(&mut self, data: &[u8], out: &mut [u8], ask: bool) -> Outcome {
        let Some(head) = out.get_mut(..2) else { return Outcome::NoRoom };
        // window of 32 KB, fastest algorithm (RFC 1950)
        head.copy_from_slice(&[0x78, 0x01]);
        let mut bits = Bits::new(out, 2);
        let mut from = 0;
        loop {
            let left = data.len() - from;
            let to = if left <= BLOCK + BLOCK / 2 { data.len() } else { from + BLOCK };
            tokens::cut(&mut self.parts, data, from, to, &DISTANCES);
            let tokens = self.parts.each_ref().map(Cutter::tokens);
            let plan = self.coder.plan(tokens, &DISTANCES);
            let bits_of_byte = || plan.bits() as f32 / to as f32;
            if ask && from == 0 && self.past.pays(data, &DISTANCES, bits_of_byte(), plan.literal_bits) {
                return Outcome::Unsuited;
            }
            let bytes = data.get(from..to).unwrap_or_default();
            if self.coder.write(&plan, tokens, bytes, &DISTANCES, to == data.len(), &mut bits).is_none() {
                return Outcome::NoRoom;
            }
            from = to;
            if from == data.len() {
                break;
            }
        }
        bits.align();
        bits.bytes(&adler32(data).to_be_bytes());
        Outcome::Compressed(bits.position())
    }
}
