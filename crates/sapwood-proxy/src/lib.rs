//! A caching proxy: files of origins, served over HTTP and over the XRootD protocol, and kept in a local cache. What
//! one client has read is nearby for all others; what several want at once is fetched once.
//!
//! From a request to its bytes: `route` finds the origins of a path, `table` the file that all clients share, `version`
//! requests it from the origin, `blocks` knows which bytes are in memory, in the store or in flight, `handle` is a file
//! opened by one client, `ahead` fetches what it will request next, based on what `trees` knows of the file.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod allow;
mod basket_map;
mod blocks;
mod branch_usage;
mod clients;
mod collect;
mod common;
mod credential;
mod directory;
mod failure;
mod fetch_ahead;
mod files;
mod handle;
mod mapped;
mod memory_limit;
mod metrics;
mod open_files;
mod options;
mod pending_fetch;
mod place;
mod proxy;
mod route;
mod scheme;
mod source_options;
mod status;
mod target;
mod version;

pub use allow::AllowRule;
pub use metrics::{Metrics, ProxyMetrics};
pub use options::ProxyOptions;
pub use proxy::{Proxy, ProxyHandle};
