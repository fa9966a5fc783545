//! A recorded event log: what the planner did, whether it would do it again, and what it would do elsewhere.

use crate::args::PerfArgs;
use crate::failure::Failure;
use crate::option_file;
use crate::output;
use sapwood::perf::{Conditions, Replay, ScanLog};
use sapwood::raw_text::text_of_path;
use sapwood::{Error, ErrorKind, Result};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Shows a log; fails when the planner of this version does something else.
pub(super) fn run(args: &PerfArgs, path: &Path, as_json: bool) -> Result<(), Failure> {
    let name = text_of_path(path);
    let text = option_file::read_text(path)?;
    let logs = ScanLog::parse(&text).map_err(|e| e.in_file(&name))?;
    if logs.is_empty() {
        return Err(Error::not_found("it contains no recorded scan").in_file(&name).into());
    }
    let conditions = conditions(args);
    let scans = logs.into_iter().map(|log| Replay::new(log, &conditions)).collect::<Result<Vec<_>>>()?;
    if as_json {
        output::json(&json!({ "scans": scans.iter().map(Replay::to_json).collect::<Vec<_>>() }))?;
    } else {
        let mut out = output::stdout();
        for scan in &scans {
            scan.write(&mut out, args.all)?;
        }
        out.flush()?;
    }
    if scans.iter().all(Replay::is_same) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Invalid, "the planner of this version acts differently from the recorded one")
        .in_file(name)
        .with_remedy("record the read again with this version")
        .into())
}

/// What is to be tried: the first with nothing changed, to compare with; none when nothing is asked for.
fn conditions(args: &PerfArgs) -> Vec<Conditions> {
    fn choices<T: Copy>(list: &[T]) -> Vec<Option<T>> {
        if list.is_empty() { vec![None] } else { list.iter().copied().map(Some).collect() }
    }
    let mut out = Vec::new();
    for round_trip in choices(&args.if_round_trip) {
        for bandwidth in choices(&args.if_bandwidth) {
            for cache in choices(&args.if_cache) {
                out.push(Conditions { cache, round_trip, bandwidth: bandwidth.map(|b| b as f64) });
            }
        }
    }
    if out == [Conditions::default()] {
        return Vec::new();
    }
    out.insert(0, Conditions::default());
    out
}
