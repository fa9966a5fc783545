use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a file's bytes lie: positioned reads and writes, in the order they are asked for.
///
/// The order is what makes updates safe, so that tests replace the disk by one that stops at any write.
pub trait Storage: Send {
    /// Writes all bytes from this position on.
    ///
    /// # Errors
    /// What the operating system says.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Fills `into` from this position on.
    ///
    /// # Errors
    /// What the operating system says; `UnexpectedEof` behind the end.
    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()>;

    /// Returns when what was written before survives a loss of power.
    ///
    /// # Errors
    /// What the operating system says.
    fn sync(&mut self) -> io::Result<()>;

    /// The file is complete and has `len` bytes: it takes its name, or loses what is behind.
    ///
    /// # Errors
    /// What the operating system says.
    fn complete(&mut self, len: u64) -> io::Result<()>;

    /// Nothing more comes. What was not complete goes; `committed` bytes of an older state stay.
    fn abandon(&mut self, committed: u64);
}

/// A new file: a temporary one beside the target, which takes its name when it is complete.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    replace: bool,
    /// The process that began it: a copy in a forked child must not take it away.
    process: u32,
}

impl NewFile {
    /// Begins it; an existing target is refused now and at the end unless it may be replaced.
    pub(crate) fn begin(target: &Path, replace: bool) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        if !replace && target.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut beside = name.to_owned();
        beside.push(format!(".{}-{n}.part", std::process::id()));
        let temporary = target.with_file_name(beside);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&temporary)?;
        Ok(Self { file, temporary, target: target.to_owned(), replace, process: std::process::id() })
    }
}

impl Storage for NewFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(&self.file, at, bytes)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, at, into)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn complete(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        if !self.replace {
            // a link does not replace what appeared meanwhile; where links are unknown, the test below has to do
            match fs::hard_link(&self.temporary, &self.target) {
                Ok(()) => return fs::remove_file(&self.temporary),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
                Err(_) if self.target.exists() => return Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => {}
            }
        }
        if self.target.exists() {
            // the old file must not be lost to a loss of power before the new one is on disk
            self.file.sync_all()?;
        }
        fs::rename(&self.temporary, &self.target)
    }

    fn abandon(&mut self, _committed: u64) {
        if self.process == std::process::id() {
            // nothing can be done, and nothing is lost, when a temporary file stays
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A file that is there, written in place and locked against other writers.
#[derive(Debug)]
pub(crate) struct ExistingFile(File);

impl ExistingFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {
                Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process is writing it"))
            }
            // locks are advice; file systems without them are written all the same
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Self(file)),
        }
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
}

impl Storage for ExistingFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(&self.0, at, bytes)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.0, at, into)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn complete(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn abandon(&mut self, committed: u64) {
        // what lies behind the committed end belongs to nobody; if it stays, no reader looks at it
        let _ = self.0.set_len(committed);
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_exact_at(file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

#[cfg(not(unix))]
fn write_all_at(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(into)
}
