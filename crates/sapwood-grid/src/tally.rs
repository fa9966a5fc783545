//! What happened in one run: counted while it happens.

use crate::cache::CacheFigures;
use crate::clock::Time;
use crate::flows::Carried;
use crate::rng::Rng;
use crate::route::Route;
use crate::scenario::Scenario;

/// A point of the time lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// When, in seconds.
    pub seconds: f64,
    /// Jobs that run.
    pub running: u64,
    /// Cores that are given to them.
    pub busy: u64,
    /// Jobs that wait for a core.
    pub queued: u64,
    /// Jobs that wait for files.
    pub waiting: u64,
    /// Bytes per second over all links, on average since the point before.
    pub network: f64,
    /// Bytes of replicas on disks, originals not counted.
    pub disk: u64,
    /// Bytes in caches.
    pub cached: u64,
}

/// What happened at a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteFigures {
    /// Jobs that were completed.
    pub jobs: u64,
    /// Seconds in which cores were given to jobs.
    pub core_seconds: f64,
    /// Of these, those in which they worked.
    pub cpu_seconds: f64,
    /// The most bytes of replicas on its disk.
    pub disk_most: u64,
    /// Bytes that were moved to it and never read.
    pub disk_unread: u64,
    /// Bytes that were removed to make room.
    pub disk_evicted: u64,
    /// Its proxy.
    pub proxy: Option<CacheFigures>,
    /// The local caches of its nodes, together.
    pub nodes: Option<CacheFigures>,
}

/// A job that is also simulated basket by basket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) workload: usize,
    pub(crate) threads: u64,
    pub(crate) kind: usize,
    pub(crate) route: Route,
    pub(crate) path: u32,
}

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) events: u64,
    /// Events that were due before they were known: there must be none.
    pub(crate) late: u64,
    pub(crate) submitted: u64,
    /// Workload, time of submission, seconds to the result.
    pub(crate) tasks: Vec<(u32, f64, f64)>,
    pub(crate) jobs: u64,
    pub(crate) requests: f64,
    pub(crate) moved: u64,
    pub(crate) copied: u64,
    pub(crate) gap_bytes: u64,
    pub(crate) header_bytes: u64,
    pub(crate) no_room: u64,
    pub(crate) sites: Vec<SiteFigures>,
    pub(crate) carried: Vec<Carried>,
    pub(crate) moments: Vec<Moment>,
    pub(crate) samples: Vec<Sample>,
    sampled: u64,
    most_samples: usize,
    /// When something happened last.
    pub(crate) end: Time,
    /// Bytes over all links at the last point of the time lines.
    pub(crate) passed: f64,
}

impl Tally {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            events: 0,
            late: 0,
            submitted: 0,
            tasks: Vec::new(),
            jobs: 0,
            requests: 0.0,
            moved: 0,
            copied: 0,
            gap_bytes: 0,
            header_bytes: 0,
            no_room: 0,
            sites: vec![SiteFigures::default(); scenario.sites.len()],
            carried: Vec::new(),
            moments: Vec::new(),
            samples: Vec::new(),
            sampled: 0,
            most_samples: scenario.check_jobs,
            end: 0,
            passed: 0.0,
        }
    }

    pub(crate) fn task(&mut self, workload: usize, submitted: f64, seconds: f64) {
        self.tasks.push((workload as u32, submitted, seconds));
    }

    /// A job begins that works for so long.
    pub(crate) fn job_begins(&mut self, site: usize, cpu_seconds: f64) {
        if let Some(site) = self.sites.get_mut(site) {
            site.cpu_seconds += cpu_seconds;
        }
    }

    pub(crate) fn job_ends(&mut self, site: usize, core_seconds: f64) {
        self.jobs += 1;
        if let Some(site) = self.sites.get_mut(site) {
            site.jobs += 1;
            site.core_seconds += core_seconds;
        }
    }

    /// Keeps a sample of all jobs, each with the same probability.
    pub(crate) fn sample(&mut self, chance: &mut Rng, sample: Sample) {
        self.sampled += 1;
        if self.samples.len() < self.most_samples {
            self.samples.push(sample);
            return;
        }
        let at = chance.below(self.sampled) as usize;
        if let Some(slot) = self.samples.get_mut(at) {
            *slot = sample;
        }
    }
}
