//! What makes files out of files: `sapwood merge` and `sapwood optimize`.

use super::name;
use crate::units;
use clap::Args;
use sapwood::Compression;
use sapwood_write::optimize::ClusterSize;
use std::path::PathBuf;

/// What every verb takes that writes a file out of others.
#[derive(Args)]
pub struct Writing {
    /// Replace OUT if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Do not wait until OUT is on the disk: faster, but a loss of power or a server that runs out of room may take it
    #[arg(long)]
    pub no_sync: bool,
}

/// What verbs take that copy baskets.
#[derive(Args)]
pub struct Recompression {
    /// Compress all baskets anew: none, zlib, lzma, lz4 or zstd, with a level as in zstd:5
    #[arg(long, value_name = "CODEC[:LEVEL]")]
    pub compress: Option<Compression>,
}

/// `sapwood merge`
#[derive(Args)]
#[command(after_help = "\
Trees are joined by copying their compressed baskets untouched; histograms, profiles and TParameters are added;
of everything else each different content is kept as a cycle. Trees that differ in their branches, and histograms
that differ in their axes, are refused with the difference. The output appears when it is complete.

Examples:
  sapwood merge all.root part-*.root
  sapwood merge -f --compress zstd:5 all.root http://host/a.root http://host/b.root
  sapwood merge all.root @list.txt")]
pub struct MergeArgs {
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Files to join, near or far; @FILE names a list of them, one a line
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
Baskets are cut between entries and joined; nothing is decoded, so trees of any class can be treated. Branches whose
entries hold pointers keep their baskets in one piece. Before OUT gets its name, every entry of every branch is read
back and compared with what the input held.

Examples:
  sapwood optimize old.root new.root
  sapwood optimize --compress zstd:5 --cluster 60MB --drop 'trigger_*' old.root new.root
  sapwood perf old.root:Events -b 'Muon_*' -o muons.json; sapwood optimize --used muons.json old.root new.root")]
pub struct OptimizeArgs {
    /// File to read, near or far
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
    /// How much lies together: bytes in the file (30MB), or a number of entries
    #[arg(long, value_name = "BYTES|ENTRIES", default_value = "30MB", value_parser = cluster_size)]
    pub cluster: ClusterSize,
    /// What a basket holds at most before compression
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = basket_size)]
    pub basket: u32,
    /// Leave out top-level branches (names with * and ?); may be repeated
    #[arg(long, value_name = "NAME", value_parser = name())]
    pub drop: Vec<String>,
    /// Put the baskets of these branches first in each cluster; may be repeated
    #[arg(long, value_name = "NAME", value_parser = name())]
    pub first: Vec<String>,
    /// Perf stats that a read left (`sapwood perf -o FILE.json`): behind --first come the branches that it used; may be
    /// repeated, one for each kind of analysis: those of most come first, those used together lie together
    #[arg(long, value_name = "FILE.json")]
    pub used: Vec<PathBuf>,
    /// Leave out top-level branches that no read of --used needed
    #[arg(long, requires = "used")]
    pub drop_unused: bool,
    /// Leave the baskets of these branches in one piece; may be repeated
    #[arg(long, value_name = "NAME", value_parser = name())]
    pub keep: Vec<String>,
    /// Do not compare every entry of OUT with IN at the end
    #[arg(long)]
    pub no_verify: bool,
}

/// `sapwood recover`
#[derive(Args)]
#[command(after_help = "\
IN is only read. Trees keep the entries that are whole in all of their branches; histograms and other objects keep all
cycles that can be read. What is lost is told on stderr. The exit status is 0 when anything was recovered.

Examples:
  sapwood recover crashed.root whole.root
  sapwood recover --json https://host/cut.root whole.root")]
pub struct RecoverArgs {
    /// File to read, near or far
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
fn cluster_size(text: &str) -> Result<ClusterSize, String> {
    match text.parse::<u64>() {
        Ok(0) => Err("a cluster has at least one entry".to_owned()),
        Ok(n) => Ok(ClusterSize::Entries(n)),
        Err(_) => Ok(ClusterSize::Bytes(units::parse_bytes(text)?.max(1))),
    }
}

fn basket_size(text: &str) -> Result<u32, String> {
    match units::parse_bytes(text)? {
        n @ 512..=1_000_000_000 => Ok(n as u32),
        _ => Err("a basket has 512 bytes to 1 GB".to_owned()),
    }
}
