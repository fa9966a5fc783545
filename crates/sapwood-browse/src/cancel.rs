//! The end of work that nobody wants any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sets a flag when a request ends or is given up.
pub(crate) struct CancelOnDrop(pub Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
