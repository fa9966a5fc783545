//! Files on HTTP servers.
//!
//! From the wire up: `connect` opens one connection, perhaps through a `proxy`, `hosts` pools them, `client` sends
//! a request along redirects, `body` makes pieces of the file out of the answer, the crate's `job` puts them
//! together, `file` decides what to ask and how to go on when the answer is not what it should
//! be, `opening` does the same for the first request, when nothing is known yet.

mod body;
mod client;
mod connect;
mod credential;
mod failure;
mod file;
mod hosts;
mod multipart;
mod opening;
mod opening_window;
mod proxy;
mod range;
mod recognise;
mod version;

pub use hosts::Hosts;
pub(crate) use opening::open;
