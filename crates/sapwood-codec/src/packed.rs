//! Chains of compressed blocks.

/// Whoever holds a chain of blocks.
pub trait Packed {
    /// The blocks.
    fn compressed(&self) -> &[u8];
    /// The size the key promised.
    fn size(&self) -> usize;
}

/// The blocks, their size, and whatever tells this chain from others.
impl<K> Packed for (&[u8], usize, K) {
    fn compressed(&self) -> &[u8] {
        self.0
    }

    fn size(&self) -> usize {
        self.1
    }
}
