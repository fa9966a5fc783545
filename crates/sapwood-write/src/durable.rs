//! Durability of written bytes: sync and close, with their errors.

use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes after which the system is asked to start writing: otherwise everything would be written at the end.
#[cfg(target_os = "linux")]
const STRETCH: u64 = 8 << 20;

/// Writes appended bytes to disk while more are created, so that the sync at the end is short.
#[derive(Debug, Default)]
pub(crate) struct WriteOut {
    #[cfg(target_os = "linux")]
    begun: u64,
}

impl WriteOut {
    /// The file has been written up to here.
    #[cfg(target_os = "linux")]
    pub(crate) fn up_to(&mut self, file: &File, end: u64) {
        use std::os::fd::AsRawFd;
        let Some(len) = end.checked_sub(self.begun).filter(|&len| len >= STRETCH) else { return };
        if let (Ok(from), Ok(len)) = (i64::try_from(self.begun), i64::try_from(len)) {
            // SAFETY: the descriptor is open and no memory is passed. It only starts what the sync at the end waits
            // for, which also reports errors; file systems without support lose nothing
            unsafe { libc::sync_file_range(file.as_raw_fd(), from, len, libc::SYNC_FILE_RANGE_WRITE) };
        }
        self.begun = end;
    }

    /// Only supported on Linux.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn up_to(&mut self, _file: &File, _end: u64) {}
}

/// Closes a file. Network file systems may only report here that there was no room for the data, and a file that is
/// merely dropped hides that.
pub(crate) fn close(file: File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the descriptor is the file's, which no longer exists; whatever this returns, it is closed once
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A directory whose entries must be durable.
#[derive(Debug)]
pub(crate) struct Folder(Option<File>);

impl Folder {
    /// The directory of a file. One that may not be read cannot be synced: then nothing is done.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        match File::open(path.parent().unwrap_or(Path::new("/"))) {
            Ok(folder) => Ok(Self(Some(folder))),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(Self(None)),
            Err(e) => Err(e),
        }
    }

    /// Returns when its entries survive a loss of power.
    pub(crate) fn sync(&self) -> io::Result<()> {
        // errors of file systems that can only sync files
        let unknown = [libc::EINVAL, libc::ENOTSUP, libc::ENOSYS, libc::EBADF];
        match self.0.as_ref().map_or(Ok(()), File::sync_all) {
            Err(e) if e.raw_os_error().is_some_and(|code| unknown.contains(&code)) => Ok(()),
            done => done,
        }
    }
}
