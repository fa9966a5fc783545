use sapwood_span::{Error, Result, Span};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a file's bytes go, one record after the other: a temporary file beside the final one,
/// renamed by [`Sink::commit`] and removed when dropped before.
pub(crate) struct Sink {
    file: BufWriter<File>,
    temporary: PathBuf,
    target: PathBuf,
    at: u64,
    committed: bool,
}

impl Sink {
    pub(crate) fn create(target: &Path) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = target.file_name().ok_or_else(|| {
            Error::invalid(format!("\"{}\" names no file", target.display())).with_remedy("give the name of a file")
        })?;
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{n}.part", std::process::id()));
        let temporary = target.with_file_name(hidden);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .map_err(|e| Error::io("cannot create the file", e).in_file(target.display().to_string()))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { file, temporary, target: target.to_owned(), at: 0, committed: false })
    }

    /// Where the next byte will lie.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Appends; where the bytes lie now.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<Span> {
        self.file.write_all(bytes).map_err(|e| self.failed(e))?;
        let span = Span::new(self.at, bytes.len() as u64);
        self.at = span.end();
        Ok(span)
    }

    /// Moves the end on by `bytes` without writing them.
    pub(crate) fn skip(&mut self, bytes: u64) -> Result<()> {
        self.at += bytes;
        self.file.seek(SeekFrom::Start(self.at)).map_err(|e| self.failed(e))?;
        Ok(())
    }

    /// Writes over what was appended before.
    pub(crate) fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let mut write = || {
            self.file.seek(SeekFrom::Start(at))?;
            self.file.write_all(bytes)?;
            self.file.seek(SeekFrom::Start(self.at))
        };
        write().map_err(|e| self.failed(e))?;
        Ok(())
    }

    /// Makes the file appear under its final name, on disk for good.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.file.flush().map_err(|e| self.failed(e))?;
        self.file.get_ref().sync_all().map_err(|e| self.failed(e))?;
        fs::rename(&self.temporary, &self.target).map_err(|e| self.failed(e))?;
        self.committed = true;
        Ok(())
    }

    /// The final name.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    fn failed(&self, error: std::io::Error) -> Error {
        Error::io(format!("cannot write at byte {}", self.at), error).in_file(self.target.display().to_string())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing can be done, and nothing is lost, when a temporary file stays.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
