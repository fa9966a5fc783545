//! What reading costs: statistics of every read of the process, recorded scans, and what they would cost elsewhere.

pub use sapwood_perf::{
    BranchPerf, Collector, Conditions, HostPerf, PerfStats, Point, Replay, ScanLog, Slowest, WhatIf,
};
pub use sapwood_plan::{Action, Basket, BasketId, Event, Fetch, FetchId, Log, Part, Range, Record, Request};
