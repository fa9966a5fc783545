//! Locks that keep writers of one file apart. They are advice: programs that do not ask for them are not held back.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// What the second of two writers is told.
pub(crate) const BUSY: &str = "this or another process is writing it: close it there first";

/// Keeps updates away from a file that is going to be replaced, until what this returns is dropped. Others that
/// replace it are not kept away: each of them leaves a whole file.
///
/// # Errors
/// `ResourceBusy` while the file is updated.
pub(crate) fn to_replace(path: &Path) -> io::Result<Option<File>> {
    // one that cannot be read, or lies where locks are unknown, is replaced without
    let Ok(file) = File::open(path) else { return Ok(None) };
    match file.try_lock_shared() {
        Err(fs::TryLockError::WouldBlock) => Err(io::Error::new(io::ErrorKind::ResourceBusy, BUSY)),
        Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Some(file)),
    }
}

/// Whether a path still leads to this open file.
///
/// # Errors
/// `NotFound` when it leads nowhere; what the operating system says.
pub(crate) fn is_still(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}
