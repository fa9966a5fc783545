//! Locks that exclude other writers of a file. They are advisory: programs that do not use them are not held back.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The message for the second of two writers.
pub(crate) const BUSY: &str = "this or another process is writing it: close it there first";

/// Excludes updates of a file that is going to be replaced, until the returned value is dropped. Other replacements are
/// not excluded: each of them leaves a complete file.
///
/// # Errors
/// `ResourceBusy` while the file is updated.
pub(crate) fn to_replace(path: &Path) -> io::Result<Option<File>> {
    // one that cannot be read, or is on a file system without locks, is replaced without a lock
    let Ok(file) = File::open(path) else { return Ok(None) };
    match file.try_lock_shared() {
        Err(fs::TryLockError::WouldBlock) => Err(io::Error::new(io::ErrorKind::ResourceBusy, BUSY)),
        Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Some(file)),
    }
}

/// Whether a path still names this open file.
///
/// # Errors
/// `NotFound` when it names nothing; errors of the operating system.
pub(crate) fn is_still(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}
