//! The command line.

mod rewriting;
mod text;

pub use rewriting::{MergeArgs, OptimizeArgs, RecoverArgs};
pub use text::name;

use crate::perf::PerfArgs;
use crate::units;
use clap::{Args, Parser, Subcommand, ValueEnum};
use sapwood::{CacheSize, OpenOptions};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Reads ROOT trees, near or far.
#[derive(Parser)]
#[command(name = "sapwood", version, about, after_help = TARGETS, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// What every verb takes.
    #[command(flatten)]
    pub global: Global,
}

const TARGETS: &str = "\
A target is a path or a URL (http://, https://, root://, roots://); behind a colon it may name an object inside the file:
  data.root        data.root:Events        https://host:8443/data.root:dir/Events;2
A file with a single tree needs no name for it.

Examples:
  sapwood ls data.root
  sapwood show data.root:Events
  sapwood draw data.root:Events 'sqrt(px**2+py**2) >> h(100,0,50)' 'nMuon >= 2'
  sapwood scan https://host/data.root:Events run:event --limit 10";

/// Options of every verb.
#[derive(Args)]
#[command(next_help_heading = "Options of every verb")]
pub struct Global {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Tree cache: bytes held ahead (10MB, 64kB), or 0: basket by basket
    #[arg(long, global = true, value_name = "BYTES|auto|0", default_value = "auto", value_parser = cache_size)]
    pub cache_size: CacheSize,
    /// Threads that decompress; 0: one per core
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Give up a transfer on which nothing moves for so long
    #[arg(long, global = true, value_name = "TIME", default_value = "60s", value_parser = timeout)]
    pub timeout: Duration,
    /// Connections to one server at most [default: as many as are seen to be worth it, up to 16]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub connections: Option<u16>,
    /// Recover a damaged file by reading all of it, however large it is and however far away
    #[arg(long, global = true)]
    pub recover: bool,
    /// Follow redirects from https to http, and from elsewhere to this machine
    #[arg(long, global = true)]
    pub insecure_redirects: bool,
    /// No progress bar, no remarks
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Global {
    /// How files are opened.
    pub fn open_options(&self) -> OpenOptions {
        OpenOptions {
            cache: self.cache_size,
            threads: self.threads,
            timeout: self.timeout,
            recover: self.recover.then_some(true),
            on_recovery: crate::progress::recovery(self.quiet),
            insecure_redirects: self.insecure_redirects,
            max_connections: self.connections.map(usize::from),
            ..OpenOptions::default()
        }
    }
}

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    /// List a file's keys: classes, sizes, cycles
    Ls(LsArgs),
    /// Show a tree (branches, types, entries, compression, clusters) or any other object
    Show(ShowArgs),
    /// Draw an expression of a tree's branches as a histogram (TTree::Draw)
    Draw(DrawArgs),
    /// Print a tree's values as a table, CSV or JSON lines (TTree::Scan)
    Scan(ScanArgs),
    /// Read, and say what it cost: perf stats as TTreePerfStats has them, and more
    Perf(PerfArgs),
    /// Show where every basket lies in a file, as text and as a picture (TFile::DrawMap)
    Map(MapArgs),
    /// Examine a file: damage, how its trees lie, and what a rewrite would gain
    Doctor(DoctorArgs),
    /// Join files: trees basket by basket, histograms added (hadd)
    Merge(MergeArgs),
    /// Lay a file out anew so that it reads fast: clusters, basket sizes, compression
    Optimize(OptimizeArgs),
    /// Write what is left of a file that is damaged, cut short or was never closed into a new, whole one
    Recover(RecoverArgs),
    /// Serve a folder over HTTP, with delay and limited bandwidth if wanted
    Serve(ServeArgs),
    /// Write a file with made-up collisions, for trying things
    #[command(hide = true)]
    Sample(SampleArgs),
}

/// `sapwood ls`
#[derive(Args)]
#[command(after_help = "\
Sizes are those of the keys' records; a tree's key is its header only: `sapwood show` sums its baskets.

Examples:
  sapwood ls -r -l data.root
  sapwood ls https://host/data.root:histograms")]
pub struct LsArgs {
    /// File, and perhaps a directory inside
    #[arg(value_name = "URL[:DIR]", value_parser = name())]
    pub target: String,
    /// Directories inside directories as well
    #[arg(short, long)]
    pub recursive: bool,
    /// Compressed and uncompressed sizes, dates and titles
    #[arg(short, long)]
    pub long: bool,
    /// The servers that have the file, as far as the XRootD server in the URL knows; nothing is opened
    #[arg(long, conflicts_with_all = ["recursive", "long"])]
    pub locate: bool,
}

/// `sapwood show`
#[derive(Args)]
#[command(after_help = "\
Branches that cannot be read are listed with the reason, and so are parts of other objects.

