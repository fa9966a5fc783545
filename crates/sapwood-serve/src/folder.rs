//! A folder of this machine, served: from a path to a file below the root, and nowhere else.

use crate::asked::Asked;
use crate::error::FilesError;
use crate::files::{Answer, Entries, Entry, FileInfo, Files, Found, OpenFile, OpenFolder, Version};
use crate::stamp::Stamp;
use bytes::Bytes;
use sapwood_span::Span;
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions, ReadDir};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Entries of a folder that are looked at in one go.
const BATCH: usize = 500;

/// All files below a folder. Links inside it are followed as long as they stay inside.
pub(crate) struct FolderFiles {
    root: Arc<PathBuf>,
}

impl FolderFiles {
    /// `root` must be canonical.
    pub fn new(root: PathBuf) -> Self {
        Self { root: Arc::new(root) }
    }
}

impl Files for FolderFiles {
    fn find<'a>(&'a self, asked: &'a Asked) -> Answer<'a, Found> {
        let root = Arc::clone(&self.root);
        let mut full = root.to_path_buf();
        full.extend(asked.path.parts().iter().map(|part| OsStr::from_bytes(part)));
        Box::pin(blocking(move || find(&root, &full)))
    }
}

/// Disks may take long: not on the threads that serve the others.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FilesError> + Send + 'static,
) -> Result<T, FilesError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(FilesError::Failed("reading failed".to_owned())))
}

fn info_of(meta: &Metadata) -> FileInfo {
    let is_folder = meta.is_dir();
    let size = if is_folder { 0 } else { meta.len() };
    FileInfo { is_folder, size, modified: meta.mtime(), changed: meta.ctime() }
}

/// An open file and what tells its versions apart.
struct LocalFile {
    file: Arc<File>,
    stamp: Stamp,
    version: Version,
}

impl LocalFile {
    fn new(file: File) -> io::Result<Self> {
        let stamp = Stamp::of(&file.metadata()?);
        Ok(Self { file: Arc::new(file), stamp, version: stamp.version(SystemTime::now()) })
    }
}

impl OpenFile for LocalFile {
    fn size(&self) -> u64 {
        self.stamp.size
    }

    fn version(&self) -> &Version {
        &self.version
    }

    fn info(&self) -> Answer<'_, FileInfo> {
        let file = Arc::clone(&self.file);
        Box::pin(blocking(move || Ok(info_of(&file.metadata()?))))
    }

    fn read(&self, spans: Vec<Span>) -> Answer<'_, Vec<Bytes>> {
        let (file, stamp) = (Arc::clone(&self.file), self.stamp);
        Box::pin(blocking(move || read(&file, &stamp, &spans)))
    }
}

fn read(file: &File, stamp: &Stamp, spans: &[Span]) -> Result<Vec<Bytes>, FilesError> {
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let len = usize::try_from(span.len).map_err(io::Error::other)?;
        let mut buffer = vec![0; len];
        match file.read_exact_at(&mut buffer, span.start) {
            Ok(()) => out.push(Bytes::from(buffer)),
            // it had these bytes when it was opened
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Err(FilesError::Changed),
            Err(e) => return Err(e.into()),
        }
    }
    // Looked at after reading: whoever writes moves the time of change before the bytes.
    if Stamp::of_file(file)? != *stamp {
        return Err(FilesError::Changed);
    }
    Ok(out)
}

/// An open folder.
struct LocalFolder {
    file: Arc<File>,
    root: Arc<PathBuf>,
    /// Where it lay when it was opened.
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
            // This leads to this very folder, even if others take its names meanwhile.
            let by_number = number_path(&file);
            let entries = std::fs::read_dir(if by_number.exists() { &by_number } else { &path })?;
            let entries: Box<dyn Entries> = Box::new(LocalEntries(Some(Walk { entries, root, path, _file: file })));
            Ok(entries)
        }))
    }
}

/// A folder that is being listed; none when that has failed.
struct LocalEntries(Option<Walk>);

struct Walk {
    entries: ReadDir,
    root: Arc<PathBuf>,
    path: PathBuf,
    /// Its number is part of the path of every entry.
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
    /// Looks at entries until some are found, or there are no more.
    fn step(&mut self) -> Result<Vec<Entry>, FilesError> {
        let mut out = Vec::new();
        while out.len() < BATCH {
            let Some(entry) = self.entries.next().transpose()? else { break };
            if entry.file_type().is_ok_and(|t| t.is_symlink()) && !self.is_shown(&entry.path()) {
                continue;
            }
            // Through links, as they are served; what cannot be looked at cannot be served.
            let Ok(meta) = std::fs::metadata(entry.path()) else { continue };
            // neither are pipes and devices
            if !meta.is_dir() && !meta.is_file() {
                continue;
            }
            out.push(Entry { name: entry.file_name().as_bytes().to_vec(), info: info_of(&meta) });
        }
        Ok(out)
    }

    /// Whether a link is listed: not where it leads out of the root, nor where it leads back to a folder that holds it, for
    /// whoever follows all links would walk in circles.
    fn is_shown(&self, link: &Path) -> bool {
        link.canonicalize().is_ok_and(|real| real.starts_with(&*self.root) && !self.path.starts_with(&real))
    }
}

/// How Linux names what is open.
fn number_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Opens what lies at a path without links and asks where that is: between looking and opening, somebody may have put a
/// link in a folder's place. None where it lies outside of the root.
fn open_below(root: &Path, real: &Path) -> io::Result<Option<(File, PathBuf)>> {
    // Opening a pipe would wait for its writer.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(real)?;
    let lies = match std::fs::read_link(number_path(&file)) {
        Ok(lies) => lies,
        // Without /proc: the path must lead to the same file still, and without links.
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

/// Opens what lies at a path. `root` must be canonical. Links are followed as long as they stay below it.
fn find(root: &Arc<PathBuf>, full: &Path) -> Result<Found, FilesError> {
    let real = full.canonicalize()?;
    // By component: `/data` does not hold `/database`.
    if !real.starts_with(&**root) {
        return Err(FilesError::NotFound);
    }
    // Devices may do anything when they are opened.
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
    Ok(Found::File(Arc::new(LocalFile::new(file)?)))
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

    #[test]
    fn nothing_is_read_of_another_version() {
        let path = std::env::temp_dir().join(format!("sapwood-version-{}", std::process::id()));
        std::fs::write(&path, "old").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let opened = File::open(&path).unwrap();
        let stamp = Stamp::of_file(&opened).unwrap();
        let read = |start, len| read(&opened, &stamp, &[Span::new(start, len)]);
        assert_eq!(read(0, 3).unwrap(), ["old"]);
        file.write_all_at(b"new", 0).unwrap();
        assert_eq!(read(0, 3), Err(FilesError::Changed));
        assert_eq!(read(0, 0), Err(FilesError::Changed));
        file.set_len(1).unwrap();
        assert_eq!(read(0, 3), Err(FilesError::Changed));
        std::fs::remove_file(path).unwrap();
    }
}
