//! What makes files out of files: `sapwood merge` and `sapwood optimize`.

use super::name;
use crate::units;
use clap::Args;
use sapwood::optimize::ClusterSize;
use sapwood::{Compression, Error, Result};
use std::path::PathBuf;

/// Options of commands that write a file out of others.
#[derive(Args)]
pub(crate) struct Writing {
    /// Replace OUT if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Do not sync OUT to disk: faster, but a power failure or a full file server can lose it
    #[arg(long)]
    pub no_sync: bool,
}

/// Options of commands that copy baskets.
#[derive(Args)]
pub(crate) struct Recompression {
    /// Recompress all baskets: none, zlib, lzma, lz4 or zstd, with an optional level (zstd:5)
    #[arg(long, value_name = "CODEC[:LEVEL]")]
    pub compress: Option<Compression>,
}

/// `sapwood merge`
#[derive(Args)]
#[command(after_help = "\
Compressed baskets of trees are copied unchanged. Histograms, profiles and TParameters are added. Of other objects,
each different content is kept as a cycle. Trees with different branches and histograms with different axes are an
error that shows the difference. OUT appears when it is complete.

Examples:
  sapwood merge all.root part-*.root
  sapwood merge -f --compress zstd:5 all.root http://host/a.root http://host/b.root
  sapwood merge all.root @list.txt")]
pub(crate) struct MergeArgs {
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Files to merge, local or remote; @LIST for a list of files, as text or JSON
    #[arg(value_name = "IN", required = true, value_parser = name())]
    pub inputs: Vec<String>,
    /// How OUT is written
    #[command(flatten)]
    pub writing: Writing,
    /// How baskets are compressed
    #[command(flatten)]
    pub recompression: Recompression,
}

/// `sapwood optimize`
#[derive(Args)]
#[command(after_help = "\
Baskets are split and joined between entries without decoding values, so trees of any class work. Baskets of branches
with pointers are kept whole. Before OUT appears, every entry of every branch is read back and compared with IN.

Examples:
  sapwood optimize old.root new.root
  sapwood optimize --compress zstd:5 --cluster 60MB --drop 'trigger_*' old.root new.root
  sapwood perf old.root:Events -b 'Muon_*' -o muons.json; sapwood optimize --used muons.json old.root new.root")]
pub(crate) struct OptimizeArgs {
    /// File to read, local or remote
    #[arg(value_name = "IN", value_parser = name())]
    pub input: String,
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// How OUT is written
    #[command(flatten)]
    pub writing: Writing,
    /// How baskets are compressed
    #[command(flatten)]
    pub recompression: Recompression,
    /// Cluster size: bytes in the file (30MB), or a number of entries
    #[arg(long, value_name = "BYTES|ENTRIES", default_value = "30MB", value_parser = cluster_size)]
    pub cluster: ClusterSize,
    /// Maximum basket size before compression
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = basket_size)]
    pub basket: u32,
    /// Omit top-level branches that match a pattern (*, ?); can be repeated
    #[arg(long, value_name = "NAME", value_parser = name())]
    pub drop: Vec<String>,
    /// Store the baskets of these branches first in each cluster; can be repeated
    #[arg(long, value_name = "NAME", value_parser = name())]
    pub first: Vec<String>,
    /// Statistics of a past read (`sapwood perf -o FILE.json`): store the branches that it used first, after those of
    /// --first; can be repeated, once for each analysis: branches used by most come first, grouped by use
    #[arg(long, value_name = "FILE.json")]
    pub used: Vec<PathBuf>,
    /// Omit top-level branches that no read of --used needed
    #[arg(long, requires = "used")]
    pub drop_unused: bool,
    /// Do not split the baskets of these branches; can be repeated
    #[arg(long, value_name = "NAME", value_parser = name())]
    pub keep: Vec<String>,
    /// Do not compare OUT with IN at the end
    #[arg(long)]
    pub no_verify: bool,
}

/// `sapwood recover`
#[derive(Args)]
#[command(after_help = "\
IN is not changed. Trees keep the entries that are intact in all branches; histograms and other objects keep all
readable cycles. Only the entries of a damaged basket are dropped: baskets of other branches are split, except those
with objects behind pointers. Baskets after the last header of a tree are recovered as far as every branch has them.
Lost ranges are listed on stderr; --json lists all. The exit status is 0 if anything was recovered or nothing was lost.

Examples:
  sapwood recover crashed.root whole.root
  sapwood recover --json https://host/cut.root whole.root")]
pub(crate) struct RecoverArgs {
    /// File to read, local or remote
    #[arg(value_name = "IN", value_parser = name())]
    pub input: String,
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// How OUT is written
    #[command(flatten)]
    pub writing: Writing,
}

/// A bare number counts entries, one with a unit bytes.
fn cluster_size(text: &str) -> Result<ClusterSize> {
    match text.parse::<u64>() {
        Ok(0) => Err(Error::invalid("a cluster must have at least one entry")),
        Ok(n) => Ok(ClusterSize::Entries(n)),
        Err(_) => Ok(ClusterSize::Bytes(units::parse_bytes(text)?.max(1))),
    }
}

fn basket_size(text: &str) -> Result<u32> {
    match units::parse_bytes(text)? {
        n @ 512..=1_000_000_000 => Ok(n as u32),
        _ => Err(Error::invalid("the basket size must be 512 bytes to 1 GB")),
    }
}
