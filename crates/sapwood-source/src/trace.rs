//! What happens on the network, as events of the crate `tracing` under the target `sapwood::net`: connections, requests,
//! redirects, retries and changes to a simpler kind of request.
//!
//! While nobody listens an event costs one look at a number. No event holds a credential: URLs come here redacted, by a
//! function that is called for a listener only, and headers do not come here at all.

use sapwood_span::Error;
use std::time::Duration;
use tracing::{debug, info};

/// Of all events.
const TARGET: &str = "sapwood::net";

/// A TCP connection was made; the handshake took one round trip.
pub(crate) fn connected(host: &str, port: u16, round_trip: Duration) {
    debug!(target: TARGET, host, port, ?round_trip, "connected");
}

/// A request is sent for these bytes of a file, as the protocol writes them.
pub(crate) fn request(url: impl FnOnce() -> String, bytes: &str, reused: bool) {
    debug!(target: TARGET, url = %url(), bytes, connection = if reused { "reused" } else { "new" }, "request");
}

/// A request of several parts is sent.
pub(crate) fn request_of(url: impl FnOnce() -> String, requests: usize, ranges: u64) {
    debug!(target: TARGET, url = %url(), requests, ranges, "request");
}

/// The head of an answer came.
pub(crate) fn answer(url: impl FnOnce() -> String, status: u16, took: Duration) {
    debug!(target: TARGET, url = %url(), status, ?took, "answer");
}

/// A redirect is followed.
pub(crate) fn redirect(from: impl FnOnce() -> String, to: impl FnOnce() -> String) {
    info!(target: TARGET, from = %from(), to = %to(), "redirect");
}

/// A server that a redirect named has failed: the first one is asked again.
pub(crate) fn go_back(to: impl FnOnce() -> String) {
    info!(target: TARGET, to = %to(), "back to the first server");
}

/// A request is sent again after a pause.
pub(crate) fn retry(error: &Error, pause: Duration) {
    info!(target: TARGET, %error, ?pause, "retry");
}

/// The server does not serve what was asked for; it is asked in a simpler way.
pub(crate) fn fall_back(url: impl FnOnce() -> String, to: &'static str) {
    info!(target: TARGET, url = %url(), to, "fall back");
}
