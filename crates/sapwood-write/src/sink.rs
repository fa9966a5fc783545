use crate::storage::{Gone, Storage};
use crate::target::{NAMED, Unfinished};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result, Setting, Span, redact};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes gathered before they are written.
const GATHER: usize = 1 << 20;

pub(crate) use sapwood_format::UNCOMMITTED as MARK;
/// The remedy when the disk is full.
const FULL: &str = "free some space, or write elsewhere; no existing file was changed";

/// Where a file's records are written: appended in sequence, gathered into large writes; and written into free space.
pub(crate) struct Sink {
    storage: Box<dyn Storage>,
    path: PathBuf,
    gathered: Vec<u8>,
    /// Position of the first gathered byte.
    start: u64,
    /// End of what readers may need now, by the previous header or the one being written; 0 when there is none.
    committed: u64,
    /// Whether [`MARK`] precedes the next appended byte.
    marks: bool,
    /// Its position since the last commit.
    marked: Option<Span>,
    /// Whether anything was written since the last commit.
    touched: bool,
    complete: bool,
}

impl Sink {
    /// Appends to a storage that has `len` bytes already.
    pub(crate) fn new(storage: Box<dyn Storage>, path: &Path, len: u64) -> Self {
        Self {
            storage,
            path: path.to_owned(),
            gathered: Vec::new(),
            start: len,
            committed: len,
            marks: false,
            marked: None,
            touched: false,
            complete: false,
        }
    }

    /// Position of the next appended byte.
    pub(crate) fn position(&self) -> u64 {
        self.end() + if self.marks { MARK.len() as u64 } else { 0 }
    }

    /// The end of what was appended so far.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.gathered.len() as u64
    }

    /// From now on appended bytes are distinguished from committed ones: see [`MARK`].
    pub(crate) fn begin_marked(&mut self) {
        self.marks = true;
    }

    /// Writes the mark at the position of the next byte, unless that was done.
    pub(crate) fn put_mark(&mut self) {
        if std::mem::take(&mut self.marks) {
            self.marked = Some(Span::new(self.end(), MARK.len() as u64));
            self.gathered.extend_from_slice(&MARK);
        }
    }

    /// Position of the mark written since the last call.
    pub(crate) fn take_mark(&mut self) -> Option<Span> {
        self.marked.take()
    }

    /// Whether anything was written since the last commit.
    pub(crate) fn is_touched(&self) -> bool {
        self.touched
    }

    /// Refuses to continue when another program replaced or changed the file.
    pub(crate) fn check(&mut self) -> Result<()> {
        self.storage.check().map_err(|e| lost(&self.path, e))
    }

    /// Appends; returns the span of the bytes.
    pub(crate) fn append(&mut self, parts: &[&[u8]]) -> Result<Span> {
        self.put_mark();
        self.touched = true;
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
        self.put_mark();
        self.flush()?;
        self.start += bytes;
        Ok(())
    }

    /// Overwrites bytes before the end.
    pub(crate) fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.touched = true;
        self.flush()?;
        self.storage.write_at(at, bytes).map_err(|e| failed(&self.path, at, e))
    }

    /// Reads bytes before the end.
    pub(crate) fn read(&mut self, span: Span) -> Result<Vec<u8>> {
        self.flush()?;
        let mut bytes = vec![0; usize::try_from(span.len).unwrap_or(usize::MAX)];
        let read = self.storage.read_at(span.start, &mut bytes);
        read.map_err(|e| Error::io("cannot read", e).at(span).in_file(text_of_path(&self.path)))?;
        Ok(bytes)
    }

    /// Writes the gathered bytes.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if !self.gathered.is_empty() {
            self.storage.write_at(self.start, &self.gathered).map_err(|e| failed(&self.path, self.start, e))?;
            self.start += self.gathered.len() as u64;
            self.gathered.clear();
        }
        Ok(())
    }

    /// Writes the gathered bytes durably, where the storage can lose an old state.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.storage.sync().map_err(|e| failed(&self.path, self.start, e))
    }

    /// Records that readers may from now on find a header that refers to bytes up to here. The bytes of the previous
    /// one stay as well: which of both is on disk is not known before the next sync has succeeded.
    pub(crate) fn committing(&mut self) {
        self.committed = self.committed.max(self.end());
    }

    /// Records that everything is written and later bytes belong to the next commit.
    pub(crate) fn committed(&mut self) {
        self.touched = false;
    }

    /// The file is complete.
    pub(crate) fn complete(&mut self) -> Result<()> {
        self.flush()?;
        self.storage.complete(self.start).map_err(|e| failed(&self.path, self.start, e))?;
        self.complete = true;
        Ok(())
    }

    /// Abandons the file: incomplete parts are removed, and the storage is released at once, with its lock.
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

/// Why an update can no longer be written to its file.
fn lost(path: &Path, error: io::Error) -> Error {
    let file = text_of_path(path);
    if error.raw_os_error().is_some() {
        return Error::io("cannot check the file", error).in_file(file);
    }
    Error::new(ErrorKind::Io, error.to_string()).with_remedy("open it again and repeat the update").in_file(file)
}

/// The operating system's error, with the file and the remedy.
pub(crate) fn failed(path: &Path, at: u64, error: io::Error) -> Error {
    // the name may be a URL
    let file = redact(&text_of_path(path));
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
        io::ErrorKind::AlreadyExists => Error::new(ErrorKind::AlreadyExists, "the file already exists")
            .with_remedy("replace it, open it for update, or choose another name")
            .with_setting(Setting::Replace)
            .in_file(file),
        // our own error, not the system's
        io::ErrorKind::InvalidInput if error.raw_os_error().is_none() => {
            Error::invalid(error.to_string()).with_remedy("specify the name of a file").in_file(file)
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::io(format!("no space is left at byte {at}"), error).with_remedy(FULL).in_file(file)
        }
        io::ErrorKind::FileTooLarge => Error::io(format!("cannot write at byte {at}"), error)
            .with_remedy(
                "raise the limit on the size of files (ulimit -f), or write elsewhere; no existing file was changed",
            )
            .in_file(file),
        io::ErrorKind::NotFound => {
            Error::no_such_file("its directory does not exist").with_remedy("create it first").in_file(file)
        }
        io::ErrorKind::ResourceBusy if error.raw_os_error().is_none() => {
            Error::new(ErrorKind::Io, error.to_string()).with_remedy("try again when it is done").in_file(file)
        }
        _ => Error::io(format!("cannot write at byte {at}"), error).in_file(file),
    }
}
