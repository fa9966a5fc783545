//! Serves a local directory: maps a path to a file below the root, and nowhere else.

use crate::buffers::Buffers;
use crate::client_request::ClientRequest;
use crate::error::FilesError;
use crate::files::{Answer, Entries, Entry, FileInfo, Files, Found, OpenFolder};
use crate::local_file::{LocalFile, blocking, info_of};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions, ReadDir};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Entries of a directory that are read in one go.
const BATCH: usize = 500;

/// All files below a directory. Links inside it are followed as long as they stay inside.
pub(crate) struct FolderFiles {
    root: Arc<PathBuf>,
    buffers: Arc<Buffers>,
}

impl FolderFiles {
    /// `root` must be canonical.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root: Arc::new(root), buffers: Arc::default() }
    }
}

impl Files for FolderFiles {
    fn find<'a>(&'a self, asked: &'a ClientRequest) -> Answer<'a, Found> {
        let (root, buffers) = (Arc::clone(&self.root), Arc::clone(&self.buffers));
        let mut full = root.to_path_buf();
        full.extend(asked.path.parts().iter().map(|part| OsStr::from_bytes(part)));
        Box::pin(blocking(move || find(&root, &full, buffers)))
    }
}

/// An open directory.
struct LocalFolder {
    file: Arc<File>,
    root: Arc<PathBuf>,
    /// Its path when it was opened.
    path: PathBuf,
}

impl OpenFolder for LocalFolder {
    fn info(&self) -> Answer<'_, FileInfo> {
        let file = Arc::clone(&self.file);
        Box::pin(blocking(move || Ok(info_of(&file.metadata()?))))
    }

    fn entries(&self) -> Answer<'_, Box<dyn Entries>> {
        let (file, root, path) = (Arc::clone(&self.file), Arc::clone(&self.root), self.path.clone());
        Box::pin(blocking(move || {
            // This names this very directory, even if others take its names meanwhile.
            let by_number = number_path(&file);
            let entries = std::fs::read_dir(if by_number.exists() { &by_number } else { &path })?;
            let entries: Box<dyn Entries> = Box::new(LocalEntries(Some(Walk { entries, root, path, _file: file })));
            Ok(entries)
        }))
    }
}

/// A directory that is being listed; none when that has failed.
struct LocalEntries(Option<Walk>);

struct Walk {
    entries: ReadDir,
    root: Arc<PathBuf>,
    path: PathBuf,
    /// Its descriptor number is part of the path of every entry.
    _file: Arc<File>,
}

impl Entries for LocalEntries {
    fn more(&mut self) -> Answer<'_, Vec<Entry>> {
        Box::pin(async move {
            let Some(mut walk) = self.0.take() else { return Ok(Vec::new()) };
            let (walk, found) = blocking(move || {
                let found = walk.step()?;
                Ok((walk, found))
            })
            .await?;
            self.0 = Some(walk);
            Ok(found)
        })
    }
}

impl Walk {
    /// Reads entries until some can be listed, or there are no more.
    fn step(&mut self) -> Result<Vec<Entry>, FilesError> {
        let mut out = Vec::new();
        while out.len() < BATCH {
            let Some(entry) = self.entries.next().transpose()? else { break };
            if entry.file_type().is_ok_and(|t| t.is_symlink()) && !self.is_shown(&entry.path()) {
                continue;
            }
            // Through links, as they are served; what cannot be read cannot be served.
            let Ok(meta) = std::fs::metadata(entry.path()) else { continue };
            // neither are pipes and devices
            if !meta.is_dir() && !meta.is_file() {
                continue;
            }
            out.push(Entry { name: entry.file_name().as_bytes().to_vec(), info: info_of(&meta) });
        }
        Ok(out)
    }

    /// Whether a link is listed: not if it leads out of the root, nor if it leads back to a directory that contains it,
    /// because a client that follows all links would loop.
    fn is_shown(&self, link: &Path) -> bool {
        link.canonicalize().is_ok_and(|real| real.starts_with(&*self.root) && !self.path.starts_with(&real))
    }
}

/// Linux's path for an open file.
fn number_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Opens the file at a path without links and asks the system for its actual path: between check and open, a link may
/// have replaced a directory. None where it is outside the root.
fn open_below(root: &Path, real: &Path) -> io::Result<Option<(File, PathBuf)>> {
    // Opening a pipe would wait for its writer.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(real)?;
    let lies = match std::fs::read_link(number_path(&file)) {
        Ok(lies) => lies,
        // Without /proc: the path must still lead to the same file, and without links.
        Err(_) => {
            let again = real.canonicalize()?;
            let (here, there) = (file.metadata()?, again.metadata()?);
            if (here.dev(), here.ino()) != (there.dev(), there.ino()) {
                return Ok(None);
            }
            again
        }
    };
    // By component: `/data` does not hold `/database`.
    Ok(lies.starts_with(root).then_some((file, lies)))
}

/// Opens the file at a path. `root` must be canonical. Links are followed as long as they stay below it.
fn find(root: &Arc<PathBuf>, full: &Path, buffers: Arc<Buffers>) -> Result<Found, FilesError> {
    let real = full.canonicalize()?;
    // By component: `/data` does not hold `/database`.
    if !real.starts_with(&**root) {
        return Err(FilesError::NotFound);
    }
    // Opening a device may have any effect.
    let meta = real.metadata()?;
    if !meta.is_file() && !meta.is_dir() {
        return Err(FilesError::NotFound);
    }
    let Some((file, path)) = open_below(root, &real)? else { return Err(FilesError::NotFound) };
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Ok(Found::Folder(Arc::new(LocalFolder { file: Arc::new(file), root: Arc::clone(root), path })));
    }
    if !meta.is_file() {
        return Err(FilesError::NotFound);
    }
    Ok(Found::File(Arc::new(LocalFile::new(file, buffers)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_put_in_a_folders_place_leads_nowhere() {
        let folder = std::env::temp_dir().join(format!("sapwood-swap-{}", std::process::id()));
        let (root, outside) = (folder.join("root"), folder.join("outside"));
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(root.join("a/f"), "inside").unwrap();
        std::fs::write(outside.join("f"), "secret").unwrap();
        let root = root.canonicalize().unwrap();
        let looked_at = root.join("a/f").canonicalize().unwrap();
        assert!(open_below(&root, &looked_at).unwrap().is_some());
        std::fs::remove_dir_all(root.join("a")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("a")).unwrap();
        assert!(open_below(&root, &looked_at).unwrap().is_none(), "a link in its folder's place");
        std::fs::remove_file(root.join("a")).unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink(outside.join("f"), root.join("a/f")).unwrap();
        assert!(open_below(&root, &looked_at).is_err(), "a link in its own place");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
