//! How a job reads its files.

use crate::profile::Profile;
use crate::scenario::Workload;
use sapwood_prefetch::BasketMap;
use std::sync::{Arc, OnceLock};

/// The baskets of a kind of file as proxies know them: made when they are needed first.
#[derive(Debug, Default)]
pub(crate) struct ProxyMap(OnceLock<Option<Arc<BasketMap>>>);

impl ProxyMap {
    /// None if they are too many for a proxy.
    pub(crate) fn of(&self, profile: &Profile) -> Option<Arc<BasketMap>> {
        self.0.get_or_init(|| profile.map()).clone()
    }
}

/// What decides how a job reads a file, beside the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) workload: &'a Workload,
    /// The branches that it reads: one value for each of the profile.
    pub(crate) chosen: &'a [bool],
    /// Its threads: not more than its site has cores.
    pub(crate) threads: u64,
    /// Bytes in the first flight of a connection, and in flight at most.
    pub(crate) windows: (u64, u64),
    /// The baskets of the file, if a proxy is to know them.
    pub(crate) map: &'a ProxyMap,
}
