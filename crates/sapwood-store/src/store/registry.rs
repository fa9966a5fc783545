//! One store per directory and process.

use crate::store::Inner;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

/// A list of open stores.
static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// The store of this directory, created by `make` if it is not open in this process.
pub(crate) fn find_or_make(directory: &Path, make: impl FnOnce() -> Inner) -> Arc<Inner> {
    let Some(mut open) = lock() else { return Arc::new(make()) };
    let process = std::process::id();
    // those of a parent process stay: their locks may be held by threads that do not exist here
    open.retain(|s| s.strong_count() > 0);
    let known = open.iter().filter_map(Weak::upgrade).find(|s| s.process == process && s.directory == directory);
    known.unwrap_or_else(|| {
        let new = Arc::new(make());
        open.push(Arc::downgrade(&new));
        new
    })
}

/// The list; none if a thread held it while this process was forked.
fn lock() -> Option<MutexGuard<'static, Vec<Weak<Inner>>>> {
    let begun = Instant::now();
    loop {
        match OPEN.try_lock() {
            Ok(open) => return Some(open),
            Err(TryLockError::Poisoned(e)) => return Some(PoisonError::into_inner(e)),
            Err(TryLockError::WouldBlock) if begun.elapsed() < Duration::from_secs(1) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => return None,
        }
    }
}
