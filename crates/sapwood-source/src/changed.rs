//! Whether a file is still the one that was opened.

use crate::lock;
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind};
use std::sync::Mutex;
use std::time::Duration;

/// Bytes at the beginning that tell one version of a file from another. In a ROOT file they hold its length, the time of
/// its last change and a number that no two files share.
const IDENTITY: usize = 512;

/// As many of them are compared at most, whatever a file says.
const MOST: usize = 16 << 10;

/// A file that was written to so shortly before it was opened may be written to again without another time of change:
/// servers and some file systems tell seconds only.
pub(crate) const YOUNG: Duration = Duration::from_secs(2);

/// The file is not the one that was opened.
pub(crate) fn changed(how: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the file changed while it was being read: {how}"))
        .with_remedy("open it again")
}

/// The first bytes of a file, as they were when it was opened.
#[derive(Debug, Default)]
pub(crate) struct Beginning(Mutex<Bytes>);

impl Beginning {
    /// Keeps what is needed of the file's first bytes; later ones change nothing.
    pub fn keep(&self, head: &Bytes) {
        let mut kept = lock(&self.0);
        if kept.is_empty() {
            // a small copy must not keep a large buffer
            *kept = Bytes::copy_from_slice(&head[..head.len().min(IDENTITY)]);
        }
    }

    /// So many of the first bytes are to be compared from now on, if those are more than before.
    pub fn lengthen(&self, first: &Bytes) {
        let mut kept = lock(&self.0);
        if first.len() <= MOST && first.len() > kept.len() && first.starts_with(&kept) {
            *kept = Bytes::copy_from_slice(first);
        }
    }

    /// The bytes, once they are known.
    pub fn bytes(&self) -> Option<Bytes> {
        Some(lock(&self.0).clone()).filter(|b| !b.is_empty())
    }
}

/// The file begins with other bytes than when it was opened.
pub(crate) fn begins_otherwise() -> Error {
    changed("its first bytes have changed")
}
