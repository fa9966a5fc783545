//! Workloads: who reads what, and when.

use super::bounds::MOST_PAIRS;
use super::datasets::Dataset;
use super::matching;
use super::sites::Site;
use super::table::Table;
use crate::clock::{Time, bytes_of, seconds};
use sapwood_plan::CacheSize;
use sapwood_span::Result;
use std::collections::HashSet;

const MOST_WORKLOADS: usize = 10_000;

/// Tasks of one kind: each reads some files of one dataset, a job for every few of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Where its users are; each task belongs to one of these sites.
    pub homes: Vec<usize>,
    /// The datasets, the most popular first.
    pub datasets: Vec<usize>,
    /// Tasks per second, at times that chance decides.
    pub rate: f64,
    /// Tasks at given times.
    pub at: Vec<Time>,
    /// When it begins.
    pub start: Time,
    /// When it ends.
    pub stop: Time,
    /// Files of each task at most; those are consecutive.
    pub files: u64,
    /// Files that a job reads one after another.
    pub files_per_job: u64,
    /// The branches that are read, as patterns.
    pub branches: Vec<String>,
    /// In place of names: this part of the branches.
    pub share: Option<f64>,
    /// Of these the branches that a cut needs, as patterns: they are read first. Of the others every basket has an entry that passes.
    pub cut: Vec<String>,
    /// The part of the entries of each file that is read, from the first one on.
    pub entries: f64,
    /// Work on each entry, in seconds.
    pub cpu_per_entry: f64,
    /// The same before it is known whether an entry passes the cut.
    pub cut_per_entry: f64,
    /// Compressed bytes that a core decompresses per second.
    pub inflate: f64,
    /// How popularity falls from dataset to dataset: the n-th is chosen n^-zipf as often as the first.
    pub zipf: f64,
    /// The time in which popularity halves.
    pub half_life: Option<Time>,
    /// How files are read.
    pub protocol: Protocol,
    /// The size of the tree cache.
    pub cache: CacheSize,
    /// Threads of a job.
    pub threads: u64,
    /// Whether HTTP servers accept long lists of ranges, as nginx does.
    pub long_ranges: bool,
    /// What requests take beside the network.
    pub costs: Costs,
    /// The time that a job takes beside reading and its work on entries, in seconds: to start the program.
    pub startup: f64,
}

/// What requests take beside the network, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Until the first byte of the answer to a request is sent.
    pub per_request: f64,
    /// The same for each range in it.
    pub per_range: f64,
    /// Time of a core of the client for a request.
    pub cpu_per_request: f64,
    /// The same for each range in it.
    pub cpu_per_range: f64,
}

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Over HTTP.
    Http,
    /// Over XRootD's own protocol.
    Xrootd,
}

pub(super) fn read(top: &Table<'_>, sites: &[Site], datasets: &[Dataset], duration: Time) -> Result<Vec<Workload>> {
    let mut out: Vec<Workload> = Vec::new();
    let mut pairs = 0;
    let mut names = HashSet::new();
    for table in top.tables("workload", MOST_WORKLOADS)? {
        let workload = one(&table, sites, datasets, duration)?;
        pairs += workload.datasets.len() + workload.homes.len();
        if pairs > MOST_PAIRS {
            let what = format!("the workloads have more than {MOST_PAIRS} datasets and sites, each counted for itself");
            return Err(table.wrong(what));
        }
        if !names.insert(workload.name.clone()) {
            let what = format!("there are two workloads with the name {}", workload.name);
            return Err(table.wrong_value("name", what));
        }
        out.push(workload);
    }
    Ok(out)
}

