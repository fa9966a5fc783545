//! What a scan gives.

use crate::entries::EntryList;
use crate::friend_rows::FriendRows;
use sapwood_column::Array;
use std::ops::Range;

/// Consecutive entries, decoded.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Which entries.
    pub entries: Range<u64>,
    /// A column per branch, in the order of [`crate::ScanOptions::branches`].
    pub columns: Vec<Array>,
    /// Those of the entries that the columns' rows are for; all where none is given.
    pub selected: Option<EntryList>,
    /// What its friends have for the same rows, in the order of [`crate::ScanOptions::friends`].
    pub friends: Vec<FriendRows>,
}
