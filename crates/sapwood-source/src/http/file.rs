//! An open file on an HTTP server.

mod first_bytes_check;
mod request;

use super::client::Client;
use super::failure::{RequestFailure, RetryBudget};
use super::opening_window::{self, WINDOW};
use super::range;
use super::version::{FileVersion, VersionCheck};
use crate::bounds;
use crate::checksum::Checksum;
use crate::counters::Counters;
use crate::file_identity::changed;
use crate::job::Job;
use crate::lock;
use crate::origin_version::OriginVersion;
use crate::source::{BoxFuture, FetchReport, Sink, Source, SourceStats};
use crate::with_first_bytes::WithFirstBytes;
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind, Limits, Result, Span, coalesce};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

use first_bytes_check::with_beginning;
use request::Ask;

/// Bytes in one request at most. What has arrived of it when a connection is lost is kept.
pub(crate) const MAX_REQUEST: u64 = 64 << 20;
/// Cost of one more part in a multipart response and in the request: its headers.
pub(crate) const PART_OVERHEAD: u64 = 200;
/// Beyond twice what was requested, a response may hold this much before it is treated as nonsense.
const SLACK: u64 = 1 << 20;

/// Servers that a request may be redirected to in turn, each of which is compared with what is known.
const MOST_SERVERS: u32 = 16;

/// Bytes that may arrive without the file's first bytes, in consecutive single ranges: the first bytes would cost too
/// much beside small ones. The last request of a scan always includes them.
const UNRECOGNISED: u64 = 64 << 10;
/// First bytes that distinguish ROOT files: the header, with the file's UUID, also beyond 2 GB.
const BRIEF: usize = 80;

/// How ranges are requested.
#[derive(Clone)]
struct RequestStyle {
    /// The first bytes of the file, where each request includes them as well.
    along: Option<Bytes>,
    /// Since when the server has been silent.
    silent: Option<Instant>,
    /// Nothing more of the file may be requested later.
    last: bool,
    /// Other requests of the same fetch are about to begin.
    several: bool,
}

/// Requests for data of a file: how many are in flight, how many there were, and how many bytes came unrecognised.
#[derive(Default)]
pub(crate) struct UnderWay {
    now: AtomicUsize,
    ever: AtomicU64,
    /// Bytes requested without the file's first bytes since these last came.
    unrecognised: AtomicU64,
}

/// A request that is in flight until this is dropped.
struct Begun<'a> {
    all: &'a UnderWay,
    number: u64,
    alone: bool,
}

impl UnderWay {
    fn begin(&self) -> Begun<'_> {
        let alone = self.now.fetch_add(1, Relaxed) == 0;
        Begun { all: self, number: self.ever.fetch_add(1, Relaxed) + 1, alone }
    }
}

impl Begun<'_> {
    /// Whether no other request was in flight at any time since.
    fn was_alone(&self) -> bool {
        self.alone && self.all.ever.load(Relaxed) == self.number
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.all.now.fetch_sub(1, Relaxed);
    }
}

pub(crate) struct HttpFile {
    pub client: Arc<Client>,
    pub size: u64,
    pub version: Arc<FileVersion>,
    /// All bytes, if the file is small or the server serves no ranges.
    pub memory: Option<Bytes>,
    /// The server ignores ranges: all of the file was fetched to open it.
    pub ranges_ignored: bool,
    pub under_way: UnderWay,
}

impl HttpFile {
    /// Fetches all that the job is missing. `soon`: the caller waits for all of it, and nothing else is in flight.
    pub(super) async fn complete(self: &Arc<Self>, job: &Arc<Job>, soon: bool, last: bool) -> Result<()> {
        let whole = [Span::new(0, self.size)];
        let mut multi = self.client.server().host.multi();
        // since when a server has been silent over several ranges
        let mut silent = None;
        loop {
            let missing = job.missing(&whole);
            if missing.is_empty() {
                return Ok(());
            }
            let host = self.client.server().host;
            let (gap, line) = if multi { (PART_OVERHEAD, host.line()) } else { (self.gap_of_single(), range::SINGLE) };
            let joined: Vec<Span> = coalesce(&missing, gap, MAX_REQUEST).into_iter().map(|c| c.span).collect();
            let shared =
                if soon { opening_window::shared(&joined, &host, self.client.options.far, multi) } else { None };
            let groups = shared.unwrap_or_else(|| range::requests(&joined, line, MAX_REQUEST));
            let along = if multi { self.version.beginning.bytes() } else { None };
            let several = groups.len() > 1;
            match self.run(job, groups, &RequestStyle { along, silent, last, several }).await {
                Ok(()) => {}
                // its limits differ from what was assumed: divide again
                Err(RequestFailure::FewerRanges(_)) => host.refuses_long_lines(),
                Err(RequestFailure::Fallback(_)) if multi => {
                    multi = false;
                    Counters::add(&self.client.counters.fallbacks, 1);
                    crate::trace::fall_back(|| self.client.server().url.redacted(), "single ranges");
                }
                Err(RequestFailure::Timeout { since, .. }) if multi => {
                    (multi, silent) = (false, Some(since));
                    Counters::add(&self.client.counters.fallbacks, 1);
                    crate::trace::fall_back(|| self.client.server().url.redacted(), "single ranges");
                }
                Err(RequestFailure::OtherServer) => {}
                Err(
                    RequestFailure::Timeout { error: e, .. }
                    | RequestFailure::Fallback(e)
                    | RequestFailure::Fatal(e)
                    | RequestFailure::Unreached(e)
                    | RequestFailure::Retry { error: e, .. },
                ) => {
                    return Err(e);
                }
            }
        }
    }

