//! A path as a job sees it.

use crate::scenario::{Protocol, Workload};
use sapwood_sim::{Link, SEGMENT};
use std::time::Duration;

/// Bytes in a response beside those of the file. Over HTTP: status and headers, the piece of the file's beginning by which versions
/// are compared, the last boundary; and for each range a boundary and headers.
const HTTP_RESPONSE: u64 = 1000;
const HTTP_RANGE: u64 = 106;
const XROOTD_RESPONSE: u64 = 8;
const XROOTD_RANGE: u64 = 16;

/// The path from a proxy to a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leg {
    /// Round-trip time in seconds.
    pub(crate) round_trip: f64,
    /// Bytes per second.
    pub(crate) bandwidth: f64,
}

/// A path as a job sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Route {
    /// Round-trip time in seconds; 0 for a disk in the same machine.
    pub(crate) round_trip: f64,
    /// Bytes per second.
    pub(crate) bandwidth: f64,
    /// The part of packets that are lost.
    pub(crate) loss: f64,
    /// A caching proxy on the way fetches what it has not: the path from there to the job.
    pub(crate) proxy: Option<Leg>,
    /// The time of a read in seconds, of a disk in the same machine.
    pub(crate) seek: f64,
}

impl Route {
    /// A disk in the same machine.
    pub(crate) fn disk(bandwidth: f64, seek: f64) -> Self {
        Self { round_trip: 0.0, bandwidth, loss: 0.0, proxy: None, seek }
    }

    /// With three digits of each number, so that paths which are nearly alike are measured once.
    pub(crate) fn rounded(self) -> Self {
        let round = |v: f64| {
            if v <= 0.0 {
                return 0.0;
            }
            let scale = libm::pow(10.0, libm::floor(libm::log10(v)) - 2.0);
            libm::round(v / scale) * scale
        };
        let proxy = self
            .proxy
            .map(|Leg { round_trip, bandwidth }| Leg { round_trip: round(round_trip), bandwidth: round(bandwidth) });
        let [round_trip, bandwidth, loss] = [self.round_trip, self.bandwidth, self.loss].map(round);
        Self { round_trip, bandwidth, loss, proxy, ..self }
    }

    /// The path for this workload, with the connections that opening the file leaves open.
    pub(crate) fn link(self, workload: &Workload, windows: (u64, u64)) -> Link {
        if self.round_trip <= 0.0 {
            return Link::local(self.bandwidth, Duration::from_secs_f64(self.seek));
        }
        let link = Link::new(Duration::from_secs_f64(self.round_trip), self.bandwidth);
        let loss_every = (self.loss > 0.0).then(|| (SEGMENT / self.loss).max(1.0) as u64);
        let (request_header, range_header, queue) = match workload.protocol {
            Protocol::Http => (HTTP_RESPONSE, HTTP_RANGE, 1),
            Protocol::Xrootd => (XROOTD_RESPONSE, XROOTD_RANGE, usize::MAX),
        };
        Link {
            initial_window: windows.0,
            largest_window: windows.1,
            // the client makes room for all that slow start brings
            receive_window: u64::MAX,
            hystart: true,
            loss_every,
            per_request: Duration::from_secs_f64(workload.costs.per_request),
            per_range: Duration::from_secs_f64(workload.costs.per_range),
            request_header,
            range_header,
            queue,
            ..link
        }
    }
}
