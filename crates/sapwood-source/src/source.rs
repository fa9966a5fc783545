use crate::checksum::Checksum;
use crate::origin_version::OriginVersion;
use bytes::Bytes;
use sapwood_span::{Limits, Result, Span};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A boxed future, as trait objects return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where the bytes of one file come from.
///
/// A source never knows what the bytes mean. It returns correct bytes or an error, in bounded time, and says what its
/// requests cost so that a planner can decide how to read.
pub trait Source: Send + Sync {
    /// URL or path for messages; credentials are taken out.
    fn name(&self) -> &str;

    /// Size of the file in bytes, known once it is open.
    fn size(&self) -> Option<u64>;

    /// What one request may hold and what it costs, as far as known now: query it from time to time, the estimates
    /// improve with every reply.
    fn limits(&self) -> Limits;

    /// Whether reading needs no network (and [`fetch`](Source::fetch) never waits for a reactor).
    fn is_local(&self) -> bool;

    /// Reads all spans; each is passed to `sink` as soon as its last byte has arrived, in any order, exactly once, with
    /// its index in `spans`. Empty spans give empty bytes.
    ///
    /// Spans may overlap and come in any order. One that leaves the file is refused before any request. Local files are
    /// read inside the first poll, without waiting; remote ones must be polled on the runtime that opened them.
    /// Dropping the future stops the read.
    ///
    /// # Errors
    /// When this returns an error some spans may already have been passed on; those are correct.
    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>>;

    /// Reads like [`fetch`](Source::fetch), for a caller that needs all of it before it can continue while nothing else
    /// is in flight. Distant data may then be requested in several concurrent requests, over connections that open
    /// their windows together.
    ///
    /// # Errors
    /// As [`fetch`](Source::fetch).
    fn fetch_soon(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch(spans, sink)
    }

    /// Reads like [`fetch`](Source::fetch), for a caller that reads nothing more afterwards: the file is compared once
    /// more with its state at opening, along with the request or where that costs nothing.
    ///
    /// # Errors
    /// As [`fetch`](Source::fetch); `Corrupt` when the file has changed. All spans may have been passed on by then.
    fn fetch_last(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch(spans, sink)
    }

    /// Reads like [`fetch_soon`](Source::fetch_soon), and compares the file as [`fetch_last`](Source::fetch_last) does.
    ///
    /// # Errors
    /// As [`fetch_last`](Source::fetch_last).
    fn fetch_soon_compared(
        self: Arc<Self>,
        spans: Vec<Span>,
        sink: Arc<dyn Sink>,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_last(spans, sink)
    }

    /// Identifies the version of the file that was opened, across sessions: none for a local file, or one in memory.
    fn version(&self) -> Option<OriginVersion> {
        None
    }

    /// The checksum of the whole file as its server reports it: a separate request. None where it reports none of a
    /// known kind.
    ///
    /// # Errors
    /// `Corrupt` when the server reports that the file has changed; network failures.
    fn checksum(self: Arc<Self>) -> BoxFuture<'static, Result<Option<Checksum>>> {
        Box::pin(async { Ok(None) })
    }

    /// Whether all of a span is in the local cache, as far as known without reading it. It stays there while this
    /// source lives.
    fn is_held(&self, span: Span) -> bool {
        let _ = span;
        false
    }

    /// Reads a span from the local cache; none where it is incomplete or damaged. It may wait for the disk.
    fn read_held(&self, span: Span) -> Option<Bytes> {
        let _ = span;
        None
    }

    /// This many of the file's first bytes distinguish its versions: all of them are compared from now on where servers
    /// and file systems report too little.
    fn recognise_by(&self, first: &Bytes) {
        let _ = first;
    }

    /// What users should know about this file's source, as text, apart from the bytes.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// A remark for the user if the server serves no byte ranges, so that the whole file had to be fetched.
    fn whole_file_remark(&self) -> Option<String> {
        None
    }

    /// The file grows as it is read: more bytes at its end are no change.
    fn allow_growth(&self) {}

    /// Fills a buffer with the bytes at a position, at once, if this is a local file. Returns whether it did.
    ///
    /// # Errors
    /// As [`crate::LocalFile::read_into`].
    fn read_at_once(&self, start: u64, buffer: &mut [u8]) -> Result<bool> {
        let _ = (start, buffer);
        Ok(false)
    }

    /// Announces that about this many requests will soon run at once: connections are opened ahead, in the background.
    /// May do nothing.
    fn prepare(&self, requests: usize) {
        let _ = requests;
    }

    /// Counters of this source since it was opened.
    fn stats(&self) -> SourceStats;

    /// Nothing more will be read: what the server keeps open for this file may be released. A later read opens it
    /// again. Dropping the source does this, too.
    fn close(&self) {}
}

