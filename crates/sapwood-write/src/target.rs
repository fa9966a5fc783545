//! The name that a new file takes when it is complete, and its temporary one until then.

use crate::access::Access;
use crate::durable::{Folder, WriteOut, close};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum length of a name in file systems.
const NAME: usize = 255;

/// Links followed before they count as a cycle, as in Linux.
const LINKS: usize = 40;

/// The remedy when only the directory was not synced.
pub const NAMED: &str = "the file is complete, but a power failure may lose it: write it again";

/// A new file: first next to the file of its name, which it replaces when it is complete.
#[derive(Debug)]
pub struct Target {
    /// Until it is complete.
    file: Option<File>,
    temporary: PathBuf,
    path: PathBuf,
    placement: Placement,
    /// The permissions of the file that is replaced.
    access: Option<Access>,
    written: WriteOut,
    /// The process that created it: a copy in a forked child must not remove it.
    process: u32,
    /// Excludes updates of the file that is replaced.
    _lock: Option<File>,
}

/// How a file takes its name.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// Whether an existing one may be replaced.
    pub replace: bool,
    /// Whether the file and its name are made durable before it counts as complete.
    pub sync: bool,
}

impl Target {
    /// Creates the temporary file. Links stay: the file they name is written.
    ///
    /// # Errors
    /// `AlreadyExists` when there is a file that may not be replaced; `InvalidInput` when the name is a URL, or of
    /// something that is not a file; errors of the system.
    pub fn begin(given: &Path, placement: Placement) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if sapwood_span::is_remote(&given.to_string_lossy()) {
            return Err(refused("only local files are written"));
        }
        let path = resolved(given)?;
        let name = path.file_name().ok_or_else(|| refused("it does not name a file"))?.to_owned();
        let access = match fs::symlink_metadata(&path) {
            Ok(there) => {
                only_files(&there)?;
                if !placement.replace {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Some(Access::of(&path, &there))
            }
            Err(_) => None,
        };
        let lock = if access.is_some() { crate::lock::to_replace(&path)? } else { None };
        loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_file_name(beside(&name, &format!(".{}-{n}.part", std::process::id())));
            let file = match create(&temporary, access.is_some()) {
                // left by a process of the same number
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            let process = std::process::id();
            let written = WriteOut::default();
            // from here on any failure removes it
            let mut target = Self { file: None, temporary, path, placement, access, written, process, _lock: lock };
            if let Some(access) = &mut target.access
                && let Err(e) = access.give(&file)
            {
                target.discard();
                return Err(e);
            }
            target.file = Some(file);
            return Ok(target);
        }
    }

