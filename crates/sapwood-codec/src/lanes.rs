//! What unpacking two chains at a time needs.

use crate::inflate::Pair;

/// What is kept from one call to the next.
pub(crate) struct Lanes {
    pub(crate) pair: Pair,
    pub(crate) buffers: Vec<Vec<u8>>,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { pair: Pair::new(), buffers: Vec::new() }
    }
}
