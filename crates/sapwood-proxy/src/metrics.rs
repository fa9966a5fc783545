//! Counters of a proxy.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of a running proxy.
#[derive(Debug, Default)]
pub struct Metrics {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) shared: AtomicU64,
    pub(crate) hit_bytes: AtomicU64,
    pub(crate) missed_bytes: AtomicU64,
    pub(crate) shared_bytes: AtomicU64,
    pub(crate) origin_bytes: AtomicU64,
    pub(crate) origin_requests: AtomicU64,
    pub(crate) origin_errors: AtomicU64,
    pub(crate) client_bytes: AtomicU64,
    pub(crate) opened: AtomicU64,
    pub(crate) open_files: AtomicU64,
    pub(crate) changed: AtomicU64,
    pub(crate) ahead_bytes: AtomicU64,
    pub(crate) unused_ahead_bytes: AtomicU64,
}

/// Their values at one moment. All count since the start, except where noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProxyMetrics {
    /// Ranges that were in memory or in the local cache.
    pub hits: u64,
    /// Ranges that had to be fetched from an origin.
    pub misses: u64,
    /// Ranges that were already requested from an origin for another client.
    pub shared: u64,
    /// Bytes of these.
    pub hit_bytes: u64,
    /// Bytes of these.
    pub missed_bytes: u64,
    /// Bytes of these.
    pub shared_bytes: u64,
    /// Bytes that origins sent.
    pub origin_bytes: u64,
    /// Requests sent to origins.
    pub origin_requests: u64,
    /// Fetches and opens that failed.
    pub origin_errors: u64,
    /// Bytes of files sent to clients.
    pub client_bytes: u64,
    /// Files opened by clients.
    pub opened: u64,
    /// Files that clients have open now.
    pub open_files: u64,
    /// How often a file was found changed while it was open.
    pub changed: u64,
    /// Bytes fetched before a client requested them.
    pub ahead_bytes: u64,
    /// Bytes of these that no client had requested when it closed the file.
    pub unused_ahead_bytes: u64,
}

impl Metrics {
    /// Their values now.
    pub fn now(&self) -> ProxyMetrics {
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        ProxyMetrics {
            hits: of(&self.hits),
            misses: of(&self.misses),
            shared: of(&self.shared),
            hit_bytes: of(&self.hit_bytes),
            missed_bytes: of(&self.missed_bytes),
            shared_bytes: of(&self.shared_bytes),
            origin_bytes: of(&self.origin_bytes),
            origin_requests: of(&self.origin_requests),
            origin_errors: of(&self.origin_errors),
            client_bytes: of(&self.client_bytes),
            opened: of(&self.opened),
            open_files: of(&self.open_files),
            changed: of(&self.changed),
            ahead_bytes: of(&self.ahead_bytes),
            unused_ahead_bytes: of(&self.unused_ahead_bytes),
        }
    }

    pub(crate) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Relaxed);
    }
}
