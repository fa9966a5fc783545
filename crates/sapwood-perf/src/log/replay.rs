//! A recorded scan as text and JSON, with what its planner would do now and under other conditions.

use super::{Conditions, ScanLog, WhatIf};
use crate::text::table::{Align, Table};
use crate::text::{clean, units};
use sapwood_plan::CacheSize;
use sapwood_span::Result;
use serde_json::{Value, json};
use std::io::{self, Write};

/// A recorded scan: what the planner did, whether it would do it again, and what it would do under other conditions.
pub struct Replay {
    log: ScanLog,
    same: bool,
    tried: Vec<WhatIf>,
}

impl Replay {
    /// Replays a log, and tries each of `conditions`; the first should change nothing, for comparison.
    ///
    /// # Errors
    /// `Invalid` when the log holds no scan that could run.
    pub fn new(log: ScanLog, conditions: &[Conditions]) -> Result<Self> {
        let same = log.replay()?.records == log.log.records;
        let tried = conditions.iter().map(|tried| log.what_if(tried)).collect::<Result<_>>()?;
        Ok(Self { log, same, tried })
    }

    /// Whether the planner of this version acts as the recorded one did.
    pub fn is_same(&self) -> bool {
        self.same
    }

    /// As text; with `all` including the arrivals and releases of single baskets.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, all: bool) -> io::Result<()> {
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
            writeln!(out, "replayed: different {}", many(n, "action"))?;
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

    /// As JSON.
    pub fn to_json(&self) -> Value {
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