    /// Runs requests concurrently; the pool limits how many really are.
    async fn run(
        self: &Arc<Self>,
        job: &Arc<Job>,
        mut groups: Vec<Vec<Span>>,
        style: &RequestStyle,
    ) -> Result<(), RequestFailure> {
        if groups.len() <= 1 {
            return self.group(job, groups.pop().unwrap_or_default(), style).await;
        }
        let rest = groups.split_off(1);
        let first = groups.pop().unwrap_or_default();
        let mut running = JoinSet::new();
        for group in rest {
            let (file, job, style) = (Arc::clone(self), Arc::clone(job), style.clone());
            running.spawn_on(async move { file.group(&job, group, &style).await }, &self.client.handle());
        }
        // The first one is sent first: it gets the connection with the widest window.
        let mut first = std::pin::pin!(self.group(job, first, style));
        let mut answered = false;
        loop {
            tokio::select! {
                biased;
                ended = &mut first, if !answered => {
                    ended?;
                    answered = true;
                }
                // Returning at the first failure drops the set and cancels the others.
                Some(ended) = running.join_next() => ended.unwrap_or_else(|e| Err(RequestFailure::Fatal(crate::ended(e))))?,
                else => return Ok(()),
            }
        }
    }

    /// One request, sent again for what is missing as long as a retry may help.
    async fn group(&self, job: &Job, group: Vec<Span>, style: &RequestStyle) -> Result<(), RequestFailure> {
        let mut retry_budget = RetryBudget::since(&self.client.options, style.silent);
        let mut pieces = group.clone();
        let mut elsewhere = 0;
        loop {
            let before: u64 = pieces.iter().map(|s| s.len).sum();
            let begun = self.under_way.begin();
            let unrecognised = before.saturating_add(self.under_way.unrecognised.load(Relaxed));
            let briefly = self.client.options.compare_briefly && !style.last;
            let bare = !briefly
                && (begun.alone && !style.last && !style.several && pieces.len() == 1 && unrecognised <= UNRECOGNISED);
            self.under_way.unrecognised.store(if bare { unrecognised } else { 0 }, Relaxed);
            let along = style.along.as_ref().filter(|_| !bare);
            let along = along.map(|all| if briefly { all.slice(..all.len().min(BRIEF)) } else { all.clone() });
            let ranges = along.as_ref().map_or_else(|| pieces.clone(), |beginning| with_beginning(&pieces, beginning));
            // what one round trip brings is sent at one moment; nginx sends all of a file of which more is requested
            let ends = self.client.options.compare_briefly && ranges.len() > 1 && before > WINDOW;
            let fits = |all: &Bytes| before + 2 * all.len() as u64 <= self.size;
            let ends = ends && self.client.server().host.sends_in_order();
            let end = along.clone().filter(|all| ends && fits(all));
            let ask = Ask { ranges, along, end };
            let result = self.request_again_if_stalled(job, &group, &ask, &mut retry_budget).await;
            if bare && !begun.was_alone() {
                // requests begun meanwhile may have been answered from another version
                job.overtaken.store(true, Relaxed);
            }
            drop(begun);
            if let Err(RequestFailure::Fatal(error)) = result {
                return Err(RequestFailure::Fatal(error));
            }
            let multi = ask.ranges.len() > 1;
            pieces = hulls(&job.missing(&group), &group);
            if pieces.is_empty() {
                return Ok(());
            }
            let after: u64 = pieces.iter().map(|s| s.len).sum();
            if after < before {
                retry_budget.renew();
            }
            let at = pieces.first().copied().unwrap_or_default();
            let (error, wait, stalled) = match result {
                Ok(()) if after < before => continue,
                Ok(()) if multi => {
                    return Err(RequestFailure::nonsense("the server returned fewer bytes than requested", true));
                }
                Ok(()) => {
                    (Error::new(ErrorKind::Protocol, "the server returned fewer bytes than requested"), None, false)
                }
                // A server may hang on several ranges: do not blame the network yet.
                Err(RequestFailure::Retry { error, stalled: true, .. })
                    if multi && after == before && retry_budget.is_left() =>
                {
                    self.client.server().host.silent_over_multi();
                    return Err(RequestFailure::Timeout { error, since: retry_budget.moved() });
                }
                Err(RequestFailure::Retry { error, wait, stalled }) => (error, wait, stalled),
                // found to be the same file; but a server that changes every time cannot be read from
                Err(RequestFailure::OtherServer) => {
                    elsewhere += 1;
                    if elsewhere <= MOST_SERVERS {
                        continue;
                    }
                    let what = format!("the file was redirected to {MOST_SERVERS} servers in turn");
                    return Err(RequestFailure::Fatal(Error::new(ErrorKind::Protocol, what)));
                }
                Err(RequestFailure::Unreached(error)) => {
                    retry_budget.unreached(error.at(at)).await.map_err(RequestFailure::Fatal)?;
                    continue;
                }
                Err(other) => return Err(other),
            };
            retry_budget.spend(error.at(at), wait, stalled).await.map_err(RequestFailure::Fatal)?;
            job.retried();
            Counters::add(&self.client.counters.retries, 1);
        }
    }

