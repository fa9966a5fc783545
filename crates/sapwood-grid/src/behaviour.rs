//! How a job behaves on one path: measured by driving the shipped planner over a model of that path, once for all jobs that are alike.

use crate::profile::Profile;
use crate::scenario::{Protocol, Workload};
use sapwood_plan::{Basket, CacheSize, Limits, Request};
use sapwood_sim::{Client, Faults, Link, Release, run};
use sapwood_span::Result;
use std::time::Duration;

/// Steps of a scan of a file without clusters.
const STEPS: u64 = 40;
/// A disk in the same machine, and the time of a seek.
const DISK: f64 = 500e6;
const SEEK: Duration = Duration::from_micros(80);

/// A path as a job sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Route {
    /// Round-trip time in seconds; 0 for a disk in the same machine.
    pub(crate) round_trip: f64,
    /// Bytes per second.
    pub(crate) bandwidth: f64,
    /// The part of packets that are lost.
    pub(crate) loss: f64,
}

impl Route {
    pub(crate) const LOCAL: Self = Self { round_trip: 0.0, bandwidth: DISK, loss: 0.0 };

    /// With two digits of each number, so that paths which are nearly alike are measured once.
    pub(crate) fn rounded(self) -> Self {
        let round = |v: f64| {
            if v <= 0.0 {
                return 0.0;
            }
            let scale = libm::pow(10.0, libm::floor(libm::log10(v)) - 1.0);
            libm::round(v / scale) * scale
        };
        Self { round_trip: round(self.round_trip), bandwidth: round(self.bandwidth), loss: round(self.loss) }
    }

    pub(crate) fn link(self, initial_window: u64, largest_window: u64) -> Link {
        if self.round_trip <= 0.0 {
            return Link::local(self.bandwidth, SEEK);
        }
        let link = Link::new(Duration::from_secs_f64(self.round_trip), self.bandwidth);
        let loss_every = (self.loss > 0.0).then(|| (1460.0 / self.loss).max(1.0) as u64);
        Link { initial_window, largest_window, loss_every, ..link }
    }
}

/// What a job does with one file, alone on its path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Behaviour {
    pub(crate) requests: f64,
    /// Bytes over the path.
    pub(crate) bytes: f64,
    /// Bytes of the baskets that it needs.
    pub(crate) wanted: f64,
    /// Its time.
    pub(crate) seconds: f64,
    /// Of these, those in which a core worked.
    pub(crate) cpu: f64,
}

/// The scan of one file by a job of this workload.
pub(crate) struct Scan {
    pub(crate) baskets: Vec<Basket>,
    pub(crate) request: Request,
    pub(crate) client: Client,
    pub(crate) opening: Behaviour,
    pub(crate) cpu: f64,
}

impl Scan {
    /// None when it reads nothing.
    pub(crate) fn new(profile: &Profile, chosen: &[bool], workload: &Workload, route: Route) -> Option<Self> {
        let entries = (profile.entries as f64 * workload.entries).ceil() as u64;
        let is_chosen = |b: &&Basket| chosen.get(b.branch as usize).is_some_and(|&c| c) && b.first < entries;
        let baskets: Vec<Basket> = profile.baskets.iter().filter(is_chosen).copied().collect();
        if baskets.is_empty() {
            return None;
        }
        let far = route.round_trip > 0.0;
        let round_trip = Duration::from_secs_f64(route.round_trip);
        let limits = match workload.protocol {
            _ if !far => Limits::local(workload.threads as usize),
            Protocol::Http => Limits::http(round_trip),
            Protocol::Xrootd => Limits::xrootd(round_trip),
        };
        let hold = match workload.cache {
            CacheSize::Bytes(n) => n.max(1),
            _ => 0,
        };
        let request = Request { cache: workload.cache, limits, clusters: profile.clusters.clone(), hold };
        let mut starts: Vec<u64> = profile.clusters.iter().copied().filter(|&c| c > 0 && c < entries).collect();
        if starts.is_empty() {
            let step = entries.div_ceil(STEPS).max(1);
            starts = (1..STEPS).map(|i| i * step).filter(|&s| s < entries).collect();
        }
        let ends = starts.iter().copied().chain([entries]);
        let batches: Vec<(u64, u64)> = [0].into_iter().chain(starts.iter().copied()).zip(ends).collect();
        let bytes: u64 = baskets.iter().map(|b| b.span.len).sum();
        let decompression = bytes as f64 / workload.inflate.max(1.0);
        let work = workload.cpu_per_entry * entries as f64;
        // with one thread, decompression and analysis take turns; with several, decompression runs beside it
        let one = workload.threads == 1;
        let turns = if one { work + decompression } else { work };
        let client = Client {
            cores: workload.threads as usize,
            inflate: if one { 1e12 } else { workload.inflate },
            think: Duration::from_secs_f64((turns / batches.len() as f64).min(1e9)),
            batches,
            release: Release::Inflated,
        };
        let cpu = work + decompression;
        Some(Self { baskets, request, client, opening: opening(profile, workload, route), cpu })
    }
}

/// What opening the file costs, and connecting.
fn opening(profile: &Profile, workload: &Workload, route: Route) -> Behaviour {
    if route.round_trip <= 0.0 {
        return Behaviour::default();
    }
    let open = profile.opening;
    let (requests, before) = match workload.protocol {
        Protocol::Http => (open.http_requests, 1.0),
        // the connection, the session, and the file
        Protocol::Xrootd => (open.xrootd_requests, 3.0),
    };
    let bytes = open.bytes as f64;
    let seconds = route.round_trip * (requests as f64 + before) + bytes / route.bandwidth.max(1.0);
    Behaviour { requests: requests as f64, bytes, wanted: bytes, seconds, cpu: 0.0 }
}

/// Measures a job of this workload with one file of this profile.
///
/// # Errors
/// When the planner refuses the baskets.
pub(crate) fn measure(
    profile: &Profile,
    chosen: &[bool],
    workload: &Workload,
    route: Route,
    windows: (u64, u64),
) -> Result<Behaviour> {
    let Some(scan) = Scan::new(profile, chosen, workload, route) else { return Ok(Behaviour::default()) };
    let link = route.link(windows.0, windows.1);
    let report = run(&scan.baskets, scan.request, &link, &scan.client, &Faults::default())?;
    // the last pause is work, too
    let seconds = report.time.as_secs_f64() + scan.client.think.as_secs_f64();
    let open = scan.opening;
    Ok(Behaviour {
        requests: open.requests + report.stats.requests as f64,
        bytes: open.bytes + report.stats.asked_bytes as f64,
        wanted: open.bytes + report.stats.wanted_bytes as f64,
        seconds: open.seconds + seconds,
        cpu: scan.cpu,
    })
}
