//! What the model of flows changes: a sample of jobs again, basket by basket.
//!
//! In the grid a job is one flow at the rate that was measured for jobs like it. Here jobs of the sample are driven by the planner,
//! from the same instant on, over one link of a simulated network in which every connection and every request counts. Their times are
//! compared with those of the model for the same jobs over the same link.

use crate::among::{MOST_BASKETS, TOGETHER, begin_at_once, is_crowded, measure_among, rounded};
use crate::behaviour::{Behaviour, Scan, measure, together};
use crate::one_path::in_model;
use crate::parts::Parts;
use crate::profile::Profile;
use crate::reader::Reader;
use crate::route::Route;
use crate::scenario::Scenario;
use crate::tally::Sample;
use sapwood_span::Result;
use std::collections::BTreeMap;

/// The work of all simulations of the check: some seconds.
const MOST_WORK: u64 = 100_000_000;

/// How far the model of flows is from the simulation basket by basket.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Jobs that were compared.
    pub jobs: u64,
    /// Their mean time basket by basket, in seconds.
    pub full: f64,
    /// Their mean time in the model.
    pub model: f64,
    /// The largest difference of one job, as a part of its time basket by basket.
    pub largest: f64,
}

impl Check {
    /// The difference of the mean times, as a part of the one basket by basket.
    pub fn difference(&self) -> f64 {
        if self.full > 0.0 { self.model / self.full - 1.0 } else { 0.0 }
    }
}

/// Compares the samples; none if there are none that are small enough.
pub(crate) fn check(scenario: &Scenario, kinds: &[(&Profile, &Parts)], samples: &[Sample]) -> Result<Option<Check>> {
    let mut groups: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        groups.entry(sample.path).or_default().push(sample);
    }
    let most_work = MOST_WORK / groups.len().max(1) as u64;
    let mut pairs = Vec::new();
    let mut baskets = 0;
    for group in groups.values() {
        let Some(route) = group.first().map(|s| s.route) else { continue };
        let mut jobs = Vec::new();
        for &&sample in group.iter().take(TOGETHER as usize) {
            let Some(&(profile, parts)) = kinds.get(sample.kind) else { continue };
            let Some(Some(reads)) = parts.reads.get(sample.workload) else { continue };
            let Some(workload) = scenario.workloads.get(sample.workload) else { continue };
            let reader = Reader {
                workload,
                chosen: &reads.chosen,
                threads: sample.threads,
                windows: (scenario.initial_window, scenario.largest_window),
                map: &parts.map,
            };
            if let Some(scan) = Scan::new(profile, reader, route) {
                baskets += scan.baskets.len();
                jobs.push(Sampled { scan, profile, reader, of: (sample.workload, sample.kind, sample.threads) });
            }
            if baskets > MOST_BASKETS {
                break;
            }
        }
        pairs.extend(compare(route, &jobs, most_work)?);
        if baskets > MOST_BASKETS {
            break;
        }
    }
    let n = pairs.len() as f64;
    let largest = pairs.iter().map(|(full, model)| (model / full - 1.0).abs()).fold(0.0, f64::max);
    Ok((!pairs.is_empty()).then(|| Check {
        jobs: pairs.len() as u64,
        full: pairs.iter().map(|p| p.0).sum::<f64>() / n,
        model: pairs.iter().map(|p| p.1).sum::<f64>() / n,
        largest,
    }))
}

/// A job of the sample.
struct Sampled<'a> {
    scan: Scan,
    profile: &'a Profile,
    reader: Reader<'a>,
    /// Those of the same workload, kind of file and number of threads behave alike.
    of: (usize, usize, u64),
}

/// The times of jobs over one link, which begin soon after each other: basket by basket, and in the model. Of as many jobs as the work
/// allows.
fn compare(route: Route, jobs: &[Sampled<'_>], most_work: u64) -> Result<Vec<(f64, f64)>> {
    // jobs of the same path have the same link, as far as their workloads do
    let Some(link) = jobs.first().map(|job| job.scan.link.clone()) else { return Ok(Vec::new()) };
    let n = jobs.len() as f64;
    let mut known: Vec<((usize, usize, u64), Behaviour)> = Vec::new();
    for job in jobs {
        if known.iter().any(|known| known.0 == job.of) {
            continue;
        }
        let alone = measure(job.profile, job.reader, route.rounded())?;
        let among = if is_crowded(&alone, route, n) {
            measure_among(job.profile, job.reader, route.rounded(), (rounded(n), &alone), &mut { most_work / 4 })?
        } else {
            None
        };
        known.push((job.of, among.unwrap_or(alone)));
    }
    let alone = Behaviour::default();
    let model = |job: &Sampled<'_>| known.iter().find(|known| known.0 == job.of).map_or(&alone, |known| &known.1);
    let seconds = jobs.iter().map(|job| model(job).seconds).sum::<f64>() / n;
    let begin = begin_at_once(jobs.len(), route, seconds);
    let starts = |i: usize, job: &Sampled<'_>| begin[i] + job.reader.workload.startup;
    let all = jobs.iter().enumerate().map(|(i, job)| (&job.scan, starts(i, job) + job.scan.opening.seconds));
    let Some(full) = together(&all.collect::<Vec<_>>(), &link, &mut { most_work / 4 })? else {
        return compare(route, &jobs[..jobs.len() / 2], most_work / 2);
    };
    let full = full.iter().zip(jobs).map(|(r, job)| r.time.as_secs_f64() + job.scan.client.think.as_secs_f64());
    let all = jobs.iter().enumerate().map(|(i, job)| (model(job), &job.scan.opening, starts(i, job)));
    let in_model = in_model(route, &all.collect::<Vec<_>>()).into_iter().map(|ends| ends.end);
    Ok(full.zip(in_model).zip(&begin).map(|((full, model), begin)| (full - begin, model - begin)).collect())
}
