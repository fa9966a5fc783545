//! When a local file was last written to.

use crate::changed::{Beginning, YOUNG, changed};
use crate::lock;
use sapwood_span::Result;
use std::fs::{File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Size and times of a file when it was opened, to be compared with those after each read.
#[derive(Debug)]
pub(super) struct Stamp {
    size: u64,
    modified: Duration,
    beginning: Beginning,
    /// The file may have grown.
    grows: AtomicBool,
    doubt: Mutex<Doubt>,
}

/// What the times do not tell, so that the first bytes have to.
#[derive(Debug)]
struct Doubt {
    /// Last change of the inode. It changes with names and permissions as well, but also when somebody writes to the file
    /// and sets the time of that back.
    inode: Duration,
    /// The file was written to just before: until its first bytes have been compared later, another change within the same
    /// tick of the file system's clock may not show.
    young: bool,
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
fn is_young(modified: Duration) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now < modified + YOUNG
}

impl Stamp {
    pub fn of(meta: &Metadata) -> Self {
        let modified = modified(meta);
        let doubt = Doubt { inode: inode(meta), young: is_young(modified) };
        let (beginning, grows) = (Beginning::default(), AtomicBool::new(false));
        Self { size: meta.len(), modified, beginning, grows, doubt: Mutex::new(doubt) }
    }

    /// The first bytes of the file, as they were read when it was opened.
    pub fn keep(&self, head: &bytes::Bytes) {
        self.beginning.keep(head);
    }

    /// More bytes at the end are no change from now on.
    pub fn allow_growth(&self) {
        self.grows.store(true, Relaxed);
    }

    /// Refuses what was read from a file that has changed meanwhile.
    ///
    /// # Errors
    /// `Corrupt` when it has, and what the system says.
    pub fn check(&self, file: &File) -> Result<()> {
        let io = |e| sapwood_span::Error::io("cannot look whether the file has changed", e);
        let now = file.metadata().map_err(io)?;
        if now.len() > self.size && self.grows.load(Relaxed) {
            return Ok(());
        }
        if now.len() != self.size {
            return Err(changed(&format!("it had {} bytes and has {} now", self.size, now.len())));
        }
        if modified(&now) != self.modified {
            return Err(changed("it was written to"));
        }
        let mut doubt = lock(&self.doubt);
        if inode(&now) == doubt.inode && !doubt.young {
            return Ok(());
        }
        // looked at before the bytes: what is written later has a later time
        let young = doubt.young && is_young(self.modified);
        let Some(span) = self.beginning.span() else { return Ok(()) };
        let mut first = vec![0; span.len as usize];
        file.read_exact_at(&mut first, 0).map_err(io)?;
        if !self.beginning.is(&first) {
            return Err(changed("its first bytes are others now"));
        }
        *doubt = Doubt { inode: inode(&now), young };
        Ok(())
    }
}
