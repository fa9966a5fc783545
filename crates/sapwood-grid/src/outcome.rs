//! The figures of one policy.

use crate::cache::CacheFigures;
use crate::check::Check;
use crate::clock::seconds;
use crate::scenario::Scenario;
use crate::tally::{Moment, SiteFigures, Tally};
use std::collections::HashMap;

/// Points of a cumulative distribution.
const POINTS: usize = 101;

/// What one policy did in a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The policy.
    pub policy: String,
    /// Tasks that were submitted.
    pub submitted: u64,
    /// Tasks that were completed.
    pub completed: u64,
    /// Jobs that were completed.
    pub jobs: u64,
    /// When the last of them ended, in seconds.
    pub end: f64,
    /// Seconds from the submission of a task to its result: the median.
    pub median: f64,
    /// The same, reached by 95 % of the tasks.
    pub p95: f64,
    /// The mean.
    pub mean: f64,
    /// By workload, all reads of a trace together: name, tasks, median and 95 %.
    pub workloads: Vec<WorkloadFigures>,
    /// Seconds at 0 %, 1 %, … 100 % of the tasks.
    pub distribution: Vec<f64>,
    /// Seconds that the cores of all sites had: from the beginning to the end of the scenario, or of its last job.
    pub available_seconds: f64,
    /// Of these, those in which cores were given to jobs.
    pub core_seconds: f64,
    /// Of the latter, those in which they worked.
    pub cpu_seconds: f64,
    /// Requests of jobs to proxies and to where files are.
    pub requests: u64,
    /// Bytes that passed a link, each counted once however many links it passed.
    pub moved_bytes: u64,
    /// Of these, those of headers: all others are bytes of files.
    pub header_bytes: u64,
    /// Of these, those of whole files that were copied.
    pub copied_bytes: u64,
    /// Bytes that were moved and that no job read: of copies, of files that proxies fetched whole, between baskets.
    pub unread_bytes: u64,
    /// The most bytes that replicas and caches of all sites took, each at its own time.
    pub disk_bytes: u64,
    /// Files for which a disk had no room: jobs then read them from where they are.
    pub no_room: u64,
    /// Proxies, together.
    pub proxies: Option<CacheFigures>,
    /// Local caches, together.
    pub local_caches: Option<CacheFigures>,
    /// Every link.
    pub links: Vec<LinkFigures>,
    /// Every site.
    pub sites: Vec<(String, SiteFigures)>,
    /// Time lines.
    pub moments: Vec<Moment>,
    /// What it costs: disk, network, cores.
    pub cost: [f64; 3],
    /// Jobs that were also simulated basket by basket.
    pub check: Option<Check>,
    /// Events of the simulation.
    pub events: u64,
    /// Of these, those that came after their time: none, unless the simulator is wrong.
    pub late_events: u64,
}

/// The tasks of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadFigures {
    /// Its name.
    pub name: String,
    /// Tasks that were completed.
    pub tasks: u64,
    /// Seconds from submission to result.
    pub median: f64,
    /// Reached by 95 % of them.
    pub p95: f64,
}

/// What passed a link, forth and back.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFigures {
    /// Its name.
    pub name: String,
    /// Bytes per second that it can carry.
    pub bandwidth: f64,
    /// Bytes in each direction.
    pub bytes: [u64; 2],
    /// The same as the integral of the rate over time: what the flows that ended received must be what the link carried.
    pub integral: [f64; 2],
    /// The highest rate.
    pub peak: [f64; 2],
}

