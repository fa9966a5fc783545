//! `sapwood simulate`.

use super::name;
use clap::Args;
use std::path::PathBuf;

/// `sapwood simulate`
#[derive(Args)]
#[command(after_help = "\
A scenario is a TOML file, or the name of one that comes with the program (--list). The same seed gives the same report.

A sweep changes a value: disk, proxy, local_cache, rtt, bandwidth, cores or tasks, of all sites, links or workloads that have
it; `proxy@tier2` changes that of one. Ranges rise in equal factors, in 7 values or as many as stand behind a slash.

Examples:
  sapwood simulate --list
  sapwood simulate tier3 -o report
  sapwood simulate tier3 --sweep proxy=100GB..10TB,rtt=5ms..100ms/4
  sapwood simulate tier3 --show > mine.toml
  sapwood simulate --profile data.root:Events -o events.json")]
pub(crate) struct SimulateArgs {
    /// File of the scenario, or the name of one that comes with the program
    #[arg(value_name = "SCENARIO", required_unless_present_any = ["list", "profile"], value_parser = name())]
    pub scenario: Option<String>,
    /// Write report.html, report.json, report.txt and the pictures into this directory; with --profile, write the profile to
    /// this file
    #[arg(short, long = "output", value_name = "DIR|FILE")]
    pub output: Option<PathBuf>,
    /// Random seed [default: that of the scenario]
    #[arg(long, value_name = "N", value_parser = super::whole_number::<u64>)]
    pub seed: Option<u64>,
    /// Simulate all combinations of these values, too, in parallel
    #[arg(long, value_name = "KEY=LOW..HIGH[/N],…")]
    pub sweep: Option<String>,
    /// List the scenarios that come with the program
    #[arg(long, conflicts_with_all = ["scenario", "profile", "sweep", "seed", "output"])]
    pub list: bool,
    /// Print the text of the scenario, to be changed; simulates nothing
    #[arg(long, requires = "scenario", conflicts_with_all = ["sweep", "seed", "output"])]
    pub show: bool,
    /// Take the baskets of a real file as the profile of a dataset
    #[arg(long, value_name = "URL[:TREE]", conflicts_with_all = ["scenario", "sweep", "seed"], value_parser = name())]
    pub profile: Option<String>,
}
