use std::time::Duration;

/// The size of the tree cache: `TTree::SetCacheSize` in ROOT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CacheSize {
    /// Size 0. Basket by basket, each in its own request, one at a time, only when the consumer waits for it, in the
    /// order in which a loop over entries and branches touches them.
    Off,
    /// As large as [`Request::hold`] allows.
    #[default]
    Auto,
    /// This many compressed bytes (and never more than [`Request::hold`]). Where they do not hold everything, one
    /// request fills the cache while the bytes of the previous one are consumed: twice as much is in flight or held at
    /// most, and there are no more requests than without reading ahead.
    Bytes(u64),
}

/// What the caller requests from the planner, besides the baskets.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The size of the tree cache.
    pub cache: CacheSize,
    /// What the source and its server can do; change it later with [`crate::Event::Limits`].
    pub limits: Limits,
    /// Entries at which clusters begin, ascending; may be empty (files without clusters) and need
    /// not be complete. They say which baskets are needed together.
    pub clusters: Vec<u64>,
    /// Budget in compressed bytes: in flight (with bridged gaps), or arrived and not yet consumed.
    /// Only what the consumer waits for may overdraw it. Zero counts as [`Request::DEFAULT_HOLD`].
    pub hold: u64,
}

impl Request {
    /// The budget when the caller names none: 64 MiB.
    pub const DEFAULT_HOLD: u64 = 64 << 20;
}

/// What the source and its server can do, and what is known about the path to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Ranges in one request; at least 1.
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
    /// Connections among them to use for a long transfer, one whose bytes do not all fit into the budget; none: all.
    /// Over few of them the bytes needed first come first.
    pub streams: Option<usize>,
    /// A gap of at most this many bytes between two baskets costs less than one more range.
    pub range_overhead: u64,
    /// The round-trip time to the server, as far as known before the first reply. `None` or zero means that there is no
    /// network in between: a local file.
    pub round_trip: Option<Duration>,
    /// Bytes per second that the path carries, as far as known before the first replies.
    pub bandwidth: Option<f64>,
}

impl Limits {
    /// A local file read by this many threads: a gap of up to 16 KiB is read over, since a seek and a system call cost
    /// more than four pages.
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

    /// An XRootD data server with its usual vector-read limits (1024 elements of 2 097 136 bytes).
    pub fn xrootd(round_trip: Duration) -> Self {
        Self {
            max_ranges: 1024,
            max_range_bytes: 2_097_136,
            max_request_bytes: 64 << 20,
            max_in_flight: 6,
            queue: 3,
            streams: None,
            range_overhead: 512,
            round_trip: Some(round_trip),
            bandwidth: None,
        }
    }

    /// Whether the path leads over a network.
    pub(crate) fn far(&self) -> bool {
        self.round_trip.is_some_and(|d| !d.is_zero())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::local(4)
    }
}
