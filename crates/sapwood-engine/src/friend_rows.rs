//! What a scan asks of the friends of its tree.

use crate::entries::EntryList;
use sapwood_column::Array;
use sapwood_span::Result;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Columns of a friend, with a row for each row of the batch that they come with.
#[derive(Clone, Debug, Default)]
pub struct FriendRows {
    /// A column per branch that was asked for. Rows for which the friend has no entry hold zeros or nothing.
    pub columns: Vec<Array>,
    /// For which rows the friend has an entry; `None`: for all.
    pub present: Option<Vec<bool>>,
}

/// The entries that a scan reads.
#[derive(Clone)]
#[non_exhaustive]
pub struct FriendEntries {
    /// From the first to behind the last.
    pub entries: Range<u64>,
    /// Only these of them.
    pub selected: Option<Arc<EntryList>>,
    /// Ends reading once it is set.
    pub cancel: Arc<AtomicBool>,
}

impl FriendEntries {
    pub(crate) fn new(entries: Range<u64>, selected: Option<Arc<EntryList>>, cancel: Arc<AtomicBool>) -> Self {
        Self { entries, selected, cancel }
    }
}

/// Reads a friend beside a scan, batch by batch.
pub trait FriendReader: Send {
    /// The rows for these entries of the scan's tree: only the selected ones, where some are. Entries ascend from call to
    /// call.
    ///
    /// # Errors
    /// What reading the friend says.
    fn rows(&mut self, entries: Range<u64>, selected: Option<&EntryList>) -> Result<FriendRows>;
}

/// Begins to read a friend.
pub(crate) type BeginFriend = Arc<dyn Fn(FriendEntries) -> Result<Box<dyn FriendReader>> + Send + Sync>;

/// A friend that a scan reads along: its columns come in [`crate::Batch::friends`].
#[derive(Clone)]
#[non_exhaustive]
pub struct FriendRequest {
    /// Begins to read it.
    pub begin: BeginFriend,
    /// Decoded bytes per entry, as its header has them: batches are smaller for it.
    pub bytes_per_entry: f64,
}

impl FriendRequest {
    /// A friend that `begin` begins to read.
    pub fn new(
        bytes_per_entry: f64,
        begin: impl Fn(FriendEntries) -> Result<Box<dyn FriendReader>> + Send + Sync + 'static,
    ) -> Self {
        Self { begin: Arc::new(begin), bytes_per_entry }
    }
}
