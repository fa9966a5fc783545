//! A file that is updated: written in place, locked, and checked for changes by other programs.

use crate::lock::{self, BUSY};
use crate::storage::{Storage, read_exact_at, write_all_at};
use crate::target::only_files;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// How often a name may be replaced between opening and locking a file.
const ATTEMPTS: usize = 10;

/// An existing file, written in place and locked against other writers.
#[derive(Debug)]
pub(crate) struct ExistingFile {
    file: File,
    /// Absolute: the working directory may change.
    path: PathBuf,
    /// Its length when it was opened: it is never truncated below that.
    opened: u64,
    /// Its length as known to this writer.
    len: u64,
    /// The process that opened it: a forked child that drops its copy must not truncate its parent's file.
    process: u32,
}

impl ExistingFile {
    pub(crate) fn open(given: &Path) -> io::Result<Self> {
        let path = std::path::absolute(given)?;
        for _ in 0..ATTEMPTS {
            only_files(&fs::metadata(&path)?)?;
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => return Err(io::Error::new(io::ErrorKind::ResourceBusy, BUSY)),
                // locks are advisory; file systems without them are written anyway
                Ok(()) | Err(fs::TryLockError::Error(_)) => {}
            }
            // another file may have taken the name before the lock was held
            if lock::is_still(&file, &path)? {
                let len = file.metadata()?.len();
                return Ok(Self { file, path, opened: len, len, process: std::process::id() });
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "other programs replace it repeatedly"))
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Other programs must not have changed the length: their bytes would be overwritten, or cut off.
    fn check_len(&self) -> io::Result<()> {
        let now = self.file.metadata()?.len();
        if now == self.len {
            return Ok(());
        }
        let what = format!("another program has changed its length from {} to {now} bytes", self.len);
        Err(io::Error::other(what))
    }
}

impl Storage for ExistingFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.check_len()?;
        let written = write_all_at(&self.file, at, bytes);
        self.len = match &written {
            Ok(()) => self.len.max(at + bytes.len() as u64),
            // on a full disk a part of it may have been written
            Err(_) => self.file.metadata()?.len(),
        };
        written
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, at, into)
    }

    fn check(&mut self) -> io::Result<()> {
        self.check_len()?;
        match lock::is_still(&self.file, &self.path) {
            Ok(true) => Ok(()),
            Ok(false) => Err(io::Error::other("another program has replaced the file: the update is not in it")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(io::Error::other("another program has deleted the file: the update is lost"))
            }
            Err(e) => Err(e),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn complete(&mut self, len: u64) -> io::Result<()> {
        // bytes that this writer appended and does not need
        if len < self.len && len >= self.opened {
            self.check_len()?;
            self.file.set_len(len)?;
            self.len = len;
        }
        Ok(())
    }

    fn abandon(&mut self, committed: u64) {
        // bytes that this writer appended are unused; if they stay, readers ignore them
        if self.process == std::process::id() {
            let _ = self.complete(committed.max(self.opened));
        }
    }
}
