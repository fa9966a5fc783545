//! Why a folder cannot be a local cache: each reason once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static WARNINGS: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Adds a warning about a folder, unless it was given before.
pub(super) fn add(directory: PathBuf, warning: String) {
    let mut all = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if !all.iter().any(|(d, w)| *d == directory && *w == warning) {
        all.push((directory, warning));
    }
}

/// The warnings about a folder.
pub(super) fn of(directory: &Path) -> Vec<String> {
    let all = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().filter(|(d, _)| d == directory).map(|(_, w)| w.clone()).collect()
}
