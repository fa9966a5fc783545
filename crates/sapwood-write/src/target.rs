//! The name that a new file takes when it is complete, and the temporary one that it has until then.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes that file systems take as a name.
const NAME: usize = 255;

/// Links that are followed until they count as a circle, as Linux does.
const LINKS: usize = 40;

/// Where a new file goes: beside the file of its name at first, in whose place it is put when it is complete.
#[derive(Debug)]
pub(crate) struct Target {
    temporary: PathBuf,
    path: PathBuf,
    replace: bool,
    /// What the file that is replaced allowed to whom.
    permissions: Option<Permissions>,
    /// The process that began it: a copy in a forked child must not take it away.
    process: u32,
    /// Keeps updates away from the file that is replaced.
    _lock: Option<File>,
}

impl Target {
    /// Begins the temporary file. Links stay: the file they name is what is written. Only files are replaced, and only
    /// if they may be; `AlreadyExists` otherwise.
    pub(crate) fn begin(given: &Path, replace: bool) -> io::Result<(Self, File)> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let path = resolved(given)?;
        let name = path.file_name().ok_or_else(|| refused("it names no file"))?.to_owned();
        let permissions = match fs::symlink_metadata(&path) {
            Ok(there) => {
                only_files(&there)?;
                if !replace {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Some(there.permissions())
            }
            Err(_) => None,
        };
        let lock = if permissions.is_some() { crate::lock::to_replace(&path)? } else { None };
        loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_file_name(beside(&name, &format!(".{}-{n}.part", std::process::id())));
            let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&temporary) {
                // left behind by a process of the same number
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            if let Some(permissions) = &permissions {
                // file systems without permissions take files all the same
                let _ = file.set_permissions(readable(permissions));
            }
            return Ok((
                Self { temporary, path, replace, permissions, process: std::process::id(), _lock: lock },
                file,
            ));
        }
    }

    /// Where the bytes are until the file is complete.
    pub(crate) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file its name. One that takes the place of another is on disk for good first.
    pub(crate) fn complete(&self, file: &File) -> io::Result<()> {
        if !self.replace {
            // a link does not replace what appeared meanwhile; where links are unknown, the test below has to do
            match fs::hard_link(&self.temporary, &self.path) {
                Ok(()) => return fs::remove_file(&self.temporary),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
                Err(_) if fs::symlink_metadata(&self.path).is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => {}
            }
        }
        if let Ok(there) = fs::symlink_metadata(&self.path) {
            only_files(&there)?;
            // the old file must not be lost to a loss of power before the new one is on disk
            file.sync_all()?;
        }
        if let Some(permissions) = &self.permissions {
            let _ = file.set_permissions(permissions.clone());
        }
        fs::rename(&self.temporary, &self.path)
    }

    /// Takes the temporary file away.
    pub(crate) fn discard(&self) {
        if self.process == std::process::id() {
            // nothing can be done, and nothing is lost, when it stays
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Refuses what is there and no file: a new file must not take the place of a device.
pub(crate) fn only_files(there: &fs::Metadata) -> io::Result<()> {
    match there.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(refused("it is a folder")),
        _ => Err(refused("it is no file but a device, a pipe or a socket")),
    }
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// The file that a path names behind all links, whatever the working folder becomes.
fn resolved(given: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(given)?;
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            // one that is relative counts from the link's folder
            Ok(to) => path = path.parent().map_or(to.clone(), |folder| folder.join(&to)),
            Err(_) => return Ok(path),
        }
    }
    Err(refused("its links lead in a circle"))
}

/// A name with something behind it, cut short where it would be too long.
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

/// The same permissions, but what is written can be read again and written by its owner.
#[cfg(unix)]
fn readable(permissions: &Permissions) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(permissions.mode() | 0o600)
}

#[cfg(not(unix))]
fn readable(permissions: &Permissions) -> Permissions {
    let mut permissions = permissions.clone();
    permissions.set_readonly(false);
    permissions
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sapwood-target-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (target, mut file) = Target::begin(path, true)?;
        file.write_all(bytes)?;
        target.complete(&file)
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
        assert!(put(&folder.join("circle"), b"").unwrap_err().to_string().contains("circle"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_files_are_replaced() {
        let folder = folder("kinds");
        let socket = folder.join("socket");
        let _held = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(put(&socket, b"x").unwrap_err().to_string().contains("no file"));
        assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
        assert!(put(&folder, b"x").unwrap_err().to_string().contains("folder"));
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
