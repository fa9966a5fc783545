//! Whether a general deflate, which looks back 32 KB, would find repetitions that near items do not show.

use super::lanes::WAYS;

/// Bytes of a window, and of the end of it that is examined: the part before is searched for earlier occurrences.
const WINDOW: usize = 16 << 10;
const SAMPLE: usize = 2 << 10;
/// There is one window for this many bytes, at most [`WINDOWS`].
const APART: usize = 64 << 10;
const WINDOWS: usize = 4;
/// Bytes between two samples.
const STRIDE: usize = 16;
/// Bits of a distant repetition, and of a near one: length and distance with their extra bits.
const FAR_BITS: f32 = 20.0;
const NEAR_BITS: f32 = 4.0;
/// Savings of distant repetitions below this fraction of the bits are ignored.
pub(super) const WORTH: f32 = 0.06;
/// Bits of a byte below which long repetitions dominate, which a general deflate handles fast.
const FEW_BITS: f32 = 1.2;

const HASH_BITS: u32 = 12;
const NOWHERE: u16 = u16::MAX;

/// Last occurrence of each short sequence of bytes.
pub(super) struct Past {
    places: Box<[u16; 1 << HASH_BITS]>,
}

impl Default for Past {
    fn default() -> Self {
        Self { places: Box::new([NOWHERE; 1 << HASH_BITS]) }
    }
}

impl Past {
    /// Whether repetitions farther away than `distances` would make the data notably smaller, where `bits` is the cost
    /// of a byte without them, and `literal` that of an unrepeated one.
    pub(super) fn pays(&mut self, data: &[u8], distances: &[usize; WAYS], bits: f32, literal: f32) -> bool {
        if bits < FEW_BITS {
            return true;
        }
        self.saved(data, Some(distances), bits, literal) > WORTH
    }

    /// The fraction of its bits that such repetitions would save, from samples. `distances`: where repetitions are found
    /// without a search.
    pub(super) fn saved(&mut self, data: &[u8], distances: Option<&[usize; WAYS]>, bits: f32, literal: f32) -> f32 {
        let windows = (data.len() / APART).clamp(1, WINDOWS);
        let ends = (1..=windows).map(|i| data.len() / windows * i);
        let parts = ends.filter_map(|end| data.get(end.saturating_sub(WINDOW)..end));
        let saved: f32 = parts.map(|part| self.saves(part, distances, bits, literal)).sum();
        saved / windows as f32
    }

    /// The fraction of its bits that this window would save, in the bytes examined.
    fn saves(&mut self, data: &[u8], distances: Option<&[usize; WAYS]>, bits: f32, literal: f32) -> f32 {
        self.places.fill(NOWHERE);
        // every fourth byte is recorded: a repetition of at least seven bytes contains one
        let mut kept = 0;
        let (mut saved, mut looks) = (0.0, 0_u32);
        for look in (data.len().saturating_sub(SAMPLE)..data.len()).step_by(STRIDE) {
            while kept < look {
                if let Some(bytes) = four(data, kept) {
                    self.places[hash(bytes)] = kept as u16;
                }
                kept += 4;
            }
            looks += 1;
            let best = (look..look + 4).map(|at| self.repeated(data, at)).max().unwrap_or(0);
            if best < 4 {
                continue;
            }
            let span = best.min(STRIDE);
            let here = distances.map_or(literal * span as f32, |d| near_bits(data, look, span, d, literal));
            saved += (here - FAR_BITS * span as f32 / best as f32).max(0.0);
        }
        saved / (bits * (looks as usize * STRIDE) as f32)
    }

    /// How many of the bytes at `at` occurred before.
    fn repeated(&self, data: &[u8], at: usize) -> usize {
        let Some(bytes) = four(data, at) else { return 0 };
        match self.places[hash(bytes)] {
            NOWHERE => 0,
            place => same(data, usize::from(place), at),
        }
    }
}

/// Bits of `n` bytes with near repetitions only.
fn near_bits(data: &[u8], at: usize, n: usize, distances: &[usize; WAYS], literal: f32) -> f32 {
    let (mut i, mut bits) = (0, 0.0);
    while i < n {
        let near = distances.iter().map(|&d| (at + i).checked_sub(d).map_or(0, |b| same(data, b, at + i))).max();
        match near.unwrap_or(0) {
            0..3 => (i, bits) = (i + 1, bits + literal),
            near => (i, bits) = (i + near, bits + NEAR_BITS),
        }
    }
    bits
}

fn four(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
}

fn hash(bytes: u32) -> usize {
    (bytes.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
}

/// How many bytes at two positions are the same; 64 are enough.
fn same(data: &[u8], a: usize, b: usize) -> usize {
    let word = |at: usize| data.get(at..at + 8).and_then(|w| w.try_into().ok()).map(u64::from_le_bytes);
    for n in (0..64).step_by(8) {
        let (Some(x), Some(y)) = (word(a + n), word(b + n)) else { return n };
        if x != y {
            return n + (x ^ y).trailing_zeros() as usize / 8;
        }
    }
    64
}
