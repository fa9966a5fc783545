//! What an observer learns of a file.

use super::{Registered, lock};
use crate::report::IoReport;
use sapwood_source::SourceStats;
use std::sync::{Arc, Mutex, Weak};

/// Counters of what is read.
pub(crate) trait Counters: Send + Sync {
    /// Those of the source, and those of scans and headers.
    fn counts(&self) -> (SourceStats, IoReport);
}

/// What a file had done when an observer first saw it, and what it had done at its end.
pub struct FileMeter {
    /// Counts as long as the file is open.
    counters: Weak<dyn Counters>,
    url: String,
    before: (SourceStats, IoReport),
    after: Mutex<Option<(SourceStats, IoReport)>>,
}

/// What a file did, opening included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileCounts {
    /// Requests sent, those sent again included.
    pub requests: u64,
    /// Byte ranges in them.
    pub ranges: u64,
    /// Waits for a server one after another.
    pub round_trips: u64,
    /// Connections opened.
    pub connections: u64,
    /// Requests sent again after a failure.
    pub retries: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Bytes that came from the local cache instead.
    pub local_cache_bytes: u64,
    /// Reads from the local cache.
    pub local_cache_reads: u64,
    /// Bytes received.
    pub bytes_fetched: u64,
    /// Bytes of records that were needed.
    pub bytes_wanted: u64,
}

/// The meters of a file: one for each observer that has seen it, by the observer's number.
#[derive(Default)]
pub(crate) struct FileMeters(Mutex<Vec<(u64, Arc<FileMeter>)>>);

impl FileMeters {
    /// The file is opened, or read again: `before` gives what it had done until now, none when it has just been opened.
    pub(crate) fn watch(
        &self,
        observers: &[Registered],
        url: &str,
        counters: &Weak<dyn Counters>,
        before: impl Fn() -> (SourceStats, IoReport),
    ) {
        for Registered { number, observer } in observers {
            let mut own = lock(&self.0);
            if !own.iter().any(|(n, _)| n == number) {
                let after = Mutex::new(None);
                let (counters, url) = (counters.clone(), url.to_owned());
                let meter = Arc::new(FileMeter { counters, url, before: before(), after });
                own.push((*number, meter.clone()));
                drop(own);
                observer.file_used(meter);
            }
        }
    }

    /// The file is closed; this is what it had done.
    pub(crate) fn closed(&self, counts: impl FnOnce() -> (SourceStats, IoReport)) {
        let meters = std::mem::take(&mut *lock(&self.0));
        if !meters.is_empty() {
            let counts = counts();
            meters.iter().for_each(|(_, m)| *lock(&m.after) = Some(counts.clone()));
        }
    }
}

impl FileMeter {
    /// Path or URL, without credentials.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the file did since the observer first saw it.
    pub fn counts(&self) -> FileCounts {
        // the lock is not held while the file is asked: that may turn out to be its last user, and close it
        let after = lock(&self.after).clone();
        let now = after.or_else(|| self.counters.upgrade().map(|c| c.counts())).or_else(|| lock(&self.after).clone());
        let now = now.unwrap_or_else(|| self.before.clone());
        let (s, b) = (&now.0, &self.before.0);
        FileCounts {
            requests: s.requests.saturating_sub(b.requests),
            ranges: s.ranges.saturating_sub(b.ranges),
            round_trips: s.round_trips.saturating_sub(b.round_trips),
            connections: s.connections.saturating_sub(b.connections),
            retries: s.retries.saturating_sub(b.retries),
            redirects: s.redirects.saturating_sub(b.redirects),
            local_cache_bytes: s.cached_bytes.saturating_sub(b.cached_bytes),
            local_cache_reads: s.cached_reads.saturating_sub(b.cached_reads),
            bytes_fetched: s.wire.saturating_sub(b.wire),
            bytes_wanted: now.1.bytes_wanted.saturating_sub(self.before.1.bytes_wanted),
        }
    }
}
