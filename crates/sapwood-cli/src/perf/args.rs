use crate::args::{cache_size, name};
use crate::units;
use clap::Args;
use sapwood::CacheSize;
use std::path::PathBuf;
use std::time::Duration;

/// `sapwood perf`
#[derive(Args)]
#[command(after_help = "\
The first part is what ROOT's TTreePerfStats prints, with the same meaning; the rest counts what ROOT does not.
Without --draw and -b all branches that can be read are read.

Examples:
  sapwood perf data.root:Events -b 'Muon_*' -o stats.json -o reads.png
  sapwood perf https://host/data.root --draw 'Muon_pt' --cut 'nMuon >= 2' --record events.jsonl
  sapwood perf --load stats.json -o reads.svg
  sapwood perf --replay events.jsonl --if-cache 1MB --if-cache 30MB --if-round-trip 240ms")]
pub struct PerfArgs {
    /// Files and trees to read, one after another
    #[arg(value_name = "URL[:TREE]", required_unless_present_any = ["load", "replay"], value_parser = name())]
    pub files: Vec<String>,
    /// Read what drawing these expressions needs, and compute them
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "branches", value_parser = name())]
    pub draw: Option<String>,
    /// The selection of --draw
    #[arg(long, value_name = "CUT", allow_hyphen_values = true, conflicts_with = "branches", value_parser = name())]
    pub cut: Option<String>,
    /// Branches to read, as patterns (*, ?); may be repeated
    #[arg(short, long = "branch", value_name = "GLOB", value_parser = name())]
    pub branches: Vec<String>,
    /// Entries to read, as for draw: 100:200, 5000:, -100: for the last; numbers; a file with numbers; or FILE.root:LIST
    #[arg(long, value_name = "START:STOP,N,…|FILE|FILE:LIST", allow_hyphen_values = true, value_parser = name())]
    pub entries: Option<String>,
    /// Draw what was read (.png, .svg), or keep the stats (.json); may be repeated
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
    /// Keep the planner's log of the read
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Read nothing: show stats that were kept by -o FILE.json or by Python
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "replay", "record"])]
    pub load: Option<PathBuf>,
    /// Read nothing: show what the planner did, from a log that --record kept, and whether it would do the same again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "record", "outputs"])]
    pub replay: Option<PathBuf>,
    /// With --replay: every arrival and release of a basket as well
    #[arg(long)]
    pub all: bool,
    /// With --replay: how it would go with a tree cache of this size; may be repeated
    #[arg(long, value_name = "BYTES|auto|0", value_parser = cache_size)]
    pub if_cache: Vec<CacheSize>,
    /// With --replay: with this round-trip time, 0 for a local disk; may be repeated
    #[arg(long, value_name = "TIME", value_parser = units::parse_round_trip)]
    pub if_round_trip: Vec<Duration>,
    /// With --replay: with this bandwidth, as in 100Mbit; may be repeated
    #[arg(long, value_name = "RATE", value_parser = sapwood_proxy::parse_bandwidth)]
    pub if_bandwidth: Vec<u64>,
}
