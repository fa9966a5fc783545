//! Files on XRootD servers.
//!
//! The protocol itself is in `sapwood-xrd`. From the wire up: `conn` is one session with its sockets, `state` its
//! pending requests, `watch` detects its silence and `pulse` measures its rate, `host` keeps the sessions of a server
//! and what was learnt about it, `bulk` distributes large requests among them, `client` finds a file's server along
//! redirects, `open_request` sends one open, `opening` opens the file wherever redirects lead, `version` checks whether it
//! is still the same, `file` reads it, `query` asks about paths, `listing` lists directories.

mod bulk;
mod caller;
mod client;
mod conn;
pub(crate) mod expected;
mod failure;
mod file;
mod host;
mod identity;
mod listing;
mod open_request;
mod opening;
mod plan;
mod query;
mod reading;
mod root_url;
mod session_rate;
mod small;
mod sockets;
mod state;
mod version;
mod watch;

pub(crate) use host::Servers;
pub(crate) use listing::list;
pub use listing::{RemoteEntry, checksum, locate};
pub(crate) use opening::open;
pub(crate) use root_url::RootUrl;
