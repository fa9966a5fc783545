//! How many baskets are known of all files: their memory is bounded.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Baskets kept at most, of all files that are open: 24 bytes each.
const MOST_MAPPED: usize = 3 << 20;

/// Number of baskets known of all files.
#[derive(Default)]
pub(crate) struct Mapped(AtomicUsize);

impl Mapped {
    /// Adds to the count, unless it becomes too large.
    pub(crate) fn take(&self, baskets: usize) -> bool {
        let fits = |all: usize| all.checked_add(baskets).filter(|sum| *sum <= MOST_MAPPED);
        self.0.fetch_update(Relaxed, Relaxed, fits).is_ok()
    }

    /// Subtracts from the count.
    pub(crate) fn give_back(&self, baskets: usize) {
        self.0.fetch_sub(baskets, Relaxed);
    }
}
