//! The command line.

mod friends;
mod local_cache;
mod perf;
mod rewriting;
mod selecting;
mod serving;
mod simulating;
mod text;

pub(crate) use friends::FriendArgs;
pub(crate) use local_cache::{CacheArgs, CacheVerb, SwitchOn};
pub(crate) use perf::PerfArgs;
pub(crate) use rewriting::{ConvertArgs, Kind as ConvertKind, MergeArgs, OptimizeArgs, RecoverArgs};
pub(crate) use selecting::{Executor, ProcessArgs, SkeletonArgs};
pub(crate) use serving::{BrowseArgs, Listener, ProxyArgs, ServeArgs};
pub(crate) use simulating::SimulateArgs;
pub(crate) use text::name;

use crate::units;
use clap::{Args, Parser, Subcommand, ValueEnum};
use sapwood::local_cache::LocalCache;
use sapwood::{CacheSize, Error, OpenOptions, Result, S3Options};
use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Reads ROOT trees, near or far.
#[derive(Parser)]
#[command(name = "sapwood", version, about, after_help = TARGETS, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of all commands.
    #[command(flatten)]
    pub global: Global,
}

const TARGETS: &str = "\
A target is a path or a URL (http://, https://, root://, roots://, s3://). Add a colon and a name for an object in the file:
  data.root        data.root:Events        https://host:8443/data.root:dir/Events;2
If a file has a single tree, the name can be omitted.

Examples:
  sapwood ls data.root
  sapwood show data.root:Events
  sapwood draw data.root:Events 'sqrt(px**2+py**2) >> h(100,0,50)' 'nMuon >= 2'
  sapwood scan https://host/data.root:Events run:event --limit 10";

/// Global options.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Size of the tree cache (10MB, 64kB); 0 reads one basket per request
    #[arg(long, global = true, value_name = "BYTES|auto|0", default_value = "auto", value_parser = cache_size)]
    pub cache_size: CacheSize,
    /// Number of decompression threads; 0 for one per core
    #[arg(long, global = true, value_name = "N", default_value_t = 0, value_parser = whole_number::<usize>, allow_negative_numbers = true)]
    pub threads: usize,
    /// Abort a transfer after this long without progress
    #[arg(long, global = true, value_name = "TIME", default_value = "60s", value_parser = timeout)]
    pub timeout: Duration,
    /// Maximum connections per server [default: automatic, up to 16]
    #[arg(long, global = true, value_name = "N", value_parser = number_in::<1, 256>, allow_negative_numbers = true)]
    pub connections: Option<u32>,
    /// Recover a damaged file even if that reads all of a large remote file
    #[arg(long, global = true)]
    pub recover: bool,
    /// Follow redirects from https to http, and from other hosts to this machine
    #[arg(long, global = true)]
    pub insecure_redirects: bool,
    /// Cache remote files in this directory; "off" disables the cache
    #[arg(long, global = true, value_name = "DIR|off", value_parser = local_cache::folder)]
    pub local_cache: Option<LocalCache>,
    /// Read remote files from the local cache only; do not check whether they have changed
    #[arg(long, global = true)]
    pub offline: bool,
    /// Address of the store for s3:// URLs [default: AWS] [env: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub s3_endpoint: Option<String>,
    /// Region for s3:// URLs [env: AWS_REGION]
    #[arg(long, global = true, value_name = "NAME")]
    pub s3_region: Option<String>,
    /// Read s3:// URLs without credentials, as public buckets allow
    #[arg(long, global = true)]
    pub s3_anonymous: bool,
    /// Suppress progress and warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log redirects, retries and fallbacks to stderr; -vv also logs connections and requests [env: SAPWOOD_LOG=info|debug]
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

impl Global {
    /// How files are opened.
    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions::default()
            .cache(self.cache_size)
            .threads(self.threads)
            .timeout(self.timeout)
            .recover(self.recover.then_some(true))
            .on_recovery(crate::progress::recovery(self.quiet))
            .insecure_redirects(self.insecure_redirects)
            .max_connections(self.connections.map(|n| n as usize))
            .local_cache(self.local_cache.clone().unwrap_or_default())
            .offline(self.offline)
            .s3(self.s3_options())
    }
}

