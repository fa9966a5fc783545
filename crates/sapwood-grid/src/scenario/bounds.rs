//! What a scenario may ask for: an answer in some hours, from a machine with some memory.

use super::{Costs, Scenario};
use crate::clock::{MOST_YEARS, SECOND, YEAR, seconds};
use crate::profile::Profile;
use sapwood_sim::SEGMENT;
use sapwood_span::{Error, Result, units};
use std::sync::Arc;

/// Jobs, and files that they read, over the whole time.
const MOST_JOBS: f64 = 1e9;
const MOST_READS: f64 = 1e9;
/// Copies that rules make.
const MOST_COPIES: u64 = 20_000_000;
/// Local caches of nodes.
const MOST_NODES: u64 = 1_000_000;
/// Outages of links.
const MOST_OUTAGES: usize = 1_000_000;
/// Pairs of a workload and a dataset, or of a workload and a site: what tables with patterns stand for.
pub(super) const MOST_PAIRS: usize = 20_000_000;

/// Seconds of a round trip, or of a request.
const LONGEST_WAIT: f64 = 86_400.0;
/// Round trips in which a file is read.
const MOST_ROUND_TRIPS: f64 = 1e6;

/// That the scenario can be simulated at all.
pub(super) fn check(scenario: &Scenario) -> Result<()> {
    if scenario.workloads.is_empty() {
        return Err(Error::invalid("nobody reads anything; add a [[workload]]"));
    }
    if scenario.sites.iter().all(|s| s.cores == 0) {
        return Err(Error::invalid("no site has cores; add cores to a [[site]]"));
    }
    work(scenario)?;
    times(scenario)?;
    let nodes = scenario.sites.iter().filter(|s| s.local_cache > 0);
    let nodes = nodes.map(|s| s.nodes.min(s.cores.max(1))).fold(0, u64::saturating_add);
    if nodes > MOST_NODES {
        return Err(too_many("nodes with a local cache", nodes as f64, MOST_NODES as f64));
    }
    let copies = scenario.rules.iter().flat_map(|r| r.datasets.iter().map(move |&d| (d, r.copies)));
    let copies = copies.filter_map(|(d, n)| Some(scenario.datasets.get(d)?.files.saturating_mul(n as u64)));
    let copies = copies.fold(0, u64::saturating_add);
    if copies > MOST_COPIES {
        return Err(too_many("copies that rules make", copies as f64, MOST_COPIES as f64));
    }
    let outages: usize = scenario.links.iter().map(|l| l.outages.len()).sum();
    if outages > MOST_OUTAGES {
        return Err(too_many("outages of links", outages as f64, MOST_OUTAGES as f64));
    }
    Ok(())
}

/// Jobs and reads, as many as are to be expected.
fn work(scenario: &Scenario) -> Result<()> {
    let (mut jobs, mut reads) = (0.0, 0.0);
    for w in &scenario.workloads {
        let most = w.datasets.iter().filter_map(|&d| scenario.datasets.get(d)).map(|d| d.files).max().unwrap_or(0);
        let files = w.files.min(most);
        let tasks = w.at.len() as f64 + seconds(w.stop.saturating_sub(w.start)) * w.rate;
        jobs += tasks * files.div_ceil(w.files_per_job) as f64;
        reads += tasks * files as f64;
    }
    if jobs > MOST_JOBS {
        return Err(too_many("jobs of all workloads", jobs, MOST_JOBS));
    }
    if reads > MOST_READS {
        return Err(too_many("files that the jobs of all workloads read", reads, MOST_READS));
    }
    Ok(())
}

/// Times on which models are built: waits of days are no networks, work of centuries is no job.
fn times(scenario: &Scenario) -> Result<()> {
    let links = scenario.links.iter().map(|l| ("round trip of the link", &l.name, l.rtt as f64 / SECOND));
    let sites = scenario.sites.iter().map(|s| ("round trip within the site", &s.name, s.lan as f64 / SECOND));
    let requests = scenario.workloads.iter().flat_map(|w| {
        let Costs { per_request, per_range, cpu_per_request, cpu_per_range } = w.costs;
        [
            ("per_request of the workload", &w.name, per_request),
            ("per_range of the workload", &w.name, per_range),
            ("cpu_per_request of the workload", &w.name, cpu_per_request),
            ("cpu_per_range of the workload", &w.name, cpu_per_range),
        ]
    });
    if let Some((what, name, given)) = links.chain(sites).chain(requests).find(|t| t.2 > LONGEST_WAIT) {
        let what = format!("the {what} {name} is {}; it must not be longer than a day", units::seconds(given));
        return Err(Error::invalid(what));
    }
    // how a job behaves is worked out round trip by round trip; a loss halves the window (Mathis, Semke, Mahdavi, Ott 1997)
    let loss = scenario.links.iter().map(|l| l.loss).fold(0.0, f64::max);
    let window = (1.22 * SEGMENT / loss.sqrt()).min(scenario.largest_window as f64);
    let longest = MOST_ROUND_TRIPS * window;
    for w in &scenario.workloads {
        let mut known: Option<(*const Profile, u64)> = None;
        for d in w.datasets.iter().filter_map(|&d| scenario.datasets.get(d)) {
            let years =
                ((w.cpu_per_entry + w.cut_per_entry) * w.entries_of(d.profile.entries) as f64 + w.startup) / YEAR;
            if years > MOST_YEARS {
                let what = format!(
                    "a job of {} would take {} years for a file of {}; look at cpu_per_entry, cut_per_entry, entries and startup",
                    w.name,
                    units::count(years.round() as u64),
                    d.name
                );
                return Err(Error::invalid(what));
            }
            // few files are so large that what is read of them must be known; datasets that are alike are beside each other
            let profile = Arc::as_ptr(&d.profile);
            let bytes = match known {
                _ if d.profile.file_bytes as f64 <= longest => 0,
                Some((same, bytes)) if same == profile => bytes,
                _ => d.profile.read_by(w),
            };
            known = Some((profile, bytes)).filter(|_| bytes > 0).or(known);
            if bytes as f64 > longest {
                let what = format!(
                    "a job of {} reads {} of a file of {}, and at most {} are in flight: that takes more than a million round trips",
                    w.name,
                    units::bytes(bytes),
                    d.name,
                    units::bytes(window as u64)
                );
                return Err(Error::invalid(what));
            }
        }
    }
    Ok(())
}

fn too_many(what: &str, have: f64, most: f64) -> Error {
    let [have, most] = [have, most].map(|n| units::count(n.min(1e18) as u64));
    Error::invalid(format!("there are about {have} {what}; at most {most} can be simulated"))
}
