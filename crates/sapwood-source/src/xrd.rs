//! Files on XRootD servers.
//!
//! The protocol itself is `sapwood-xrd`'s. From the wire up: `conn` is one session with its sockets, `state` what it
//! waits for, `watch` looks after its silence and `pulse` after its rate, `host` keeps the sessions of a server and what
//! was learnt about it, `bulk` shares large requests among them, `client` finds the way to a file's server along redirects,
//! `opening` opens the file there, `version` tells whether it is still the same, `replica` whether another server has it, too,
//! `file` reads it, `listing` looks at directories.

mod bulk;
mod client;
mod conn;
mod failure;
mod file;
mod host;
mod identity;
mod listing;
mod opening;
mod plan;
mod pulse;
mod reading;
mod root_url;
mod sockets;
mod state;
mod version;
mod watch;

pub(crate) use host::Servers;
pub use listing::{RemoteEntry, checksum, list, locate};
pub(crate) use opening::open;
pub(crate) use root_url::RootUrl;
