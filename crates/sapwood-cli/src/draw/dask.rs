//! `sapwood draw --dask`: workers of a Dask cluster draw, Python adds up what they drew.

use super::{Draw, refuse_pictures};
use crate::args::{DrawArgs, Global};
use crate::draw_output::FileKind;
use crate::failure::Failure;
use crate::output;
use crate::process::python;
use crate::root_histogram;
use sapwood::query::{AxisBins, Histogram};
use sapwood::raw_text::path_of;
use sapwood::{CacheSize, Error};
use serde_json::json;
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// Errors that Python has printed.
const REPORTED: i32 = 3;

/// Draws on the cluster whose scheduler has this address, or on `local` processes.
pub(super) fn run(
    draw: Draw,
    scheduler: &str,
    args: &DrawArgs,
    global: &Global,
    kinds: &[FileKind],
) -> Result<(), Failure> {
    if draw.is_list() {
        refuse_pictures(&args.outputs, kinds)?;
        return Err(Failure::Usage("a list of entries is not drawn with --dask".to_owned()));
    }
    if !args.friends.friends.is_empty() {
        return Err(Failure::Usage("--friend is not supported with --dask".to_owned()));
    }
    let (mut hist, entries) = ask(&draw, scheduler, args, global)?;
    if draw.option.norm {
        hist.normalize();
    }
    let drawn = draw.into_drawn(hist);
    for (path, kind) in args.outputs.iter().zip(kinds) {
        match kind {
            FileKind::Picture(kind) => drawn.write(path, *kind, &[])?,
            FileKind::Root => root_histogram::write(path, std::iter::once(&drawn), &[])?,
        }
    }
    if global.json {
        let mut json = drawn.to_json();
        json["entries"] = entries.into();
        return Ok(output::json(&json)?);
    }
    let mut out = output::stdout();
    drawn.print(&mut out, &[])?;
    Ok(out.flush()?)
}

/// The histogram, and how many entries there are.
fn ask(draw: &Draw, scheduler: &str, args: &DrawArgs, global: &Global) -> Result<(Histogram, u64), Failure> {
    let python = python();
    let mut command = Command::new(&python);
    command.args(["-m", "sapwood.with_dask.command"]);
    let mut option = |name: &str, value: &str| {
        let mut text = OsString::from(format!("--{name}="));
        text.push(path_of(value).as_ref());
        command.arg(text);
    };
    option("scheduler", scheduler);
    option("expression", args.expression.as_deref().unwrap_or_default());
    option("cut", args.cut.as_deref().or(args.cut_option.as_deref()).unwrap_or_default());
    option("option", args.option.as_deref().or(args.draw_option.as_deref()).unwrap_or_default());
    for alias in &args.aliases {
        option("alias", alias);
    }
    if args.bins.is_some() {
        let axis = |a: &AxisBins| match &a.axis {
            Some(axis) => json!([null, null, axis.edges()]),
            None => json!([a.count, a.limits, null]),
        };
        option("bins", &json!(draw.target.bins.axes.iter().map(axis).collect::<Vec<_>>()).to_string());
    }
    if let Some(workers) = args.workers {
        option("workers", &workers.to_string());
    }
    option("timeout", &global.timeout.as_secs_f64().to_string());
    if global.threads > 0 {
        option("threads", &global.threads.to_string());
    }
    match global.cache_size {
        CacheSize::Auto => {}
        CacheSize::Off => option("cache-size", "0"),
        CacheSize::Bytes(n) => option("cache-size", &n.to_string()),
    }
    for (given, flag) in [(global.quiet || global.json, "--quiet"), (args.skip_bad, "--skip-bad")] {
        if given {
            command.arg(flag);
        }
    }
    command.arg("--").args(std::iter::once(&args.target).chain(&args.add).map(|t| path_of(t).into_owned()));
    let shown = python.to_string_lossy();
    let remedy = "set SAPWOOD_PYTHON to the Python where the packages sapwood, dask and distributed are installed";
    let answer = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let answer = answer.map_err(|e| Error::io(format!("cannot run {shown}"), e).with_remedy(remedy))?;
    match answer.status.code() {
        Some(0) => {}
        Some(REPORTED) => return Err(Failure::Found),
        _ => {
            let what = format!("{shown} cannot draw with Dask: it ended with {}", answer.status);
            return Err(Error::unsupported(what).with_remedy(remedy).into());
        }
    }
    // the number of entries, then the histogram
    let (entries, hist) =
        answer.stdout.split_first_chunk::<8>().ok_or_else(|| Error::invalid("Python sent nothing"))?;
    Ok((Histogram::from_bytes(hist)?, u64::from_le_bytes(*entries)))
}