impl Global {
    /// How S3 stores are reached.
    pub(crate) fn s3_options(&self) -> S3Options {
        S3Options {
            endpoint: self.s3_endpoint.clone(),
            region: self.s3_region.clone(),
            anonymous: self.s3_anonymous.then_some(true),
            ..S3Options::default()
        }
    }
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// List a file's keys: classes, sizes, cycles
    Ls(LsArgs),
    /// Show a tree (branches, types, entries, compression, clusters) or any other object
    Show(ShowArgs),
    /// Draw an expression of a tree's branches as a histogram (TTree::Draw)
    Draw(DrawArgs),
    /// Print a tree's values as a table, CSV or JSON lines (TTree::Scan)
    Scan(ScanArgs),
    /// Browse files in a web browser: histograms, tables, maps, I/O (TBrowser, TTreeView)
    Browse(BrowseArgs),
    /// Run a selector, written in Python, over trees (TTree::Process)
    Process(ProcessArgs),
    /// Write a selector for a tree (TTree::MakeSelector, MakeClass)
    Skeleton(SkeletonArgs),
    /// Read a tree and print its I/O statistics (TTreePerfStats, and more)
    Perf(PerfArgs),
    /// Show where the baskets are in a file, as text or as a picture (TFile::DrawMap)
    Map(MapArgs),
    /// Check a file for damage and a slow layout, and estimate what a rewrite would gain
    Doctor(DoctorArgs),
    /// Merge files: copy the baskets of trees, add histograms (hadd)
    Merge(MergeArgs),
    /// Rewrite a file for faster reading: clusters, basket sizes, compression
    Optimize(OptimizeArgs),
    /// Convert trees to ntuples (RNTuple), or ntuples to trees
    Convert(ConvertArgs),
    /// Save what is left of a damaged, truncated or unclosed file to a new file
    Recover(RecoverArgs),
    /// Cache remote files on this machine
    Cache(CacheArgs),
    /// Serve a directory over HTTP, optionally with simulated delay and bandwidth
    Serve(ServeArgs),
    /// Run a caching proxy in front of remote files, for any client of HTTP or XRootD
    Proxy(ProxyArgs),
    /// Simulate sites that share files over networks: push against pull
    Simulate(SimulateArgs),
    /// Write a sample file with simulated collisions
    #[command(hide = true)]
    Sample(SampleArgs),
}

/// `sapwood ls`
#[derive(Args)]
#[command(after_help = "\
Sizes are those of the keys' records, not of whole trees. `sapwood show` adds up the baskets of a tree.

Examples:
  sapwood ls -r -l data.root
  sapwood ls https://host/data.root:histograms")]
pub(crate) struct LsArgs {
    /// File, optionally with a directory in it; or @LIST, to show the files in a list
    #[arg(value_name = "URL[:DIR]", value_parser = name())]
    pub target: String,
    /// List subdirectories recursively
    #[arg(short, long)]
    pub recursive: bool,
    /// Show compressed and uncompressed sizes, dates and titles
    #[arg(short, long)]
    pub long: bool,
    /// List the servers that have the file, according to the XRootD server in the URL; the file is not opened
    #[arg(long, conflicts_with_all = ["recursive", "long"])]
    pub locate: bool,
}

/// `sapwood show`
#[derive(Args)]
#[command(after_help = "\
Branches and parts of objects that cannot be read are listed with the reason.

Examples:
  sapwood show data.root:Events
  sapwood show data.root:Events/Muon_pt
  sapwood show data.root:histograms/pt")]
pub(crate) struct ShowArgs {
    /// File, and a tree, branch or other object in it. OBJECT can be omitted if the file has only one tree
    #[arg(value_name = "URL[:OBJECT[/BRANCH]]", value_parser = name())]
    pub target: String,
}

/// `sapwood draw`
#[derive(Args)]
#[command(after_help = "\
Expressions are those of TTree::Draw: arithmetic, comparisons, functions (sqrt, cos, abs, min, …), a[i],
Sum$, Max$, Length$, Entry$, and aliases, stored in the tree (TTree::SetAlias) or given by --alias. Up to three variables are separated
by colons, x last: y:x. CUT is the weight of each row; rows with weight 0 are skipped. Without a binning, the axis
limits follow the data as in ROOT, and each string has its own bin. >>LIST in place of EXPR makes a list of the
entries that pass the cut.

