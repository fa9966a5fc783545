//! Pages of ntuples: each plane has blocks of its own.
//!
//! A constant one is written without looking at it again, and where repetitions save nothing none are searched for.

use super::bits::Bits;
use super::block::Plan;
use super::lanes::WAYS;
use super::sample::WORTH;
use super::tokens::{self, Cutter, LENGTHS, LONGEST, SHORTEST};
use super::{BLOCK, Columns, Outcome};
use crate::adler::adler32;
use crate::planes::{Plane, divide};
use std::ops::Range;

/// Runs of a byte, and patterns of a few.
const NEAR: [usize; WAYS] = [1, 2, 3, 4];
/// Bytes of a plane from which it is decided how it is written.
const SAMPLE: usize = 4 << 10;
/// What repetitions must save to be worth the time, in percent of the bits.
const LEAST_SAVED: u64 = 2;
/// Bits of a byte below which near runs are nearly all of a plane, and farther ones would not be shorter.
const FEW_BITS: f32 = 0.5;

/// How a plane is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is one byte throughout.
    Constant,
    /// Each byte for itself.
    Literals,
    /// With repetitions of what is near.
    Near,
}

impl Columns {
    /// Compresses so many planes of the same length into a zlib stream.
    pub(crate) fn zlib_planes(&mut self, data: &[u8], planes: usize, out: &mut [u8]) -> Outcome {
        let Some(planes) = divide(data, planes) else { return Outcome::Unsuited };
        let mut parts: Vec<(Kind, Range<usize>)> = Vec::with_capacity(planes.len());
        // bits of all planes, and those that far repetitions would save
        let (mut total, mut saved) = (0.0, 0.0);
        for Plane { bytes: plane, is_constant } in planes {
            if is_constant {
                parts.push((Kind::Constant, plane));
                continue;
            }
            let bytes = data.get(plane.clone()).unwrap_or_default();
            let (kind, of_byte, literal) = self.examine(data, &plane);
            let near = (kind == Kind::Near).then_some(&NEAR);
            let plane_bits = of_byte * bytes.len() as f32;
            total += plane_bits;
            if of_byte > FEW_BITS {
                saved += self.past.saved(bytes, near, of_byte, literal) * plane_bits;
            }
            parts.push((kind, plane));
        }
        if saved > WORTH * total {
            return Outcome::Unsuited;
        }
        let Some(head) = out.get_mut(..2) else { return Outcome::NoRoom };
        // window of 32 KB, fastest algorithm (RFC 1950)
        head.copy_from_slice(&[0x78, 0x01]);
        let mut to = Bits::new(out, 2);
        for (kind, plane) in parts {
            if self.plane(kind, data, plane, &mut to).is_none() {
                return Outcome::NoRoom;
            }
        }
        to.align();
        to.bytes(&adler32(data).to_be_bytes());
        Outcome::Compressed(to.position())
    }

    /// How a plane that is not constant is best written, from its middle; bits of a byte, and of a literal.
    fn examine(&mut self, data: &[u8], plane: &Range<usize>) -> (Kind, f32, f32) {
        let n = plane.len().min(SAMPLE);
        let from = plane.start + (plane.len() - n) / 2;
        let bytes = data.get(from..from + n).unwrap_or_default();
        let literals = self.coder.plan([bytes, &[]], &NEAR);
        tokens::cut(&mut self.parts, data, from, from + n, &NEAR);
        let near = self.coder.plan(self.parts.each_ref().map(Cutter::tokens), &NEAR);
        let of_byte = |plan: &Plan| plan.body as f32 / n.max(1) as f32;
        if near.body * 100 > literals.body * (100 - LEAST_SAVED) {
            (Kind::Literals, of_byte(&literals), literals.literal_bits)
        } else {
            (Kind::Near, of_byte(&near), near.literal_bits)
        }
    }

    /// Writes a plane; `None` where there is not enough room.
    fn plane(&mut self, kind: Kind, data: &[u8], plane: Range<usize>, to: &mut Bits<'_>) -> Option<()> {
        if kind == Kind::Constant {
            let bytes = data.get(plane.clone())?;
            let run = run(bytes);
            let plan = self.coder.plan([&run, &[]], &NEAR);
            return self.coder.write(&plan, [&run, &[]], bytes, &NEAR, plane.end == data.len(), to);
        }
        let mut from = plane.start;
        while from < plane.end {
            let left = plane.end - from;
            let end = if left <= BLOCK + BLOCK / 2 { plane.end } else { from + BLOCK };
            let (bytes, last) = (data.get(from..end)?, end == data.len());
            if kind == Kind::Literals {
                let plan = self.coder.plan([bytes, &[]], &NEAR);
                self.coder.write(&plan, [bytes, &[]], bytes, &NEAR, last, to)?;
            } else {
                tokens::cut(&mut self.parts, data, from, end, &NEAR);
                let tokens = self.parts.each_ref().map(Cutter::tokens);
                let plan = self.coder.plan(tokens, &NEAR);
                self.coder.write(&plan, tokens, bytes, &NEAR, last, to)?;
            }
            from = end;
        }
        Some(())
    }
}

/// The tokens of a byte that is repeated.
fn run(bytes: &[u8]) -> Vec<u16> {
    let (Some(first), mut left) = (bytes.first(), bytes.len()) else { return Vec::new() };
    let mut tokens = vec![u16::from(*first)];
    left -= 1;
    // the first of the distances is 1
    let repeated = |length: usize| (256 + length - SHORTEST) as u16;
    while left >= SHORTEST {
        let length = left.min(LONGEST);
        tokens.push(repeated(length));
        left -= length;
    }
    tokens.extend(std::iter::repeat_n(u16::from(*first), left));
    tokens
}

const _: () = assert!(NEAR[0] == 1 && LENGTHS > LONGEST - SHORTEST);
