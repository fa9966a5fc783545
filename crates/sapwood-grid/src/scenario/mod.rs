//! The scenario file: sites, links, datasets, who reads what and when, and the policies to compare.

mod bounds;
mod datasets;
mod links;
mod policies;
mod sites;
mod table;
mod trace_files;
mod traces;
mod workloads;

pub use datasets::Dataset;
pub use links::LinkSpec;
pub use policies::{Kind, Place, PolicySpec, Prices, Rule};
pub use sites::{Proxy, Site};
pub use traces::TraceRead;
pub use workloads::{Costs, Protocol, Workload};

use crate::clock::{Time, seconds};
use sapwood_engine::glob_match;
use sapwood_sim::SEGMENT;
use sapwood_span::{Error, Result};
use std::path::Path;
use table::{Table, Text};
use toml::de::DeTable;

/// A scenario file has this many bytes at most.
const MOST_BYTES: usize = 16 << 20;
const DAY: Time = 86_400_000_000_000;

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The name of the file, or of the shipped scenario.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The seed of chance.
    pub seed: u64,
    /// Nothing is submitted after this time; what was submitted is completed.
    pub duration: Time,
    /// Rates of flows that share a full link are worked out again at most this often.
    pub settle: Time,
    /// Jobs that are also simulated basket by basket, to show what the model of flows changes.
    pub check_jobs: usize,
    /// Bytes a new connection may send in its first round trip.
    pub initial_window: u64,
    /// Bytes a connection may have in flight.
    pub largest_window: u64,
    /// The time of a read from a local cache, beside that of its bytes.
    pub local_cache_seek: Time,
    /// Bytes per second that a job reads from a local cache.
    pub local_cache_bandwidth: f64,
    /// Where there are disks, cores and caches.
    pub sites: Vec<Site>,
    /// What connects them.
    pub links: Vec<LinkSpec>,
    /// What is read.
    pub datasets: Vec<Dataset>,
    /// Who reads it.
    pub workloads: Vec<Workload>,
    /// Reads of traces.
    pub reads: Vec<TraceRead>,
    /// What the policies that push replicate when it is made.
    pub rules: Vec<Rule>,
    /// The policies to compare.
    pub policies: Vec<PolicySpec>,
    /// What things cost.
    pub prices: Prices,
}

impl Scenario {
    /// Reads the text of a scenario file; `name` is the file, for errors, and `folder` the directory of the profiles that it names.
    ///
    /// # Errors
    /// `Invalid` with line and key.
    pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Self> {
        if text.len() > MOST_BYTES {
            let what = format!("has more than {MOST_BYTES} bytes: it is not a scenario");
            return Err(Error::invalid(what).in_file(name));
        }
        let source = Text { name, text };
        let parsed = DeTable::parse(text)
            .map_err(|e| source.wrong(e.span().map_or(0, |s| s.start), format!("is not TOML: {}", e.message())))?;
        let top = Table::new(&source, "", 0, parsed.get_ref());
        let sites = sites::read(&top)?;
        let links = links::read(&top, &sites)?;
        let mut datasets = datasets::read(&top, &sites, folder)?;
        let given = top.time("duration")?;
        if given == Some(0) {
            return Err(top.wrong_value("duration", "must be longer than 0"));
        }
        let mut workloads = workloads::read(&top, &sites, &datasets, given.unwrap_or(30 * DAY))?;
        let (reads, traces_end) = traces::read(&top, &sites, &mut datasets, &mut workloads, folder, given)?;
        if datasets.is_empty() {
            return Err(top.wrong("there are no datasets; add a [[dataset]]"));
        }
        // a trace alone is as long as it is
        let alone = !reads.is_empty() && workloads.iter().all(|w| w.rate == 0.0 && w.at.is_empty());
        let duration = given.or(alone.then_some(traces_end.max(1))).unwrap_or(30 * DAY);
        let scenario = Self {
            name: name.to_owned(),
            title: top.text("title")?.unwrap_or_else(|| name.to_owned()),
            seed: top.count("seed", 1 << 53)?.unwrap_or(1),
            duration,
            settle: settle(&top, duration)?,
            check_jobs: top.count("check_jobs", 1000)?.unwrap_or(20) as usize,
            initial_window: window(&top, "initial_window")?.unwrap_or(14_600),
            largest_window: window(&top, "largest_window")?.unwrap_or(8 << 20),
            local_cache_seek: top.time("local_cache_seek")?.unwrap_or(80_000),
            local_cache_bandwidth: top.rate("local_cache_bandwidth")?.unwrap_or(500e6),
            rules: policies::rules(&top, &sites, &datasets)?,
            policies: policies::read(&top, &datasets)?,
            prices: policies::prices(&top)?,
            sites,
            links,
            datasets,
            workloads,
            reads,
        };
        top.finished()?;
        scenario.check().map_err(|e| e.in_file(name))?;
        Ok(scenario)
    }

    /// What no single table shows, and what a changed value may break.
    pub(crate) fn check(&self) -> Result<()> {
        bounds::check(self)
    }

    /// How long it is, in seconds.
    pub fn seconds(&self) -> f64 {
        seconds(self.duration)
    }
}

/// How long rates stay: too long, and nothing that shares a link ever moves.
fn settle(top: &Table<'_>, duration: Time) -> Result<Time> {
    match top.time("settle")? {
        Some(step) if step > duration / 1000 => {
            Err(top.wrong_value("settle", "must be shorter than a thousandth of the duration"))
        }
        step => Ok(step.unwrap_or(duration >> 20)),
    }
}

/// Bytes in flight: a packet at least.
fn window(top: &Table<'_>, key: &str) -> Result<Option<u64>> {
    let window = top.bytes(key)?;
    if window.is_some_and(|n| n < SEGMENT as u64) {
        return Err(top.wrong_value(key, "must be one packet at least: \"1460 B\""));
    }
    Ok(window)
}

/// The numbers of the names that fit one of these patterns; each pattern must fit one.
fn matching<'a>(
    table: &Table<'_>,
    key: &str,
    patterns: &[String],
    names: impl Iterator<Item = &'a str> + Clone,
    what: &str,
) -> Result<Vec<usize>> {
    let mut out = Vec::new();
    for pattern in patterns {
        let before = out.len();
        out.extend(names.clone().enumerate().filter(|(_, n)| glob_match(pattern, n)).map(|(i, _)| i));
        if out.len() == before {
            let list: Vec<&str> = names.clone().take(10).collect();
            return Err(table.wrong_value(key, format!("no {what} is named {pattern}; there are {}", list.join(", "))));
        }
    }
    out.sort_unstable();
    out.dedup();
    Ok(out)
}

/// The names of `count` things: the name itself for one, else with a number.
fn numbered(name: &str, count: u64) -> impl Iterator<Item = String> {
    (1..=count).map(move |i| if count == 1 { name.to_owned() } else { format!("{name}-{i}") })
}
