//! When a local file was last written to.

use crate::file_identity::{FirstBytes, RECENTLY_MODIFIED, changed, first_bytes_differ};
use crate::lock;
use sapwood_span::Result;
use std::fs::{File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Size and times of a file when it was opened, to be compared with those after each read.
#[derive(Debug)]
pub(super) struct Stamp {
    size: u64,
    modified: Duration,
    beginning: FirstBytes,
    /// The path it was opened by, if it can be found again.
    path: Option<PathBuf>,
    /// The file may have grown.
    grows: AtomicBool,
    doubt: Mutex<UnverifiedMetadata>,
}

/// Changes that the times do not show, so that the first bytes have to.
#[derive(Debug)]
struct UnverifiedMetadata {
    /// Inode change time. It changes with names and permissions as well, but also when a writer sets the modification
    /// time back.
    inode: Duration,
    attributes: Attributes,
    /// The file was written to just before: until its first bytes have been compared later, another change within the
    /// same tick of the file system's clock may not show.
    recently_modified: bool,
}

/// What else changes the time of the inode.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attributes {
    mode: u32,
    user: u32,
    group: u32,
    links: u64,
}

impl Attributes {
    fn of(meta: &Metadata) -> Self {
        Self { mode: meta.mode(), user: meta.uid(), group: meta.gid(), links: meta.nlink() }
    }
}

fn since_1970(seconds: i64, nanoseconds: i64) -> Duration {
    let seconds = Duration::from_secs(seconds.try_into().unwrap_or(0));
    seconds + Duration::from_nanos(nanoseconds.try_into().unwrap_or(0))
}

fn modified(meta: &Metadata) -> Duration {
    since_1970(meta.mtime(), meta.mtime_nsec())
}

fn inode(meta: &Metadata) -> Duration {
    since_1970(meta.ctime(), meta.ctime_nsec())
}

/// Whether so little time has passed since then that the file system's clock may not have moved.
fn is_recently_modified(modified: Duration) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now < modified + RECENTLY_MODIFIED
}

impl Stamp {
    pub(super) fn of(path: &Path, meta: &Metadata) -> Self {
        let (modified, inode) = (modified(meta), inode(meta));
        let doubt = UnverifiedMetadata {
            inode,
            attributes: Attributes::of(meta),
            recently_modified: is_recently_modified(modified.max(inode)),
        };
        let (beginning, grows) = (FirstBytes::default(), AtomicBool::new(false));
        let path = std::path::absolute(path).ok();
        Self { size: meta.len(), modified, beginning, path, grows, doubt: Mutex::new(doubt) }
    }

    /// The first bytes of the file when it was opened.
    pub(super) fn keep(&self, head: &bytes::Bytes) {
        self.beginning.keep(head);
    }

    /// Compares this many of the first bytes.
    pub(super) fn lengthen(&self, first: &bytes::Bytes) {
        self.beginning.lengthen(first);
    }

    /// Whether the file has another name now than when it was opened, which changes the time of its inode.
    fn is_renamed(&self, now: &Metadata) -> bool {
        let there = self.path.as_ref().and_then(|p| std::fs::metadata(p).ok());
        there.is_none_or(|there| (there.dev(), there.ino()) != (now.dev(), now.ino()))
    }

    /// From now on more bytes at the end are not a change.
    pub(super) fn allow_growth(&self) {
        self.grows.store(true, Relaxed);
    }

    /// Refuses bytes read from a file that has changed meanwhile.
    ///
    /// # Errors
    /// `Corrupt` when it has, and errors of the system.
    pub(super) fn check(&self, file: &File) -> Result<()> {
        let io = |e| sapwood_span::Error::io("cannot check whether the file has changed", e);
        let now = file.metadata().map_err(io)?;
        if now.len() > self.size && self.grows.load(Relaxed) {
            return Ok(());
        }
        if now.len() != self.size {
            return Err(changed(&format!("it had {} bytes and now has {}", self.size, now.len())));
        }
        if modified(&now) != self.modified {
            return Err(changed("it was written to"));
        }
        let mut doubt = lock(&self.doubt);
        if inode(&now) == doubt.inode && !doubt.recently_modified {
            return Ok(());
        }
        let (moved, attributes) = (inode(&now) != doubt.inode, Attributes::of(&now));
        if moved && attributes == doubt.attributes && !self.is_renamed(&now) {
            return Err(changed(
                "its inode changed, but not its name, owner or permissions: perhaps it was written to, and \
                 its modification time was set back",
            ));
        }
        // checked before the bytes: what is written later has a later time
        let recently_modified = doubt.recently_modified && is_recently_modified(self.modified.max(doubt.inode));
        let Some(then) = self.beginning.bytes() else { return Ok(()) };
        let mut first = vec![0; then.len()];
        file.read_exact_at(&mut first, 0).map_err(io)?;
        if first != then {
            return Err(first_bytes_differ());
        }
        *doubt = UnverifiedMetadata { inode: inode(&now), attributes, recently_modified };
        Ok(())
    }
}
