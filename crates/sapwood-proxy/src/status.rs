//! The status pages of a proxy: metrics for Prometheus, and whether it works.

use crate::common::Common;
use crate::metrics::ProxyMetrics;
use sapwood_serve::Status;
use std::fmt::Write;
use std::sync::Arc;

/// What a proxy adds to its server's pages.
pub(crate) struct ProxyStatus(pub Arc<Common>);

/// Name, kind, meaning and value of a metric.
type Figure = (&'static str, &'static str, &'static str, fn(&ProxyMetrics) -> u64);

const FIGURES: [Figure; 15] = [
    ("hits_total", "counter", "Requested ranges that were at least partly in memory or on disk.", |m| m.hits),
    ("misses_total", "counter", "Requested ranges that were at least partly fetched.", |m| m.misses),
    ("shared_total", "counter", "Requested ranges that were at least partly being fetched already.", |m| m.shared),
    ("hit_bytes_total", "counter", "Requested bytes that were in memory or on disk.", |m| m.hit_bytes),
    ("missed_bytes_total", "counter", "Requested bytes that were fetched.", |m| m.missed_bytes),
    ("shared_bytes_total", "counter", "Requested bytes that were already being fetched.", |m| m.shared_bytes),
    ("origin_bytes_total", "counter", "Bytes received from origins.", |m| m.origin_bytes),
    ("origin_requests_total", "counter", "Requests sent to origins.", |m| m.origin_requests),
    ("origin_errors_total", "counter", "Opens and fetches that failed at an origin.", |m| m.origin_errors),
    ("client_bytes_total", "counter", "Bytes of files sent to clients.", |m| m.client_bytes),
    ("opened_total", "counter", "Files opened by clients.", |m| m.opened),
    ("open_files", "gauge", "Files that clients have open.", |m| m.open_files),
    ("changed_total", "counter", "Times a file changed at its origin while it was open.", |m| m.changed),
    ("ahead_bytes_total", "counter", "Bytes fetched before a client asked for them.", |m| m.ahead_bytes),
    (
        "unused_ahead_bytes_total",
        "counter",
        "Bytes of these that the client had not asked for when it closed the file.",
        |m| m.unused_ahead_bytes,
    ),
];

impl Status for ProxyStatus {
    fn metrics(&self, out: &mut String) {
        let now = self.0.metrics.now();
        for (name, kind, help, value) in FIGURES {
            // writing to a string never fails
            let _ = writeln!(out, "# HELP sapwood_proxy_{name} {help}\n# TYPE sapwood_proxy_{name} {kind}");
            let _ = writeln!(out, "sapwood_proxy_{name} {}", value(&now));
        }
    }

    fn health(&self) -> Result<(), String> {
        match self.0.failing_origin() {
            Some(origin) => Err(format!("no origin responds; the last one tried was {origin}")),
            None => Ok(()),
        }
    }
}
