//! What a server answers with: files and folders behind a small interface. A folder of this machine is one implementation.

use bytes::Bytes;
use sapwood_span::{Span, percent};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

/// An answer that may have to wait for a disk or for another server.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, FilesError>> + Send + 'a>>;

/// Why files do not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilesError {
    /// There is nothing, or nothing that may be served.
    NotFound,
    /// It is there, and may not be read.
    Denied,
    /// It is not the version that was opened any more.
    Changed,
    /// Too much is open or under way; later it may be possible.
    Busy(String),
    /// Reading failed.
    Failed(String),
}

impl std::fmt::Display for FilesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such file"),
            Self::Denied => f.write_str("permission denied"),
            Self::Changed => f.write_str("the file changed while it was sent"),
            Self::Busy(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FilesError {}

impl From<io::Error> for FilesError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                Self::Busy("too many open files".to_owned())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// What a server answers with. Paths are checked before they come here: none of their parts leads upwards.
pub trait Files: Send + Sync + 'static {
    /// Looks a path up and opens what is there.
    fn find<'a>(&'a self, path: &'a ServedPath) -> Answer<'a, Found>;

    /// What a path is, without keeping it open.
    fn info<'a>(&'a self, path: &'a ServedPath) -> Answer<'a, FileInfo> {
        Box::pin(async move {
            match self.find(path).await? {
                Found::File(file) => file.info().await,
                Found::Folder(folder) => folder.info().await,
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

/// A path that leads nowhere but downwards.
#[derive(Clone, PartialEq, Eq)]
pub struct ServedPath {
    parts: Vec<Vec<u8>>,
    /// It ends in a slash: only a folder is meant.
    pub is_folder: bool,
    /// What stood behind the question mark. It may hold credentials.
    pub opaque: Vec<u8>,
}

impl std::fmt::Debug for ServedPath {
    /// Without what may be a credential.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.parts.join(&b'/')))
    }
}

impl ServedPath {
    /// From the path of an HTTP request, without its query; none if it could lead astray.
    pub fn of_url(path: &str) -> Option<Self> {
        let parts = path.split('/').map(|part| percent::decode_strict(part.as_bytes())).collect::<Option<Vec<_>>>()?;
        Self::of_parts(parts, path.ends_with('/'), Vec::new())
    }

    /// From the path of an XRootD request, which may end in `?` and opaque information; none if it could lead astray.
    pub fn of_bytes(path: &[u8]) -> Option<Self> {
        // clients of old ended paths in a zero
        let path = path.strip_suffix(b"\0").unwrap_or(path);
        let mut halves = path.splitn(2, |b| *b == b'?');
        let (path, opaque) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
        let parts = path.split(|b| *b == b'/').map(<[u8]>::to_vec).collect();
        Self::of_parts(parts, path.ends_with(b"/"), opaque.to_vec())
    }

    fn of_parts(parts: Vec<Vec<u8>>, is_folder: bool, opaque: Vec<u8>) -> Option<Self> {
        let mut kept = Vec::new();
        for part in parts {
            match part.as_slice() {
                b"" | b"." => {}
                // After decoding, a part is a name: it neither climbs nor holds a separator.
                b".." => return None,
                name if name.contains(&b'/') || name.contains(&0) => return None,
                _ => kept.push(part),
            }
        }
        Some(Self { parts: kept, is_folder, opaque })
    }

    /// The names on the way down.
    pub fn parts(&self) -> &[Vec<u8>] {
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cannot_climb() {
        for bad in ["/../x", "/a/%2e%2e/x", "/a/..", "/a%2fb", "/%00", "/%zz", "/%2"] {
            assert!(ServedPath::of_url(bad).is_none(), "{bad}");
        }
        let good = ServedPath::of_url("//a/./b%20c/").unwrap();
        assert_eq!((good.parts(), good.is_folder), (&[b"a".to_vec(), b"b c".to_vec()][..], true));
        assert_eq!(ServedPath::of_url("/...").unwrap().parts().len(), 1);
        for bad in [&b"/../x"[..], b"/a/..", b"..", b"/a\0b", b"/a/../b?x"] {
            assert!(ServedPath::of_bytes(bad).is_none(), "{bad:?}");
        }
        let raw = ServedPath::of_bytes(b"//a/b%20\xff?authz=SECRET").unwrap();
        assert_eq!(raw.parts(), [b"a".to_vec(), b"b%20\xff".to_vec()], "nothing is decoded");
        assert_eq!(raw.opaque, b"authz=SECRET");
        assert!(!format!("{raw:?}").contains("SECRET"));
    }
}
