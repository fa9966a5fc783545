//! One version of a file on one origin: requests from the origin what is nowhere else, and ensures that no bytes of
//! another version are mistaken for it.

mod opening;
mod trees;

use crate::blocks::Blocks;
use crate::collect::Collect;
use crate::common::Common;
use crate::failure::{Failure, failure_of};
use crate::metrics::Metrics;
use crate::pending_fetch::PendingFetch;
use crate::place::Place;
use bytes::Bytes;
use sapwood_engine::local_cache::{FileId, Unconfirmed};
use sapwood_prefetch::{FETCHES_AT_ONCE, LONGEST_FETCH, Purpose, Queued, next_request};
use sapwood_source::{Assembler, FetchReport, Source, SourceOptions, checksum};
use sapwood_span::sync::{begun, lock};
use sapwood_span::{Error, ErrorKind, Span};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

pub(crate) use opening::open;
use trees::Trees;

/// Bytes that may wait for a comparison of the file before one is made: for small reads the comparison's own bytes
/// would be too expensive.
const UNCOMPARED: u64 = 64 << 10;
/// The same where a comparison needs a separate request.
const UNCOMPARED_SINGLE: u64 = 1 << 20;
/// HTTP responses that took this long from their first byte to the last are passed on only after a comparison that
/// began after them, unless they end with one: a file written to in place may have changed during the response.
const SLOW: Duration = Duration::from_millis(20);
/// The last bytes are compared after this long without a request.
const IDLE: Duration = Duration::from_secs(2);
/// How long an origin may be silent while it computes a checksum: servers ask to wait for up to ten minutes, five times
/// as long.
const CHECKSUM: Duration = Duration::from_secs(130);
/// How often the store's data may turn out damaged before it is no longer used.
const DAMAGED: u32 = 2;

/// The bytes of some spans, in their order, and bytes now known to be of the version that was opened.
type Fetched = (Vec<Bytes>, Vec<(u64, Bytes)>);

/// An open file at its origin.
pub(crate) struct AtOrigin {
    pub source: Arc<dyn Source>,
    /// Scheme, host and port.
    pub server: String,
    pub is_http: bool,
    /// Whether no other version can have the same identity, as far as the origin reports.
    pub has_validator: bool,
    /// All of it was received when it was opened.
    pub is_whole: bool,
}

/// One version of a file, open at an origin. All clients with the same credential share it.
pub(crate) struct OpenVersion {
    /// Its number among all that were ever open.
    pub number: u64,
    pub id: FileId,
    pub blocks: Arc<Blocks>,
    pub trees: Trees,
    /// Where it can be opened again.
    places: Vec<Place>,
    origin: Mutex<Arc<AtOrigin>>,
    /// When it was last opened again after a failure, and whether that succeeded.
    reopened: tokio::sync::Mutex<Option<(Instant, bool)>>,
    unconfirmed: Unconfirmed,
    /// Fetches that have not started yet.
    queue: Mutex<VecDeque<QueuedFetch>>,
    slots: Semaphore,
    /// Held while a fetch is chosen and its requests are sent: they are sent in the order of the queue.
    turn: tokio::sync::Mutex<()>,
    under_way: AtomicUsize,
    /// When the origin last confirmed that the path has this version.
    confirmed: Mutex<Instant>,
    tag: OnceLock<String>,
    /// When the last comparison began that found it unchanged.
    compared: tokio::sync::Mutex<Option<Instant>>,
    last: Mutex<Instant>,
    comparing_later: AtomicBool,
    changed: AtomicBool,
    doubtful: AtomicBool,
    common: Arc<Common>,
}

impl OpenVersion {
    pub(crate) fn new(
        id: FileId,
        blocks: Arc<Blocks>,
        origin: AtOrigin,
        places: &[Place],
        common: &Arc<Common>,
    ) -> Arc<Self> {
        Arc::new(Self {
            number: common.number(),
            id,
            blocks,
            trees: Trees::new(Arc::clone(&common.mapped)),
            places: places.to_vec(),
            origin: Mutex::new(Arc::new(origin)),
            reopened: tokio::sync::Mutex::default(),
            unconfirmed: Unconfirmed::default(),
            queue: Mutex::default(),
            slots: Semaphore::new(FETCHES_AT_ONCE),
            turn: tokio::sync::Mutex::default(),
            confirmed: Mutex::new(Instant::now()),
            tag: OnceLock::new(),
            under_way: AtomicUsize::new(0),
            compared: tokio::sync::Mutex::default(),
            last: Mutex::new(Instant::now()),
            comparing_later: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            doubtful: AtomicBool::new(false),
            common: Arc::clone(common),
        })
    }