    fn check_size(&self, total: Option<u64>) -> Result<(), RequestFailure> {
        match total {
            Some(now) if now != self.size => {
                Err(RequestFailure::Fatal(changed(&format!("it had {} bytes and now has {now}", self.size))))
            }
            _ => Ok(()),
        }
    }

    /// Reads the first bytes again, on their own.
    ///
    /// # Errors
    /// `Corrupt` where they differ, and any error of the read.
    async fn compare_first_bytes(self: &Arc<Self>, sink: &Arc<dyn Sink>) -> Result<()> {
        let mut spans = Vec::new();
        let Some(compare) = WithFirstBytes::add(&mut spans, sink, &self.version.beginning) else { return Ok(()) };
        let job = Job::new(&spans, Arc::<WithFirstBytes>::clone(&compare), Instant::now());
        self.complete(&job, false, true).await?;
        compare.check()
    }

    fn fetch_as(
        self: Arc<Self>,
        mut spans: Vec<Span>,
        mut sink: Arc<dyn Sink>,
        soon: bool,
        last: bool,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        Box::pin(async move {
            let begin = Instant::now();
            bounds::check(&spans, self.size, &self.client.name)?;
            let payload = bounds::covered(&spans);
            if let Some(memory) = &self.memory {
                for (index, span) in spans.iter().enumerate() {
                    sink.part(index, memory.slice(span.start as usize..span.end() as usize));
                }
                return Ok(FetchReport { payload, total: begin.elapsed(), ..FetchReport::default() });
            }
            // otherwise each response includes the beginning
            // a store compares the ETag itself, which stands for the content
            let pinned = self.client.is_pinned();
            let single = !self.client.server().host.multi() && !pinned;
            let compare =
                (last && single).then(|| WithFirstBytes::add(&mut spans, &sink, &self.version.beginning)).flatten();
            if let Some(compare) = &compare {
                sink = Arc::<WithFirstBytes>::clone(compare);
            }
            let job = Job::new(&spans, Arc::clone(&sink), begin);
            self.complete(&job, soon, last).await.map_err(|e| e.in_file(&self.client.name))?;
            let mut compared = true;
            let is_compared = compare.is_some();
            if let Some(compare) = compare {
                compare.check().map_err(|e| e.in_file(&self.client.name))?;
            }
            // what was compared along with the other ranges may have come before the last of them
            let last_unrecognised = last && !is_compared && job.unrecognised.load(Relaxed);
            if !pinned && (last_unrecognised || job.overtaken.load(Relaxed)) {
                self.compare_first_bytes(&sink).await.map_err(|e| e.in_file(&self.client.name))?;
            } else if !is_compared {
                compared = pinned || !job.unrecognised.load(Relaxed);
            }
            Counters::add(&self.client.counters.payload, payload);
            Ok(FetchReport { compared, ..job.report(payload) })
        })
    }

    /// What one more single-range request costs in bytes: its share of what could have arrived meanwhile over all
    /// connections.
    fn gap_of_single(&self) -> u64 {
        let host = self.client.server().host;
        let parallel = host.parallel() as f64;
        let meter = lock(&host.meter);
        match (meter.round_trip(), meter.bandwidth()) {
            (Some(t), Some(b)) => ((t.as_secs_f64() * b / parallel) as u64).clamp(4 << 10, 1 << 20),
            _ => 64 << 10,
        }
    }
}