Examples:
  sapwood draw data.root:Events 'Muon_pt >> h(100,0,100)' 'nMuon >= 2'
  sapwood draw data.root:Events 'sqrt(px**2+py**2)' --bins 50,0,20 -o pt.png -o pt.json
  sapwood draw data.root:Events 'Muon_pt:Muon_eta >> p(24,-2.4,2.4)' '' prof -o profile.root
  sapwood draw data.root:Events '>>muons' 'nMuon >= 2' entrylist -o muons.root
  sapwood draw 'run2024/*.root:Events' nMuon --add extra.root:Events
  sapwood draw data.root:Events 'Muon_pt*calib.scale' --friend calib=Scales@scales.root --index run,event")]
pub(crate) struct DrawArgs {
    /// File and tree; omit the tree if the file has only one. Use `*`, `?`, `[ab]`, `{a,b}` and `**` to read several
    /// files as one chain (also in root:// and s3:// URLs), or @LIST for a list of files: a text file with one name per line, or JSON from
    /// coffea, Rucio or DAS
    #[arg(value_name = "URL[:TREE]", value_parser = name())]
    pub target: String,
    /// Expression to draw. Append >>h(100,0,40) to set the name and the binning; with >>h(100), the limits are automatic and
    /// rounded as in ROOT, so the number of bins may differ
    #[arg(value_name = "EXPR", allow_hyphen_values = true, value_parser = name())]
    pub expression: Option<String>,
    /// Selection, and weight of each row
    #[arg(value_name = "CUT", allow_hyphen_values = true, value_parser = name())]
    pub cut: Option<String>,
    /// Option text as in TTree::Draw: prof, profs, profi, profg, norm, same, e, para, candle, entrylist,
    /// entrylistarray; same as --option
    #[arg(value_name = "OPTION", value_parser = name())]
    pub option: Option<String>,
    /// Selection, if not given after EXPR
    #[arg(long = "cut", value_name = "CUT", conflicts_with = "cut", allow_hyphen_values = true, value_parser = name())]
    pub cut_option: Option<String>,
    /// Option text, if not given after CUT
    #[arg(id = "draw_option", long = "option", value_name = "OPTION", conflicts_with = "option", value_parser = name())]
    pub draw_option: Option<String>,
    /// Draw this first; later draws can fill its histogram (>>h, >>+h) or overlay its plot (option same); can be
    /// repeated
    #[arg(long, value_name = "EXPR[?CUT]", allow_hyphen_values = true, value_parser = name())]
    pub before: Vec<String>,
    /// Draw this instead of EXPR and CUT; repeat to draw several in one pass over the tree
    #[arg(short = 'e', long = "expr", value_name = "EXPR[?CUT]", conflicts_with_all = ["expression", "cut", "cut_option",
        "before"], allow_hyphen_values = true, value_parser = name())]
    pub expressions: Vec<String>,
    /// Number of bins, lower and upper edge, for each variable, x first, as in 40,0,10,20,-3,3. Empty fields are
    /// chosen automatically: 40,0,10,20,, sets only the number of bins of y. Edges in brackets make bins of different widths: [0,1,5,20]
    #[arg(long, value_name = "N[,LOW,HIGH]", allow_hyphen_values = true)]
    pub bins: Option<String>,
    /// Also write the drawing to a file (.png, .svg, .json, .root); can be repeated
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
    /// Entries to read: Python slices (100:200, 5000:, -100:) and numbers, separated by commas; a file of numbers;
    /// or FILE.root:LIST, a TEntryList or TEventList. Entries are counted across all files
    #[arg(long, value_name = "START:STOP,N,…|FILE|FILE:LIST", allow_hyphen_values = true, value_parser = name())]
    pub entries: Option<String>,
    /// Add a file to the chain; can be repeated
    #[arg(long, value_name = "URL[:TREE]", value_parser = name())]
    pub add: Vec<String>,
    /// Give an expression a name for EXPR and CUT, as TTree::SetAlias does; a branch of that name takes precedence. Can be
    /// repeated, and aliases can use each other
    #[arg(long = "alias", value_name = "NAME=EXPR", value_parser = name())]
    pub aliases: Vec<String>,
    #[command(flatten)]
    pub friends: FriendArgs,
    /// Skip files that cannot be read or are incomplete, with a warning
    #[arg(long)]
    pub skip_bad: bool,
    /// Draw on a Dask cluster: the address of its scheduler, or `local` for processes on this machine. Python, as in
    /// `sapwood process`, must have the packages sapwood, dask and distributed
    #[arg(long, value_name = "tcp://HOST:PORT|local", conflicts_with_all = ["expressions", "before", "record", "entries"])]
    pub dask: Option<String>,
    /// Number of processes of --dask local [default: one per core]
    #[arg(long, value_name = "N", value_parser = number_in::<1, 4096>, requires = "dask", allow_negative_numbers = true)]
    pub workers: Option<u32>,
    /// Write a log of the read-ahead decisions to a file, for `sapwood perf --replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// `sapwood scan`