fn one(table: &Table<'_>, sites: &[Site], datasets: &[Dataset], duration: Time) -> Result<Workload> {
    let name = table.required("name", table.name()?)?;
    let all = || vec!["*".to_owned()];
    let patterns = table.required("site", table.texts("site")?)?;
    let homes = matching(table, "site", &patterns, sites.iter().map(|s| s.name.as_str()), "site")?;
    let patterns = table.texts("dataset")?.unwrap_or_else(all);
    let chosen = matching(table, "dataset", &patterns, datasets.iter().map(|d| d.name.as_str()), "dataset")?;
    let at = table.times("at")?.unwrap_or_default();
    if at.iter().any(|&time| time > duration) {
        return Err(table.wrong_value(
            "at",
            "is after the end of the scenario, where no task is submitted; give a longer duration",
        ));
    }
    let per_day = table.number("tasks_per_day", 0.0, 1e9)?;
    if at.is_empty() && per_day == Some(0.0) {
        return Err(table.wrong_value("tasks_per_day", "must be more than 0"));
    }
    if at.is_empty() && per_day.is_none() {
        return Err(table.wrong("tasks_per_day or at is missing"));
    }
    let per_day = per_day.unwrap_or(0.0);
    let start = table.time("start")?.unwrap_or(0);
    if start > duration {
        return Err(table.wrong_value("start", "is after the end of the scenario; give a longer duration"));
    }
    let stop = table.time("stop")?;
    if stop.is_some_and(|stop| stop < start) {
        return Err(table.wrong_value("stop", "is before start"));
    }
    let stop = stop.unwrap_or(duration).min(duration);
    if seconds(stop.saturating_sub(start)) / 86400.0 * per_day > 1e8 {
        return Err(table.wrong_value("tasks_per_day", "more than 100 million tasks would be submitted"));
    }
    let share = table.number("share", 0.0, 1.0)?;
    if share == Some(0.0) {
        return Err(table.wrong_value("share", "must be more than 0: a job that reads nothing does no work"));
    }
    let entries = table.number("entries", 0.0, 1.0)?;
    if entries == Some(0.0) {
        return Err(table.wrong_value("entries", "must be more than 0: a job that reads nothing does no work"));
    }
    let branches = table.texts("branches")?;
    if share.is_some() && branches.is_some() {
        return Err(table.wrong("give either share or branches"));
    }
    let branches = if share.is_some() { Vec::new() } else { branches.unwrap_or_else(all) };
    for &d in &chosen {
        if let Some(dataset) = datasets.get(d)
            && let Some(pattern) = dataset.profile.unmatched(&branches)
        {
            return Err(table.wrong_value("branches", format!("{} has no branch {pattern}", dataset.name)));
        }
    }
    let cut = table.texts("cut")?.unwrap_or_default();
    if share.is_some() && !cut.is_empty() {
        return Err(table.wrong_value("cut", "names branches; give branches in place of share"));
    }
    for dataset in chosen.iter().filter_map(|&d| datasets.get(d)) {
        if let Some(pattern) = dataset.profile.unmatched(&cut) {
            return Err(table.wrong_value("cut", format!("{} has no branch {pattern}", dataset.name)));
        }
        let read = dataset.profile.chosen(&branches, None);
        if !cut.is_empty() && dataset.profile.numbers(&cut).any(|b| !read.get(b as usize).is_some_and(|&r| r)) {
            return Err(table.wrong_value("cut", "has branches that are not read; add them to branches"));
        }
    }
    let cut_per_entry = table.seconds("cut_per_entry")?.unwrap_or(0.0);
    if cut_per_entry > 0.0 && cut.is_empty() {
        return Err(table.wrong_value("cut_per_entry", "there is no cut; add its branches as cut"));
    }
    let half_life = table.time("half_life")?;
    if half_life == Some(0) {
        return Err(table.wrong_value("half_life", "must be longer than 0"));
    }
    let how = Reading::of(table)?;
    let out = Workload {
        name,
        homes,
        datasets: chosen,
        rate: per_day / 86400.0,
        at,
        start,
        stop,
        files: table.positive("files", 1 << 30)?.unwrap_or(u64::MAX),
        files_per_job: table.positive("files_per_job", 1 << 30)?.unwrap_or(1),
        branches,
        share,
        cut,
        entries: entries.unwrap_or(1.0),
        cpu_per_entry: table.seconds("cpu_per_entry")?.unwrap_or(0.0),
        cut_per_entry,
        inflate: table.rate("decompression")?.unwrap_or(100e6),
        zipf: table.number("zipf", 0.0, 10.0)?.unwrap_or(1.0),
        half_life,
        protocol: how.protocol,
        cache: how.cache,
        threads: table.positive("threads", 1024)?.unwrap_or(1),
        long_ranges: how.long_ranges,
        costs: how.costs,
        startup: table.seconds("startup")?.unwrap_or(0.0),
    };
    table.finished()?;
    Ok(out)
}

/// How files are read: keys that workloads and traces have.
struct Reading {
    protocol: Protocol,
    cache: CacheSize,
    long_ranges: bool,
    costs: Costs,
}

impl Reading {
    fn of(table: &Table<'_>) -> Result<Self> {
        let protocol = match table.text("protocol")?.as_deref() {
            None | Some("http") => Protocol::Http,
            Some("xrootd") => Protocol::Xrootd,
            Some(_) => return Err(table.wrong_value("protocol", "must be \"http\" or \"xrootd\"")),
        };
        let long_ranges = match table.text("server")?.as_deref() {
            None | Some("any") => false,
            Some("nginx") => true,
            Some(_) => return Err(table.wrong_value("server", "must be \"any\" or \"nginx\"")),
        };
        let cache = match table.text("cache")?.as_deref() {
            None | Some("auto") => CacheSize::Auto,
            Some(text) => match bytes_of(text) {
                Ok(0) => CacheSize::Off,
                Ok(n) => CacheSize::Bytes(n),
                Err(_) => {
                    return Err(table.wrong_value("cache", "must be \"auto\", \"0\" or a size such as \"30 MB\""));
                }
            },
        };
        let time = |key, usual: f64| Ok(table.seconds(key)?.unwrap_or(usual));
        let costs = Costs {
            per_request: time("per_request", 100e-6)?,
            per_range: time("per_range", 10e-6)?,
            cpu_per_request: time("cpu_per_request", 0.0)?,
            cpu_per_range: time("cpu_per_range", 0.0)?,
        };
        Ok(Self { protocol, cache, long_ranges, costs })
    }
}

impl Workload {
    /// How many of a file's entries it reads.
    pub(crate) fn entries_of(&self, all: u64) -> u64 {
        // a hundredth is not exact in binary: what is beyond a whole number by rounding is no entry
        (all as f64 * self.entries - 1e-6).ceil().max(1.0) as u64
    }

    /// What the reads of a trace have in common.
    pub(super) fn of_trace(table: &Table<'_>, homes: Vec<usize>, stop: Time) -> Result<Self> {
        let how = Reading::of(table)?;
        Ok(Self {
            name: String::new(),
            homes,
            datasets: Vec::new(),
            rate: 0.0,
            at: Vec::new(),
            start: 0,
            stop,
            files: 1,
            files_per_job: 1,
            branches: vec!["*".to_owned()],
            share: None,
            cut: Vec::new(),
            entries: 1.0,
            cpu_per_entry: 0.0,
            cut_per_entry: 0.0,
            inflate: 1e12,
            zipf: 0.0,
            half_life: None,
            protocol: how.protocol,
            cache: how.cache,
            threads: 1,
            long_ranges: how.long_ranges,
            costs: how.costs,
            startup: 0.0,
        })
    }
}
