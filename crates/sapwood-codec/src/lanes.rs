//! State for decompressing two chains at a time.

use crate::inflate::Pair;

/// State kept from call to call.
pub(crate) struct Lanes {
    pub(crate) pair: Pair,
    pub(crate) buffers: Vec<Vec<u8>>,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { pair: Pair::new(), buffers: Vec::new() }
    }
}
