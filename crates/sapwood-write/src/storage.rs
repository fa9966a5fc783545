use crate::target::{Placement, Target};
use std::fs::File;
use std::io;
use std::path::Path;

/// Access to a file's bytes: positioned reads and writes, in the order of the calls.
///
/// The order makes updates safe, so tests replace the disk by one that stops at any write.
pub trait Storage: Send {
    /// Writes all bytes from this position on.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Fills `into` from this position on.
    ///
    /// # Errors
    /// Errors of the operating system; `UnexpectedEof` beyond the end.
    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()>;

    /// Refuses to continue when another program replaced, truncated or extended the file meanwhile.
    ///
    /// # Errors
    /// What happened to the file.
    fn check(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns when everything written before survives a power failure.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn sync(&mut self) -> io::Result<()>;

    /// The file is complete and has `len` bytes: it takes its name, or is truncated to that length.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn complete(&mut self, len: u64) -> io::Result<()>;

    /// Abandons the file. Incomplete parts are removed; the first `committed` bytes stay.
    fn abandon(&mut self, committed: u64);
}

/// A new file: a temporary one next to the target, which takes its name when it is complete.
#[derive(Debug)]
pub(crate) struct NewFile(Target);

impl NewFile {
    /// Creates it; an existing target is refused now and at the end unless it may be replaced.
    pub(crate) fn begin(path: &Path, placement: Placement) -> io::Result<Self> {
        Target::begin(path, placement).map(Self)
    }
}

impl Storage for NewFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(self.0.file()?, at, bytes)?;
        self.0.written(at.saturating_add(bytes.len() as u64));
        Ok(())
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(self.0.file()?, at, into)
    }

    /// It has no final name yet: it is synced when it is complete.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn complete(&mut self, len: u64) -> io::Result<()> {
        self.0.file()?.set_len(len)?;
        self.0.complete()
    }

    fn abandon(&mut self, _committed: u64) {
        self.0.discard();
    }
}

/// Replaces a released storage.
pub(crate) struct Gone;

impl Gone {
    fn says<T>() -> io::Result<T> {
        Err(io::Error::other("the file was abandoned"))
    }
}

impl Storage for Gone {
    fn write_at(&mut self, _at: u64, _bytes: &[u8]) -> io::Result<()> {
        Self::says()
    }

    fn read_at(&mut self, _at: u64, _into: &mut [u8]) -> io::Result<()> {
        Self::says()
    }

    fn sync(&mut self) -> io::Result<()> {
        Self::says()
    }

    fn complete(&mut self, _len: u64) -> io::Result<()> {
        Self::says()
    }

    fn abandon(&mut self, _committed: u64) {}
}

pub(crate) fn write_all_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

pub(crate) fn read_exact_at(file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}
