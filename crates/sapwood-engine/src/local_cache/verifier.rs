//! Bytes from the origin on their way into the cache: asked for, and kept once the file was found unchanged.

use super::fetch::Joining;
use super::unconfirmed::Unconfirmed;
use bytes::Bytes;
use sapwood_source::{BoxFuture, FetchReport, Sink, Source};
use sapwood_span::sync::lock as locked;
use sapwood_span::{Error, ErrorKind, Result, Span};
use sapwood_store::CachedFile;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Bytes that wait for a comparison before one is asked for where it costs a request of its own.
const UNCONFIRMED: u64 = 8 << 20;

/// The end of a process waits at least and at most this long for comparisons; in between, a few round trips.
const LEAST_WAIT: Duration = Duration::from_secs(1);
const MOST_WAIT: Duration = Duration::from_secs(5);
const ROUND_TRIPS: u32 = 4;

/// All files of this process that are read through a cache.
static ALL: Mutex<Vec<Weak<VersionVerifier>>> = Mutex::new(Vec::new());

/// How something is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FetchUrgency {
    Ahead,
    Soon,
    SoonCompared,
    Last,
}

/// The origin of a file, and what came from it that is not yet known to be of the version that was opened.
pub(super) struct VersionVerifier {
    process: u32,
    pub origin: Arc<dyn Source>,
    /// Nothing is taken from the cache or put into it before all is known that tells the file's version.
    pub file: OnceLock<CachedFile>,
    pub unconfirmed: Unconfirmed,
    /// Fetches whose caller has left after all bytes had come: their comparisons continue.
    left: Mutex<Vec<JoinHandle<Result<FetchReport>>>>,
    /// Held while the last comparison is made: a thread that waits for it finds it done.
    settling: tokio::sync::Mutex<()>,
}

impl VersionVerifier {
    pub(super) fn new(origin: Arc<dyn Source>) -> Arc<Self> {
        let new = Arc::new(Self {
            process: std::process::id(),
            origin,
            file: OnceLock::new(),
            unconfirmed: Unconfirmed::default(),
            left: Mutex::default(),
            settling: tokio::sync::Mutex::default(),
        });
        if let Some(mut all) = all() {
            all.retain(|one| one.strong_count() > 0);
            all.push(Arc::downgrade(&new));
        }
        new
    }

    fn ask(
        &self,
        spans: Vec<Span>,
        sink: Arc<dyn Sink>,
        asked: FetchUrgency,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        ask(&self.origin, spans, sink, asked)
    }

    /// How the origin is asked so that what comes may be kept: with a comparison, unless that takes a request of its own.
    fn compared(&self, asked: FetchUrgency) -> FetchUrgency {
        let is_free = self.origin.limits().max_ranges > 1 || self.unconfirmed.bytes() > UNCONFIRMED;
        match asked {
            FetchUrgency::Ahead if is_free => FetchUrgency::Last,
            FetchUrgency::Soon if is_free => FetchUrgency::SoonCompared,
            other => other,
        }
    }

    /// Asks for what is missing, and keeps what is known to be of this version.
    ///
    /// Dropping this after all bytes have come, as a scan does that is complete, does not end the comparison.
    pub(super) async fn fill(
        self: &Arc<Self>,
        missing: Vec<Span>,
        joining: &Arc<Joining>,
        asked: FetchUrgency,
    ) -> Result<FetchReport> {
        let fetch = self.unconfirmed.begin();
        let to_come = Arc::new(AtomicUsize::new(missing.len()));
        let sink = FromOrigin {
            verifier: self.clone(),
            joining: joining.clone(),
            spans: missing.clone(),
            fetch,
            to_come: to_come.clone(),
        };
        let (this, future) = (self.clone(), self.ask(missing, Arc::new(sink), self.compared(asked)));
        let task = tokio::spawn(async move {
            let result = future.await;
            this.keep_confirmed(fetch, &result);
            result
        });
        let mut caller = Caller { verifier: self.clone(), task: Some(task), to_come };
        let ended = match &mut caller.task {
            Some(task) => task.await,
            None => return Ok(FetchReport::default()),
        };
        caller.task = None;
        ended.unwrap_or_else(|e| {
            Err(match e.try_into_panic() {
                Ok(payload) => sapwood_span::defect::of_panic(&*payload),
                Err(_) => Error::new(ErrorKind::Interrupted, "reading was stopped: the runtime shut down"),
            })
        })
    }

    fn keep_confirmed(&self, fetch: u64, result: &Result<FetchReport>) {
        match result {
            Ok(report) if report.compared => {
                let confirmed = self.unconfirmed.confirmed(fetch);
                if let Some(file) = self.file.get() {
                    confirmed.into_iter().for_each(|(start, bytes)| file.insert(start, bytes));
                }
            }
            Err(e) if e.kind() == ErrorKind::Corrupt => self.unconfirmed.changed(),
            _ => {}
        }
    }

