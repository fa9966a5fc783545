//! Files written whole or not at all.

use sapwood::{Error, ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a whole file: beside its place first, so that a full disk leaves neither a part of it nor harms the one that
/// was there.
///
/// # Errors
/// What the system says, with the file's name.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes).map_err(|e| {
        let e = Error::io("cannot write", e).in_file(path.display().to_string());
        if e.kind() == ErrorKind::NotFound { e.with_remedy("create its folder first") } else { e }
    })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // what a link points to is replaced, not the link
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(&place).ok();
    // a device or a pipe has no place beside it, and stays what it is
    if before.as_ref().is_some_and(|m| !m.is_file()) {
        return fs::write(&place, bytes);
    }
    let (part, mut file) = match beside(&place) {
        Ok(made) => made,
        // a file may be open to writing in a folder that is not
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied && before.is_some() => return fs::write(&place, bytes),
        Err(e) => return Err(e),
    };
    let written = file.write_all(bytes).and_then(|()| match &before {
        Some(m) => file.set_permissions(m.permissions()),
        None => Ok(()),
    });
    // the disk may only say with the last close that it is full
    let written = written.and_then(|()| file.sync_all());
    drop(file);
    let done = written.and_then(|()| fs::rename(&part, &place));
    if done.is_err() {
        let _ = fs::remove_file(&part);
    }
    done
}

/// A new file in the same folder.
fn beside(place: &Path) -> io::Result<(PathBuf, File)> {
    let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
    let mut tries = 0;
    loop {
        let part = place.with_file_name(format!(".{name}.{}-{tries}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
            opened => return opened.map(|file| (part, file)),
        }
    }
}