    fn origin(&self) -> Arc<AtOrigin> {
        Arc::clone(&lock(&self.origin))
    }

    /// Called before the path is opened again. XRootD servers return the file that other clients have open by this
    /// path, even if another one has replaced it: so the open one is closed first. A later read opens it again.
    pub(crate) fn let_go(&self) {
        let origin = self.origin();
        if !origin.is_http {
            origin.source.close();
        }
    }

    /// The same version was opened again: later reads use the new handle.
    pub(crate) fn take_over(&self, new: &Self) {
        let new = new.origin();
        if !new.is_http {
            *lock(&self.origin) = new;
        }
    }

    /// Whether no other version can have the same identity, as far as the origin reports.
    pub(crate) fn has_validator(&self) -> bool {
        self.origin().has_validator
    }

    /// When the origin last confirmed that the path has this version.
    pub(crate) fn confirmed(&self) -> Instant {
        *lock(&self.confirmed)
    }

    /// The origin confirmed it in answer to a request made at this moment.
    pub(crate) fn confirm(&self, asked: Instant) {
        let mut confirmed = lock(&self.confirmed);
        *confirmed = asked.max(*confirmed);
    }

    /// A name that no other version has, in quotes.
    pub(crate) fn tag(&self) -> &str {
        self.tag.get_or_init(|| format!("\"{:032x}\"", self.id.hash()))
    }