Examples:
  sapwood show data.root:Events
  sapwood show data.root:Events/Muon_pt
  sapwood show data.root:histograms/pt")]
pub struct ShowArgs {
    /// File and tree or other object; a tree may be left out when the file has only one; a branch, with those below
    #[arg(value_name = "URL[:OBJECT[/BRANCH]]", value_parser = name())]
    pub target: String,
}

/// `sapwood draw`
#[derive(Args)]
#[command(after_help = "\
Expressions are those of TTree::Draw: arithmetic, comparisons, functions (sqrt, cos, abs, min, …), a[i],
Sum$, Max$, Length$, Entry$. The selection CUT is the weight of each row; rows with 0 are left out.
Without a binning the axis follows the data, as in ROOT; strings get a bin each. Names may be aliases that the
tree keeps (TTree::SetAlias).

Examples:
  sapwood draw data.root:Events 'Muon_pt >> h(100,0,100)' 'nMuon >= 2'
  sapwood draw data.root:Events 'sqrt(px**2+py**2)' --bins 50,0,20 -o pt.png -o pt.json
  sapwood draw 'run2024/*.root:Events' nMuon --add extra.root:Events")]
pub struct DrawArgs {
    /// File and tree; the tree may be left out when the file has only one. `*` and `?` in the name stand for several
    /// files (also in root:// URLs), @FILE for a list of them, one a line: they are read as one
    #[arg(value_name = "URL[:TREE]", value_parser = name())]
    pub target: String,
    /// What to histogram; `EXPR>>h(100,0,40)` gives name and binning, `EXPR>>h(100)` the number of bins
    #[arg(value_name = "EXPR", allow_hyphen_values = true, value_parser = name())]
    pub expression: String,
    /// Selection, also the weight
    #[arg(value_name = "CUT", allow_hyphen_values = true, value_parser = name())]
    pub cut: Option<String>,
    /// The selection, if not given behind EXPR
    #[arg(long = "cut", value_name = "CUT", conflicts_with = "cut", allow_hyphen_values = true, value_parser = name())]
    pub cut_option: Option<String>,
    /// Number of bins, and perhaps lower and upper edge
    #[arg(long, value_name = "N[,LOW,HIGH]", allow_hyphen_values = true)]
    pub bins: Option<String>,
    /// Draw into a file as well (.png, .svg, .json); may be repeated
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
    /// Entries to read, as slices of Python's: 100:200, 5000:, -100: for the last; numbers; several of these with
    /// commas; a file with numbers; or FILE.root:LIST, a TEntryList that ROOT made. They are counted through all files
    #[arg(long, value_name = "START:STOP,N,…|FILE|FILE:LIST", allow_hyphen_values = true, value_parser = name())]
    pub entries: Option<String>,
    /// More files, read behind the first as one chain; may be repeated
    #[arg(long, value_name = "URL[:TREE]", value_parser = name())]
    pub add: Vec<String>,
    /// Leave out files that cannot be opened or lack what is asked for, and say which
    #[arg(long)]
    pub skip_bad: bool,
    /// Keep the planner's log of the read, for `sapwood perf --replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// `sapwood scan`
#[derive(Args)]
#[command(after_help = "\
With EXPRS there is a row for every instance, as TTree::Scan has it: a list of three gives three rows, next to it a
shorter one is blank (null in JSON) behind its end, single values and strings are repeated. Every entry has a row,
also where its lists are empty. A CUT on lists makes all run together with it, to the shortest.
Without, there is a row for every entry, lists and records whole, for all branches that can be read.

Examples:
  sapwood scan data.root:Events run:event:Muon_pt 'nMuon >= 2'
  sapwood scan data.root:Events x,y --format csv > xy.csv
  sapwood scan data.root:Events --format jsonl --limit 100")]
pub struct ScanArgs {
    /// File and tree; the tree may be left out when the file has only one. `*` and `?` in the name stand for several
    /// files (also in root:// URLs), @FILE for a list of them, one a line: they are read as one
    #[arg(value_name = "URL[:TREE]", value_parser = name())]
    pub target: String,
    /// Expressions, divided by colons or commas; all readable branches when left out
    #[arg(value_name = "EXPRS", allow_hyphen_values = true, value_parser = name())]
    pub expressions: Option<String>,
    /// Selection: rows where it is 0 are left out
    #[arg(value_name = "CUT", allow_hyphen_values = true, value_parser = name())]
    pub cut: Option<String>,
    /// The selection, if not given behind EXPRS
    #[arg(long = "cut", value_name = "CUT", conflicts_with = "cut", allow_hyphen_values = true, value_parser = name())]
    pub cut_option: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table, conflicts_with = "json")]
    pub format: Format,
    /// Rows to print, 0 for all; 25 for a table on a terminal, else all
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Entries to read, as slices of Python's: 100:200, 5000:, -100: for the last; numbers; several of these with
    /// commas; a file with numbers; or FILE.root:LIST, a TEntryList that ROOT made. They are counted through all files
    #[arg(long, value_name = "START:STOP,N,…|FILE|FILE:LIST", allow_hyphen_values = true, value_parser = name())]
    pub entries: Option<String>,
    /// More files, read behind the first as one chain; may be repeated
    #[arg(long, value_name = "URL[:TREE]", value_parser = name())]
    pub add: Vec<String>,
    /// Leave out files that cannot be opened or lack what is asked for, and say which
    #[arg(long)]
    pub skip_bad: bool,
    /// Keep the planner's log of the read, for `sapwood perf --replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// How `scan` prints rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns
    Table,
    /// Comma-separated values, titles in the first line
    Csv,
    /// One JSON object per row
    Jsonl,
}

