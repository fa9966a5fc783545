//! What makes files out of files: `sapwood merge` and `sapwood optimize`.

use super::name;
use crate::units;
use clap::{Args, ValueEnum};
use sapwood::optimize::ClusterSize;
use sapwood::{Compression, Error, Result};
use std::path::PathBuf;

/// Options of commands that write a file out of others.
#[derive(Args)]
pub(crate) struct Writing {
    /// Replace OUT if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Do not wait until OUT is on disk (fsync). Faster, but OUT can be lost if the power fails or if the file server runs out of space
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
Baskets of trees are copied without decompressing them. Histograms, profiles and TParameters of the same name are added.
Other objects of the same name are kept as cycles, each distinct version once. Trees with different branches and
histograms with different axes are refused, and the difference is shown. OUT appears only when it is complete.

Examples:
  sapwood merge all.root part-*.root
  sapwood merge -f --compress zstd:5 all.root http://host/a.root http://host/b.root
  sapwood merge all.root @list.txt")]
pub(crate) struct MergeArgs {
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Files to merge, local or remote; a pattern, as in `sapwood draw`; or @LIST, a list of files as text or JSON
    #[arg(value_name = "IN", required = true, value_parser = name())]
    pub inputs: Vec<String>,
    /// Accept ntuples with different fields; values of a field that an input lacks are zero, or empty
    #[arg(long)]
    pub union: bool,
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
    #[arg(long, value_name = "GLOB", value_parser = name())]
    pub drop: Vec<String>,
    /// Store the baskets of branches that match a pattern first in each cluster; can be repeated
    #[arg(long, value_name = "GLOB", value_parser = name())]
    pub first: Vec<String>,
    /// Statistics of an earlier read (`sapwood perf -o FILE.json`): store the branches that it used first, after those of
    /// --first. Repeat it for each analysis: the branches that most of them use come first
    #[arg(long, value_name = "FILE.json")]
    pub used: Vec<PathBuf>,
    /// Omit top-level branches that none of the --used reads needed
    #[arg(long, requires = "used")]
    pub drop_unused: bool,
    /// Do not split the baskets of branches that match a pattern; can be repeated
    #[arg(long, value_name = "GLOB", value_parser = name())]
    pub keep: Vec<String>,
    /// Do not compare OUT with IN at the end
    #[arg(long)]
    pub no_verify: bool,
}

/// `sapwood convert`
#[derive(Args)]
#[command(after_help = "\
Arrays with a counter become vectors of the same name, and the counter stays; leaf lists and split classes become records;
dots in names become underscores. In the other direction each member of a record gets a branch, and lists that a field
counts become arrays. Before OUT appears, every value is read back and compared with IN. Histograms and other objects are
not copied. A branch that cannot be converted is an error unless --skip-unsupported is given.

Examples:
  sapwood convert trees.root ntuples.root
  sapwood convert --compress zlib:1 -b 'Muon_*' trees.root:Events muons.root
  sapwood convert --to tree https://host/ntuples.root:Events tree.root")]
pub(crate) struct ConvertArgs {
    /// File to read, local or remote, and the name of a tree or ntuple in it; without a name, all of them
    #[arg(value_name = "IN[:NAME]", value_parser = name())]
    pub input: String,
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// How OUT is written
    #[command(flatten)]
    pub writing: Writing,
    /// What to convert to [default: the kind that IN does not have]
    #[arg(long, value_name = "KIND", value_enum)]
    pub to: Option<Kind>,
    /// Compress with none, zlib, lzma, lz4 or zstd, with an optional level (zstd:5)
    #[arg(long, value_name = "CODEC[:LEVEL]", default_value = "zstd:5")]
    pub compress: Compression,
    /// Convert only branches that match a pattern (*, ?); can be repeated
    #[arg(short, long = "branch", value_name = "GLOB", value_parser = name())]
    pub branches: Vec<String>,
    /// Convert only these entries; either number can be omitted
    #[arg(long, value_name = "START:STOP", value_parser = entry_range)]
    pub entries: Option<(u64, u64)>,
    /// Skip branches that cannot be converted
    #[arg(long)]
    pub skip_unsupported: bool,
    /// Do not compare OUT with IN at the end
    #[arg(long)]
    pub no_verify: bool,
}

/// What `sapwood convert` writes.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// ROOT's RNTuple
    Ntuple,
    /// ROOT's TTree
    Tree,
}

/// `sapwood recover`
#[derive(Args)]
#[command(after_help = "\
IN is not changed. Trees keep the entries that are intact in all branches: the entries of a damaged basket are dropped
from every branch. Baskets that were written after the last header of a tree are used, too. All readable cycles of
histograms and other objects are kept. Losses are listed on stderr, and in full by --json. The exit status is 0 if
anything was recovered or nothing was lost.

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

/// A slice of Python's without negative numbers.
fn entry_range(text: &str) -> Result<(u64, u64)> {
    let wrong = || Error::invalid(format!("{text} is not a range of entries; write START:STOP, for example 0:1000"));
    let (from, to) = text.split_once(':').ok_or_else(wrong)?;
    let number = |part: &str, default: u64| match part.trim() {
        "" => Ok(default),
        digits => digits.parse::<u64>().map_err(|_| wrong()),
    };
    let (from, to) = (number(from, 0)?, number(to, u64::MAX)?);
    if from > to { Err(wrong()) } else { Ok((from, to)) }
}
