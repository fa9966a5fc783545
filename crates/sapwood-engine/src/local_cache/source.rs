//! A remote file that is read through the local cache.

use super::fetch::{Joining, Parts, Reading};
use super::verifier::{FetchUrgency, VersionVerifier, ask};
use bytes::Bytes;
use sapwood_source::{BoxFuture, Checksum, FetchReport, OriginVersion, Sink, Source, SourceStats};
use sapwood_span::{Limits, Result, Span};
use sapwood_store::{CachedFile, FileId, FileVersion, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Another source, the origin, and what the local cache holds of its file.
///
/// What is held is read from the cache, and checked there; the rest is asked for in one fetch, and kept once the file was
/// found unchanged after it came.
pub(super) struct CachedSource {
    verifier: Arc<VersionVerifier>,
    store: Store,
    /// The URL without credentials, under which the cache knows the file.
    url: String,
    size: u64,
    remarks: Vec<String>,
    /// Whether connections are to be opened ahead when something is missing.
    is_cold: AtomicBool,
    cached_bytes: AtomicU64,
    cached_reads: AtomicU64,
}

impl CachedSource {
    /// `is_cold`: no connections were opened ahead, for all was thought to be held.
    pub(super) fn new(
        origin: Arc<dyn Source>,
        store: Store,
        url: String,
        size: u64,
        is_cold: bool,
        remarks: Vec<String>,
    ) -> Self {
        Self {
            verifier: VersionVerifier::new(origin),
            store,
            url,
            size,
            remarks,
            is_cold: AtomicBool::new(is_cold),
            cached_bytes: AtomicU64::new(0),
            cached_reads: AtomicU64::new(0),
        }
    }

    fn origin(&self) -> &Arc<dyn Source> {
        &self.verifier.origin
    }

    /// The file's version is known, and the origin has it now.
    pub(super) fn identify(&self, version: &OriginVersion) {
        let file = self.store.file(&FileId { url: self.url.clone(), version: stored(version) });
        file.validated();
        // it cannot be another one later
        let _ = self.verifier.file.set(file);
    }

    /// The version is known from the cache alone.
    pub(super) fn identify_offline(&self, file: CachedFile) {
        let _ = self.verifier.file.set(file);
    }

    /// What arrived while the file was opened.
    pub(super) fn keep(&self, start: u64, bytes: &Bytes) {
        if let Some(file) = self.verifier.file.get().filter(|_| !bytes.is_empty()) {
            file.insert(start, bytes.clone());
        }
    }

    /// Reads from the cache, and counts.
    pub(super) fn read_from(&self, file: &CachedFile, span: Span) -> Option<Bytes> {
        let bytes = file.read(span)?;
        self.cached_bytes.fetch_add(span.len, Relaxed);
        self.cached_reads.fetch_add(1, Relaxed);
        Some(bytes)
    }

    /// Asks for what is missing, and keeps what is known to be of this version.
    async fn fill(&self, missing: Vec<Span>, joining: &Arc<Joining>, asked: FetchUrgency) -> Result<FetchReport> {
        if self.is_cold.swap(false, Relaxed) {
            self.origin().prepare(usize::MAX);
        }
        self.verifier.fill(missing, joining, asked).await
    }

    fn fetch_as(
        self: Arc<Self>,
        spans: Vec<Span>,
        sink: Arc<dyn Sink>,
        asked: FetchUrgency,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        // the origin says what is wrong with spans that leave the file
        let Some(file) = self.verifier.file.get().cloned().filter(|_| spans.iter().all(|s| s.end() <= self.size))
        else {
            return ask(self.origin(), spans, sink, asked);
        };
        Box::pin(async move {
            let begin = Instant::now();
            let parts = Parts::new(&spans, |span| file.held(span));
            let joining = Joining::new(&spans, sink);
            let payload = sapwood_span::coalesce(&spans, 0, u64::MAX).iter().map(|c| c.span.len).sum();
            let reading = (!parts.held.is_empty()).then(|| {
                let this = Arc::clone(&self);
                Reading::start(parts.held, move |span| this.read_from(&file, span), &joining)
            });
            let mut report = FetchReport::default();
            if !parts.missing.is_empty() {
                report = self.fill(parts.missing, &joining, asked).await?;
            }
            if let Some(reading) = reading {
                let damaged = reading.ended().await?;
                if !damaged.is_empty() {
                    let again = self.fill(damaged, &joining, asked).await?;
                    report.wire += again.wire;
                    report.requests += again.requests;
                    report.retries += again.retries;
                }
            }
            Ok(FetchReport { payload, total: begin.elapsed(), ..report })
        })
    }
}

/// The version as the store knows it.
pub(super) fn stored(version: &OriginVersion) -> FileVersion {
    let OriginVersion { size, etag, modified, checksum, beginning, .. } = version.clone();
    FileVersion { size, etag, modified, checksum, beginning }
}

impl Source for CachedSource {
    fn name(&self) -> &str {
        self.origin().name()
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn limits(&self) -> Limits {
        self.origin().limits()
    }

    fn is_local(&self) -> bool {
        false
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, FetchUrgency::Ahead)
    }

    fn fetch_soon(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, FetchUrgency::Soon)
    }

    fn fetch_last(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, FetchUrgency::Last)
    }

    fn fetch_soon_compared(
        self: Arc<Self>,
        spans: Vec<Span>,
        sink: Arc<dyn Sink>,
    ) -> BoxFuture<'static, Result<FetchReport>> {
        self.fetch_as(spans, sink, FetchUrgency::SoonCompared)
    }

    fn version(&self) -> Option<OriginVersion> {
        self.origin().version()
    }

    fn checksum(self: Arc<Self>) -> BoxFuture<'static, Result<Option<Checksum>>> {
        Arc::clone(self.origin()).checksum()
    }

    fn is_held(&self, span: Span) -> bool {
        self.verifier
            .file
            .get()
            .is_some_and(|file| file.held(span).iter().map(|part| part.len).sum::<u64>() == span.len)
    }

    fn read_held(&self, span: Span) -> Option<Bytes> {
        self.read_from(self.verifier.file.get()?, span)
    }

    fn recognise_by(&self, first: &Bytes) {
        self.origin().recognise_by(first);
        if self.verifier.file.get().is_none()
            && let Some(version) = self.origin().version().filter(|version| version.has_validator)
        {
            self.identify(&OriginVersion { beginning: first.clone(), ..version });
            self.keep(0, first);
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.origin().remarks();
        remarks.extend(self.remarks.iter().cloned());
        remarks.extend(self.store.warnings());
        remarks
    }

    fn whole_file_remark(&self) -> Option<String> {
        self.origin().whole_file_remark()
    }

    fn allow_growth(&self) {
        self.origin().allow_growth();
    }

    fn prepare(&self, requests: usize) {
        self.origin().prepare(requests);
    }

    fn stats(&self) -> SourceStats {
        let stats = self.origin().stats();
        SourceStats {
            cached_bytes: self.cached_bytes.load(Relaxed),
            cached_reads: self.cached_reads.load(Relaxed),
            ..stats
        }
    }

    fn close(&self) {
        self.verifier.close();
    }
}

impl Drop for CachedSource {
    fn drop(&mut self) {
        self.verifier.leave();
    }
}
