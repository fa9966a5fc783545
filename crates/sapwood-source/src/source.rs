use crate::checksum::Checksum;
use crate::local::LocalFile;
use crate::origin_version::OriginVersion;
use bytes::Bytes;
use sapwood_span::{Limits, Result, Span};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A future on the heap: what a trait object can hand out.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where the bytes of one file come from.
///
/// A source never knows what the bytes mean. It hands out right bytes or an error, in bounded
/// time, and says what its requests cost so that a planner can decide how to ask.
pub trait Source: Send + Sync {
    /// URL or path for messages; credentials are taken out.
    fn name(&self) -> &str;

    /// Size of the file in bytes, known once it is open.
    fn size(&self) -> Option<u64>;

    /// What one request may hold and what it costs, as far as known now: ask again from time to
    /// time, the estimates become better with every reply.
    fn limits(&self) -> Limits;

    /// Whether reading needs no network (and [`fetch`](Source::fetch) never waits for a reactor).
    fn is_local(&self) -> bool;

    /// Reads all spans; each is handed to `sink` as soon as its last byte is here, in any order,
    /// exactly once, under its index in `spans`. Empty spans give empty bytes.
    ///
    /// Spans may overlap and come in any order. One that leaves the file is refused before any
    /// request. Local files are read inside the first poll, without waiting; remote ones want to
    /// be polled on the runtime that opened them. Dropping the future stops the reading.
    ///
    /// # Errors
    /// When this returns an error some spans may already have been handed over; those are right.
    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>>;

    /// Reads like [`fetch`](Source::fetch), for somebody who can do nothing before all of it is here while nothing else
    /// is under way. What is far away may then be asked for in several requests side by side, over connections that
    /// open their windows together.
    ///
    /// # Errors
    /// As [`fetch`](Source::fetch).
    fn fetch_soon(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch(spans, sink)
    }

    /// Reads like [`fetch`](Source::fetch), for somebody who wants nothing more afterwards: the file is compared once more
    /// with what it was when it was opened, along with what is asked for or where that costs nothing.
    ///
    /// # Errors
    /// As [`fetch`](Source::fetch); `Corrupt` when the file has changed. All spans may have been handed over by then.
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

    /// What tells the version of the file that was opened from others, across sessions: none for a file on this machine, or
    /// one that is in memory.
    fn version(&self) -> Option<OriginVersion> {
        None
    }

    /// The checksum of the whole file that its server tells: a request of its own. None where it tells none of a kind that is
    /// known here.
    ///
    /// # Errors
    /// `Corrupt` when the server says that the file has changed; a network that fails.
    fn checksum(self: Arc<Self>) -> BoxFuture<'static, Result<Option<Checksum>>> {
        Box::pin(async { Ok(None) })
    }

    /// Whether all of a span is in the local cache, as far as is known without reading it. It stays there as long as this
    /// source lives.
    fn is_held(&self, span: Span) -> bool {
        let _ = span;
        false
    }

    /// Reads a span from the local cache; none where it is not all there, or damaged. It may wait for the disk.
    fn read_held(&self, span: Span) -> Option<Bytes> {
        let _ = span;
        None
    }

    /// So many of the file's first bytes tell one version of it from another: all of them are compared from now on where
    /// servers and file systems say too little.
    fn recognise_by(&self, first: &Bytes) {
        let _ = first;
    }

    /// What users should know of this file's source, in words, beside its bytes being right.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// A remark for the user if the server serves no byte ranges, so that the whole file had to be fetched.
    fn whole_file_remark(&self) -> Option<String> {
        None
    }

    /// The file grows as it is read: more bytes at its end are no change.
    fn allow_growth(&self) {}

    /// The file on this machine, if it is one.
    fn local(&self) -> Option<&LocalFile> {
        None
    }

    /// Announces that about this many requests will soon run at once: connections are opened
    /// ahead, in the background. Free to do nothing.
    fn prepare(&self, requests: usize) {
        let _ = requests;
    }

    /// What this source has done since it was opened.
    fn stats(&self) -> SourceStats;

    /// Nothing more is to be read: what the server keeps open for this file may go. Who reads all the same has it
    /// opened again. Dropping the source does this, too.
    fn close(&self) {}
}

/// Takes the spans of a fetch as they arrive. Called from the reading task: be quick.
pub trait Sink: Send + Sync {
    /// All bytes of the span with this index.
    fn part(&self, index: usize, bytes: Bytes);

    /// So many more bytes came over the wire: for progress bars and rate estimates.
    fn moved(&self, bytes: u64) {
        let _ = bytes;
    }
}

/// What one fetch took.
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
    /// Requests sent, those sent again included (local: reads).
    pub requests: u32,
    /// Requests among them that were sent again after a failure.
    pub retries: u32,
    /// Whether the file was held against what it was when it was opened, and found the same, after the fetch began.
    pub compared: bool,
}

/// Counters of a source since it was opened, the opening included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceStats {
    /// Requests sent, those sent again included (local: reads; XRootD: opens and reads).
    pub requests: u64,
    /// Byte ranges in those requests.
    pub ranges: u64,
    /// Bytes that were wanted and received.
    pub payload: u64,
    /// Bytes of bodies received, multipart headers, gaps and repeated bytes included.
    pub wire: u64,
    /// Connections opened for this source; those taken over from another file do not count.
    pub connections: u64,
    /// Length of the longest chain of waits for a server, each begun after the one before it had
    /// ended: ten requests at once count as one. Connecting and handshakes are in it,
    /// connections opened ahead are not.
    pub round_trips: u64,
    /// Requests sent again after a failure.
    pub retries: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Bytes that came from the local cache instead.
    pub cached_bytes: u64,
    /// Reads from the local cache.
    pub cached_reads: u64,
    /// Times a simpler way of asking had to be taken (several ranges, single ranges, whole file).
    pub fallbacks: u64,
    /// Estimate of the round-trip time.
    pub round_trip: Option<Duration>,
    /// Estimate of the bandwidth of all connections together, in bytes per second.
    pub bandwidth: Option<f64>,
}

/// A file just opened: its size, and both of its ends in hand.
pub struct Opening {
    /// For reading the rest.
    pub source: Arc<dyn Source>,
    /// Size of the file in bytes.
    pub size: u64,
    /// The first bytes of the file: as many as asked for, or more where more came for nothing; fewer only if the file
    /// is shorter.
    pub head: Bytes,
    /// Offset of, and the last bytes of the file: as many as asked for; fewer if the file is shorter, and over XRootD,
    /// where they are asked for by themselves, no more than come in one round trip. They may overlap the head. Empty,
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
