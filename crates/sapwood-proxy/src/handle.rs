//! A file that one client has open.

use crate::ahead::FetchAhead;
use crate::metrics::Metrics;
use crate::version::OpenVersion;
use bytes::Bytes;
use sapwood_serve::{Answer, FileInfo, OpenFile, Version};
use sapwood_span::Span;
use sapwood_span::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is announced and no longer is fetched at once; of what is longer, so much is fetched ahead of the client.
const AHEAD: u64 = 16 << 20;
/// The first fetches of a long read are short, so that the first bytes come soon.
const FIRST: u64 = 512 << 10;
/// All others.
const PIECE: u64 = 4 << 20;
/// Long reads of a client that are followed at once.
const MOST: usize = 64;
/// A file that changed so short a time ago may change again without another time of change.
const YOUNG: Duration = Duration::from_secs(10);

/// A file that one client has open: one version of it, and what that client is about to read.
pub(crate) struct Handle {
    version: Arc<OpenVersion>,
    shown: Version,
    info: FileInfo,
    metrics: Arc<Metrics>,
    announced: Mutex<Vec<Announced>>,
    ahead: Option<Arc<FetchAhead>>,
}

/// A long read that the client has begun.
#[derive(Clone, Copy)]
struct Announced {
    /// Up to here it is fetched.
    next: u64,
    end: u64,
    piece: u64,
}

impl Handle {
    pub fn new(version: Arc<OpenVersion>, metrics: Arc<Metrics>, ahead: Option<Arc<FetchAhead>>) -> Self {
        Metrics::add(&metrics.opened, 1);
        Metrics::add(&metrics.open_files, 1);
        let (shown, info) = described(&version, SystemTime::now());
        Self { version, shown, info, metrics, announced: Mutex::default(), ahead }
    }

    /// Every read of a client passes here, as it asked: `spans` are all that one request wants. What it will ask for next may
    /// be fetched from here.
    fn asked(&self, spans: &[Span]) {
        let Some(ahead) = &self.ahead else { return self.fetch(spans) };
        // what is held is counted before it is fetched
        let request = ahead.request(spans);
        self.fetch(spans);
        ahead.asked(request);
    }

    /// Begins to fetch what a request asks for.
    fn fetch(&self, spans: &[Span]) {
        let inside = |span: &Span| {
            span.len > 0 && span.start.checked_add(span.len).is_some_and(|end| end <= self.version.size())
        };
        let mut spans: Vec<Span> = spans.iter().copied().filter(inside).collect();
        spans.sort();
        if spans.iter().map(|span| span.len).sum::<u64>() <= PIECE {
            self.version.fetch_soon(&disjoint(&spans));
            return;
        }
        let mut announced = lock(&self.announced);
        announced.clear();
        announced.extend(disjoint(&spans).into_iter().take(MOST).map(|span| Announced {
            next: span.start,
            end: span.end(),
            piece: FIRST,
        }));
        if let Some(first) = announced.first_mut() {
            first.advance(first.next, &self.version);
        }
    }

    /// A client reads here: what follows of a long read is fetched as far as it may be ahead.
    fn follows(&self, span: Span) {
        let mut announced = lock(&self.announced);
        if let Some(read) = announced.iter_mut().find(|read| read.end > span.start && read.next + AHEAD > span.start) {
            read.advance(span.end(), &self.version);
        }
        announced.retain(|read| read.next < read.end);
    }
}

impl Announced {
    /// Fetches what lies ahead of this position.
    fn advance(&mut self, at: u64, version: &Arc<OpenVersion>) {
        let until = self.end.min(at.saturating_add(AHEAD));
        self.next = self.next.max(at.min(self.end));
        let mut spans = Vec::new();
        // none but whole pieces, unless it is the last one
        while self.next < until && (self.next + self.piece <= until || until == self.end) {
            let len = self.piece.min(until - self.next);
            spans.push(Span::new(self.next, len));
            self.next += len;
            self.piece = (self.piece * 2).min(PIECE);
        }
        for span in spans {
            version.fetch_soon(&[span]);
        }
    }
}

/// Sorted spans without what they have in common.
fn disjoint(spans: &[Span]) -> Vec<Span> {
    sapwood_span::coalesce(spans, 0, u64::MAX).into_iter().map(|c| c.span).collect()
}

/// What clients hear of a version.
fn described(version: &OpenVersion, now: SystemTime) -> (Version, FileInfo) {
    let of = &version.id.version;
    let modified = of.modified.as_deref().and_then(time_of);
    let is_young = modified.is_some_and(|then| now < then + YOUNG);
    let is_strong = version.is_told() && !is_young;
    let weak = if is_strong { "" } else { "W/" };
    let etag = format!("{weak}{}", version.tag());
    let seconds = modified.unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = i64::try_from(seconds).unwrap_or(0);
    let shown = Version { etag, modified: httpdate::fmt_http_date(modified.unwrap_or(UNIX_EPOCH).min(now)), is_strong };
    (shown, FileInfo { is_folder: false, size: of.size, modified: seconds, changed: seconds })
}

/// A time of change as an origin tells it: a date over HTTP; seconds since 1970 over XRootD, and those of the inode.
fn time_of(text: &str) -> Option<SystemTime> {
    if let Ok(date) = httpdate::parse_http_date(text) {
        return Some(date);
    }
    let seconds = text.split(' ').next()?.parse().ok()?;
    UNIX_EPOCH
        .checked_add(Duration::from_secs(seconds))
        .filter(|then| *then < UNIX_EPOCH + Duration::from_secs(253_402_300_799))
}

impl OpenFile for Handle {
    fn size(&self) -> u64 {
        self.version.size()
    }

    fn version(&self) -> &Version {
        &self.shown
    }

    fn info(&self) -> Answer<'_, FileInfo> {
        Box::pin(std::future::ready(Ok(self.info)))
    }

    fn read(&self, spans: Vec<Span>) -> Answer<'_, Vec<Bytes>> {
        Box::pin(async move {
            spans.iter().for_each(|span| self.follows(*span));
            let read = self.version.read(&spans).await?;
            Metrics::add(&self.metrics.client_bytes, read.iter().map(|bytes| bytes.len() as u64).sum());
            Ok(read)
        })
    }

    fn checksum<'a>(&'a self, kind: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(async move { Ok(self.version.checksum(kind).await) })
    }

    fn expect(&self, spans: &[Span]) {
        self.asked(spans);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.metrics.open_files.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}
