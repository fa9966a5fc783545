//! Whether a general deflate, which looks back 32 KB, would find what the near items do not show.

use super::lanes::WAYS;

/// Bytes of a window, and of its end that is looked at: what comes before is where they may occur already.
const WINDOW: usize = 16 << 10;
const SAMPLE: usize = 2 << 10;
/// Windows are taken for so many bytes each, at most [`WINDOWS`].
const APART: usize = 64 << 10;
const WINDOWS: usize = 4;
/// Bytes from look to look, and those of them that a look stands for.
const STRIDE: usize = 16;
const SPAN: usize = 8;
/// Bits of a repetition far away: length and distance with the bits behind them.
const FAR_BITS: f32 = 16.0;
/// Below this part of the bits, what repetitions far away would save is left.
const WORTH: f32 = 0.04;
/// Bits of a byte below which long repetitions are what matters, which a general deflate is fast at.
const FEW_BITS: f32 = 1.2;

const HASH_BITS: u32 = 12;
const NOWHERE: u16 = u16::MAX;

/// Where each few bytes occurred last.
pub(super) struct Past {
    places: Box<[u16; 1 << HASH_BITS]>,
}

impl Default for Past {
    fn default() -> Self {
        Self { places: Box::new([NOWHERE; 1 << HASH_BITS]) }
    }
}

impl Past {
    /// Whether repetitions farther away than `distances` would make the data notably smaller, where `bits` are what a
    /// byte takes without them.
    pub(super) fn pays(&mut self, data: &[u8], distances: &[usize; WAYS], bits: f32) -> bool {
        if bits < FEW_BITS {
            return true;
        }
        let windows = (data.len() / APART).clamp(1, WINDOWS);
        let ends = (1..=windows).map(|i| data.len() / windows * i);
        let parts = ends.filter_map(|end| data.get(end.saturating_sub(WINDOW)..end));
        let saved: f32 = parts.map(|part| self.saves(part, distances, bits)).sum();
        saved > WORTH * windows as f32
    }

    /// What part of its bits this window would save, in the bytes that are looked at.
    fn saves(&mut self, data: &[u8], distances: &[usize; WAYS], bits: f32) -> f32 {
        self.places.fill(NOWHERE);
        // each fourth byte is kept: a repetition of seven bytes and more has one
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
            let near = distances.iter().map(|&d| look.checked_sub(d).map_or(0, |b| same(data, b, look))).max();
            let near = near.unwrap_or(0).min(SPAN);
            let taken = best.min(SPAN).saturating_sub(near) as f32;
            saved += (taken * bits - FAR_BITS * taken / best as f32).max(0.0);
        }
        saved / (bits * (looks as usize * SPAN) as f32)
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

fn four(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
}

fn hash(bytes: u32) -> usize {
    (bytes.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
}

/// How many bytes at two places are the same; 64 are enough.
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
