use super::{cache_size, name};
use crate::units;
use clap::Args;
use sapwood::CacheSize;
use std::path::PathBuf;
use std::time::Duration;

/// `sapwood perf`
#[derive(Args)]
#[command(after_help = "\
The first lines are those of ROOT's TTreePerfStats; ROOT has no counterpart for the rest.
Without --draw and -b, all readable branches are read.

Examples:
  sapwood perf data.root:Events -b 'Muon_*' -o stats.json -o reads.png
  sapwood perf https://host/data.root --draw 'Muon_pt' --cut 'nMuon >= 2' --record events.jsonl
  sapwood perf --load stats.json -o reads.svg
  sapwood perf --replay events.jsonl --if-cache 1MB --if-cache 30MB --if-round-trip 240ms")]
pub(crate) struct PerfArgs {
    /// Files and trees to read in order; patterns and @LIST name several files, as in `sapwood draw`
    #[arg(value_name = "URL[:TREE]", required_unless_present_any = ["load", "replay"], value_parser = name())]
    pub files: Vec<String>,
    /// Read what these expressions need, and evaluate them
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "branches", value_parser = name())]
    pub draw: Option<String>,
    /// Selection for --draw
    #[arg(long, value_name = "CUT", allow_hyphen_values = true, requires = "draw", value_parser = name())]
    pub cut: Option<String>,
    /// Read branches that match a pattern (*, ?); can be repeated
    #[arg(short, long = "branch", value_name = "GLOB", value_parser = name())]
    pub branches: Vec<String>,
    /// Entries to read, as for draw: slices, numbers, a file of numbers, or FILE.root:LIST
    #[arg(long, value_name = "START:STOP,N,…|FILE|FILE:LIST", allow_hyphen_values = true, value_parser = name())]
    pub entries: Option<String>,
    /// Write a plot of the reads (.png, .svg) or the statistics (.json); can be repeated
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
    /// Write a log of the read-ahead decisions to a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Show statistics saved by -o FILE.json or by Python; reads no tree
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "replay", "record"])]
    pub load: Option<PathBuf>,
    /// Replay a log written by --record: show what the planner did, and check that it would do the same again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "record", "outputs"])]
    pub replay: Option<PathBuf>,
    /// With --replay: also show when each basket arrives and is released
    #[arg(long)]
    pub all: bool,
    /// With --replay: simulate this tree cache size; can be repeated
    #[arg(long, value_name = "BYTES|auto|0", value_parser = cache_size)]
    pub if_cache: Vec<CacheSize>,
    /// With --replay: simulate this round-trip time; 0 for a local disk; can be repeated
    #[arg(long, value_name = "TIME", value_parser = units::parse_delay)]
    pub if_round_trip: Vec<Duration>,
    /// With --replay: simulate this bandwidth, such as 100Mbit; can be repeated
    #[arg(long, value_name = "RATE", value_parser = units::parse_bandwidth)]
    pub if_bandwidth: Vec<u64>,
}