    /// Reading it has failed: the next open should query the origin again.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Relaxed)
    }

    pub(crate) fn size(&self) -> u64 {
        self.blocks.size()
    }

    /// The origin was found to have another version.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed.load(Relaxed)
    }

    /// Whether nothing is left to fetch.
    pub(crate) fn is_here(&self) -> bool {
        self.origin().is_whole
    }

    /// Reads these spans, which are inside the file, for a client.
    pub(crate) async fn read(self: &Arc<Self>, spans: &[Span]) -> Result<Vec<Bytes>, Failure> {
        self.read_as(spans, true).await
    }

    /// The same for the proxy's own use, without a client's request.
    pub(crate) async fn read_unseen(self: &Arc<Self>, spans: &[Span]) -> Result<Vec<Bytes>, Failure> {
        self.read_as(spans, false).await
    }

    async fn read_as(self: &Arc<Self>, spans: &[Span], is_counted: bool) -> Result<Vec<Bytes>, Failure> {
        let mut assembler = Assembler::new(spans);
        let mut out = vec![Bytes::new(); spans.len()];
        let whole = [Span::new(0, self.size())];
        let mut waited: Vec<Arc<PendingFetch>> = Vec::new();
        let (mut is_first, mut damaged) = (is_counted, 0);
        loop {
            let missing = assembler.missing(&whole);
            if missing.is_empty() {
                return Ok(out);
            }
            // fetches of others may have failed because of their credentials
            if let Some(failed) = waited.iter().filter(|f| f.of == self.number).find_map(|f| f.failure()) {
                return Err(failed.clone());
            }
            // subscribed before the lookup, so that no later change is missed
            let mut changes = self.blocks.changes();
            let lookup = self.blocks.look_up(&missing, self.number, damaged <= DAMAGED);
            if std::mem::take(&mut is_first) {
                self.count(&lookup, &missing);
            }
            lookup.begun.into_iter().for_each(|fetch| self.launch(fetch, Purpose::Read));
            let mut done = Vec::new();
            for (start, bytes) in &lookup.here {
                assembler.push(*start, bytes, &mut done);
            }
            if !lookup.stored.is_empty() {
                for (start, bytes) in self.read_stored(lookup.stored).await {
                    match bytes {
                        Some(bytes) => assembler.push(start, &bytes, &mut done),
                        None => damaged += 1,
                    }
                }
            } else if !lookup.coming.is_empty() && lookup.here.is_empty() {
                // cannot fail: this holds the sender
                let _ = changes.changed().await;
            }
            waited = lookup.coming;
            for (index, bytes) in done {
                if let Some(slot) = out.get_mut(index) {
                    *slot = bytes;
                }
            }
        }
    }

    /// Whether the origin uses HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.origin().is_http
    }

    /// Many fetches will follow soon.
    pub(crate) fn prepare(&self) {
        self.origin().source.prepare(usize::MAX);
    }

    /// Starts to fetch absent spans that a client waits for.
    pub(crate) fn fetch_soon(self: &Arc<Self>, spans: &[Span]) {
        self.begin(spans, Purpose::Read);
    }

    /// The same for a part of a long read: it is sent before the following parts have come.
    pub(crate) fn fetch_part_soon(self: &Arc<Self>, spans: &[Span]) {
        self.begin(spans, Purpose::Part);
    }

    /// Starts to fetch absent spans before a client requests them; returns how many bytes that is.
    pub(crate) fn fetch_ahead(self: &Arc<Self>, spans: &[Span]) -> u64 {
        self.begin(spans, Purpose::Ahead)
    }

    fn begin(self: &Arc<Self>, spans: &[Span], purpose: Purpose) -> u64 {
        if self.is_changed() {
            return 0;
        }
        let begun = self.blocks.look_up(spans, self.number, true).begun;
        let bytes = begun.iter().flat_map(|f| &f.spans).map(|s| s.len).sum();
        begun.into_iter().for_each(|fetch| self.launch(fetch, purpose));
        bytes
    }

    async fn read_stored(&self, spans: Vec<Span>) -> Vec<(u64, Option<Bytes>)> {
        let blocks = Arc::clone(&self.blocks);
        let lost: Vec<(u64, Option<Bytes>)> = spans.iter().map(|span| (span.start, None)).collect();
        let read = move || spans.iter().map(|span| (span.start, blocks.read_stored(*span))).collect();
        tokio::task::spawn_blocking(read).await.unwrap_or(lost)
    }

    /// Fetches in a separate task: a client that leaves does not cancel what others wait for.
    fn launch(self: &Arc<Self>, fetch: Arc<PendingFetch>, purpose: Purpose) {
        lock(&self.queue).push_back(QueuedFetch { blocks: Arc::clone(&self.blocks), fetch: Some(fetch), purpose });
        self.run_aside();
    }

    /// Starts a task that takes the next request from the queue.
    fn run_aside(self: &Arc<Self>) {
        let version = Arc::clone(self);
        tokio::spawn(async move { version.run().await });
    }

    /// Fetches what has waited longest, and more in the same request; nothing if others have done so, or will when they have
    /// ended.
    async fn run(self: Arc<Self>) {
        // a closed semaphore would only mean that nothing is limited any more
        let slot = self.slots.acquire().await;
        let turn = self.turn.lock().await;
        let mut queued = next_request(&mut *lock(&self.queue), self.is_http(), self.under_way.load(Relaxed));
        let spans: Vec<Span> = queued.iter().flat_map(QueuedFetch::spans).copied().collect();
        if spans.is_empty() {
            return;
        }
        let bytes = spans.iter().map(|s| s.len).sum();
        let kibibytes = u32::try_from(u64::min(bytes, LONGEST_FETCH) / 1024 + 1).unwrap_or(1);
        let _room = self.common.in_flight.acquire_many(kibibytes).await;
        *lock(&self.last) = Instant::now();
        let is_urgent = queued.iter().any(|fetch| fetch.purpose.is_urgent());
        let fetch = begun(self.fetch_or_reopen(&spans, bytes, is_urgent)).await;
        drop(turn);
        match fetch.await {
            Ok((all, confirmed)) => {
                let mut all = all.into_iter();
                for fetch in &mut queued {
                    let own = all.by_ref().take(fetch.spans().len()).collect::<Vec<_>>();
                    fetch.arrived(&own);
                }
                drop(slot);
                self.blocks.keep(confirmed).await;
            }
            Err(failure) => queued.iter_mut().for_each(|fetch| fetch.failed(failure.clone())),
        }
    }

    /// Fetches; where an origin fails, opens the file again, there or at another origin, and tries once more.
    async fn fetch_or_reopen(
        self: &Arc<Self>,
        spans: &[Span],
        total: u64,
        is_urgent: bool,
    ) -> Result<Fetched, Failure> {
        if self.is_changed() {
            return Err(Failure::Changed);
        }
        let began = Instant::now();
        let failure = match self.fetch(spans, total, is_urgent).await {
            Ok(fetched) => return Ok(fetched),
            Err(error) => self.failed(&error),
        };
        if !matches!(failure, Failure::Origin(_) | Failure::TimedOut(_)) {
            return Err(failure);
        }
        let again = match self.reopen(began).await {
            Ok(true) => self.fetch(spans, total, is_urgent).await.map_err(|error| self.failed(&error)),
            Ok(false) => {
                self.note_change();
                Err(Failure::Changed)
            }
            Err(()) => Err(failure),
        };
        self.doubtful.store(again.is_err(), Relaxed);
        again
    }

    /// Opens it again, unless that was done since this moment. Returns whether it is still the same version.
    ///
    /// # Errors
    /// It cannot be opened.
    async fn reopen(self: &Arc<Self>, since: Instant) -> Result<bool, ()> {
        let mut last = self.reopened.lock().await;
        if let Some((last, went_well)) = *last
            && last >= since
        {
            return if went_well { Ok(!self.is_changed()) } else { Err(()) };
        }
        self.common.failing(&self.origin().server);
        let began = Instant::now();
        // open() returns a version, which may read: boxed because the future types are recursive
        let opening: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(open(&self.places, &self.common));
        let opened = opening.await;
        *last = Some((began, opened.is_ok()));
        let new = opened.map_err(drop)?;
        let (here, there) = (self.origin(), new.origin());
        // another server has other tags and times for the same bytes
        let (a, b) = (&self.id.version, &new.id.version);
        let is_replica = here.server != there.server
            && a.size == b.size
            && a.beginning == b.beginning
            && a.beginning.starts_with(b"root");
        if new.id != self.id && !is_replica {
            return Ok(false);
        }
        *lock(&self.origin) = there;
        Ok(true)
    }

    /// The checksum of this kind that an XRootD origin reports for this version; none where it reports none.
    pub(crate) async fn checksum(self: &Arc<Self>, kind: &str) -> Option<String> {
        let here = self.origin().server.clone();
        let place = self.places.iter().find(|place| place.route.target.server() == here)?;
        if place.route.target.scheme.uses_http() {
            return None;
        }
        let handle = tokio::runtime::Handle::current();
        let options = self.common.source_options(place);
        let options = SourceOptions { progress_timeout: options.progress_timeout.max(CHECKSUM), ..options };
        let told = checksum(&place.url(false), kind, &options, &handle).await.ok()?;
        // it is of the file now at the path, which may not be the open one
        let now = open(&self.places, &self.common).await.ok()?;
        (now.id == self.id && now.origin().server == here).then_some(told)
    }

    /// The bytes of these spans from the origin, and bytes now known to be of this version.
    async fn fetch(self: &Arc<Self>, spans: &[Span], total: u64, is_urgent: bool) -> Result<Fetched, Error> {
        let AtOrigin { source, is_http, has_validator, is_whole, .. } = &*self.origin();
        let began = Instant::now();
        let number = self.unconfirmed.begin();
        // over HTTP a comparison holds for the moment when the response begins: its bytes wait for a later one
        let own = if *is_http { self.unconfirmed.begin() } else { number };
        let waits = if source.limits().max_ranges > 1 { UNCOMPARED } else { UNCOMPARED_SINGLE };
        let due = !has_validator || self.unconfirmed.bytes() + total > waits;
        let under_way = UnderWay::new(self);
        let busy = under_way.before > 0 && !is_urgent;
        let sink = Collect::new(spans.len());
        let (source, wanted, into) = (Arc::clone(source), spans.to_vec(), Arc::<Collect>::clone(&sink));
        let result = match (due, busy) {
            (true, false) => source.fetch_soon_compared(wanted, into).await,
            (true, true) => source.fetch_last(wanted, into).await,
            // over XRootD the stat comes along at no cost
            (false, busy) if !busy || !is_http => source.fetch_soon(wanted, into).await,
            (false, _) => source.fetch(wanted, into).await,
        };
        drop(under_way);
        let report = result?;
        self.count_fetch(&report);
        let incomplete = || Error::new(ErrorKind::Protocol, "the origin did not send all of the requested ranges");
        let all = sink.all().ok_or_else(incomplete)?;
        if *is_whole {
            return Ok((all, Vec::new()));
        }
        if *is_http {
            // its responses are for the path, not for an open file
            self.confirm(began);
        }
        for (span, bytes) in spans.iter().zip(&all) {
            self.unconfirmed.add(own, span.start, bytes.clone());
        }
        let is_slow = *is_http && !report.compared_at_end && report.total.saturating_sub(report.first_byte) > SLOW;
        let confirmed = if is_slow {
            self.compare(Instant::now()).await?
        } else if report.compared && due {
            self.unconfirmed.confirmed(number)
        } else {
            Vec::new()
        };
        if self.unconfirmed.bytes() > 0 {
            self.compare_later();
        }
        Ok((all, confirmed))
    }

    /// Compares the file with its earlier state, unless a comparison that began later than this moment has done so.
    /// Returns the bytes that this confirms.
    async fn compare(&self, then: Instant) -> Result<Vec<(u64, Bytes)>, Error> {
        let mut last = self.compared.lock().await;
        if last.is_some_and(|last| last >= then) {
            // that comparison has taken the confirmed bytes
            return Ok(Vec::new());
        }
        let (began, number) = (Instant::now(), self.unconfirmed.begin());
        let least = Span::new(0, self.size().min(1));
        let source = Arc::clone(&self.origin().source);
        let report = source.fetch_last(vec![least], Collect::new(1)).await?;
        self.count_fetch(&report);
        *last = Some(began);
        Ok(self.unconfirmed.confirmed(number))
    }

    /// Compares after a while without requests: the last bytes may then be kept.
    fn compare_later(self: &Arc<Self>) {
        if self.comparing_later.swap(true, Relaxed) {
            return;
        }
        let version = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let idle = lock(&version.last).elapsed();
                if idle >= IDLE {
                    break;
                }
                tokio::time::sleep(IDLE - idle).await;
            }
            version.comparing_later.store(false, Relaxed);
            version.compare_now().await;
        });
    }

    /// Compares the file if bytes wait for that, and keeps what is confirmed.
    pub(crate) async fn compare_now(&self) {
        if self.unconfirmed.bytes() == 0 || self.is_changed() {
            return;
        }
        match self.compare(Instant::now()).await {
            Ok(confirmed) => self.blocks.keep(confirmed).await,
            Err(error) => drop(self.failed(&error)),
        }
    }

    /// Records what an error means for others, and returns the client's error.
    fn failed(&self, error: &Error) -> Failure {
        Metrics::add(&self.common.metrics.origin_errors, 1);
        let failure = failure_of(error, true);
        if failure == Failure::Changed {
            self.note_change();
        }
        failure
    }

    fn note_change(&self) {
        if !self.changed.swap(true, Relaxed) {
            Metrics::add(&self.common.metrics.changed, 1);
            self.unconfirmed.changed();
            // some of it may be of the other version
            self.blocks.clear();
        }
    }

    fn count_fetch(&self, report: &FetchReport) {
        Metrics::add(&self.common.metrics.origin_bytes, report.wire);
        Metrics::add(&self.common.metrics.origin_requests, report.requests.into());
    }

    fn count(&self, lookup: &crate::blocks::Lookup, missing: &[Span]) {
        let metrics = &self.common.metrics;
        let total: u64 = missing.iter().map(|s| s.len).sum();
        let hit = lookup.here.iter().map(|(_, b)| b.len() as u64).sum::<u64>()
            + lookup.stored.iter().map(|s| s.len).sum::<u64>();
        let begun: u64 = lookup.begun.iter().flat_map(|f| &f.spans).map(|s| s.len).sum();
        let shared = total.saturating_sub(hit + begun);
        for (counter, bytes, of_bytes) in [
            (&metrics.hits, hit, &metrics.hit_bytes),
            (&metrics.misses, begun, &metrics.missed_bytes),
            (&metrics.shared, shared, &metrics.shared_bytes),
        ] {
            Metrics::add(counter, u64::from(bytes > 0));
            Metrics::add(of_bytes, bytes);
        }
    }
}

