//! The output while it is written: complete at its end, but without its name until its values were compared.

use crate::container::Part;
use sapwood_span::Result;
use sapwood_span::sync::lock;
use sapwood_write::Storage;
use sapwood_write::target::Placement;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A file that gets its name in [`UnnamedFile::commit`]. If dropped before, it is removed.
#[derive(Clone)]
pub(super) struct UnnamedFile(Arc<Mutex<Part>>, Arc<AtomicU64>);

impl UnnamedFile {
    /// Creates it.
    ///
    /// # Errors
    /// As [`Part::create`].
    pub(super) fn create(path: &Path, place: Placement) -> Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Part::create(path, place)?)), Arc::default()))
    }

    /// Where its bytes are now.
    pub(super) fn path(&self) -> PathBuf {
        lock(&self.0).path().to_owned()
    }

    /// Its length so far.
    pub(super) fn len(&self) -> u64 {
        self.1.load(Relaxed)
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// As [`Part::commit`].
    pub(super) fn commit(&self) -> Result<()> {
        lock(&self.0).commit()
    }
}

impl Storage for UnnamedFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut part = lock(&self.0);
        part.file()?.write_all_at(bytes, at)?;
        let end = at.saturating_add(bytes.len() as u64);
        part.written(end);
        self.1.fetch_max(end, Relaxed);
        Ok(())
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        lock(&self.0).file()?.read_exact_at(into, at)
    }

    /// It is synced when it gets its name.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn complete(&mut self, len: u64) -> io::Result<()> {
        lock(&self.0).file()?.set_len(len)
    }

    /// It is removed with the last handle.
    fn abandon(&mut self, _committed: u64) {}
}
