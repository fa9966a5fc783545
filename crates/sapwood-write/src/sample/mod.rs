//! Sample data: a small tree of made-up collisions, the same for the same seed.
//!
//! It has what real trees have: four collections of objects (muons, electrons, jets, photons) with
//! their counters, numbers of the event, arrays, weights and trigger bits. A third of the events
//! hold a Z boson that decayed to two muons of opposite charge.

mod event;
mod random;

use crate::{BranchSpec, Cluster, FileOptions, FileWriter, TreeOptions};
use event::Events;
use sapwood_codec::Compression;
use sapwood_span::Result;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The layout of a sample in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleLayout {
    /// Clusters of 10 000 entries, in each of which a branch has one basket: a modern layout.
    Clustered,
    /// Baskets of 4000 bytes, each written when it was full and no clusters: as in old files, so that few branches mean
    /// many small reads all over the file.
    Scattered,
}

impl SampleLayout {
    fn options(self) -> TreeOptions {
        let plain = TreeOptions { optimize_baskets: false, auto_save_bytes: 0, ..TreeOptions::default() };
        match self {
            SampleLayout::Clustered => {
                TreeOptions { cluster: Cluster::Entries(10_000), basket_bytes: 1 << 20, ..plain }
            }
            SampleLayout::Scattered => TreeOptions { cluster: Cluster::Never, basket_bytes: 4000, ..plain },
        }
    }
}

/// Entries generated and written at a time.
const BATCH: u64 = 5000;

/// Writes a sample file, clustered and compressed with zlib 1: a tree `Events` of this many entries.
pub fn write_sample(path: impl AsRef<Path>, entries: u64, seed: u64) -> Result<()> {
    write_sample_as(path, entries, seed, SampleLayout::Clustered, Compression::default())
}

/// The same in this layout and with this compression.
///
/// The values depend only on the seed: fewer entries are the beginning of more, whatever the layout.
pub fn write_sample_as(
    path: impl AsRef<Path>,
    entries: u64,
    seed: u64,
    layout: SampleLayout,
    compression: Compression,
) -> Result<()> {
    let mut uuid = [0x5a; 16];
    if let Some(half) = uuid.first_chunk_mut::<8>() {
        *half = seed.to_be_bytes();
    }
    // 2026-01-01: equal samples are equal byte for byte.
    let created = Some(UNIX_EPOCH + Duration::from_secs(1_767_225_600));
    let options =
        FileOptions { compression, title: "sample".to_owned(), created, uuid: Some(uuid), ..FileOptions::default() };
    let mut file = FileWriter::create_with(path, options)?;
    let mut tree = file.tree("Events", "made-up collisions", &branches(), layout.options())?;
    let mut events = Events::new(seed);
    let mut done = 0;
    while done < entries {
        let n = BATCH.min(entries - done);
        let columns = events.next(n as usize);
        let given: Vec<(&str, &_)> = columns.iter().map(|(name, array)| (*name, array)).collect();
        tree.extend(&given)?;
        done += n;
    }
    tree.finish()?;
    file.finish()
}

/// The sample's branches, without the counters, which the writer adds.
pub fn branches() -> Vec<BranchSpec> {
    event::branches()
}