#[derive(Args)]
#[command(after_help = "\
With EXPRS, each instance has a row, as in TTree::Scan: a list of three values makes three rows, shorter lists are
blank (null in JSON) after their end, single values and strings are repeated. An entry with empty lists has one row.
With a CUT on lists, all lists run in parallel with it and stop at the shortest.
Without EXPRS, each entry has one row with all readable branches, lists and records included.
With an OPTION, the layout is that of TTree::Scan; first and n choose entries, and without EXPRS the first eight leaves
are printed.

Examples:
  sapwood scan data.root:Events run:event:Muon_pt 'nMuon >= 2'
  sapwood scan data.root:Events x,y --format csv > xy.csv
  sapwood scan data.root:Events 'x:flags' '' 'col=10.3f:#x precision=4'
  sapwood scan data.root:Events p:eta 'p > 20' --alias 'p=sqrt(px**2+py**2)'
  sapwood scan data.root:Events --format jsonl --limit 100")]
pub(crate) struct ScanArgs {
    /// File and tree; omit the tree if the file has only one. Use `*`, `?`, `[ab]`, `{a,b}` and `**` to read several
    /// files as one chain (also in root:// and s3:// URLs), or @LIST for a list of files: a text file with one name per line, or JSON from
    /// coffea, Rucio or DAS
    #[arg(value_name = "URL[:TREE]", value_parser = name())]
    pub target: String,
    /// Expressions, separated by colons or commas; `*` for all leaves [default: all readable branches, one row per entry]
    #[arg(value_name = "EXPRS", allow_hyphen_values = true, value_parser = name())]
    pub expressions: Option<String>,
    /// Selection: skip rows where it is 0
    #[arg(value_name = "CUT", allow_hyphen_values = true, value_parser = name())]
    pub cut: Option<String>,
    /// Option text as in TTree::Scan, which prints the rows in ROOT's layout: colsize=N, precision=N, col=8d:#x:..., lenmax=N,
    /// first=ENTRY, n=ENTRIES; same as --option
    #[arg(value_name = "OPTION", conflicts_with_all = ["format", "json"], value_parser = name())]
    pub option: Option<String>,
    /// Option text, if not given after CUT
    #[arg(id = "scan_option", long = "option", value_name = "OPTION", conflicts_with_all = ["option", "format", "json"],
        value_parser = name())]
    pub scan_option: Option<String>,
    /// Selection, if not given after EXPRS
    #[arg(long = "cut", value_name = "CUT", conflicts_with = "cut", allow_hyphen_values = true, value_parser = name())]
    pub cut_option: Option<String>,
    /// Output format: aligned columns, comma-separated values with a header line, or one JSON object per row
    #[arg(long, value_enum, value_name = "table|csv|jsonl", default_value_t = Format::Table, conflicts_with = "json",
        hide_possible_values = true)]
    pub format: Format,
    /// Rows to print; 0 for all [default: 25 for a table on a terminal, otherwise all]
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>, allow_negative_numbers = true)]
    pub limit: Option<u64>,
    /// Entries to read: Python slices (100:200, 5000:, -100:) and numbers, separated by commas; a file of numbers;
    /// or FILE.root:LIST, a TEntryList or TEventList. Entries are counted across all files
    #[arg(long, value_name = "START:STOP,N,…|FILE|FILE:LIST", allow_hyphen_values = true, value_parser = name())]
    pub entries: Option<String>,
    /// Add a file to the chain; can be repeated
    #[arg(long, value_name = "URL[:TREE]", value_parser = name())]
    pub add: Vec<String>,
    /// Give an expression a name for EXPR and CUT, as TTree::SetAlias does; a branch of that name takes precedence. Can be
    /// repeated, and aliases can use each other
    #[arg(long = "alias", value_name = "NAME=EXPR", value_parser = name())]
    pub aliases: Vec<String>,
    #[command(flatten)]
    pub friends: FriendArgs,
    /// Skip files that cannot be read or are incomplete, with a warning
    #[arg(long)]
    pub skip_bad: bool,
    /// Write a log of the read-ahead decisions to a file, for `sapwood perf --replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// How `scan` prints rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns
    Table,
    /// Comma-separated values with a header line
    Csv,
    /// One JSON object per row
    Jsonl,
}

