//! Virtual networks, servers and consumers for the planner of `sapwood-plan`.
//!
//! [`run`] drives the same [`sapwood_plan::Planner`] as the engine, with a [`Link`] and a [`Client`], in virtual time:
//! hours of network pass in milliseconds, and the same input always gives the same [`Report`]. [`Oracle`] gives the
//! best that a reader with full knowledge could achieve. [`run_with_cut`] does the same for a scan with a [`Cut`], and
//! also drives [`sapwood_plan::CutPrefetch`]; [`run_together`] for several scans that share a link,
//! also through a [`Proxy`] that fetches ahead, as `sapwood-prefetch` decides. [`layout`] creates baskets, [`scenario`]
//! the classic places from which people read a file at CERN.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod agenda;
mod ahead;
mod client;
mod cores;
mod cut;
mod faults;
pub mod layout;
mod link;
mod network;
mod oracle;
mod proxy;
mod run;
mod scan;
pub mod scenario;

pub use client::{Client, Release};
pub use cut::Cut;
pub use faults::Faults;
pub use link::{Flight, Link, SEGMENT};
pub use oracle::Oracle;
pub use proxy::{Fetched, Proxy};
pub use run::{run, run_together, run_with_cut};
pub use scan::{Job, Report};
