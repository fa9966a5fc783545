//! Reports of a store.

use crate::id::FileId;
use std::path::PathBuf;
use std::time::SystemTime;

/// State of a store, and the counters of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The directory.
    pub directory: PathBuf,
    /// The limit, in bytes.
    pub max_bytes: u64,
    /// Bytes that the directory occupies.
    pub bytes: u64,
    /// Versions of files.
    pub files: u64,
    /// Pieces of all files.
    pub pieces: u64,
    /// Reads of this process that were found.
    pub hits: u64,
    /// Bytes of these.
    pub hit_bytes: u64,
    /// Reads of this process that were not found.
    pub misses: u64,
    /// Bytes of these.
    pub missed_bytes: u64,
    /// Bytes inserted by this process and not kept: no space, or too many at once.
    pub left_out_bytes: u64,
    /// The warnings of this process.
    pub warnings: Vec<String>,
}

/// A version of a file that a store holds, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFile {
    /// The file, and the version of it.
    pub id: FileId,
    /// Bytes of the file that are held.
    pub bytes: u64,
    /// Bytes that this occupies on disk.
    pub disk_bytes: u64,
    /// Pieces.
    pub pieces: u64,
    /// When it was last used, to about a minute.
    pub last_used: SystemTime,
    /// Whether it is the version that was validated last, as far as is known.
    pub latest: bool,
    /// Whether some process uses it now.
    pub in_use: bool,
}

impl HeldFile {
    /// Whether all of the file is held.
    pub fn is_whole(&self) -> bool {
        self.bytes == self.id.version.size
    }
}

/// What [`Store::verify`](crate::Store::verify) found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Versions of files.
    pub files: u64,
    /// Pieces that match their checksums.
    pub pieces: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Pieces, entries of an index and identities that did not match, and were dropped.
    pub damaged: u64,
    /// Bytes of damaged pieces.
    pub damaged_bytes: u64,
}

/// What [`Store::purge`](crate::Store::purge) removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Versions of files.
    pub files: u64,
    /// Bytes on disk.
    pub bytes: u64,
}