/// Receives the spans of a fetch as they arrive. Called from the reading task: return quickly.
pub trait Sink: Send + Sync {
    /// All bytes of the span with this index.
    fn part(&self, index: usize, bytes: Bytes);

    /// This many more bytes came over the wire: for progress bars and rate estimates.
    fn moved(&self, bytes: u64) {
        let _ = bytes;
    }
}

/// Cost of one fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchReport {
    /// From the call to the first byte of data.
    pub first_byte: Duration,
    /// From the call to the end.
    pub total: Duration,
    /// Bytes wanted: the spans' lengths, overlaps counted once.
    pub payload: u64,
    /// Bytes received, multipart headers and repeated bytes included; HTTP headers are not.
    pub wire: u64,
    /// Requests sent, including retries (local: reads).
    pub requests: u32,
    /// Requests among them that were sent again after a failure.
    pub retries: u32,
    /// Whether the file was compared with its state at opening, and found the same, after the fetch began.
    pub compared: bool,
    /// Whether each response ended with such a comparison, made after all before it had been read.
    pub compared_at_end: bool,
}

/// Counters of a source since it was opened, including the opening.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceStats {
    /// Requests sent, including retries (local: reads; XRootD: opens and reads).
    pub requests: u64,
    /// Byte ranges in those requests.
    pub ranges: u64,
    /// Bytes that were wanted and received.
    pub payload: u64,
    /// Bytes of bodies received, multipart headers, gaps and repeated bytes included.
    pub wire: u64,
    /// Connections opened for this source; those reused from another file do not count.
    pub connections: u64,
    /// Length of the longest chain of waits for a server, each begun after the one before it had ended: ten requests at
    /// once count as one. Includes connecting and handshakes, but not connections opened ahead.
    pub round_trips: u64,
    /// Requests sent again after a failure.
    pub retries: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Bytes that came from the local cache instead.
    pub cached_bytes: u64,
    /// Reads from the local cache.
    pub cached_reads: u64,
    /// How often a simpler kind of request was needed (several ranges, single ranges, whole file).
    pub fallbacks: u64,
    /// Estimate of the round-trip time.
    pub round_trip: Option<Duration>,
    /// Estimate of the bandwidth of all connections together, in bytes per second.
    pub bandwidth: Option<f64>,
}

/// A file just opened: its size and both of its ends.
pub struct Opening {
    /// For reading the rest.
    pub source: Arc<dyn Source>,
    /// Size of the file in bytes.
    pub size: u64,
    /// The first bytes of the file: as many as requested, or more where more came at no cost; fewer only if the file is
    /// shorter.
    pub head: Bytes,
    /// Offset of, and the last bytes of the file: as many as requested; fewer if the file is shorter, and over XRootD,
    /// where they are requested separately, no more than arrive in one round trip. They may overlap the head. Empty,
    /// with the offset where they would begin, where [`crate::SourceOptions::tail_later`] left them out.
    pub tail: (u64, Bytes),
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening")
            .field("source", &self.source.name())
            .field("size", &self.size)
            .field("head", &self.head.len())
            .field("tail", &(self.tail.0, self.tail.1.len()))
            .finish()
    }
}
