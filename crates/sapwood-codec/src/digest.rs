//! A hash of bytes that arrive piece by piece, to compare them with others.

use std::hash::Hasher;
use twox_hash::{XxHash3_64, XxHash64};

/// XXH64 of all bytes so far, however they were split: fast, and a protection against accidents, not against attackers.
#[derive(Clone, Default)]
pub struct Digest(XxHash64);

impl Digest {
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The hash of the bytes so far.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.finish()
    }
}

/// XXH3 with 64 bits and seed 0, as RNTuple's envelopes and pages carry it.
#[must_use]
pub fn xxh3(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_matter_and_every_bit_does() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        let of = |bytes: &[u8], piece: usize| {
            let mut d = Digest::default();
            bytes.chunks(piece).for_each(|c| d.update(c));
            d.value()
        };
        let whole = of(&bytes, 1000);
        assert!([1, 3, 31, 32, 33, 999].iter().all(|&n| of(&bytes, n) == whole));
        let mut other = bytes.clone();
        other[500] ^= 1;
        assert_ne!(of(&other, 1000), whole);
        // the published value for nothing, with seed 0
        assert_eq!(Digest::default().value(), 0xef46_db37_51d8_e999);
    }

    #[test]
    fn xxh3_of_nothing() {
        assert_eq!(xxh3(b""), 0x2d06_8005_38d3_94c2);
    }
}
