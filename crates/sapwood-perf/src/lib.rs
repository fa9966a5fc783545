//! Measurements and diagnoses: perf stats, the planner's recorded log, the cost of a scan over other networks, damage
//! in a file and the cost of its layout. As values, as text and as JSON.
//!
//! - [`Collector`] observes all reads of this process and returns [`PerfStats`], like ROOT's `TTreePerfStats`.
//! - [`ScanLog`] is the recorded log of a scan; [`Replay`] runs it again, [`WhatIf`] is its result with another cache
//!   or network.
//! - [`doctor`]: damage, and what reading a tree costs.
//! - [`map`]: which bytes of a file belong to what.
//! - [`text`]: tables, sizes and times.
//!
//! The numbers come from the hooks of the engine (`sapwood_engine::observe`).

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

pub mod doctor;
mod json;
mod log;
pub mod map;
mod parts;
mod stats;
pub mod text;

pub use log::{Conditions, Replay, ScanLog, WhatIf};
pub use parts::{StoredParts, baskets, stored_parts};
pub use stats::{BranchPerf, Collector, HostPerf, PerfStats, Point, Slowest};
