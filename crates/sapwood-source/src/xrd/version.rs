//! Whether a server still has the version of the file that was opened.

use super::open_request::Opened;
use crate::file_identity::{RECENTLY_MODIFIED, changed};
use crate::lock;
use sapwood_span::Result;
use sapwood_xrd::reply::Stat;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Distinguishes versions of a file.
#[derive(Debug)]
pub(super) struct FileVersion {
    pub size: u64,
    /// What each server reported; replicas differ.
    known: Mutex<Vec<Known>>,
    /// The server's modification time is so close to the opening that another change need not show.
    pub recently_modified: bool,
}

#[derive(Debug)]
struct Known {
    server: String,
    modified: i64,
    /// When anything about the file last changed, as its server last reported; not all servers do.
    inode: Option<i64>,
    /// The same when the file was opened.
    opened_inode: Option<i64>,
}

impl FileVersion {
    pub(super) fn of(opened: &Opened) -> Self {
        let stat = &opened.stat;
        // its clock and this one may differ a little; some servers report no time at all
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // a writer may set the one time back, not the other
        let then = stat.modified.max(stat.inode.unwrap_or(0));
        let then = Duration::from_secs(u64::try_from(then).unwrap_or(0));
        let recently_modified = stat.modified <= 0 || now < then + RECENTLY_MODIFIED * 5;
        let version = Self { size: stat.size, known: Mutex::default(), recently_modified };
        version.learn(opened);
        version
    }

    /// The modification time of the opened file, as reported by the server that opened it; none where it reported none.
    pub(super) fn modified(&self) -> Option<String> {
        let known = lock(&self.known);
        let first = known.first().filter(|k| k.modified > 0)?;
        // a writer may set the one time back, not the other
        Some(
            first
                .opened_inode
                .map_or_else(|| first.modified.to_string(), |inode| format!("{} {inode}", first.modified)),
        )
    }

    /// Whether this server's report can be compared with an earlier one.
    pub(super) fn knows(&self, server: &str) -> bool {
        lock(&self.known).iter().any(|k| k.server == server)
    }

    /// This server has the version that was opened.
    pub(super) fn learn(&self, opened: &Opened) {
        let server = opened.server.url.server();
        let mut known = lock(&self.known);
        if !known.iter().any(|k| k.server == server) {
            let inode = opened.stat.inode;
            known.push(Known { server, modified: opened.stat.modified, inode, opened_inode: inode });
        }
    }

    /// Refuses another version, by a server's stat of the open file. Returns whether something else about the file has
    /// changed: it was renamed, or a writer set its modification time back.
    ///
    /// # Errors
    /// `Corrupt`: another size, or another modification time on a server that reported one before.
    pub(super) fn compare(&self, server: &str, now: &Stat) -> Result<bool> {
        if now.size != self.size {
            return Err(changed(&format!("it had {} bytes and now has {}", self.size, now.size)));
        }
        let mut known = lock(&self.known);
        let Some(then) = known.iter_mut().find(|k| k.server == server) else { return Ok(false) };
        if then.modified <= 0 {
            // what it did not report when it opened the file means nothing later
            return Ok(false);
        }
        if now.modified != then.modified {
            return Err(changed("it was written to"));
        }
        Ok(now.inode.is_some_and(|now| then.inode.replace(now).is_some_and(|then| then != now)))
    }
}