/// `sapwood map`
#[derive(Args)]
#[command(after_help = "\
The map shows the file from the first byte to the last, line by line. Each pattern of -b has its own letter or color;
without -b, each tree has. A pattern that matches a branch includes its sub-branches.

Examples:
  sapwood map data.root
  sapwood map data.root:Events -b 'Muon_*' -b Jet_pt -o map.svg")]
pub(crate) struct MapArgs {
    /// File, optionally with a tree in it
    #[arg(value_name = "URL[:TREE]", value_parser = name())]
    pub target: String,
    /// Highlight branches that match a pattern (*, ?); can be repeated
    #[arg(short, long = "branch", value_name = "GLOB", value_parser = name())]
    pub branches: Vec<String>,
    /// Write the picture (.png, .svg) or the numbers (.json) to a file; can be repeated
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
}

/// `sapwood doctor`
#[derive(Args)]
#[command(after_help = "\
The exit status is 1 if the file is damaged or cannot be read at all. It is 0 if no damage was found, even if parts could
not be checked because this version does not support them: the first line and `unchecked` in --json count these. Notes
report what is unusual but harmless.

Examples:
  sapwood doctor data.root
  sapwood doctor --if-cache 10MB --if-cache 100MB --if-round-trip 50ms data.root
  sapwood doctor --deep --json data.root")]
pub(crate) struct DoctorArgs {
    /// File
    #[arg(value_name = "URL", value_parser = name())]
    pub file: String,
    /// Read every basket and every object, and verify checksums
    #[arg(long)]
    pub deep: bool,
    /// Estimate costs for this tree cache size; can be repeated [default: 0, auto]
    #[arg(long, value_name = "BYTES|auto|0", value_parser = cache_size)]
    pub if_cache: Vec<CacheSize>,
    /// Estimate costs for this round-trip time; 0ms is a local disk; can be repeated [default: 0ms, 20ms, 200ms]
    #[arg(long, value_name = "TIME", value_parser = units::parse_delay)]
    pub if_round_trip: Vec<Duration>,
}

/// `sapwood sample`
#[derive(Args)]
pub(crate) struct SampleArgs {
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Number of entries
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>)]
    pub entries: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_number::<u64>)]
    pub seed: u64,
    /// Scatter many small baskets over the file, as in old files
    #[arg(long)]
    pub scattered: bool,
}

/// The value of `--cache-size`.
pub(crate) fn cache_size(text: &str) -> Result<CacheSize> {
    match text {
        "auto" => Ok(CacheSize::Auto),
        _ => Ok(match units::parse_bytes(text)? {
            0 => CacheSize::Off,
            n => CacheSize::Bytes(n),
        }),
    }
}

/// A count.
fn whole_number<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: ParseIntError| match e.kind() {
        IntErrorKind::PosOverflow => "the number is too large".to_owned(),
        _ => "must be a whole number, 0 or more".to_owned(),
    })
}

/// A whole number within limits.
pub(crate) fn number_in<const LOW: u32, const HIGH: u32>(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (LOW..=HIGH).contains(n));
    number.ok_or_else(|| format!("must be a whole number from {LOW} to {HIGH}"))
}

fn timeout(text: &str) -> Result<Duration> {
    match units::parse_duration(text)? {
        Duration::ZERO => Err(Error::invalid("the timeout must be greater than 0")),
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
        assert_eq!(cache_size("auto").unwrap(), CacheSize::Auto);
        assert_eq!(cache_size("0").unwrap(), CacheSize::Off);
        assert_eq!(cache_size("64kB").unwrap(), CacheSize::Bytes(64_000));
        assert!(cache_size("much").is_err());
    }

    #[test]
    fn numbers_within_limits() {
        assert_eq!(number_in::<1, 256>("256"), Ok(256));
        for wrong in ["0", "257", "-1", "x", "99999999999"] {
            assert_eq!(number_in::<1, 256>(wrong), Err("must be a whole number from 1 to 256".to_owned()));
        }
    }

    #[test]
    fn counts() {
        assert_eq!(whole_number::<u64>("25"), Ok(25));
        for wrong in ["x", "-1", "1.5", ""] {
            assert_eq!(whole_number::<u64>(wrong), Err("must be a whole number, 0 or more".to_owned()));
        }
        assert_eq!(whole_number::<u64>(&"9".repeat(30)), Err("the number is too large".to_owned()));
    }
}