impl Outcome {
    pub(crate) fn new(scenario: &Scenario, policy: &str, tally: Tally, check: Option<Check>) -> Self {
        let mut times: Vec<f64> = tally.tasks.iter().map(|t| t.2).collect();
        times.sort_by(f64::total_cmp);
        let workloads = by_name(scenario, &tally).into_iter().map(|(name, mut mine)| {
            mine.sort_by(f64::total_cmp);
            let (median, p95) = (quantile(&mine, 0.5), quantile(&mine, 0.95));
            WorkloadFigures { name: name.to_owned(), tasks: mine.len() as u64, median, p95 }
        });
        let links = scenario.links.iter().zip(tally.carried.chunks(2)).filter_map(|(link, carried)| {
            let [forth, back] = carried else { return None };
            Some(LinkFigures {
                name: link.name.clone(),
                bandwidth: link.bandwidth,
                bytes: [forth.bytes, back.bytes],
                integral: [forth.integral, back.integral],
                peak: [forth.peak, back.peak],
            })
        });
        let sum = |which: fn(&SiteFigures) -> Option<CacheFigures>| {
            let mut caches = tally.sites.iter().filter_map(which);
            let first = caches.next()?;
            Some(caches.fold(first, |mut sum, cache| {
                sum.add(&cache);
                sum
            }))
        };
        let (proxies, local_caches) = (sum(|s| s.proxy), sum(|s| s.nodes));
        let cached = [proxies, local_caches].into_iter().flatten();
        let disk_bytes =
            tally.sites.iter().map(|s| s.disk_most).sum::<u64>() + cached.clone().map(|c| c.most_bytes).sum::<u64>();
        let unread = tally.sites.iter().map(|s| s.disk_unread).sum::<u64>()
            + cached.map(|c| c.unread_bytes).sum::<u64>()
            + tally.gap_bytes;
        let core_seconds = tally.sites.iter().map(|s| s.core_seconds).sum::<f64>();
        let prices = &scenario.prices;
        let lasted = seconds(tally.end.max(scenario.duration));
        let months = lasted / (30.0 * 86400.0);
        // a cache costs what it may take, in use or not; of replicas there are no more than rules and jobs ask for
        let size = |c: CacheFigures| if c.hit_bytes + c.miss_bytes > 0 { c.max_bytes } else { 0 };
        let bought = tally
            .sites
            .iter()
            .map(|site| site.disk_most as f64 + site.proxy.map_or(0, size) as f64 + site.nodes.map_or(0, size) as f64);
        let cost = [
            bought.sum::<f64>() * 1e-12 * months * prices.disk_tb_month,
            tally.moved as f64 * 1e-12 * prices.network_tb,
            core_seconds / 3600.0 * prices.core_hour,
        ];
        Self {
            policy: policy.to_owned(),
            submitted: tally.submitted,
            completed: times.len() as u64,
            jobs: tally.jobs,
            end: tally.tasks.iter().map(|t| t.1 + t.2).fold(0.0, f64::max),
            median: quantile(&times, 0.5),
            p95: quantile(&times, 0.95),
            // without tasks: the sum of nothing is -0
            mean: times.iter().fold(0.0, |sum, time| sum + time) / times.len().max(1) as f64,
            workloads: workloads.collect(),
            distribution: if times.is_empty() {
                Vec::new()
            } else {
                (0..POINTS).map(|i| quantile(&times, i as f64 / (POINTS - 1) as f64)).collect()
            },
            available_seconds: scenario.sites.iter().map(|s| s.cores as f64).sum::<f64>() * lasted,
            core_seconds,
            cpu_seconds: tally.sites.iter().map(|s| s.cpu_seconds).sum(),
            requests: tally.requests.round() as u64,
            moved_bytes: tally.moved,
            header_bytes: tally.header_bytes,
            copied_bytes: tally.copied,
            unread_bytes: unread,
            disk_bytes,
            no_room: tally.no_room,
            proxies,
            local_caches,
            links: links.collect(),
            sites: scenario.sites.iter().map(|s| s.name.clone()).zip(tally.sites).collect(),
            moments: tally.moments,
            cost,
            check,
            events: tally.events,
            late_events: tally.late,
        }
    }

    /// Leaves the totals: what single links and sites did, and when, is given up.
    pub(crate) fn forget_parts(&mut self) {
        (self.links, self.sites, self.moments) = (Vec::new(), Vec::new(), Vec::new());
        self.distribution = Vec::new();
    }

    /// The part of the time of cores that were given to jobs in which they worked; none if no job ran.
    pub fn cpu_efficiency(&self) -> Option<f64> {
        (self.core_seconds > 0.0).then(|| (self.cpu_seconds / self.core_seconds).min(1.0))
    }

    /// The part of the time of all cores in which they were given to jobs.
    pub fn utilisation(&self) -> f64 {
        part(self.core_seconds, self.available_seconds)
    }
}

/// A part of something, of nothing none.
pub(crate) fn part(of: f64, all: f64) -> f64 {
    if all > 0.0 { (of / all).min(1.0) } else { 0.0 }
}

/// The times of tasks by the names of workloads, in the order of the scenario. All kinds of reads of a trace have its name.
fn by_name<'a>(scenario: &'a Scenario, tally: &Tally) -> Vec<(&'a str, Vec<f64>)> {
    let mut places = HashMap::new();
    let mut out: Vec<(&str, Vec<f64>)> = Vec::new();
    let of = scenario.workloads.iter().map(|w| {
        *places.entry(w.name.as_str()).or_insert_with(|| {
            out.push((&w.name, Vec::new()));
            out.len() - 1
        })
    });
    let of: Vec<usize> = of.collect();
    for &(workload, _, seconds) in &tally.tasks {
        if let Some((_, times)) = of.get(workload as usize).and_then(|&at| out.get_mut(at)) {
            times.push(seconds);
        }
    }
    out
}

/// The value that this part of sorted ones does not exceed.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(at.saturating_sub(1)).or(sorted.last()).copied().unwrap_or(0.0)
}
