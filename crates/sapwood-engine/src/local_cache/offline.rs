//! The origin of a file that is read from the local cache alone.

use sapwood_source::{BoxFuture, FetchReport, Sink, Source, SourceStats};
use sapwood_span::{Error, ErrorKind, Limits, Result, Setting, Span};
use std::sync::Arc;
use std::time::Duration;

/// A server that is not asked.
pub(super) struct NotAsked {
    /// The URL without credentials.
    pub url: String,
    pub size: u64,
}

/// The local cache lacks what is asked for.
pub(super) fn not_held(url: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("{what} is not in the local cache, and servers are not contacted in offline mode"),
    )
    .in_file(url)
    .with_remedy("read it online once")
    .with_setting(Setting::Online)
}

impl Source for NotAsked {
    fn name(&self) -> &str {
        &self.url
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_ranges: 1024,
            max_range_bytes: u64::MAX,
            max_request_bytes: 64 << 20,
            max_in_flight: 4,
            queue: 1,
            streams: None,
            range_overhead: 4096,
            round_trip: Some(Duration::ZERO),
            bandwidth: None,
        }
    }

    fn is_local(&self) -> bool {
        false
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, _: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        Box::pin(async move {
            let error = not_held(&self.url, "a part of the file").with_kind(ErrorKind::Gone);
            Err(spans.first().map_or_else(|| error.clone(), |span| error.clone().at(*span)))
        })
    }

    fn stats(&self) -> SourceStats {
        SourceStats::default()
    }
}
