//! Why there is no local cache although one was asked for: each reason once.

use sapwood_span::sync::lock;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

static WARNINGS: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Adds a warning about a directory, or about the user's configuration, unless it was given before.
pub(super) fn add(path: PathBuf, warning: String) {
    let mut all = lock(&WARNINGS);
    if !all.iter().any(|(p, w)| *p == path && *w == warning) {
        all.push((path, warning));
    }
}

/// The warnings about a directory or file.
pub(super) fn of(path: &Path) -> Vec<String> {
    let all = lock(&WARNINGS);
    all.iter().filter(|(p, _)| p == path).map(|(_, w)| w.clone()).collect()
}

/// All of them.
pub(super) fn all() -> Vec<String> {
    let all = lock(&WARNINGS);
    all.iter().map(|(_, w)| w.clone()).collect()
}
