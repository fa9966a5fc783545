//! What sources tell planners about requests.

use std::time::Duration;

/// What one request to a source may hold, what requests cost, and what is known of the network between. A source says so;
/// the planner decides by it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Ranges in one request; at least 1. A fetch may hold more: the source splits it.
    pub max_ranges: usize,
    /// Bytes of one range (XRootD: an element of a vector read). A longer basket is not divided, but counts as the
    /// number of ranges that the source has to make of it.
    pub max_range_bytes: u64,
    /// Bytes of one request, bridged gaps included. A single longer basket is requested alone.
    pub max_request_bytes: u64,
    /// Requests in flight at the same time: connections, or threads for a local file; at least 1.
    pub max_in_flight: usize,
    /// How many of these follow each other over one connection without a pause; at least 1.
    pub queue: usize,
    /// Connections among them that a long transfer is worth sharing among, one whose bytes do not all fit into the budget;
    /// none: all. Over few of them what is needed first comes first.
    pub streams: Option<usize>,
    /// A gap of at most this many bytes between two baskets costs less than one more range.
    pub range_overhead: u64,
    /// The round-trip time to the server, as far as known: better with every reply. `None` or zero means that there is no
    /// network between: a local file.
    pub round_trip: Option<Duration>,
    /// Bytes per second of all connections together, as far as known: better with every reply.
    pub bandwidth: Option<f64>,
}

impl Limits {
    /// A local file read by this many threads: a gap of up to 16 kiB is read along, since a seek
    /// and a system call cost more than four pages.
    pub fn local(threads: usize) -> Self {
        Self {
            max_ranges: 64,
            max_range_bytes: u64::MAX,
            max_request_bytes: 4 << 20,
            max_in_flight: threads.max(1),
            queue: 1,
            streams: None,
            range_overhead: 16 << 10,
            round_trip: None,
            bandwidth: None,
        }
    }

    /// An HTTP server that supports several ranges, as Sapwood's client uses it: 180 in a request are safe with nginx,
    /// Apache and XrdHttp; each costs about 200 bytes of headers in the reply. The farther away, the more connections
    /// share slow start.
    pub fn http(round_trip: Duration) -> Self {
        let connections = match round_trip {
            t if t < Duration::from_millis(5) => 4,
            t if t < Duration::from_millis(50) => 8,
            _ => 11,
        };
        Self {
            max_ranges: 180,
            max_range_bytes: u64::MAX,
            max_request_bytes: 64 << 20,
            max_in_flight: connections,
            queue: 1,
            streams: None,
            range_overhead: 200,
            round_trip: Some(round_trip),
            bandwidth: None,
        }
    }

    /// An XRootD data server with its usual vector-read limit of 1024 elements, as Sapwood's client reads from it: over one
    /// session, with up to five reads in flight; 32 bytes for one more element in request and reply. The client cuts ranges
    /// into elements itself.
    pub fn xrootd(round_trip: Duration) -> Self {
        Self {
            max_ranges: 1024,
            max_range_bytes: u64::MAX,
            max_request_bytes: 64 << 20,
            max_in_flight: 5,
            queue: 5,
            streams: None,
            range_overhead: 32,
            round_trip: Some(round_trip),
            bandwidth: None,
        }
    }

    /// Whether there is a network between.
    pub fn is_far(&self) -> bool {
        self.round_trip.is_some_and(|d| !d.is_zero())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::local(4)
    }
}
