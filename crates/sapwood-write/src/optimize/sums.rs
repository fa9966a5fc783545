//! What entries hold, as numbers: taken from the input while it is packed, compared with what the output holds.

use super::cut::{Rule, Slices};
use sapwood_codec::Digest;
use std::ops::Range;

/// Entries of the input that were packed together, and a number made of their lengths and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) entries: Range<u64>,
    pub(crate) value: u64,
}

/// A number in the making: the same for the same entries, in whatever baskets they lie.
#[derive(Default)]
pub(crate) struct Summing {
    bytes: Digest,
    lengths: Digest,
}

impl Summing {
    /// Takes entries of a basket.
    pub(crate) fn entries(&mut self, rule: &Rule, slices: &Slices, range: Range<usize>) {
        self.bytes.update(slices.bytes(range.clone()));
        if !matches!(rule, Rule::Offsets(_)) {
            return;
        }
        let mut lengths = Vec::with_capacity(4 * range.len());
        let mut at = slices.start(range.start);
        for i in range {
            let end = slices.start(i + 1);
            lengths.extend_from_slice(&((end - at) as u32).to_le_bytes());
            at = end;
        }
        self.lengths.update(&lengths);
    }

    /// Takes the values of a whole basket, whose entries are not told apart, and whether it has offsets.
    pub(crate) fn basket(&mut self, values: &[u8], has_offsets: bool) {
        self.bytes.update(values);
        self.lengths.update(&[u8::from(has_offsets)]);
    }

    /// The number.
    pub(crate) fn value(&self) -> u64 {
        self.bytes.value() ^ self.lengths.value().rotate_left(32)
    }
}
