//! The content of a server: files and directories behind a small interface. A local directory is one implementation.

use crate::client_request::ClientRequest;
use crate::error::FilesError;
use bytes::Bytes;
use sapwood_span::Span;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// An answer that may have to wait for a disk or another server.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, FilesError>> + Send + 'a>>;

/// The content of a server. Paths are already checked: none of their parts leads upwards.
pub trait Files: Send + Sync + 'static {
    /// Looks up a path and opens what it names, for this client.
    fn find<'a>(&'a self, asked: &'a ClientRequest) -> Answer<'a, Found>;

    /// Describes the file or directory at a path, without keeping it open.
    fn info<'a>(&'a self, asked: &'a ClientRequest) -> Answer<'a, FileInfo> {
        Box::pin(async move {
            match self.find(asked).await? {
                Found::File(file) => file.info().await,
                Found::Folder(folder) => folder.info().await,
                Found::Page(_) => Ok(FileInfo { is_folder: true, size: 0, modified: 0, changed: 0 }),
            }
        })
    }
}

/// The result of looking up a path.
pub enum Found {
    /// An open file.
    File(Arc<dyn OpenFile>),
    /// An open directory.
    Folder(Arc<dyn OpenFolder>),
    /// A directory whose entries are unknown; only a page about it.
    Page(Page),
}

/// A page about a directory, from an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its `Content-Type`.
    pub content_type: String,
    /// The page.
    pub body: Bytes,
}

/// One version of a file, open for reading.
pub trait OpenFile: Send + Sync {
    /// Its size when it was opened.
    fn size(&self) -> u64;

    /// Identifies this version.
    fn version(&self) -> &FileVersion;

    /// Its current state.
    fn info(&self) -> Answer<'_, FileInfo>;

    /// Bytes of the version that was opened, for each span all of them. The spans are inside its size.
    ///
    /// # Errors
    /// It has changed, or cannot be read.
    fn read(&self, spans: Vec<Span>) -> Answer<'_, Vec<Bytes>>;

    /// These will be read next, in pieces: they may be fetched together.
    fn expect(&self, _spans: &[Span]) {}

    /// A checksum of the whole file that is known without reading it, in hexadecimal digits; none where it must be
    /// computed. The kind is in XRootD's spelling, in lower case: `adler32`, `crc32c`, `md5`.
    fn checksum<'a>(&'a self, _kind: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Its `Content-Type`; none for bytes of no particular kind.
    fn content_type(&self) -> Option<&str> {
        None
    }
}

/// A directory, open to be listed.
pub trait OpenFolder: Send + Sync {
    /// Its metadata.
    fn info(&self) -> Answer<'_, FileInfo>;

    /// Starts to list it.
    fn entries(&self) -> Answer<'_, Box<dyn Entries>>;
}

/// The entries of a directory, in no order.
pub trait Entries: Send {
    /// Some more of them; none when there are no more.
    fn more(&mut self) -> Answer<'_, Vec<Entry>>;
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: bytes, without a slash.
    pub name: Vec<u8>,
    /// Its metadata.
    pub info: FileInfo,
}

/// Metadata of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Whether it is a directory.
    pub is_folder: bool,
    /// Size of a file in bytes.
    pub size: u64,
    /// Last change of its bytes, in seconds since 1970.
    pub modified: i64,
    /// Last change of anything about it, including its name and permissions.
    pub changed: i64,
}

/// A version of a file as reported to clients.
#[derive(Clone, Debug)]
pub struct FileVersion {
    /// With quotes, and with `W/` in front if it is weak.
    pub etag: String,
    /// `Last-Modified`, in HTTP's format.
    pub modified: String,
    /// No other version can have the same (RFC 9110, section 8.8).
    pub is_strong: bool,
}
