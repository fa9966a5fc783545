//! What a server answers with: files and folders behind a small interface. A folder of this machine is one implementation.

use crate::asked::Asked;
use crate::error::FilesError;
use bytes::Bytes;
use sapwood_span::Span;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// An answer that may have to wait for a disk or for another server.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, FilesError>> + Send + 'a>>;

/// What a server answers with. Paths are checked before they come here: none of their parts leads upwards.
pub trait Files: Send + Sync + 'static {
    /// Looks a path up and opens what is there, for this client.
    fn find<'a>(&'a self, asked: &'a Asked) -> Answer<'a, Found>;

    /// What a path is, without keeping it open.
    fn info<'a>(&'a self, asked: &'a Asked) -> Answer<'a, FileInfo> {
        Box::pin(async move {
            match self.find(asked).await? {
                Found::File(file) => file.info().await,
                Found::Folder(folder) => folder.info().await,
                Found::Page(_) => Ok(FileInfo { is_folder: true, size: 0, modified: 0, changed: 0 }),
            }
        })
    }
}

/// What a path leads to.
pub enum Found {
    /// An open file.
    File(Arc<dyn OpenFile>),
    /// An open folder.
    Folder(Arc<dyn OpenFolder>),
    /// A folder whose entries are not known, only a page about them.
    Page(Page),
}

/// A page about a folder, as an origin gives it.
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

    /// What tells it from other versions.
    fn version(&self) -> &Version;

    /// What it is now.
    fn info(&self) -> Answer<'_, FileInfo>;

    /// Bytes of the version that was opened, for each span all of them. The spans lie within its size.
    ///
    /// # Errors
    /// It has changed, or cannot be read.
    fn read(&self, spans: Vec<Span>) -> Answer<'_, Vec<Bytes>>;

    /// These will be read next, in pieces: they may be fetched together.
    fn expect(&self, _spans: &[Span]) {}

    /// A checksum of the whole file that is known without reading it, in hexadecimal digits; none where it has to be computed.
    /// The kind is named as XRootD does it, in lower case: `adler32`, `crc32c`, `md5`.
    fn checksum<'a>(&'a self, _kind: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Its `Content-Type`; none for bytes of no particular kind.
    fn content_type(&self) -> Option<&str> {
        None
    }
}

/// A folder, open to be listed.
pub trait OpenFolder: Send + Sync {
    /// What it is.
    fn info(&self) -> Answer<'_, FileInfo>;

    /// Begins to list it.
    fn entries(&self) -> Answer<'_, Box<dyn Entries>>;
}

/// The entries of a folder, in no order.
pub trait Entries: Send {
    /// Some more of them; none when there are no more.
    fn more(&mut self) -> Answer<'_, Vec<Entry>>;
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: bytes, without a slash.
    pub name: Vec<u8>,
    /// What it is.
    pub info: FileInfo,
}

/// What is to be known of a file or folder without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Bytes of a file.
    pub size: u64,
    /// Last change of its bytes, in seconds since 1970.
    pub modified: i64,
    /// Last change of anything about it, its name and permissions too.
    pub changed: i64,
}

/// What clients are told of a version of a file.
#[derive(Clone, Debug)]
pub struct Version {
    /// With quotes, and `W/` in front where it is weak.
    pub etag: String,
    /// `Last-Modified`, as HTTP writes it.
    pub modified: String,
    /// No other version can have the same (RFC 9110, section 8.8).
    pub is_strong: bool,
}
