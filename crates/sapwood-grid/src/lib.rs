//! A simulator of sites that share files over networks: push against pull.
//!
//! A [`Scenario`] has sites with cores, disks and caches, links between them, datasets, and workloads that read them. [`simulate`] runs
//! it in virtual time under each of its policies: with *push*, files are copied to sites and jobs go to the files; with *pull*, jobs run
//! anywhere and read what they need through caches.
//!
//! What decides is the code that ships. A job's reads are those of the planner (`sapwood-plan`), measured once on each path by driving
//! it over the network of `sapwood-sim`; from then on the job is a flow with these bytes at that rate, between its start and the work
//! on what comes last. Caches evict by the rules of the store (`sapwood-store`). A sample of jobs is simulated basket by basket as well,
//! so that every [`Outcome`] says what this changes.
//!
//! The same scenario with the same seed gives the same outcome, to the byte.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod among;
mod behaviour;
mod cache;
mod check;
mod chunks;
mod clock;
mod fetching_ahead;
mod flows;
mod heap;
mod keys;
mod lookup;
mod network;
mod one_path;
mod optimal;
mod outcome;
mod parts;
mod policy;
mod profile;
mod queue;
mod reader;
mod replicas;
mod report;
mod rng;
mod route;
mod scenario;
mod shipped;
mod simulate;
mod slack;
mod stretches;
mod sweep;
mod tally;
mod trace;
mod units;
mod world;

pub use cache::CacheFigures;
pub use check::Check;
pub use clock::Time;
pub use outcome::{LinkFigures, Outcome, WorkloadFigures};
pub use policy::{Access, Copy, Grid, Job, NewDataset, Placement, Policy, Replica};
pub use profile::Profile;
pub use report::{PICTURE_FILES, Report};
pub use scenario::{
    Costs, Dataset, Kind, LinkSpec, Place, PolicySpec, Prices, Protocol, Proxy, Rule, Scenario, Site, TraceRead,
    Workload,
};
pub use shipped::{SHIPPED, Shipped};
pub use simulate::{CustomPolicy, simulate, simulate_with};
pub use sweep::{Axis, Point, Unit};
pub use tally::{Moment, SiteFigures};
