//! Files on HTTP servers.
//!
//! From the wire up: `connect` opens one connection, perhaps through a `proxy`, `hosts` pools them, `client` sends a
//! request and follows redirects, `body` turns the response into pieces of the file, the crate's `job` assembles them,
//! `file` decides what to request and how to go on after an unexpected response, `opening` does the same for the first
//! request, when nothing is known yet.

mod body;
mod client;
mod connect;
mod credential;
pub(crate) mod expected;
mod failure;
mod file;
mod hosts;
mod multipart;
mod opening;
mod opening_window;
mod pool;
mod proxy;
mod range;
mod reply;
pub(crate) mod small;
mod stalled;
mod version;

pub use hosts::Hosts;
pub(crate) use opening::{open, open_object};
