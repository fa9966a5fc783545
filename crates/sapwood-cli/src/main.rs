//! The `sapwood` command: ROOT trees, near or far, listed, drawn, printed and served.

mod args;
mod doctor;
mod draw;
mod entries;
mod failure;
mod given;
mod interrupt;
mod local_cache;
mod ls;
mod map;
mod merge;
mod object;
mod optimize;
mod output;
mod perf;
mod progress;
mod reading;
mod recover;
mod sample;
mod scan;
mod serve;
mod show;
mod target;
mod working;

use args::{Cli, Verb};
use clap::Parser;
use failure::Failure;
use interrupt::Interrupt;
use sapwood_report::units;
use std::io::Write;
use std::process::ExitCode;

/// Columns in large pages.
#[global_allocator]
static ALLOCATOR: sapwood_pages::LargePages = sapwood_pages::LargePages;

fn main() -> ExitCode {
    let done = match Cli::try_parse() {
        Ok(cli) => {
            let done = run(&cli);
            sapwood::local_cache::flush();
            done
        }
        Err(told) => help(&told),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Prints what clap has to say: help and version on stdout, or what is wrong with the command line on stderr.
fn help(told: &clap::Error) -> Result<(), Failure> {
    if told.use_stderr() {
        // whoever closed stderr does not want to know
        let _ = told.print();
        return Err(Failure::Told);
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
    let (global, options) = (&cli.global, cli.global.open_options());
    match &cli.verb {
        Verb::Ls(a) => ls::run(a, &options, global.json),
        Verb::Show(a) => show::run(a, &options, global.json),
        Verb::Map(a) => map::run(a, &options, global),
        Verb::Doctor(a) => doctor::run(a, &options, global.json),
        Verb::Draw(a) => perf::recorded(a.record.as_deref(), || draw::run(a, &options, global, &interrupt)),
        Verb::Scan(a) => perf::recorded(a.record.as_deref(), || scan::run(a, &options, global, &interrupt)),
        Verb::Perf(a) => perf::run(a, &options, global, &interrupt),
        Verb::Merge(a) => merge::run(a, &options, global, &interrupt),
        Verb::Optimize(a) => optimize::run(a, &options, global, &interrupt),
        Verb::Recover(a) => recover::run(a, &options, global, &interrupt),
        Verb::Cache(a) => local_cache::run(a, &options, global, &interrupt),
        Verb::Serve(a) => serve::run(a, global.json),
        Verb::Sample(a) => sample::run(a, global.json),
    }
}