    /// Waits for pending comparisons, and compares the file once more where something is left unconfirmed: a
    /// small request.
    pub(super) async fn settle(self: Arc<Self>) {
        let _only = self.settling.lock().await;
        loop {
            let left = std::mem::take(&mut *locked(&self.left));
            if left.is_empty() {
                break;
            }
            for task in left {
                // what it found is kept by itself
                let _ = task.await;
            }
        }
        let size = self.origin.size().unwrap_or(0);
        if self.unconfirmed.bytes() == 0 || size == 0 {
            return;
        }
        let fetch = self.unconfirmed.begin();
        let result = self.ask(vec![Span::new(0, 1)], Arc::new(DiscardSink), FetchUrgency::Last).await;
        self.keep_confirmed(fetch, &result);
    }

    /// Whether there is something that only [`settle`](Self::settle) keeps.
    fn is_settled(&self) -> bool {
        self.process != std::process::id() || (self.unconfirmed.bytes() == 0 && locked(&self.left).is_empty())
    }

    /// Nothing more will be read: what is left is confirmed and kept in the background, and then the origin is closed.
    pub(super) fn close(self: &Arc<Self>) {
        if !self.settle_soon(|origin| origin.close()) {
            self.origin.close();
        }
    }

    /// As [`close`](Self::close), for a file that nobody has any more: its origin ends with this.
    pub(super) fn leave(self: &Arc<Self>) {
        self.settle_soon(|_| ());
    }

    /// Whether there was something to settle. It is done in the background.
    fn settle_soon(self: &Arc<Self>, then: impl FnOnce(&dyn Source) + Send + 'static) -> bool {
        if self.is_settled() {
            return false;
        }
        // without a thread for the network nothing can be asked
        let Ok(handle) = crate::runtime::handle() else { return false };
        let this = self.clone();
        handle.spawn(async move {
            this.clone().settle().await;
            then(&*this.origin);
        });
        true
    }
}

/// Waits until what this process has read is confirmed, for a few round trips at most.
pub(super) fn settle_all() {
    let known: Vec<Arc<VersionVerifier>> = all().iter().flat_map(|all| all.iter().filter_map(Weak::upgrade)).collect();
    let all: Vec<_> = known.into_iter().filter(|one| !one.is_settled()).collect();
    if all.is_empty() {
        return;
    }
    let far = all.iter().filter_map(|one| one.origin.limits().round_trip).max().unwrap_or_default();
    let most = (far * ROUND_TRIPS).clamp(LEAST_WAIT, MOST_WAIT);
    // what is not confirmed by then is not kept
    let _ = crate::runtime::wait(async move {
        let mut running = tokio::task::JoinSet::new();
        all.into_iter().for_each(|one| drop(running.spawn(one.settle())));
        let _ = tokio::time::timeout(most, async { while running.join_next().await.is_some() {} }).await;
        Ok(())
    });
}

/// The list; none if a thread held it while this process was forked.
fn all() -> Option<MutexGuard<'static, Vec<Weak<VersionVerifier>>>> {
    for _ in 0..1000 {
        match ALL.try_lock() {
            Ok(all) => return Some(all),
            Err(TryLockError::Poisoned(e)) => return Some(PoisonError::into_inner(e)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

/// Asks a source.
pub(super) fn ask(
    source: &Arc<dyn Source>,
    spans: Vec<Span>,
    sink: Arc<dyn Sink>,
    asked: FetchUrgency,
) -> BoxFuture<'static, Result<FetchReport>> {
    let source = Arc::clone(source);
    match asked {
        FetchUrgency::Ahead => source.fetch(spans, sink),
        FetchUrgency::Soon => source.fetch_soon(spans, sink),
        FetchUrgency::SoonCompared => source.fetch_soon_compared(spans, sink),
        FetchUrgency::Last => source.fetch_last(spans, sink),
    }
}

/// A caller that waits for a fetch. Leaving ends the fetch, unless only its comparison is pending.
struct Caller {
    verifier: Arc<VersionVerifier>,
    task: Option<JoinHandle<Result<FetchReport>>>,
    /// Spans that have not come yet.
    to_come: Arc<AtomicUsize>,
}

impl Drop for Caller {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else { return };
        if self.to_come.load(Relaxed) == 0 {
            let mut left = locked(&self.verifier.left);
            left.retain(|task| !task.is_finished());
            left.push(task);
        } else {
            task.abort();
        }
    }
}

/// Takes what the origin sends.
struct FromOrigin {
    verifier: Arc<VersionVerifier>,
    joining: Arc<Joining>,
    /// What was asked for.
    spans: Vec<Span>,
    /// The number of the fetch.
    fetch: u64,
    /// Spans that have not come yet.
    to_come: Arc<AtomicUsize>,
}

impl Sink for FromOrigin {
    fn part(&self, index: usize, bytes: Bytes) {
        let Some(span) = self.spans.get(index) else { return };
        self.verifier.unconfirmed.add(self.fetch, span.start, bytes.clone());
        // before they are handed on: a reader that has them all may leave
        self.to_come.fetch_sub(1, Relaxed);
        self.joining.accept(span.start, &bytes);
    }

    fn moved(&self, bytes: u64) {
        self.joining.moved(bytes);
    }
}

/// Nobody wants these bytes.
struct DiscardSink;

impl Sink for DiscardSink {
    fn part(&self, _: usize, _: Bytes) {}
}
