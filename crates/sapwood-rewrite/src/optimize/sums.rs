//! Sums of entries: computed from the input while it is processed, compared with the output.

use super::basket_split::{Rule, Slices};
use sapwood_codec::Digest;
use std::ops::Range;

/// Entries of the input that were processed together, and a hash of their lengths and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) entries: Range<u64>,
    pub(crate) value: u64,
}

/// A hash being computed: the same for the same entries, whatever their baskets.
#[derive(Default)]
pub(crate) struct Summing {
    bytes: Digest,
    lengths: Digest,
    /// Offsets of the process ids for references in the entries, each once.
    pids: Vec<u16>,
}

impl Summing {
    /// Adds entries of a basket.
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

    /// Adds a whole basket, whose entries are not delimited and may refer to positions in it: its values, its table of
    /// offsets, and the length of its label, from whose beginning both count.
    pub(crate) fn basket(&mut self, values: &[u8], offsets: Option<&[u8]>, key_len: u32) {
        self.bytes.update(values);
        self.lengths.update(&[u8::from(offsets.is_some())]);
        self.lengths.update(&key_len.to_le_bytes());
        self.lengths.update(offsets.unwrap_or_default());
    }

    /// Adds the offset of the process ids for references in the entries just added.
    pub(crate) fn process_ids(&mut self, pid: u16) {
        if self.pids.last() != Some(&pid) {
            self.pids.push(pid);
        }
    }

    /// The hash.
    pub(crate) fn value(&self) -> u64 {
        let mut pids = Digest::default();
        self.pids.iter().for_each(|pid| pids.update(&pid.to_le_bytes()));
        self.bytes.value() ^ self.lengths.value().rotate_left(32) ^ pids.value().rotate_left(16)
    }
}