/// Counts a request that is under way. When it ends, however it does, what was left in the queue because of it is fetched.
struct UnderWay<'a> {
    version: &'a Arc<OpenVersion>,
    /// How many were before.
    before: usize,
}

impl<'a> UnderWay<'a> {
    fn new(version: &'a Arc<OpenVersion>) -> Self {
        Self { version, before: version.under_way.fetch_add(1, Relaxed) }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.version.under_way.fetch_sub(1, Relaxed);
        if !lock(&self.version.queue).is_empty() && Handle::try_current().is_ok() {
            self.version.run_aside();
        }
    }
}

/// A fetch that callers wait for. Ensures that they are notified however it ends.
struct QueuedFetch {
    blocks: Arc<Blocks>,
    fetch: Option<Arc<PendingFetch>>,
    purpose: Purpose,
}

impl QueuedFetch {
    fn arrived(&mut self, all: &[Bytes]) {
        if let Some(fetch) = self.fetch.take() {
            self.blocks.arrived(&fetch, all);
        }
    }

    fn failed(&mut self, failure: Failure) {
        if let Some(fetch) = self.fetch.take() {
            self.blocks.failed(&fetch, failure);
        }
    }
}

impl Queued for QueuedFetch {
    fn spans(&self) -> &[Span] {
        self.fetch.as_ref().map(|fetch| fetch.spans.as_slice()).unwrap_or_default()
    }

    fn purpose(&self) -> Purpose {
        self.purpose
    }
}

impl Drop for QueuedFetch {
    fn drop(&mut self) {
        self.failed(Failure::Failed("the proxy was stopped".to_owned()));
    }
}