/// `sapwood map`
#[derive(Args)]
#[command(after_help = "\
The file goes on line after line. Branches that are chosen with -b have a letter or a colour for each pattern; without
-b each tree has one. A pattern that fits a branch with branches below it chooses those.

Examples:
  sapwood map data.root
  sapwood map data.root:Events -b 'Muon_*' -b Jet_pt -o map.svg")]
pub struct MapArgs {
    /// File, and perhaps one tree
    #[arg(value_name = "URL[:TREE]", value_parser = name())]
    pub target: String,
    /// Branches to tell apart, as patterns (*, ?); may be repeated
    #[arg(short, long = "branch", value_name = "GLOB", value_parser = name())]
    pub branches: Vec<String>,
    /// Draw into a file as well (.png, .svg), or keep the numbers (.json); may be repeated
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
}

/// `sapwood doctor`
#[derive(Args)]
#[command(after_help = "\
The exit status is 1 when anything is damaged. Notes are worth knowing, but nothing is lost.

Examples:
  sapwood doctor data.root
  sapwood doctor --if-cache 10MB --if-cache 100MB --if-round-trip 50ms data.root
  sapwood doctor --deep --json data.root")]
pub struct DoctorArgs {
    /// File
    #[arg(value_name = "URL", value_parser = name())]
    pub file: String,
    /// Decompress every basket and read every object: checksums are checked
    #[arg(long)]
    pub deep: bool,
    /// Tree cache for which costs are worked out; may be repeated [default: 0, auto]
    #[arg(long, value_name = "BYTES|auto|0", value_parser = cache_size)]
    pub if_cache: Vec<CacheSize>,
    /// Round-trip time for which costs are worked out, 0ms being a local disk; may be repeated [default: 0ms, 20ms,
    /// 200ms]
    #[arg(long, value_name = "TIME", value_parser = units::parse_round_trip)]
    pub if_round_trip: Vec<Duration>,
}

/// `sapwood serve`
#[derive(Args)]
#[command(after_help = "\
The first line of the output names the address. Ctrl-C ends it.

Example: a server 50 ms away behind a line of 100 Mbit/s
  sapwood serve data --delay 50ms --bandwidth 100Mbit")]
pub struct ServeArgs {
    /// Folder whose files are served
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Port to listen on; 0: any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Address to listen on; only this machine can reach the default
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// A name by which the server may be asked; may be repeated. On this machine alone (the default) it answers to
    /// localhost and addresses, or a page of any site could read what is served
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,
    /// Round-trip time of the network to be played
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = sapwood_proxy::parse_delay)]
    pub delay: Duration,
    /// Its bandwidth, which all connections share; not limited when left out
    #[arg(long, value_name = "RATE", value_parser = sapwood_proxy::parse_bandwidth)]
    pub bandwidth: Option<u64>,
}

/// `sapwood sample`
#[derive(Args)]
pub struct SampleArgs {
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Entries
    #[arg(long, value_name = "N")]
    pub entries: u64,
    /// The same seed gives the same values
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Many small baskets all over the file, as old files have them
    #[arg(long)]
    pub scattered: bool,
}

/// The value of `--cache-size`.
pub fn cache_size(text: &str) -> Result<CacheSize, String> {
    match text {
        "auto" => Ok(CacheSize::Auto),
        _ => Ok(match units::parse_bytes(text)? {
            0 => CacheSize::Off,
            n => CacheSize::Bytes(n),
        }),
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    match units::parse_duration(text)? {
        Duration::ZERO => Err("a timeout of 0 would give up at once".to_owned()),
        t => Ok(t),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn cache_sizes() {
        assert_eq!(cache_size("auto"), Ok(CacheSize::Auto));
        assert_eq!(cache_size("0"), Ok(CacheSize::Off));
        assert_eq!(cache_size("64kB"), Ok(CacheSize::Bytes(64_000)));
        assert!(cache_size("much").is_err());
    }
}
