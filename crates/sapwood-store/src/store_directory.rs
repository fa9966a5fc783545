//! The store's directory: owner, format, lock; opens files without following links.

use crate::warning::{Kind, Warnings};
use rustix::fs::{Access, AtFlags, OFlags};
use sapwood_span::{Error, ErrorKind, Result};
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use twox_hash::XxHash3_64;

/// The number of this version's format.
const FORMAT: u32 = 1;
/// How long a process waits for the directory's lock.
const PATIENCE: Duration = Duration::from_secs(10);

const NO_LINK: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits() as i32;

/// Opens a regular file; a link, pipe or device is refused.
pub(crate) fn open_file(path: &Path, write: bool) -> io::Result<File> {
    regular(OpenOptions::new().read(true).write(write).custom_flags(NO_LINK).open(path)?)
}

/// Creates the store's directory again after it was removed; its parent must exist.
pub(crate) fn remake(directory: &Path) -> io::Result<()> {
    make_folder(directory)?;
    write_format(directory)
}

/// Creates a file that does not exist yet.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).custom_flags(NO_LINK).open(path)
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// A small file's content, at most `longest` bytes of it.
pub(crate) fn read_small(file: &File, longest: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    file.take(longest as u64 + 1).read_to_end(&mut out)?;
    if out.len() > longest { Err(io::ErrorKind::InvalidData.into()) } else { Ok(out) }
}

/// Writes a file under another name and renames it. Readers see the old content or the new.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", unique()));
    let done = create_file(&temporary)
        .and_then(|mut file| io::Write::write_all(&mut file, content))
        .and_then(|()| std::fs::rename(&temporary, path));
    done.inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}

/// Creates a directory that only its owner can use; an existing one must not be a link.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && is_folder(path) => Ok(()),
        other => other,
    }
}

/// Whether this is a directory and not a link to one.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|m| m.is_dir())
}

/// A name that no other process and no other call gets.
pub(crate) fn unique() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{:x}-{counter:x}", std::process::id(), since.as_nanos() as u64)
}

/// What [`prepare`] found.
pub(crate) struct Prepared {
    /// The directory, without links in its path.
    pub directory: PathBuf,
    /// Whether it exists and its format is the one of this version.
    pub usable: bool,
}

/// Creates the directory, or checks that it can be trusted.
pub(crate) fn prepare(directory: &Path, warnings: &Warnings) -> Result<Prepared> {
    let named = |e: Error| e.in_file(directory.display().to_string());
    let cannot = |e: io::Error| named(Error::io("cannot open the local cache", e)).with_remedy(OTHER);
    if !directory.exists() {
        match DirBuilder::new().recursive(true).mode(0o700).create(directory) {
            Err(e) if is_no_room(&e) => {
                warnings.write_failed(directory, &e);
                return Ok(Prepared { directory: directory.to_owned(), usable: false });
            }
            made => made.map_err(cannot)?,
        }
    }
    let real = directory.canonicalize().map_err(cannot)?;
    check_owner(&real).map_err(named)?;
    if real.join("files").is_symlink() {
        let what = "its directory `files` is a symbolic link; it is not used as local cache";
        let error = Error::new(ErrorKind::Denied, what);
        return Err(named(error).with_remedy("remove the link, or choose another directory"));
    }
    // checked before anything is written, so that users learn of it when they open a file
    let may_write = AtFlags::EACCESS;
    if let Err(e) = rustix::fs::accessat(rustix::fs::CWD, &real, Access::WRITE_OK, may_write) {
        let e = io::Error::from(e);
        if matches!(e.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied) {
            warnings.write_failed(&real, &e);
        }
    }
    let usable = check_format(&real, warnings).map_err(named)?;
    Ok(Prepared { directory: real, usable })
}

const OTHER: &str = "choose another directory for the local cache";

fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), ReadOnlyFilesystem | StorageFull | QuotaExceeded)
}

