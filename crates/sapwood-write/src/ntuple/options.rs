//! Options of ntuples that are written.

use sapwood_codec::Compression;
use sapwood_span::{Error, Result, setters};

/// The layout of an ntuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NtupleOptions {
    /// Compressed bytes of a cluster, about. A cluster's compressed pages are in memory until it is written.
    pub cluster_bytes: u64,
    /// Uncompressed bytes of the largest cluster.
    pub largest_cluster: u64,
    /// Uncompressed bytes of the largest page, 64 to 268 435 456. Where there are many columns, pages are smaller.
    pub page_bytes: u32,
    /// The pages' compression; the file's when `None`.
    pub compression: Option<Compression>,
    /// Compressed bytes after which, at the next end of a cluster, the file is completed: the most that a killed
    /// process loses. 0: never.
    pub auto_save_bytes: u64,
}

impl Default for NtupleOptions {
    /// ROOT's: clusters of 128 MiB compressed, pages of 1 MiB at most.
    fn default() -> Self {
        Self {
            cluster_bytes: 128 << 20,
            largest_cluster: 1280 << 20,
            page_bytes: 1 << 20,
            compression: None,
            auto_save_bytes: 128 << 20,
        }
    }
}

setters!(NtupleOptions { cluster_bytes: u64, largest_cluster: u64, page_bytes: u32, auto_save_bytes: u64 } into { compression: Option<Compression> });

impl NtupleOptions {
    /// ROOT's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses sizes that cannot be.
    pub(super) fn check(&self) -> Result<()> {
        if self.cluster_bytes == 0 || self.largest_cluster == 0 {
            return Err(Error::invalid("the cluster size must not be 0").with_remedy("choose 1 byte or more"));
        }
        if !(64..=1 << 28).contains(&self.page_bytes) {
            let what = format!("page size {} is out of range", self.page_bytes);
            return Err(Error::invalid(what).with_remedy("choose 64 bytes to 256 MiB"));
        }
        Ok(())
    }
}