/// For each range the smallest one that holds all that is missing in it: never more ranges than before, as the server
/// may accept no more.
fn hulls(missing: &[Span], ranges: &[Span]) -> Vec<Span> {
    let hull = |range: &Span| {
        let mut inside = missing.iter().filter(|m| m.overlaps(*range));
        let first = inside.next()?;
        let last = inside.next_back().unwrap_or(first);
        Some(Span::new(first.start, last.end() - first.start))
    };
    ranges.iter().filter_map(hull).collect()
}

/// The server serves no byte ranges and the file is too large to fetch whole.
pub(crate) fn no_ranges(size: Option<u64>) -> Error {
    let size = size.map_or_else(String::new, |n| format!(" of {n} bytes"));
    Error::unsupported(format!("the server does not serve byte ranges, only the whole file{size}"))
        .with_remedy("download the file and read the copy, or use another server")
}

impl Source for HttpFile {
    fn name(&self) -> &str {
        &self.client.name
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn limits(&self) -> Limits {
        let host = self.client.server().host;
        let multi = host.multi();
        let (range_overhead, max_ranges) =
            if multi { (PART_OVERHEAD, host.line().most(self.size)) } else { (self.gap_of_single(), 1) };
        let (max_in_flight, streams) = (host.parallel(), host.streams());
        let meter = lock(&host.meter);
        Limits {
            max_ranges,
            max_range_bytes: u64::MAX,
            max_request_bytes: MAX_REQUEST,
            max_in_flight,
            queue: 1,
            streams: Some(streams),
            range_overhead,
            round_trip: meter.round_trip(),
            bandwidth: meter.narrow(),
        }
    }

    fn is_local(&self) -> bool {
        false
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, false, false)
    }

    fn fetch_last(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, false, true)
    }

    fn fetch_soon_compared(
        self: Arc<Self>,
        spans: Vec<Span>,
        sink: Arc<dyn Sink>,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, true, true)
    }

    fn version(&self) -> Option<OriginVersion> {
        // a file in memory was read as a whole
        if self.memory.is_some() { None } else { self.version.identity(self.size) }
    }

    fn checksum(self: Arc<Self>) -> BoxFuture<'static, Result<Option<Checksum>>> {
        Box::pin(async move {
            let reply = match self.client.head(&mut RetryBudget::new(&self.client.options)).await {
                Ok(reply) => reply,
                Err(RequestFailure::Fatal(error) | RequestFailure::Unreached(error)) => {
                    return Err(error.in_file(&self.client.name));
                }
                Err(RequestFailure::Retry { error, stalled: true, .. }) => return Err(error.in_file(&self.client.name)),
                Err(_) => return Ok(None),
            };
            // a signature may be valid for GET only
            if reply.status != 200 {
                return Ok(None);
            }
            match self.version.check(&reply).map_err(|e| e.in_file(&self.client.name))? {
                // another server's file is not the one that was read
                VersionCheck::NewServer => Ok(None),
                VersionCheck::Same => {
                    let fields = ["repr-digest", "digest"].into_iter().filter_map(|name| reply.header(name));
                    Ok(Checksum::of_http(fields))
                }
            }
        })
    }

    fn recognise_by(&self, first: &Bytes) {
        self.version.beginning.lengthen(first);
    }

    fn whole_file_remark(&self) -> Option<String> {
        let server = self.client.server().url.authority();
        let size = sapwood_span::units::bytes(self.size);
        self.ranges_ignored
            .then(|| format!("the server {server} does not serve byte ranges: the whole file ({size}) was downloaded"))
    }

    fn remarks(&self) -> Vec<String> {
        if self.memory.is_some() || !self.version.lacks_validator() {
            return Vec::new();
        }
        // the same for all files of a server, so that a caller can show it once
        let server = self.client.server().url.authority();
        let what = "does not identify the version of a file (no ETag, no Last-Modified): if a file changes while it \
                    is being read, only a different size or different first bytes are detected";
        vec![format!("the server {server} {what}")]
    }

    fn fetch_soon(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, true, false)
    }

    fn prepare(&self, requests: usize) {
        let host = self.client.server().host;
        let near = lock(&host.meter).round_trip().is_none_or(|t| t < Duration::from_millis(5));
        // For a nearby server, a connection costs next to nothing when it is needed.
        if self.memory.is_none() && !near {
            self.client.warm(requests.min(host.parallel()));
        }
    }

    fn stats(&self) -> SourceStats {
        let host = self.client.server().host;
        let meter = lock(&host.meter);
        SourceStats { round_trip: meter.round_trip(), bandwidth: meter.bandwidth(), ..self.client.counters.snapshot() }
    }
}
