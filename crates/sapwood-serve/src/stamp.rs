//! Detects changes of a file, and describes its version to clients.

use crate::files::FileVersion;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file that changed this recently may change again without a new modification time: clocks of file systems tick
/// every few milliseconds, some every two seconds.
const RECENTLY_MODIFIED: Duration = Duration::from_secs(2);
/// HTTP's dates end with the year 9999.
const LAST_DATE: Duration = Duration::from_secs(253_402_300_799);

/// The file's identity, its size, and when its bytes and anything else about it last changed. Any program may set the
/// first of these times, none the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of_file(file: &File) -> io::Result<Self> {
        Ok(Self::of(&file.metadata()?))
    }

    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// The version as reported to clients at this time.
    pub(crate) fn version(&self, now: SystemTime) -> FileVersion {
        let Self { device, inode, size, modified, changed } = self;
        let is_strong = now.checked_sub(RECENTLY_MODIFIED).is_some_and(|then| time(*changed) <= then);
        let weak = if is_strong { "" } else { "W/" };
        let (m, c) = (modified, changed);
        let etag = format!("{weak}\"{size:x}-{:x}.{:x}-{:x}.{:x}-{device:x}.{inode:x}\"", m.0, m.1, c.0, c.1);
        // A date in the future cannot be a modification time.
        let modified = time(*modified).min(now).clamp(UNIX_EPOCH, UNIX_EPOCH + LAST_DATE);
        FileVersion { etag, modified: httpdate::fmt_http_date(modified), is_strong }
    }
}

/// Times before 1970 count as its beginning.
fn time((seconds, nanoseconds): (i64, i64)) -> SystemTime {
    let (seconds, nanoseconds) = (u64::try_from(seconds).unwrap_or(0), u32::try_from(nanoseconds).unwrap_or(0));
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds)).unwrap_or(UNIX_EPOCH + LAST_DATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { device: 1, inode: 2, size: 10, modified: (784_111_777, 5), changed: (900_000_000, 7) };

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_tag_is_strong_when_the_file_was_left_alone() {
        let young = STAMP.version(at(900_000_002));
        assert!(!young.is_strong && young.etag.starts_with("W/\""));
        let old = STAMP.version(at(900_000_003));
        assert_eq!(format!("W/{}", old.etag), young.etag);
        assert_eq!(old.modified, "Sun, 06 Nov 1994 08:49:37 GMT");
        let to_come = STAMP.version(at(899_999_000));
        assert!(!to_come.is_strong, "its clock is ahead");
    }

    #[test]
    fn each_part_counts() {
        let others = [
            Stamp { device: 3, ..STAMP },
            Stamp { inode: 3, ..STAMP },
            Stamp { size: 11, ..STAMP },
            Stamp { modified: (784_111_777, 6), ..STAMP },
            Stamp { changed: (900_000_000, 8), ..STAMP },
        ];
        let now = at(2_000_000_000);
        for other in others {
            assert!(other != STAMP && other.version(now).etag != STAMP.version(now).etag, "{other:?}");
        }
    }

    #[test]
    fn times_out_of_all_bounds() {
        let odd = |seconds: i64, now| Stamp { modified: (seconds, -1), ..STAMP }.version(now).modified;
        assert_eq!(odd(i64::MIN, at(2_000_000_000)), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(odd(i64::MAX, at(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT", "not after now");
        Stamp { changed: (i64::MAX, i64::MAX), ..STAMP }.version(UNIX_EPOCH);
    }
}
