//! Whether a file is still the one that was opened.

use crate::lock;
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind};
use std::sync::Mutex;
use std::time::Duration;

/// Bytes at the beginning that distinguish versions of a file. In a ROOT file they hold its length, the time of its
/// last change and a UUID.
const IDENTITY: usize = 512;

/// At most this many are compared, whatever a file says.
const MOST: usize = 16 << 10;

/// A file written to this shortly before it was opened may be written to again without a new modification time: servers
/// and some file systems have a resolution of one second.
pub(crate) const RECENTLY_MODIFIED: Duration = Duration::from_secs(2);

/// The file is not the one that was opened.
pub(crate) fn changed(how: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the file changed while it was being read: {how}"))
        .with_remedy("open it again")
}

/// The first bytes of a file when it was opened.
#[derive(Debug, Default)]
pub(crate) struct FirstBytes(Mutex<Bytes>);

impl FirstBytes {
    /// Keeps as many of the first bytes as needed; later calls have no effect.
    pub(crate) fn keep(&self, head: &Bytes) {
        let mut kept = lock(&self.0);
        if kept.is_empty() {
            // a small copy must not keep a large buffer
            *kept = Bytes::copy_from_slice(&head[..head.len().min(IDENTITY)]);
        }
    }

    /// Compares this many of the first bytes from now on, if that is more than before.
    pub(crate) fn lengthen(&self, first: &Bytes) {
        let mut kept = lock(&self.0);
        if first.len() <= MOST && first.len() > kept.len() && first.starts_with(&kept) {
            *kept = Bytes::copy_from_slice(first);
        }
    }

    /// The bytes, once they are known.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        Some(lock(&self.0).clone()).filter(|b| !b.is_empty())
    }
}

/// The file begins with other bytes than when it was opened.
pub(crate) fn first_bytes_differ() -> Error {
    changed("its first bytes have changed")
}
