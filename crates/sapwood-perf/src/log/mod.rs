//! The planner's recorded log of one scan: its input and its actions.

mod lines;
mod replay;
mod what_if;

pub use replay::Replay;
pub use what_if::{Conditions, WhatIf};

use sapwood_engine::observe::ScanTrace;
use sapwood_plan::{Action, Basket, Event, Log, Record, Request, replay};
use sapwood_span::Result;
use std::time::Duration;

/// The planner's input in one scan, and its actions.
#[derive(Clone, Debug, Default)]
pub struct ScanLog {
    /// Path or URL, without credentials.
    pub file: String,
    /// Path of the tree inside.
    pub tree: String,
    /// Names of the branches; baskets have their numbers.
    pub branches: Vec<String>,
    /// The baskets it planned for.
    pub baskets: Vec<Basket>,
    /// The request to it.
    pub request: Request,
    /// Threads that decompressed and decoded.
    pub threads: u64,
    /// Compressed bytes that one of them decompressed and decoded per second; 0 when nothing was decoded.
    pub inflate: f64,
    /// Bytes per second that the path carried, as far as the planner measured.
    pub bandwidth: Option<f64>,
    /// Round-trip time, as far as the planner measured.
    pub round_trip: Option<Duration>,
    /// Events and actions.
    pub log: Log,
}

impl ScanLog {
    /// The log of a finished scan.
    pub(crate) fn of(trace: &ScanTrace) -> Self {
        let seconds: f64 = trace.times.iter().map(|t| t.unzip + t.decode).sum();
        let bytes: u64 = trace.times.iter().map(|t| t.bytes).sum();
        Self {
            file: trace.file.clone(),
            tree: trace.tree.clone(),
            branches: trace.branches.clone(),
            baskets: trace.baskets.clone(),
            request: trace.request.clone(),
            threads: trace.threads,
            inflate: if seconds > 0.0 { bytes as f64 / seconds } else { 0.0 },
            bandwidth: trace.plan.bandwidth,
            round_trip: trace.plan.round_trip,
            log: trace.log.clone(),
        }
    }

    /// The host of the file: host and port of a URL, otherwise `local`.
    pub fn host(&self) -> String {
        host(&self.file)
    }

    /// Runs the events through a fresh planner: returns what it does now.
    ///
    /// # Errors
    /// `Invalid` when the planner refuses the baskets.
    pub fn replay(&self) -> Result<Log> {
        replay(self.baskets.clone(), self.request.clone(), &self.log).map_err(|e| e.in_file(&self.file))
    }

    /// The recorded actions.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.log.records.iter().filter_map(|(_, r)| match r {
            Record::Action(a) => Some(a),
            Record::Event(_) => None,
        })
    }

    /// As text, one line each; without `all` the arrivals and releases of single baskets are left out.
    pub fn describe(&self, all: bool) -> String {
        let name = |i: u32| self.branches.get(i as usize).map_or("?", String::as_str);
        if all {
            return self.log.describe(&self.baskets, name);
        }
        let small = |r: &Record| matches!(r, Record::Event(Event::Arrived { .. } | Event::Consumed { .. }));
        let records = self.log.records.iter().filter(|(_, r)| !small(r)).cloned().collect();
        Log { records }.describe(&self.baskets, name)
    }
}

/// Host and port of a URL, otherwise `local`.
pub(crate) fn host(file: &str) -> String {
    match file.split_once("://") {
        Some((scheme, rest)) if scheme != "file" => {
            let authority = rest.split(['/', '?']).next().unwrap_or(rest);
            authority.rsplit('@').next().unwrap_or(authority).to_owned()
        }
        _ => "local".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (file, name) in [
            ("/data/a.root", "local"),
            ("file:///data/a.root", "local"),
            ("http://h:80/a.root", "h:80"),
            ("root://u@h//a.root", "h"),
            ("https://[::1]:8443/a?x=1", "[::1]:8443"),
        ] {
            assert_eq!(host(file), name);
        }
    }
}
