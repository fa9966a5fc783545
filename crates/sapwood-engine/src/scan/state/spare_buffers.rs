//! Memory of consumed batches, used again.

use sapwood_column::Array;

/// Bytes of decoded baskets whose memory is kept for further ones.
const MOST: u64 = 8 << 20;

/// Decoded baskets that were appended to their columns, by the kind of column.
pub(super) struct SpareBuffers {
    by_kind: Vec<Vec<Array>>,
    bytes: u64,
}

impl SpareBuffers {
    pub(super) fn new(kinds: &[usize]) -> Self {
        Self { by_kind: vec![Vec::new(); kinds.iter().max().map_or(0, |k| k + 1)], bytes: 0 }
    }

    /// Keeps a basket's memory, unless there is enough.
    pub(super) fn keep(&mut self, kind: usize, array: Array) {
        let bytes = array.nbytes() as u64;
        if self.bytes + bytes <= MOST {
            self.bytes += bytes;
            self.by_kind[kind].push(array);
        }
    }

    /// Memory for a basket of this kind: what was used last, for it may still be in the processor's cache.
    pub(super) fn take(&mut self, kind: usize) -> Option<Array> {
        let array = self.by_kind[kind].pop()?;
        self.bytes = self.bytes.saturating_sub(array.nbytes() as u64);
        Some(array)
    }
}
