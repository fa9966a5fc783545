//! What went wrong with the local cache as a whole: each is told once.

use std::sync::{Mutex, PoisonError};

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Adds a warning, unless it was given before.
pub(super) fn add(warning: String) {
    let mut all = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if !all.contains(&warning) {
        all.push(warning);
    }
}

/// The warnings so far.
pub(super) fn all() -> Vec<String> {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
