//! A local file, open to be served.

use crate::buffers::Buffers;
use crate::error::FilesError;
use crate::files::{Answer, FileInfo, FileVersion, OpenFile};
use crate::stamp::Stamp;
use bytes::Bytes;
use sapwood_span::Span;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::SystemTime;

/// The most that is copied at once on the threads that serve other clients: a fraction of a millisecond.
const AT_ONCE: u64 = 512 << 10;

/// Runs blocking disk work on other threads than those that serve.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FilesError> + Send + 'static,
) -> Result<T, FilesError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(FilesError::Failed("reading failed".to_owned())))
}

pub(crate) fn info_of(meta: &Metadata) -> FileInfo {
    let is_folder = meta.is_dir();
    let size = if is_folder { 0 } else { meta.len() };
    FileInfo { is_folder, size, modified: meta.mtime(), changed: meta.ctime() }
}

/// An open file and the stamp that identifies its version.
pub(crate) struct LocalFile {
    file: Arc<File>,
    stamp: Stamp,
    version: FileVersion,
    buffers: Arc<Buffers>,
    /// Its file system cannot report what is in memory.
    waits: AtomicBool,
}

impl LocalFile {
    pub(crate) fn new(file: File, buffers: Arc<Buffers>) -> io::Result<Self> {
        let stamp = Stamp::of(&file.metadata()?);
        let version = stamp.version(SystemTime::now());
        Ok(Self { file: Arc::new(file), stamp, version, buffers, waits: AtomicBool::new(false) })
    }

    /// What the system has in memory, without waiting for a disk; none unless all of it is there.
    fn in_memory(&self, spans: &[Span]) -> Option<Result<Vec<Bytes>, FilesError>> {
        if self.waits.load(Relaxed) || spans.iter().map(|s| s.len).sum::<u64>() > AT_ONCE {
            return None;
        }
        match read(&self.file, &self.stamp, spans, &self.buffers, read_cached) {
            Err(Unread::Waits) => None,
            Err(Unread::Unsupported) => {
                self.waits.store(true, Relaxed);
                None
            }
            Err(Unread::Failed(e)) => Some(Err(e)),
            Ok(bytes) => Some(Ok(bytes)),
        }
    }
}

/// Why something was not read.
enum Unread {
    /// Would have to wait for the disk.
    Waits,
    /// Unknown whether it would.
    Unsupported,
    Failed(FilesError),
}

impl<E: Into<FilesError>> From<E> for Unread {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl OpenFile for LocalFile {
    fn size(&self) -> u64 {
        self.stamp.size
    }

    fn version(&self) -> &FileVersion {
        &self.version
    }

    fn info(&self) -> Answer<'_, FileInfo> {
        let file = Arc::clone(&self.file);
        Box::pin(blocking(move || Ok(info_of(&file.metadata()?))))
    }

    fn read(&self, spans: Vec<Span>) -> Answer<'_, Vec<Bytes>> {
        // Passing it to another thread and back takes as long as copying it.
        if let Some(done) = self.in_memory(&spans) {
            return Box::pin(std::future::ready(done));
        }
        let (file, stamp, buffers) = (Arc::clone(&self.file), self.stamp, Arc::clone(&self.buffers));
        Box::pin(blocking(move || match read(&file, &stamp, &spans, &buffers, read_all) {
            Ok(bytes) => Ok(bytes),
            Err(Unread::Failed(e)) => Err(e),
            Err(Unread::Waits | Unread::Unsupported) => Err(FilesError::Failed("reading failed".to_owned())),
        }))
    }
}

/// Reads spans, each inside the size of the file when it was opened.
fn read(
    file: &File,
    stamp: &Stamp,
    spans: &[Span],
    buffers: &Arc<Buffers>,
    fill: impl Fn(&File, &mut [u8], u64) -> Result<(), Unread>,
) -> Result<Vec<Bytes>, Unread> {
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let len = usize::try_from(span.len).map_err(io::Error::other)?;
        let mut buffer = buffers.take(len);
        fill(file, buffer.bytes(), span.start)?;
        out.push(buffer.freeze());
    }
    // Checked after reading: a writer changes the modification time before the bytes.
    if Stamp::of_file(file)? != *stamp {
        return Err(FilesError::Changed.into());
    }
    Ok(out)
}

fn read_all(file: &File, buffer: &mut [u8], at: u64) -> Result<(), Unread> {
    match file.read_exact_at(buffer, at) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Err(FilesError::Changed.into()),
        read => Ok(read?),
    }
}

/// Copies bytes that are in memory.
#[cfg(target_os = "linux")]
fn read_cached(file: &File, mut buffer: &mut [u8], mut at: u64) -> Result<(), Unread> {
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    while !buffer.is_empty() {
        match preadv2(file, &mut [io::IoSliceMut::new(buffer)], at, ReadWriteFlags::NOWAIT) {
            Ok(0) => return Err(FilesError::Changed.into()),
            Ok(n) => {
                buffer = buffer.get_mut(n..).unwrap_or_default();
                at += n as u64;
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Err(Unread::Waits),
            Err(_) => return Err(Unread::Unsupported),
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn read_cached(_: &File, _: &mut [u8], _: u64) -> Result<(), Unread> {
    Err(Unread::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both from memory and from the disk.
    #[test]
    fn nothing_is_read_of_another_version() {
        let path = std::env::temp_dir().join(format!("sapwood-version-{}", std::process::id()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for waits in [false, true] {
            std::fs::write(&path, "old").unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            let opened = LocalFile::new(File::open(&path).unwrap(), Arc::default()).unwrap();
            opened.waits.store(waits, Relaxed);
            let read = |start, len| runtime.block_on(opened.read(vec![Span::new(start, len)]));
            assert_eq!(read(0, 3).unwrap(), ["old"]);
            file.write_all_at(b"new", 0).unwrap();
            assert_eq!(read(0, 3), Err(FilesError::Changed));
            assert_eq!(read(0, 0), Err(FilesError::Changed));
            file.set_len(1).unwrap();
            assert_eq!(read(0, 3), Err(FilesError::Changed));
            std::fs::remove_file(&path).unwrap();
        }
    }
}
