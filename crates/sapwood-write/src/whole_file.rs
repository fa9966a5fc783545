//! Files of any kind that are written in one go: pictures, numbers, logs.

use crate::durable::close;
use crate::target::{NAMED, Placement, Target, Unfinished};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Writes a whole file: next to its target first, so that a full disk neither leaves a partial file nor damages the
/// existing one. Links stay, as do mode, owner and group; devices and pipes are written into.
///
/// # Errors
/// Errors of writing, of syncing to disk, of closing, or of the name.
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    write(path, bytes).map_err(|e| {
        let (what, named) = Unfinished::of(&e).unwrap_or(("cannot write", false));
        let e = Error::io(what, e).in_file(text_of_path(path));
        match e.kind() {
            _ if named => e.with_remedy(NAMED),
            ErrorKind::NotFound => Error::no_such_file("its directory does not exist")
                .with_remedy("create it first")
                .in_file(text_of_path(path)),
            _ => e,
        }
    })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let there = fs::metadata(path).ok().map(|m| m.is_file());
    // a device or a pipe cannot be replaced by a new file, and stays
    if there == Some(false) {
        return within(path, bytes, false);
    }
    let mut target = match Target::begin(path, Placement { replace: true, sync: true }) {
        Ok(target) => target,
        // a file may be writable in a directory that is not
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied && there.is_some() => return within(path, bytes, true),
        Err(e) => return Err(e),
    };
    let done = target.file().and_then(|mut file| file.write_all(bytes)).and_then(|()| target.complete());
    if done.is_err() {
        target.discard();
    }
    done
}

/// Writes into an existing file.
fn within(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    if sync {
        file.sync_all()?;
    }
    close(file)
}
