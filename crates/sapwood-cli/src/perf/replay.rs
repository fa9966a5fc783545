//! A recorded event log: what the planner did, whether it would do it again, and what it would do elsewhere.

use super::PerfArgs;
use crate::failure::Failure;
use crate::given;
use crate::output::table::{Align, Table};
use crate::output::{self, clean};
use crate::units;
use sapwood::perf::{ScanLog, What, WhatIf};
use sapwood::raw_text::text_of_path;
use sapwood::{CacheSize, Error, ErrorKind, Result};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// Shows a log; fails when the planner of this version does something else.
pub fn run(args: &PerfArgs, path: &Path, as_json: bool) -> Result<(), Failure> {
    let name = text_of_path(path);
    let text = given::read_text(path)?;
    let logs = ScanLog::parse(&text).map_err(|e| e.in_file(&name))?;
    if logs.is_empty() {
        return Err(Error::not_found("no scan was recorded in it").in_file(&name).into());
    }
    let whats = whats(args);
    let mut scans = Vec::new();
    for log in logs {
        let same = log.replay()?.records == log.log.records;
        let tried = whats.iter().map(|w| log.what_if(w)).collect::<Result<Vec<_>>>()?;
        scans.push(Scan { log, same, tried });
    }
    if as_json {
        output::json(&json!({ "scans": scans.iter().map(Scan::to_json).collect::<Vec<_>>() }))?;
    } else {
        let mut out = output::stdout();
        for scan in &scans {
            scan.print(&mut out, args.all)?;
        }
        out.flush()?;
    }
    if scans.iter().all(|s| s.same) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Invalid, "the planner of this version acts differently from the one that was recorded")
        .in_file(name)
        .with_remedy("record the read again with this version")
        .into())
}

/// What is to be tried: the first with nothing changed, to compare with; none when nothing is asked for.
fn whats(args: &PerfArgs) -> Vec<What> {
    fn choices<T: Copy>(list: &[T]) -> Vec<Option<T>> {
        if list.is_empty() { vec![None] } else { list.iter().copied().map(Some).collect() }
    }
    let mut out = Vec::new();
    for round_trip in choices(&args.if_round_trip) {
        for bandwidth in choices(&args.if_bandwidth) {
            for cache in choices(&args.if_cache) {
                out.push(What { cache, round_trip, bandwidth: bandwidth.map(|b| b as f64) });
            }
        }
    }
    if out == [What::default()] {
        return Vec::new();
    }
    out.insert(0, What::default());
    out
}

struct Scan {
    log: ScanLog,
    same: bool,
    tried: Vec<WhatIf>,
}

impl Scan {
    fn print(&self, out: &mut impl Write, all: bool) -> std::io::Result<()> {
        let log = &self.log;
        writeln!(
            out,
            "{}:{}, {} of {}, cache {}",
            clean(&log.file),
            clean(&log.tree),
            many(log.baskets.len(), "basket"),
            many(log.branches.len(), "branch"),
            cache(log.request.cache)
        )?;
        for line in log.describe(all).lines() {
            writeln!(out, "{}", clean(line))?;
        }
        let n = log.actions().count();
        if self.same {
            writeln!(out, "replayed: the same {}", many(n, "action"))?;
        } else {
            writeln!(out, "replayed: not the same {}", many(n, "action"))?;
        }
        if self.tried.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nin a model of the network; the first line is the recorded scan in that model:")?;
        let right = |name: &'static str| (name, Align::Right);
        let mut table = Table::new([
            ("cache", Align::Left),
            right("round trip"),
            right("bandwidth"),
            right("requests"),
            right("ranges"),
            right("bytes"),
            right("waits"),
            right("waited"),
            right("time"),
            right("most held"),
        ]);
        for w in &self.tried {
            table.row([
                cache(w.cache),
                units::seconds(w.round_trip.as_secs_f64()),
                format!("{}/s", units::bytes(w.bandwidth as u64)),
                units::count(w.requests),
                units::count(w.ranges),
                units::bytes(w.bytes),
                units::count(w.waits),
                units::seconds(w.wait_seconds),
                units::seconds(w.seconds),
                units::bytes(w.max_held_bytes),
            ]);
        }
        table.write(out)
    }

    fn to_json(&self) -> Value {
        let tried: Vec<Value> = (self.tried.iter())
            .map(|w| {
                json!({
                    "cache": cache(w.cache),
                    "round_trip": w.round_trip.as_secs_f64(),
                    "bandwidth": w.bandwidth,
                    "requests": w.requests,
                    "ranges": w.ranges,
                    "bytes": w.bytes,
                    "gap_bytes": w.gap_bytes,
                    "waits": w.waits,
                    "wait_seconds": w.wait_seconds,
                    "seconds": w.seconds,
                    "max_held_bytes": w.max_held_bytes,
                })
            })
            .collect();
        json!({
            "file": self.log.file,
            "tree": self.log.tree,
            "branches": self.log.branches,
            "baskets": self.log.baskets.len(),
            "cache": cache(self.log.request.cache),
            "events": self.log.log.records.len() - self.log.actions().count(),
            "actions": self.log.actions().count(),
            "same": self.same,
            "what_if": tried,
        })
    }
}

fn cache(size: CacheSize) -> String {
    match size {
        CacheSize::Auto => "auto".to_owned(),
        CacheSize::Off => "0".to_owned(),
        CacheSize::Bytes(n) => units::bytes(n),
    }
}

fn many(n: usize, what: &str) -> String {
    let plural = if what.ends_with("ch") { "es" } else { "s" };
    format!("{} {what}{}", units::count(n as u64), if n == 1 { "" } else { plural })
}
