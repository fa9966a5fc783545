//! `sapwood browse`: files in a web browser.

use crate::args::{BrowseArgs, Global};
use crate::failure::{Failure, hint};
use crate::interrupt::{Interrupt, wait_for};
use crate::output;
use crate::target::Target;
use sapwood::OpenOptions;
use sapwood_browse::{BrowseOptions, BrowseTarget, Browser};
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs the command: it ends only by an error, by Ctrl-C or by SIGTERM.
pub(crate) fn run(
    args: &BrowseArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let stop = interrupt.defer_all()?;
    let targets: Vec<BrowseTarget> = args.targets.iter().map(|text| target(text)).collect();
    let browser = Browser::start(&targets, BrowseOptions::new(args.port, options.clone()))?;
    if global.json {
        output::json(&json!({ "url": browser.url() }))?;
    } else {
        let mut out = output::stdout();
        writeln!(out, "{}", browser.url())?;
        out.flush()?;
    }
    if !args.no_open && !open(browser.url()) && !global.quiet {
        hint("no web browser could be started; open the address above in one on this machine");
    }
    wait_for(&stop, || ());
    drop(browser);
    Ok(())
}

/// A file and perhaps an object in it.
fn target(text: &str) -> BrowseTarget {
    let Target { url, object } = Target::parse(text);
    BrowseTarget::from((url, object))
}

/// Opens an address in the user's web browser.
fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut started) => {
            // it ends when the address was handed on
            std::thread::spawn(move || started.wait());
            true
        }
        Err(_) => false,
    }
}