    /// The file, until it is complete.
    ///
    /// # Errors
    /// When it is complete.
    pub fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::Error::other("the file is already complete"))
    }

    /// Everything up to here has been written: the disk may start with it.
    pub fn written(&mut self, end: u64) {
        if let Some(file) = self.file.as_ref().filter(|_| self.placement.sync) {
            self.written.up_to(file, end);
        }
    }

    /// Path of the bytes until the file is complete.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file its name, and reports every error up to then, including those of writes that are reported late.
    /// It has its old content, or does not exist, unless [`Unfinished::named`] says otherwise.
    ///
    /// # Errors
    /// Errors of the system; [`Unfinished::of`] tells which step failed.
    pub fn complete(&mut self) -> io::Result<()> {
        let file = self.file.take().ok_or_else(|| io::Error::other("the file is already complete"))?;
        if let Some(access) = &self.access {
            access.complete(&file).map_err(|e| Unfinished::error("cannot set the file's permissions", e))?;
        }
        if self.placement.sync {
            file.sync_all().map_err(|e| Unfinished::error("cannot sync the file to the disk", e))?;
        }
        close(file).map_err(|e| Unfinished::error("cannot close the file", e))?;
        let folder = if self.placement.sync {
            Some(Folder::of(&self.path).map_err(|e| Unfinished::error("cannot open its directory to sync it", e))?)
        } else {
            None
        };
        self.take_name()?;
        folder.map_or(Ok(()), |folder| folder.sync()).map_err(Unfinished::after)
    }

    fn take_name(&self) -> io::Result<()> {
        if !self.placement.replace {
            // a link does not replace a file that appeared meanwhile; where links are not supported, the test below
            // must suffice
            match fs::hard_link(&self.temporary, &self.path) {
                Ok(()) => {
                    self.discard();
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
                Err(_) if fs::symlink_metadata(&self.path).is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => {}
            }
        }
        if let Ok(there) = fs::symlink_metadata(&self.path) {
            only_files(&there)?;
        }
        fs::rename(&self.temporary, &self.path).map_err(|e| Unfinished::error("cannot rename the file", e))
    }

    /// Removes the temporary file.
    pub fn discard(&self) {
        if self.process == std::process::id() {
            // nothing can be done, and nothing is lost, when it stays
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Creates the temporary file; one that replaces another is private to this user until it has the other's permissions.
fn create(path: &Path, private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

/// A failure after everything was written.
#[derive(Debug)]
pub struct Unfinished {
    what: &'static str,
    /// Whether the file has its name anyway.
    pub named: bool,
    source: io::Error,
}

impl Unfinished {
    fn error(what: &'static str, source: io::Error) -> io::Error {
        io::Error::new(source.kind(), Self { what, named: false, source })
    }

    fn after(source: io::Error) -> io::Error {
        let what = "cannot sync the directory of the file";
        io::Error::new(source.kind(), Self { what, named: true, source })
    }

    /// Whether the error is such a failure: its text, and whether the file has its name.
    pub fn of(error: &io::Error) -> Option<(&'static str, bool)> {
        error.get_ref()?.downcast_ref::<Self>().map(|e| (e.what, e.named))
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl std::error::Error for Unfinished {}

/// Refuses an existing path that is not a file: a new file must not replace a device.
pub(crate) fn only_files(there: &fs::Metadata) -> io::Result<()> {
    match there.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(refused("it is a directory")),
        _ => Err(refused("it is a device, a pipe or a socket, not a file")),
    }
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// The file that a path names after following all links, even if the working directory changes.
fn resolved(given: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(given)?;
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            // a relative link counts from the link's directory
            Ok(to) => path = path.parent().map_or(to.clone(), |folder| folder.join(&to)),
            Err(_) => return Ok(path),
        }
    }
    Err(refused("its symbolic links form a loop"))
}

/// A name with a suffix, truncated where it would be too long.
fn beside(name: &OsStr, suffix: &str) -> OsString {
    let mut whole = name.to_owned();
    if name.len() + suffix.len() > NAME {
        let mut text = name.to_string_lossy().into_owned();
        while text.len() + suffix.len() > NAME {
            text.pop();
        }
        whole = text.into();
    }
    whole.push(suffix);
    whole
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    const PLACE: Placement = Placement { replace: true, sync: true };

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sapwood-target-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut target = Target::begin(path, PLACE)?;
        target.file()?.write_all(bytes)?;
        target.complete()
    }

    #[test]
    fn links_and_permissions_stay() {
        let folder = folder("links");
        let (real, link, loose) = (folder.join("real"), folder.join("link"), folder.join("loose"));
        fs::write(&real, b"old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o400)).unwrap();
        symlink("real", &link).unwrap();
        put(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o400);
        symlink("not yet", &loose).unwrap();
        put(&loose, b"x").unwrap();
        assert!(fs::symlink_metadata(&loose).unwrap().is_symlink());
        assert_eq!(fs::read(folder.join("not yet")).unwrap(), b"x");
        symlink("circle", folder.join("circle")).unwrap();
        assert!(put(&folder.join("circle"), b"").unwrap_err().to_string().contains("symbolic links form a loop"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_files_are_replaced() {
        let folder = folder("kinds");
        let socket = folder.join("socket");
        let _held = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(put(&socket, b"x").unwrap_err().to_string().contains("not a file"));
        assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
        assert!(put(&folder, b"x").unwrap_err().to_string().contains("directory"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn long_names_have_room() {
        let folder = folder("long");
        let path = folder.join("é".repeat(125));
        put(&path, b"x").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
        fs::remove_dir_all(&folder).unwrap();
    }
}
