//! `sapwood process`: a selector written in Python, run over trees. Python does the work.

use crate::args::{Executor, Global, ProcessArgs};
use crate::failure::Failure;
use sapwood::raw_text::path_of;
use sapwood::{CacheSize, Error};
use std::ffi::OsString;
use std::process::Command;

/// Runs the verb; returns the exit status of Python.
pub(crate) fn run(args: &ProcessArgs, global: &Global) -> Result<(), Failure> {
    let script = args.targets.last().map(String::as_str).unwrap_or_default();
    check_script(script)?;
    let python = python();
    let mut command = Command::new(&python);
    command.args(["-m", "sapwood.selecting.command"]);
    if let Some(executor) = args.executor {
        command.args(["--executor", if matches!(executor, Executor::Threads) { "threads" } else { "processes" }]);
    }
    if let Some(workers) = args.workers {
        command.arg("--workers").arg(workers.to_string());
    }
    if let Some(size) = &args.step_size {
        command.arg("--step-size").arg(size);
    }
    match global.cache_size {
        CacheSize::Auto => {}
        CacheSize::Off => drop(command.args(["--cache-size", "0"])),
        CacheSize::Bytes(n) => drop(command.arg("--cache-size").arg(n.to_string())),
    }
    if global.threads > 0 {
        command.arg("--threads").arg(global.threads.to_string());
    }
    command.arg("--timeout").arg(global.timeout.as_secs_f64().to_string());
    for (given, flag) in [(global.quiet, "--quiet"), (global.json, "--json")] {
        if given {
            command.arg(flag);
        }
    }
    command.arg("--").args(args.targets.iter().map(|t| path_of(t).into_owned()));
    let failed = run_command(&mut command);
    let why = format!("cannot run {}", python.to_string_lossy());
    let remedy = "set SAPWOOD_PYTHON to a Python with the sapwood package";
    Err(Error::io(why, failed).with_remedy(remedy).into())
}

/// The Python that belongs to this command.
pub(crate) fn python() -> OsString {
    std::env::var_os("SAPWOOD_PYTHON").unwrap_or_else(|| "python3".into())
}

/// Refuses what is not a Python script.
pub(crate) fn check_script(script: &str) -> Result<(), Failure> {
    let lower = script.trim_end_matches('+').to_ascii_lowercase();
    if lower.ends_with(".py") {
        return Ok(());
    }
    let cpp = [".c", ".cc", ".cpp", ".cxx", ".h"].iter().any(|end| lower.ends_with(end));
    let what = if cpp {
        format!("{script}: C++ macros cannot be run")
    } else {
        format!("{script} is not a Python script: its name must end in .py")
    };
    let remedy = "`sapwood skeleton FILE:TREE` writes a selector in Python; see the guide, \"Selectors\"";
    Err(Error::unsupported(what).with_remedy(remedy).into())
}

/// Refuses the name of a macro where an expression is expected. `px.C` may be a member of a branch, unless there is such a
/// file.
pub(crate) fn check_expression(text: &str) -> Result<(), Failure> {
    if text.ends_with(".py") {
        let e = Error::invalid(format!("{text} is a script, not an expression"));
        return Err(e.with_remedy(format!("run it: sapwood process FILE:TREE {text}")).into());
    }
    let name = text.trim_end_matches('+');
    let cpp = [".C", ".cc", ".cpp", ".cxx"].iter().any(|end| name.ends_with(end));
    if cpp && (name.len() < text.len() || path_of(name).exists()) { check_script(text) } else { Ok(()) }
}

/// Replaces this process, which so passes on signals and the exit status; returns only if that fails.
#[cfg(unix)]
fn run_command(command: &mut Command) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    command.exec()
}

#[cfg(not(unix))]
fn run_command(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(e) => e,
    }
}
