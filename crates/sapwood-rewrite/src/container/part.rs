use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result, Setting, redact};
use sapwood_write::target::{NAMED, Placement, Target, Unfinished};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Small records are gathered up to this many bytes.
const GATHER: usize = 1 << 16;

/// A file being written under a temporary name next to its final one, which it gets in [`Part::commit`]. If dropped
/// before, it is removed.
pub(crate) struct Part {
    gathered: Vec<u8>,
    target: Target,
    /// As given, for messages.
    path: PathBuf,
    at: u64,
    committed: bool,
}

impl Part {
    /// Creates it.
    ///
    /// # Errors
    /// `Invalid` when the target exists and may not be replaced, or errors of the system.
    pub(crate) fn create(path: &Path, place: Placement) -> Result<Self> {
        let target = Target::begin(path, place).map_err(|e| refused(path, e))?;
        Ok(Self { gathered: Vec::new(), target, path: path.to_owned(), at: 0, committed: false })
    }

    /// Position of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Appends.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.gathered.len() + bytes.len() > GATHER {
            self.flush()?;
        }
        if bytes.len() >= GATHER {
            self.write(bytes)?;
        } else {
            self.gathered.extend_from_slice(bytes);
        }
        self.at += bytes.len() as u64;
        self.target.written(self.at - self.gathered.len() as u64);
        Ok(())
    }

    /// Path of the bytes until they have their name.
    pub(crate) fn path(&self) -> &Path {
        self.target.temporary()
    }

    /// The file, for what writes at any position; together with [`Part::append`] only after [`Part::flush`].
    ///
    /// # Errors
    /// When it has its name.
    pub(crate) fn file(&self) -> io::Result<&File> {
        self.target.file()
    }

    /// Everything up to here was written to [`Part::file`].
    pub(crate) fn written(&mut self, end: u64) {
        self.target.written(end);
    }

    /// Writes the gathered bytes.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.write(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        self.target.file().and_then(|mut file| file.write_all(bytes)).map_err(|e| self.failed(e))
    }

    /// Overwrites bytes appended before.
    pub(crate) fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        self.target.file().and_then(|file| file.write_all_at(bytes, at)).map_err(|e| self.failed(e))
    }

    /// Gives the file its final name, after making it durable unless disabled.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.flush()?;
        self.target.complete().map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidInput => refused(&self.path, e),
            _ => self.failed(e),
        })?;
        self.committed = true;
        Ok(())
    }

    fn failed(&self, error: io::Error) -> Error {
        let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let too_large = error.kind() == io::ErrorKind::FileTooLarge;
        let unfinished = Unfinished::of(&error);
        let what = unfinished.map_or_else(|| format!("cannot write at byte {}", self.at), |(what, _)| what.to_owned());
        let e = Error::io(what, error).in_file(text_of_path(&self.path));
        match unfinished {
            Some((_, true)) => e.with_remedy(NAMED),
            _ if full => e.with_remedy("free some space; no partial file was left"),
            _ if too_large => e.with_remedy(
                "raise the limit on the size of files (ulimit -f), or write elsewhere; no partial file was left",
            ),
            _ => e,
        }
    }
}

/// Why a file cannot be created, or not get its name.
fn refused(path: &Path, error: io::Error) -> Error {
    let file = redact(&text_of_path(path));
    match error.kind() {
        io::ErrorKind::AlreadyExists => Error::new(ErrorKind::AlreadyExists, "the file already exists")
            .with_remedy("choose another name, or allow replacing it")
            .with_setting(Setting::Replace),
        io::ErrorKind::InvalidInput => Error::invalid(error.to_string()).with_remedy("specify the name of a file"),
        io::ErrorKind::NotFound => Error::no_such_file("its directory does not exist").with_remedy("create it first"),
        _ => Error::io("cannot create the file", error),
    }
    .in_file(file)
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.committed {
            self.target.discard();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const PLACE: Placement = Placement { replace: false, sync: true };

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("sapwood-part-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a");
        let mut part = Part::create(&path, PLACE).unwrap();
        part.append(b"hello").unwrap();
        assert!(!path.exists());
        drop(part);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let mut part = Part::create(&path, PLACE).unwrap();
        part.append(b"hello").unwrap();
        part.append(&[b'x'; GATHER]).unwrap();
        part.patch(1, b"E").unwrap();
        part.commit().unwrap();
        drop(part);
        let written = fs::read(&path).unwrap();
        assert_eq!((&written[..5], written.len()), (b"hEllo".as_slice(), GATHER + 5));
        let refused = Part::create(&path, PLACE).err().unwrap();
        assert!(refused.to_string().contains("already exists"), "{refused}");
        // one that appears in the meantime is not replaced
        let other = folder.join("b");
        let mut part = Part::create(&other, PLACE).unwrap();
        fs::write(&other, b"mine").unwrap();
        assert!(part.commit().is_err());
        drop(part);
        assert_eq!(fs::read(&other).unwrap(), b"mine");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
