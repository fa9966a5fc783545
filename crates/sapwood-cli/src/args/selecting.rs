//! Selectors: `sapwood process` and `sapwood skeleton`.

use super::{name, number_in};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `sapwood process`
#[derive(Args)]
#[command(
    override_usage = "sapwood process [OPTIONS] <URL[:TREE]>... <SCRIPT>",
    after_help = "\
SCRIPT is a Python file with one selector: a class derived from sapwood.Selector, or a function with @sapwood.selector.
Write one with `sapwood skeleton`. The result is printed; --json prints it as JSON. C++ macros (.C) cannot be run.
Python is $SAPWOOD_PYTHON, or the one beside this command, or python3; the package sapwood must be installed there.

Examples:
  sapwood process data.root:Events selector.py
  sapwood process a.root:Events b.root:Events selector.py --executor processes --workers 8"
)]
pub(crate) struct ProcessArgs {
    /// Files, each with an optional tree, and the script as the last argument. Patterns and @LIST name several files, as in
    /// `sapwood draw`
    #[arg(value_names = ["URL[:TREE]", "SCRIPT"], num_args = 1.., required = true, value_parser = name())]
    pub targets: Vec<String>,
    /// Run the selector on threads of one process, or in several processes [default: chosen by the amount of data]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "threads|processes")]
    pub executor: Option<Executor>,
    /// Number of threads or processes [default: one per core]
    #[arg(long, value_name = "N", value_parser = number_in::<1, 4096>, requires = "executor", allow_negative_numbers = true)]
    pub workers: Option<u32>,
    /// Size of a batch: a number of entries, or memory (20MB)
    #[arg(long, value_name = "N|BYTES")]
    pub step_size: Option<String>,
    /// Skip batches that fail: show their errors, and exit with status 1 at the end
    #[arg(long)]
    pub skip_failed: bool,
    #[command(flatten)]
    pub friends: super::FriendArgs,
}

/// What runs a selector.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Executor {
    /// Threads of one process
    Threads,
    /// Separate processes
    Processes,
}

/// `sapwood skeleton`
#[derive(Args)]
#[command(after_help = "\
The selector reads all branches that can be read and counts entries. Remove the branches that you do not need and
add your analysis.

Examples:
  sapwood skeleton data.root:Events -o selector.py
  sapwood skeleton data.root:Events --compiled -o loop.py")]
pub(crate) struct SkeletonArgs {
    /// File, and a tree in it; the tree can be omitted if the file has only one
    #[arg(value_name = "URL[:TREE]", value_parser = name())]
    pub target: String,
    /// Write a loop over entries that numba compiles, instead of a class
    #[arg(long)]
    pub compiled: bool,
    /// Write to this new file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
