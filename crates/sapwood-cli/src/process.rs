//! `sapwood process`: a selector written in Python, run over trees. Python does the work.

use crate::args::{Executor, Global, ProcessArgs};
use crate::failure::Failure;
use crate::friends;
use sapwood::raw_text::path_of;
use sapwood::{CacheSize, Error};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// Runs the command; returns only if Python could not be run.
pub(crate) fn run(args: &ProcessArgs, global: &Global) -> Result<(), Failure> {
    if args.targets.len() < 2 {
        return Err(Failure::Usage("specify files and a script: sapwood process FILE:TREE SCRIPT.py".to_owned()));
    }
    let script = args.targets.last().map(String::as_str).unwrap_or_default();
    check_script(script)?;
    if !path_of(script.trim_end_matches('+')).exists() {
        return Err(Error::no_such_file("no such file").in_file(script).into());
    }
    friends::check(&args.friends)?;
    let python = python();
    check_package(&python)?;
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
    for text in &args.friends.friends {
        let (alias, tree, file) = friends::split(text)?;
        // names that are no UTF-8 are bytes again for Python
        let mut option = OsString::from("--friend=");
        option.push(path_of(&json!([alias, tree, file]).to_string()).as_ref());
        command.arg(option);
    }
    if let Some(text) = &args.friends.index {
        let (major, minor) = friends::split_index(text)?;
        command.arg(format!("--index={}", json!([major, minor])));
    }
    let skip = args.skip_failed;
    for (given, flag) in [(global.quiet, "--quiet"), (global.json, "--json"), (skip, "--skip-failed")] {
        if given {
            command.arg(flag);
        }
    }
    command.arg("--").args(args.targets.iter().map(|t| path_of(t).into_owned()));
    let failed = run_command(&mut command);
    Err(Error::io(cannot_run(&python), failed).with_remedy(REMEDY).into())
}

const REMEDY: &str = "set SAPWOOD_PYTHON to a Python with the sapwood package";

fn cannot_run(python: &OsStr) -> String {
    format!("cannot run {}", python.to_string_lossy())
}

/// The Python that belongs to this command: the one named in the environment, that of a virtual environment in which the
/// command is installed, or the first in PATH.
pub(crate) fn python() -> OsString {
    let beside = || {
        let folder = std::env::current_exe().ok()?.parent()?.to_owned();
        let python = folder.join("python3");
        (folder.parent()?.join("pyvenv.cfg").is_file() && python.is_file()).then(|| python.into_os_string())
    };
    std::env::var_os("SAPWOOD_PYTHON").or_else(beside).unwrap_or_else(|| "python3".into())
}

/// That this Python has the package: its own message would name a module that the user never heard of.
fn check_package(python: &OsStr) -> Result<(), Failure> {
    const ABSENT: i32 = 3;
    let look = format!("import importlib.util as u, sys; sys.exit({ABSENT} * (u.find_spec('sapwood') is None))");
    let looked = Command::new(python).arg("-c").arg(look).stdin(Stdio::null()).status();
    let status = looked.map_err(|e| Error::io(cannot_run(python), e).with_remedy(REMEDY))?;
    if status.code() == Some(ABSENT) {
        let what = format!("{} cannot import sapwood", python.to_string_lossy());
        return Err(Error::unsupported(what).with_remedy(REMEDY).into());
    }
    Ok(())
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

/// Refuses the name of a script where an expression is expected. `px.C` and `p.py` may be members of a branch, unless there
/// is such a file.
pub(crate) fn check_expression(text: &str) -> Result<(), Failure> {
    if text.ends_with(".py") && path_of(text).is_file() {
        let e = Error::invalid(format!("{text} is a script, not an expression"));
        let remedy = format!("run it: sapwood process FILE:TREE {text}; for a branch of this name, write ({text})");
        return Err(e.with_remedy(remedy).into());
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
