//! Pages of ntuples with Zstandard, a block for each plane.
//!
//! In a plane of few values a search finds something everywhere and saves nothing: Huffman's codes are as short, and at the
//! levels that ROOT uses the search takes nine tenths of the time. So planes are compressed with runs and long repetitions
//! only, each with codes of its own. A fast search of the whole page tells whether more repeats than that; such pages are
//! left to the level that was asked for.

use crate::block::{self, Codec, HEADER};
use crate::planes::divide;
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

/// The shortest repetitions that are taken: shorter ones cost more than the codes of their bytes.
const LONG: u32 = 7;
/// Zstandard's level of the search that tells whether there is more to find.
const QUICK: i32 = 3;
/// What such a search must not find, in parts of a thousand: levels above it find a little more.
const LEFT: usize = 5;

/// Encoders of planes, with their working memory.
pub(crate) struct PlaneEncoders {
    plane: Compressor<'static>,
    quick: Compressor<'static>,
    /// What the search of the whole page gave.
    whole: Vec<u8>,
}

impl PlaneEncoders {
    /// None where there is not enough memory.
    pub(crate) fn new() -> Option<Self> {
        let mut plane = Compressor::new(1).ok()?;
        plane.set_parameter(CParameter::MinMatch(LONG)).ok()?;
        Some(Self { plane, quick: Compressor::new(QUICK).ok()?, whole: Vec::new() })
    }

    /// Appends a block for each plane; `None`, with arbitrary bytes appended, where the page is not suited.
    pub(crate) fn compress(&mut self, data: &[u8], planes: usize, out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        // what did not get smaller alone, and is compressed with what is behind it: ROOT refuses blocks that are not
        // smaller than their bytes
        let mut pending: Option<usize> = None;
        for plane in divide(data, planes)? {
            let from = pending.unwrap_or(plane.bytes.start);
            let part = data.get(from..plane.bytes.end)?;
            let at = out.len();
            out.resize(at + HEADER + compress_bound(part.len()), 0);
            let packed = self.plane.compress_to_buffer(part, out.get_mut(at + HEADER..)?).ok()?;
            if HEADER + packed >= part.len() {
                out.truncate(at);
                pending = Some(from);
                continue;
            }
            pending = None;
            out.get_mut(at..at + HEADER)?.copy_from_slice(&block::header(Codec::Zstd, packed, part.len())?);
            out.truncate(at + HEADER + packed);
        }
        if pending.is_some() {
            return None;
        }
        let len = out.len() - start;
        self.whole.resize(compress_bound(data.len()), 0);
        let whole = self.quick.compress_to_buffer(data, &mut self.whole[..]).ok()?;
        (len * 1000 <= whole * (1000 - LEFT)).then_some(())
    }
}
