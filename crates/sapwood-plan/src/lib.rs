//! The tree cache as a pure state machine: events in, fetches out.
//!
//! A [`Planner`] knows the baskets one scan needs, and decides which bytes to request next, in which requests, and
//! when. It has no I/O, no threads, no clock and no randomness: time is an argument, counted from the start of the
//! scan. The caller runs this loop:
//!
//! ```text
//! planner.handle(now, event)                 // whatever happened
//! while let Some(action) = planner.poll(now) // what to do about it
//! wait for the next event, at most until planner.deadline()
//! ```
//!
//! The rules it keeps are listed at [`Planner`]. A scan with a cut also has a [`CutPrefetch`], which decides what of
//! the other branches is fetched before the cut is evaluated.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod assumptions;
mod basket;
mod cut;
mod draft;
mod event;
mod log;
mod log_text;
mod order;
mod planner;
mod positions;
mod replay;
mod request;
mod request_size;
mod stats;

pub use basket::{Basket, BasketId};
pub use cut::{CutBasket, CutDecision, CutPrefetch};
pub use event::{Action, Event, Fetch, FetchId, Part, Range};
pub use log::{Log, Record};
pub use log_text::{describe_action, describe_event};
pub use planner::Planner;
pub use replay::replay;
pub use request::{CacheSize, Request};
pub use sapwood_span::Limits;
pub use stats::PlanStats;
