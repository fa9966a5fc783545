//! The `sapwood` command: ROOT trees, near or far, listed, drawn, printed and served.

#![warn(unreachable_pub, unnameable_types)]

mod args;
mod browse;
mod command_line;
mod convert;
mod doctor;
mod draw;
mod draw_output;
mod entries;
mod entry_list_output;
mod failure;
mod friends;
mod given_aliases;
mod interrupt;
mod local_cache;
mod log;
mod ls;
mod map;
mod merge;
mod object;
mod optimize;
mod option_file;
mod output;
mod perf;
mod process;
mod progress;
mod proxy;
mod reading;
mod recover;
mod root_histogram;
mod sample;
mod scan;
mod serve;
mod show;
mod simulate;
mod skeleton;
mod step_progress;
mod target;

use args::{Cli, Verb};
use clap::Parser;
use clap::error::ErrorKind;
use failure::Failure;
use interrupt::Interrupt;
use sapwood::text::units;
use std::ffi::OsString;
use std::io::Write;

/// Runs the command with these arguments, of which the first is the program's name, and returns its exit status.
///
/// It takes over SIGINT and SIGXFSZ of this process, some commands SIGTERM and SIGHUP as well.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => {
            let done = run(&cli);
            sapwood::local_cache::flush();
            // what was noticed only when something was written
            sapwood::local_cache::all_warnings().iter().for_each(|warning| failure::hint_once(warning));
            done
        }
        Err(told) => help(&told),
    };
    // what a process does when it ends, which this one may not be about to do
    let _ = std::io::stdout().flush();
    match done {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// The same for a process whose stdout was closed when it began.
pub fn main_without_stdout(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    output::stdout_was_closed();
    main(arguments)
}

/// Prints what clap has to say: help and version on stdout, or what is wrong with the command line on stderr.
fn help(told: &clap::Error) -> Result<(), Failure> {
    if told.use_stderr() {
        if matches!(told.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
            // if stderr is closed, nobody reads this
            let _ = told.print();
            return Err(Failure::Told);
        }
        return Err(Failure::Usage(command_line::refusal(told)));
    }
    output::check_stdout()?;
    told.print()?;
    Ok(std::io::stdout().flush()?)
}

fn run(cli: &Cli) -> Result<(), Failure> {
    let interrupt = Interrupt::install()?;
    if cli.global.quiet {
        failure::be_quiet();
    }
    log::begin(cli.global.verbose)?;
    let (global, options) = (&cli.global, cli.global.open_options());
    match &cli.verb {
        Verb::Browse(a) => browse::run(a, &options, global, &interrupt),
        Verb::Ls(a) => ls::run(a, &options, global.json),
        Verb::Show(a) => show::run(a, &options, global.json),
        Verb::Map(a) => map::run(a, &options, global),
        Verb::Doctor(a) => doctor::run(a, &options, global.json),
        Verb::Draw(a) => perf::recorded(a.record.as_deref(), || draw::run(a, &options, global, &interrupt)),
        Verb::Scan(a) => perf::recorded(a.record.as_deref(), || scan::run(a, &options, global, &interrupt)),
        Verb::Process(a) => process::run(a, global),
        Verb::Skeleton(a) => skeleton::run(a, &options),
        Verb::Perf(a) => perf::run(a, &options, global, &interrupt),
        Verb::Merge(a) => merge::run(a, &options, global, &interrupt),
        Verb::Optimize(a) => optimize::run(a, &options, global, &interrupt),
        Verb::Convert(a) => convert::run(a, &options, global, &interrupt),
        Verb::Recover(a) => recover::run(a, &options, global, &interrupt),
        Verb::Cache(a) => local_cache::run(a, &options, global, &interrupt),
        Verb::Proxy(a) => proxy::run(a, global, &interrupt),
        Verb::Serve(a) => serve::run(a, global.json, &interrupt),
        Verb::Simulate(a) => simulate::run(a, &options, global),
        Verb::Sample(a) => sample::run(a, global.json),
    }
}
