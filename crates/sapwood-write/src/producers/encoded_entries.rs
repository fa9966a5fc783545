//! Entries encoded as in their branches' baskets: prepared by a producer, so that the merger only copies.

use crate::column::{Column, Data};
use crate::column_source::EntryValues;
use crate::layout::{LONGEST_ENTRY, Sizes};
use crate::serial::big_endian;
use sapwood_column::Values;
use sapwood_span::{Error, Result};

/// The properties of a branch's entries that its baskets depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryLayout {
    pub(crate) data: Data,
    /// Whether its values count those of others.
    pub(crate) counts: bool,
}

impl EntryLayout {
    pub(crate) fn of(column: &Column) -> Self {
        Self { data: column.data, counts: column.counts() }
    }
}

/// The gathered entries of one branch.
#[derive(Debug)]
pub(crate) struct EncodedBranch {
    pub(crate) layout: EntryLayout,
    /// Their bytes, big-endian; always [`Values::U8`].
    values: Values,
    /// Where each begins, and where the last ends; only for entries of variable size.
    pub(crate) offsets: Vec<i64>,
    /// The largest of the counts.
    pub(crate) largest: i64,
}

impl EncodedBranch {
    fn new(layout: EntryLayout) -> Self {
        Self { layout, values: Values::U8(Vec::new()), offsets: vec![0], largest: 0 }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.values {
            Values::U8(v) => v,
            _ => &[],
        }
    }

    /// Runs `work` on the bytes.
    pub(crate) fn with_bytes<T>(&mut self, work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let mut bytes = match std::mem::replace(&mut self.values, Values::U8(Vec::new())) {
            Values::U8(v) => v,
            _ => Vec::new(),
        };
        let done = work(&mut bytes);
        self.values = Values::U8(bytes);
        done
    }

    fn piece(&self) -> Option<EntryValues<'_>> {
        match self.layout.data {
            Data::None => None,
            Data::Fixed(size) => Some(EntryValues::bytes(&self.values, size, &[])),
            Data::Offsets => Some(EntryValues::bytes(&self.values, 0, &self.offsets)),
        }
    }

    fn append(&mut self, piece: &EntryValues<'_>, entries: usize) -> Result<()> {
        let base = self.bytes().len() as i64;
        match (self.layout.data, piece.sizes()) {
            (Data::Fixed(size), Sizes::Fixed(n)) if n == u64::from(size) => {}
            (Data::Offsets, Sizes::Jagged(offsets, unit)) => {
                let first = offsets.first().copied().unwrap_or(0);
                let ends = offsets.get(1..=entries).unwrap_or_default();
                self.offsets.extend(ends.iter().map(|o| base + (o - first) * unit as i64));
            }
            _ => return Err(Error::invalid("entries of another size than the branch has")),
        }
        if self.layout.counts {
            self.largest = self.largest.max(piece.largest());
        }
        self.with_bytes(|bytes| big_endian(&piece.values, piece.items(0, entries), bytes));
        Ok(())
    }
}

/// Entries of all branches of a tree.
#[derive(Debug)]
pub(crate) struct EncodedEntries {
    pub(crate) entries: usize,
    /// One for each branch.
    pub(crate) strands: Vec<EncodedBranch>,
}

impl EncodedEntries {
    pub(crate) fn new(layouts: &[EntryLayout]) -> Self {
        Self { entries: 0, strands: layouts.iter().map(|&layout| EncodedBranch::new(layout)).collect() }
    }

    /// Adds entries: a piece for each branch that has data.
    pub(crate) fn append(&mut self, pieces: &[Option<EntryValues<'_>>], entries: usize) -> Result<()> {
        for (strand, piece) in self.strands.iter_mut().zip(pieces) {
            if let Some(piece) = piece {
                strand.append(piece, entries)?;
            }
        }
        self.entries += entries;
        Ok(())
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.strands.iter().map(|s| s.bytes().len() + 8 * (s.offsets.len() - 1)).sum()
    }

    /// The entries, branch by branch, in the form that a tree takes.
    pub(crate) fn pieces(&self) -> Vec<Option<EntryValues<'_>>> {
        self.strands.iter().map(EncodedBranch::piece).collect()
    }

    /// Refuses received data that do not match the tree's branches.
    pub(crate) fn check(&self) -> Result<()> {
        for strand in &self.strands {
            let bytes = strand.bytes().len() as u64;
            let good = match strand.layout.data {
                Data::None => bytes == 0,
                Data::Fixed(size) => (self.entries as u64).checked_mul(u64::from(size)) == Some(bytes),
                Data::Offsets => {
                    let o = &strand.offsets;
                    o.len() == self.entries + 1
                        && (o.first(), o.last()) == (Some(&0), Some(&(bytes as i64)))
                        && o.windows(2).all(|w| w[1] >= w[0] && (w[1] - w[0]) as u64 <= LONGEST_ENTRY)
                }
            };
            if !good {
                return Err(Error::corrupt("the entries do not match the tree's branches"));
            }
        }
        Ok(())
    }

    /// Removes all entries; unusually large memory is freed.
    pub(crate) fn clear(&mut self, usual: usize) {
        let large = self.bytes() > 2 * usual;
        self.entries = 0;
        for strand in &mut self.strands {
            strand.offsets.truncate(1);
            strand.largest = 0;
            if large {
                strand.offsets.shrink_to(usual / 64);
            }
            strand.with_bytes(|bytes| {
                bytes.clear();
                if large {
                    bytes.shrink_to(usual / 64);
                }
            });
        }
    }
}
