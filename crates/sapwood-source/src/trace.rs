//! Network activity as events of the crate `tracing` under the target `sapwood::net`: connections, requests, redirects,
//! retries and changes to a simpler kind of request.
//!
//! Without a subscriber an event costs one check of a number. No event holds a credential: URLs are redacted by a
//! function that is called for a subscriber only, and headers are never passed here.

use sapwood_span::Error;
use std::time::Duration;
use tracing::{debug, info};

/// Target of all events.
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

/// The head of a response arrived.
pub(crate) fn answer(url: impl FnOnce() -> String, status: u16, took: Duration) {
    debug!(target: TARGET, url = %url(), status, ?took, "response");
}

/// A redirect is followed.
pub(crate) fn redirect(from: impl FnOnce() -> String, to: impl FnOnce() -> String) {
    info!(target: TARGET, from = %from(), to = %to(), "redirect");
}

/// The target of a redirect has failed: the first server is asked again.
pub(crate) fn go_back(to: impl FnOnce() -> String) {
    info!(target: TARGET, to = %to(), "back to the first server");
}

/// A request is sent again after a pause.
pub(crate) fn retry(error: &Error, pause: Duration) {
    info!(target: TARGET, %error, ?pause, "retry");
}

/// A request has fallen behind others: what it has not brought is requested over another connection as well.
pub(crate) fn again(url: impl FnOnce() -> String) {
    info!(target: TARGET, url = %url(), "request again over another connection");
}

/// The server does not support the request; a simpler one is sent.
pub(crate) fn fall_back(url: impl FnOnce() -> String, to: &'static str) {
    info!(target: TARGET, url = %url(), to, "fall back");
}
