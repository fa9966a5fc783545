//! Progress of a tree during writing.

use crate::layout::Cluster;

/// ROOT's default rule for saving the header, as long as it is not known in entries (`TTree::fAutoSave`).
const AUTO_SAVE: i64 = -300_000_000;
/// A tree's state between flushes.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Entries so far.
    pub(crate) entries: u64,
    /// Entries at the last end of a cluster; 0 before the first.
    pub(crate) flushed: u64,
    /// Entries when ROOT would last have saved the header.
    pub(crate) saved: u64,
    /// Where clusters are counted from.
    pub(crate) origin: u64,
    pub(crate) cluster: Cluster,
    pub(crate) auto_save: i64,
    /// Ranges of clusters that ended: last entry and entries of a cluster.
    pub(crate) ranges: Vec<(u64, u64)>,
    /// Names for expressions.
    pub(crate) aliases: Vec<(String, String)>,
}

impl Progress {
    /// For a new tree.
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self {
            entries: 0,
            flushed: 0,
            saved: 0,
            origin: 0,
            cluster,
            auto_save: AUTO_SAVE,
            ranges: Vec::new(),
            aliases: Vec::new(),
        }
    }
}
