use crate::storage::{Gone, Storage};
use crate::target::{NAMED, Unfinished};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes gathered before they are written.
const GATHER: usize = 1 << 20;

/// What to do when the disk is full.
const FULL: &str = "make room, or write elsewhere; nothing under this name was touched";

/// Where a file's records go: appended one after the other, gathered to large writes; and written into what is free.
pub(crate) struct Sink {
    storage: Box<dyn Storage>,
    path: PathBuf,
    gathered: Vec<u8>,
    /// Where the first gathered byte will lie.
    start: u64,
    /// End of the state that readers would find now; 0 when there is none.
    committed: u64,
    complete: bool,
}

impl Sink {
    /// Appends to a storage that has `len` bytes already.
    pub(crate) fn new(storage: Box<dyn Storage>, path: &Path, len: u64) -> Self {
        Self { storage, path: path.to_owned(), gathered: Vec::new(), start: len, committed: len, complete: false }
    }

    /// Where the next byte will lie.
    pub(crate) fn position(&self) -> u64 {
        self.start + self.gathered.len() as u64
    }

    /// Appends; where the bytes lie now.
    pub(crate) fn append(&mut self, parts: &[&[u8]]) -> Result<Span> {
        let at = self.position();
        for part in parts {
            if self.gathered.len() + part.len() > GATHER {
                self.flush()?;
            }
            if part.len() > GATHER {
                self.storage.write_at(self.start, part).map_err(|e| failed(&self.path, self.start, e))?;
                self.start += part.len() as u64;
            } else {
                self.gathered.extend_from_slice(part);
            }
        }
        Ok(Span::new(at, self.position() - at))
    }

    /// Moves the end on by `bytes` without writing them.
    pub(crate) fn skip(&mut self, bytes: u64) -> Result<()> {
        self.flush()?;
        self.start += bytes;
        Ok(())
    }

    /// Writes over what lies before the end.
    pub(crate) fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        self.storage.write_at(at, bytes).map_err(|e| failed(&self.path, at, e))
    }

    /// Reads what lies before the end.
    pub(crate) fn read(&mut self, span: Span) -> Result<Vec<u8>> {
        self.flush()?;
        let mut bytes = vec![0; usize::try_from(span.len).unwrap_or(usize::MAX)];
        let read = self.storage.read_at(span.start, &mut bytes);
        read.map_err(|e| Error::io("cannot read", e).at(span).in_file(self.path.display().to_string()))?;
        Ok(bytes)
    }

    /// Writes what is gathered.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if !self.gathered.is_empty() {
            self.storage.write_at(self.start, &self.gathered).map_err(|e| failed(&self.path, self.start, e))?;
            self.start += self.gathered.len() as u64;
            self.gathered.clear();
        }
        Ok(())
    }

    /// Writes what is gathered, on disk for good, where the storage can lose an old state.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.storage.sync().map_err(|e| failed(&self.path, self.start, e))
    }

    /// What lies behind this is written over; what is gathered is forgotten.
    pub(crate) fn cut(&mut self, at: u64) {
        self.gathered.clear();
        self.start = at;
        self.committed = at;
    }

    /// Notes that readers would find a whole file, up to here.
    pub(crate) fn committed(&mut self) {
        self.committed = self.position();
    }

    /// The file is complete.
    pub(crate) fn complete(&mut self) -> Result<()> {
        self.flush()?;
        self.storage.complete(self.start).map_err(|e| failed(&self.path, self.start, e))?;
        self.complete = true;
        Ok(())
    }

    /// Nothing more comes: what is not complete goes, and the storage is let go at once, with its lock.
    pub(crate) fn give_up(&mut self) {
        if !std::mem::replace(&mut self.complete, true) {
            self.storage.abandon(self.committed);
            self.storage = Box::new(Gone);
        }
    }

    /// The final name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// What the operating system said, with the file and what to do.
pub(crate) fn failed(path: &Path, at: u64, error: io::Error) -> Error {
    let file = path.display().to_string();
    if let Some((what, named)) = Unfinished::of(&error) {
        let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let e = Error::io(what, error).in_file(file);
        return match (named, full) {
            (true, _) => e.with_remedy(NAMED),
            (false, true) => e.with_remedy(FULL),
            _ => e,
        };
    }
    match error.kind() {
        io::ErrorKind::AlreadyExists => Error::new(ErrorKind::Invalid, "the file is there already")
            .with_remedy("replace it with recreate, or add to it with update")
            .in_file(file),
        // of ours, not the system's
        io::ErrorKind::InvalidInput if error.raw_os_error().is_none() => {
            Error::invalid(error.to_string()).with_remedy("give the name of a file").in_file(file)
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::io(format!("no space is left at byte {at}"), error).with_remedy(FULL).in_file(file)
        }
        io::ErrorKind::NotFound => {
            Error::io("cannot create the file", error).with_remedy("create its folder first").in_file(file)
        }
        _ => Error::io(format!("cannot write at byte {at}"), error).in_file(file),
    }
}
