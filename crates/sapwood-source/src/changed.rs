//! Whether a file is still the one that was opened.

use bytes::Bytes;
use sapwood_span::{Error, ErrorKind, Span};
use std::sync::OnceLock;
use std::time::Duration;

/// Bytes at the beginning that tell one version of a file from another. In a ROOT file they hold its length, the time of
/// its last change and a number that no two files share.
const IDENTITY: u64 = 512;

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
pub(crate) struct Beginning(OnceLock<Bytes>);

impl Beginning {
    /// Keeps what is needed of the file's first bytes; later ones change nothing.
    pub fn keep(&self, head: &Bytes) {
        let share = head.slice(..head.len().min(IDENTITY as usize));
        // a small copy must not keep a large buffer
        self.0.get_or_init(|| Bytes::copy_from_slice(&share));
    }

    /// Where they lie, once they are known.
    pub fn span(&self) -> Option<Span> {
        self.0.get().map(|b| Span::new(0, b.len() as u64)).filter(|s| !s.is_empty())
    }

    /// Whether these are the same first bytes.
    pub fn is(&self, now: &[u8]) -> bool {
        self.0.get().is_some_and(|then| now.starts_with(then))
    }
}
