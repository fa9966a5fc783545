//! What the model of flows changes: a sample of jobs again, basket by basket.
//!
//! In the grid a job is one flow at the rate that was measured for jobs like it. Here jobs of the sample are driven by the planner, all
//! at once over one link of a simulated network in which every connection and every request counts, and their times are compared with
//! those of the model for the same jobs over the same link.

use crate::behaviour::{Route, Scan, measure};
use crate::clock::{from_seconds, seconds};
use crate::flows::{Flows, Tag};
use crate::parts::Parts;
use crate::profile::Profile;
use crate::scenario::Scenario;
use crate::tally::Sample;
use sapwood_sim::{Faults, Job, run_together};
use sapwood_span::Result;
use std::collections::BTreeMap;

/// Jobs that share a link in the check at most: so many can be driven basket by basket in a moment.
const TOGETHER: usize = 20;
/// Baskets in the check at most.
const MOST_BASKETS: usize = 400_000;

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
    let mut pairs = Vec::new();
    let mut baskets = 0;
    for group in groups.values() {
        let Some(route) = group.first().map(|s| s.route) else { continue };
        let mut jobs = Vec::new();
        for sample in group.iter().take(TOGETHER) {
            let Some(&(profile, parts)) = kinds.get(sample.kind) else { continue };
            let Some(Some(reads)) = parts.reads.get(sample.workload) else { continue };
            let Some(workload) = scenario.workloads.get(sample.workload) else { continue };
            let windows = (scenario.initial_window, scenario.largest_window);
            if let Some(scan) = Scan::new(profile, &reads.chosen, workload, route, windows) {
                baskets += scan.baskets.len();
                jobs.push((scan, measure(profile, &reads.chosen, workload, route.rounded(), windows)?));
            }
            if baskets > MOST_BASKETS {
                break;
            }
        }
        pairs.extend(compare(route, jobs)?);
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

/// The times of jobs that begin together over one link: basket by basket, and in the model.
fn compare(route: Route, jobs: Vec<(Scan, crate::behaviour::Behaviour)>) -> Result<Vec<(f64, f64)>> {
    // jobs of the same path have the same link, as far as their workloads do
    let Some(link) = jobs.first().map(|(scan, _)| scan.link.clone()) else { return Ok(Vec::new()) };
    let together = jobs.iter().map(|(scan, _)| Job {
        baskets: &scan.baskets,
        request: scan.request.clone(),
        client: &scan.client,
        cut: scan.cut.as_ref(),
        start: std::time::Duration::from_secs_f64(scan.opening.seconds),
    });
    let full = run_together(together.collect(), &link, &Faults::default())?;
    let full = full.iter().zip(&jobs).map(|(r, (scan, _))| r.time.as_secs_f64() + scan.client.think.as_secs_f64());
    let mut flows = Flows::new([route.bandwidth]);
    let path = flows.add_path(&[0]);
    let mut model: Vec<f64> = jobs.iter().map(|(_, b)| b.seconds).collect();
    for (i, (_, behaviour)) in jobs.iter().enumerate() {
        let bytes = behaviour.bytes.round().max(1.0) as u64;
        flows.start(0, path, behaviour.bytes / behaviour.seconds.max(1e-6), bytes, Tag::Job(i as u32));
    }
    flows.settle(0);
    while let Some(now) = flows.next_end() {
        let mut ended = Vec::new();
        flows.advance(now, &mut ended);
        for tag in ended {
            if let Tag::Job(i) = tag {
                let time = &mut model[i as usize];
                *time = time.max(seconds(now));
            }
        }
        flows.settle(now.max(from_seconds(0.0)));
    }
    Ok(full.zip(model).collect())
}
