//! What an observer learns of a scan.

use super::Registered;
use sapwood_plan::{Basket, Log, PlanStats, Request};
use std::ops::Range;
use std::time::{Duration, Instant};

/// What decoding one branch took.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecodeTimes {
    /// Baskets decoded.
    pub baskets: u64,
    /// Their compressed bytes.
    pub bytes: u64,
    /// Their bytes after inflation.
    pub unzipped: u64,
    /// Bytes that were inflated, keys left out.
    pub packed: u64,
    /// What they inflated to.
    pub inflated: u64,
    /// Time spent inflating, in seconds.
    pub unzip: f64,
    /// Time spent decoding, in seconds.
    pub decode: f64,
}

/// The observers of a scan, and when its consumer waited.
pub(crate) struct Probe {
    observers: Vec<Registered>,
    waits: Vec<(Duration, Duration)>,
}

/// Two waits with less than this between them are one that was looked after.
const SAME: Duration = Duration::from_micros(200);

/// A scan that has ended: what was read, the planner's input and actions, and what decoding took.
#[derive(Clone, Debug)]
pub struct ScanTrace {
    /// Path or URL, without credentials.
    pub file: String,
    /// Path of the tree inside.
    pub tree: String,
    /// Names of the branches; baskets have their numbers.
    pub branches: Vec<String>,
    /// The baskets that were planned for.
    pub baskets: Vec<Basket>,
    /// What the planner was asked for.
    pub request: Request,
    /// Events and actions of the planner.
    pub log: Log,
    /// What the planner counted.
    pub plan: PlanStats,
    /// Threads that unzipped and decoded.
    pub threads: u64,
    /// By branch, in the order of the names.
    pub times: Vec<DecodeTimes>,
    /// When the scan began.
    pub began: Instant,
    /// The entries it was to read.
    pub entries: Range<u64>,
    /// Leaves of the tree.
    pub leaves: u64,
    /// Bytes of the tree before compression, as its header tells.
    pub tree_bytes: u64,
    /// Bytes of the tree in the file.
    pub tree_zip_bytes: u64,
    /// What the cache may hold.
    pub cache_bytes: u64,
    /// Requests by the source's own count.
    pub requests: u64,
    /// When the consumer waited, from the scan's start.
    pub waits: Vec<(Duration, Duration)>,
}

impl Probe {
    /// None without observers.
    pub(crate) fn new(observers: Vec<Registered>) -> Option<Self> {
        (!observers.is_empty()).then(|| Self { observers, waits: Vec::new() })
    }

    /// The consumer waited; times are from the scan's start.
    pub(crate) fn waited(&mut self, from: Duration, to: Duration) {
        match self.waits.last_mut() {
            Some(last) if from.saturating_sub(last.1) < SAME => last.1 = to,
            _ => self.waits.push((from, to)),
        }
    }

    /// The scan is over; its waits are filled in here.
    pub(crate) fn end(self, mut trace: ScanTrace) {
        trace.waits = self.waits;
        for Registered { observer, .. } in &self.observers {
            observer.scan_ended(&trace);
        }
    }
}