/// Other users could put wrong bytes with correct checksums into a directory that they may write to.
fn check_owner(directory: &Path) -> Result<()> {
    let refused = |what: &str| Err(Error::new(ErrorKind::Denied, what).with_remedy(OTHER));
    let meta = directory.metadata().map_err(|e| Error::io("cannot open the local cache", e))?;
    if !meta.is_dir() {
        return Err(Error::invalid("the path of the local cache is not a directory").with_remedy(OTHER));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return refused("this directory belongs to another user and is not used as local cache");
    }
    if meta.mode() & 0o022 != 0 {
        return Err(Error::new(
            ErrorKind::Denied,
            "other users may write to this directory; it is not used as local cache",
        )
        .with_remedy("run `chmod 700` on it, if nobody else has written to it, or choose another directory"));
    }
    Ok(())
}

/// Whether the directory's format is this version's; a new directory gets it.
fn check_format(directory: &Path, warnings: &Warnings) -> Result<bool> {
    let path = directory.join("format");
    let found = open_file(&path, false).and_then(|f| read_small(&f, 64));
    let (number, damaged) = match found {
        Ok(bytes) => (parse_format(&bytes), true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => match check_unused(directory) {
            Ok(()) => (None, false),
            // another process may have created the cache between the two checks
            Err(e) => match open_file(&path, false).and_then(|f| read_small(&f, 64)) {
                Ok(bytes) => (parse_format(&bytes), true),
                Err(_) => return Err(e),
            },
        },
        Err(_) => (None, true),
    };
    if let Some(number) = number.filter(|n| *n != FORMAT) {
        warnings.add(Kind::OtherFormat, || {
            format!(
                "the local cache {} has format {number}, and this version of Sapwood uses format {FORMAT}: it is not used; \
                 remove it with `sapwood cache purge`, or choose another directory",
                directory.display()
            )
        });
        return Ok(false);
    }
    narrow(directory);
    if number.is_none() {
        // everything else in the directory has its own checksums
        if damaged {
            warnings.damaged(&path);
        }
        if let Err(e) = write_format(directory) {
            warnings.write_failed(directory, &e);
        }
    }
    Ok(true)
}

/// The number of a format; none if the text is damaged.
fn parse_format(bytes: &[u8]) -> Option<u32> {
    let number = std::str::from_utf8(bytes).ok()?.strip_prefix("sapwood-store ")?.split_once(' ')?.0.parse().ok()?;
    (bytes == format_text(number).as_bytes()).then_some(number)
}

/// The text that says which format a directory has, with a checksum.
fn format_text(number: u32) -> String {
    let text = format!("sapwood-store {number}");
    format!("{text} {:016x}\n", XxHash3_64::oneshot(text.as_bytes()))
}

/// Records in the directory that it has this version's format.
pub(crate) fn write_format(directory: &Path) -> io::Result<()> {
    replace_file(&directory.join("format"), format_text(FORMAT).as_bytes())
}

/// Other users need not see what is cached.
fn narrow(directory: &Path) {
    if directory.metadata().is_ok_and(|m| m.mode() & 0o077 != 0) {
        // a directory that cannot be changed is still read
        let _ = std::fs::set_permissions(directory, Permissions::from_mode(0o700));
    }
}

/// A directory with other files in it is not a cache: leave its permissions and its files alone.
fn check_unused(directory: &Path) -> Result<()> {
    let entries = directory.read_dir().map_err(|e| Error::io("cannot read the directory of the local cache", e))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = matches!(&*name, "lock" | "files") || (name.starts_with("format.") && name.ends_with(".tmp"));
        if !is_ours {
            return Err(Error::invalid("this directory contains other files and is not used as local cache")
                .with_remedy("choose an empty directory, or one that does not exist yet"));
        }
    }
    Ok(())
}

/// Takes the directory's lock, which is released when the file is closed.
pub(crate) fn lock(directory: &Path) -> io::Result<File> {
    let path = directory.join("lock");
    let file = match open_file(&path, true) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => create_file(&path).or_else(|_| open_file(&path, true))?,
        other => other?,
    };
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::ResourceBusy.into()),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_bit_does_not_make_another_format() {
        let text = format_text(1).into_bytes();
        assert_eq!(parse_format(&text), Some(1));
        assert_eq!(parse_format(format_text(20).as_bytes()), Some(20));
        for bit in 0..text.len() * 8 {
            let mut damaged = text.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(parse_format(&damaged), None);
        }
        assert!((0..text.len()).all(|len| parse_format(&text[..len]).is_none()));
    }
}
