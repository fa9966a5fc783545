//! A file opened by one client.

use crate::fetch_ahead::FetchAhead;
use crate::metrics::Metrics;
use crate::version::OpenVersion;
use bytes::Bytes;
use sapwood_prefetch::LongRead;
use sapwood_serve::{Answer, FileInfo, FileVersion, OpenFile};
use sapwood_span::Span;
use sapwood_span::sync::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Long requests of a client that are followed at once.
const MOST: usize = 64;
/// A file that changed this recently may change again without a new modification time.
const RECENTLY_MODIFIED: Duration = Duration::from_secs(10);

/// A file opened by one client: one version of it, and what that client is about to read.
pub(crate) struct Handle {
    version: Arc<OpenVersion>,
    shown: FileVersion,
    info: FileInfo,
    metrics: Arc<Metrics>,
    /// The long requests being answered, the oldest first.
    long: Mutex<VecDeque<LongRead>>,
    ahead: Option<Arc<FetchAhead>>,
}

impl Handle {
    pub(crate) fn new(version: Arc<OpenVersion>, metrics: Arc<Metrics>, ahead: Option<Arc<FetchAhead>>) -> Self {
        Metrics::add(&metrics.opened, 1);
        Metrics::add(&metrics.open_files, 1);
        let (shown, info) = described(&version, SystemTime::now());
        Self { version, shown, info, metrics, long: Mutex::default(), ahead }
    }

    /// Called for every read of a client: `spans` are all spans of one request. What the client will request next may
    /// be fetched from here.
    fn on_request(&self, spans: &[Span]) {
        let Some(ahead) = &self.ahead else { return self.fetch(spans) };
        // what is held is counted before it is fetched
        let request = ahead.request(spans);
        self.fetch(spans);
        ahead.on_request(request);
    }

    /// Starts to fetch what a request needs.
    fn fetch(&self, spans: &[Span]) {
        let inside = |span: &Span| {
            span.len > 0 && span.start.checked_add(span.len).is_some_and(|end| end <= self.version.size())
        };
        let spans: Vec<Span> = spans.iter().copied().filter(inside).collect();
        let mut read = LongRead::new(&spans);
        if read.is_short(self.version.is_http()) {
            self.version.fetch_soon(&read.spans());
            return;
        }
        read.begin().iter().for_each(|spans| self.version.fetch_part_soon(spans));
        if read.is_done() {
            return;
        }
        let mut long = lock(&self.long);
        long.push_back(read);
        if long.len() > MOST {
            long.pop_front();
        }
    }

    /// A client reads here: fetches what follows in a long request, as far ahead as allowed.
    fn follows(&self, span: Span) {
        let mut long = lock(&self.long);
        for read in long.iter_mut() {
            read.follow(span).iter().for_each(|spans| self.version.fetch_part_soon(spans));
        }
        long.retain(|read| !read.is_done());
    }
}

/// A version as described to clients.
fn described(version: &OpenVersion, now: SystemTime) -> (FileVersion, FileInfo) {
    let of = &version.id.version;
    let modified = of.modified.as_deref().and_then(time_of);
    let is_recently_modified = modified.is_some_and(|then| now < then + RECENTLY_MODIFIED);
    let is_strong = version.has_validator() && !is_recently_modified;
    let weak = if is_strong { "" } else { "W/" };
    let etag = format!("{weak}{}", version.tag());
    let seconds = modified.unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = i64::try_from(seconds).unwrap_or(0);
    let shown =
        FileVersion { etag, modified: httpdate::fmt_http_date(modified.unwrap_or(UNIX_EPOCH).min(now)), is_strong };
    (shown, FileInfo { is_folder: false, size: of.size, modified: seconds, changed: seconds })
}

/// A modification time as an origin reports it: a date over HTTP; seconds since 1970 over XRootD, with those of the
/// inode.
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

    fn version(&self) -> &FileVersion {
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
        self.on_request(spans);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.metrics.open_files.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}
