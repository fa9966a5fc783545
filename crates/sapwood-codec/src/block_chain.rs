//! Chains of compressed blocks.

/// An item with a chain of blocks.
pub trait BlockChain {
    /// The blocks.
    fn compressed(&self) -> &[u8];
    /// The size in the key.
    fn size(&self) -> usize;
}

/// The blocks, their size, and a value that identifies this chain.
impl<K> BlockChain for (&[u8], usize, K) {
    fn compressed(&self) -> &[u8] {
        self.0
    }

    fn size(&self) -> usize {
        self.1
    }
}
