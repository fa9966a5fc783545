use crate::doctor::free_segments;
use crate::elsewhere::Elsewhere;
use crate::options::OpenOptions;
use crate::perf::{self, FileMeter};
use crate::recover::root_keys;
use crate::report::IoReport;
use crate::runtime;
use crate::tree::Tree;
use crate::unlisted::confirmed;
use bytes::Bytes;
use sapwood_format::object::Objects;
use sapwood_format::{Header, Key, Listing, ObjectAt, Opener, Recovered, Step, Target};
use sapwood_source::{FetchReport, Opening, Sink, Source, SourceOptions, SourceStats};
use sapwood_span::raw_text::path_of;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Questions about a file are answered in so many steps at most; each opens one more directory.
const STEPS: usize = 1000;

/// Bytes of the file's end that opening asks for: key list and class descriptions lie there. A fresh connection carries
/// as much in two round trips (10 segments of 1448 bytes, then 20), head and headers included, some of which fill no
/// segment; a longer tail would cost a third whether or not it holds the tree, and a shorter one would leave the window
/// narrower for what comes next.
const TAIL: u64 = 38 << 10;

/// Bytes in front of the tail that are asked for along with a key list that the tail did not hold: most often the
/// tree's header lies there, and a round trip is saved.
const GUESS: u64 = 128 << 10;

/// An open ROOT file, near or far. Cheap to clone.
#[derive(Clone)]
pub struct File(Arc<Inner>);

struct Inner {
    url: String,
    /// What it was opened by, credentials included: never shown.
    location: String,
    elsewhere: Elsewhere,
    source: Arc<dyn Source>,
    size: u64,
    header: Header,
    opener: Mutex<Opener>,
    options: OpenOptions,
    opened: Instant,
    totals: Mutex<IoReport>,
    recovered: Option<Recovered>,
    /// What collectors of perf stats want to be told when the file is closed.
    meters: Mutex<Vec<Arc<FileMeter>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let meters = std::mem::take(self.meters.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !meters.is_empty() {
            let io = self.totals.get_mut().unwrap_or_else(PoisonError::into_inner).clone();
            meters.iter().for_each(|m| m.closed(self.source.stats(), io.clone()));
        }
    }
}

/// A file that is looked at without being held open.
pub(crate) struct Watched(Weak<Inner>);

impl Watched {
    /// Whether both are the same open file.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// What it has done until now; none once it is closed.
    pub(crate) fn now(&self) -> Option<(SourceStats, IoReport)> {
        self.0.upgrade().map(|inner| File(inner).counts())
    }
}

impl File {
    /// Opens a local path, an `http(s)://` URL or a `root(s)://` URL (XRootD).
    ///
    /// # Errors
    /// What the source says, or `Corrupt` when it is not a ROOT file.
    pub fn open(url: &str, options: &OpenOptions) -> Result<Self> {
        let opened = Instant::now();
        let Opening { source, size, head, tail } = open_source(url, options)?;
        let mut opener = Opener::new(size);
        if !source.is_local() {
            opener.guess(GUESS);
        }
        opener.push(0, head);
        opener.push(tail.0, tail.1);
        let name = source.name().to_owned();
        // this refuses what is no ROOT file
        let header = answer(&source, &mut opener, Opener::read_header).map_err(|e| e.in_file(&name))?;
        if header.free.start == 0 || header.end < size {
            // whoever writes it may go on
            source.allow_growth();
        }
        let recovered = root_keys(&source, &mut opener, size, options).map_err(|e| e.in_file(&name))?;
        let totals = Mutex::new(IoReport::default());
        let opener = Mutex::new(opener);
        let options = options.clone();
        let meters = Mutex::default();
        let (location, elsewhere) = (url.to_owned(), Elsewhere::default());
        let inner = Inner {
            url: name,
            location,
            elsewhere,
            source,
            size,
            header,
            opener,
            options,
            opened,
            totals,
            recovered,
            meters,
        };
        let file = Self(Arc::new(inner));
        perf::meet(&perf::listening(), &file, Default::default);
        Ok(file)
    }

    /// The path or URL, without credentials.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The file header.
    pub fn header(&self) -> &Header {
        &self.0.header
    }

    /// What a walk over its records found, when the file was never closed, was cut short, or has lost its directory;
    /// none for a file that is whole as far as opening it tells.
    pub fn recovered(&self) -> Option<&Recovered> {
        self.0.recovered.as_ref()
    }

    /// What of it that was read so far looks damaged, though it could be read: values beside it may be as well.
    pub fn doubts(&self) -> Vec<String> {
        self.opener().doubts().to_vec()
    }

    /// How it was opened.
    pub fn options(&self) -> &OpenOptions {
        &self.0.options
    }

    pub(crate) fn source(&self) -> &Arc<dyn Source> {
        &self.0.source
    }

    pub(crate) fn location(&self) -> &str {
        &self.0.location
    }

    pub(crate) fn files(&self) -> &Elsewhere {
        &self.0.elsewhere
    }

    fn opener(&self) -> MutexGuard<'_, Opener> {
        self.0.opener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that opening a remote file brought along.
    pub(crate) fn held(&self, span: Span) -> Option<Bytes> {
        if self.0.source.is_local() { None } else { self.opener().held(span) }
    }

    fn ask<T>(&self, question: impl FnMut(&mut Opener) -> Result<Step<T>>) -> Result<T> {
        perf::meet(&perf::listening(), self, || self.counts());
        answer(&self.0.source, &mut self.opener(), question).map_err(|e| e.in_file(&self.0.url))
    }

    /// The keys of a directory (`""` is the root), or of it and all below.
    ///
    /// Objects whose keys lie there behind as many as a directory says that it lists become one of [`File::doubts`].
    pub fn list(&self, directory: &str, recursive: bool) -> Result<Vec<Listing>> {
        let listed = self.ask(|o| o.list(directory, recursive))?;
        let unlisted = self.unlisted(&listed)?;
        if let [first, others @ ..] = unlisted.as_slice() {
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            let what = format!(
                "{};{}{more} lies in it, but behind the end of its directory's list of keys",
                first.name, first.cycle
            );
            self.opener().doubt(what);
        }
        Ok(listed)
    }

    /// The objects that are there, but whose keys lie behind as many as their directory says that it lists, of those
    /// directories that were read. `listed` are known. Programs see none of them.
    ///
    /// # Errors
    /// When the source fails.
    pub fn unlisted(&self, listed: &[Listing]) -> Result<Vec<Key>> {
        let behind = self.opener().behind().to_vec();
        if behind.is_empty() {
            return Ok(behind);
        }
        let free = free_segments(&self.0.source, &self.0.header, self.0.size).unwrap_or_default();
        confirmed(&self.0.source, behind, listed, &free, self.0.size).map_err(|e| e.in_file(&self.0.url))
    }

    /// The key of an object: `dir/name;cycle`.
    pub fn find(&self, path: &str) -> Result<Listing> {
        let target = Target::parse(path);
        self.ask(|o| o.find(&target))
    }

    /// An object's inflated bytes, its key and the file's class descriptions.
    pub fn object(&self, path: &str) -> Result<ObjectAt> {
        let target = Target::parse(path);
        self.ask(|o| o.object(&target))
    }

    /// An object as data, of whatever class: `dir/name;cycle`.
    ///
    /// # Errors
    /// `Unsupported` when its class is not described, `Corrupt` when its bytes do not follow the description. Parts that
    /// cannot be read are refused by name in [`Objects::refused`].
    pub fn read_object(&self, path: &str) -> Result<Objects> {
        let at = self.object(path)?;
        self.add(|t| t.bytes_wanted += at.key.span.len);
        at.read().map_err(|e| e.in_file(&self.0.url))
    }

    /// A tree: `dir/name;cycle`.
    pub fn tree(&self, path: &str) -> Result<Tree> {
        let target = Target::parse(path);
        let found = self.ask(|o| o.tree(&target))?;
        let wanted = found.key.span.len;
        self.add(|t| t.bytes_wanted += wanted);
        Ok(Tree::new(self.clone(), found))
    }

    /// Bytes of the file as they are, for whoever copies records: all spans in as few requests as the source allows.
    ///
    /// # Errors
    /// A span that leaves the file, or what the source says.
    pub fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        if let Some(out) = spans.iter().find(|s| s.end() > self.size()) {
            let e = Error::corrupt(format!("a record lies beyond the end of the file of {} bytes", self.size()));
            return Err(e.at(*out).in_file(self.url()).with_remedy("the file is cut short: fetch it again"));
        }
        let wanted: u64 = spans.iter().map(|s| s.len).sum();
        self.add(|t| t.bytes_wanted += wanted);
        read(&self.0.source, spans).map_err(|e| e.in_file(self.url()))
    }

    /// Fills a buffer with what lies at a position of a local file; false for files far away.
    ///
    /// # Errors
    /// What the system says, or `Corrupt` when the file has changed since it was opened.
    pub fn read_into(&self, start: u64, buffer: &mut [u8]) -> Result<bool> {
        self.0.source.local().map_or(Ok(false), |file| file.read_into(start, buffer).map(|()| true))
    }

    /// What should be known of how its bytes come here, in words.
    pub fn remarks(&self) -> Vec<String> {
        self.all_sources().remarks()
    }

    /// Whether reading needs no network.
    pub fn is_local(&self) -> bool {
        self.0.source.is_local()
    }

    /// Nothing more is to be read: the server need not keep the file open until this, its trees and scans are dropped.
    pub fn close(&self) {
        self.all_sources().close();
    }

    /// What opening and all scans so far did.
    pub fn io(&self) -> IoReport {
        let mut r = self.0.totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        r.wire(&self.all_sources().stats(), &SourceStats::default());
        r.seconds = self.0.opened.elapsed().as_secs_f64();
        r
    }

    /// What the source counts, and what scans and headers added up.
    pub(crate) fn counts(&self) -> (SourceStats, IoReport) {
        (self.all_sources().stats(), self.0.totals.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    pub(crate) fn watched(&self) -> Watched {
        Watched(Arc::downgrade(&self.0))
    }

    pub(crate) fn add_meter(&self, meter: Arc<FileMeter>) {
        self.0.meters.lock().unwrap_or_else(PoisonError::into_inner).push(meter);
    }

    pub(crate) fn add(&self, change: impl FnOnce(&mut IoReport)) {
        change(&mut self.0.totals.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "File({}, {} bytes)", self.0.url, self.0.size)
    }
}

/// No transfer is waited for longer: a hundred years can be added to any time.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// What a source is told of how a file is opened.
pub(crate) fn source_options(options: &OpenOptions) -> SourceOptions {
    let defaults = SourceOptions::default();
    SourceOptions {
        tail: TAIL,
        // what lies beyond the clock is for ever
        progress_timeout: options.timeout.min(FOREVER),
        max_connections: options.max_connections.unwrap_or(defaults.max_connections),
        ca_dir: options.ca_dir.clone(),
        insecure_redirects: options.insecure_redirects || insecure_redirects_everywhere(),
        ..defaults
    }
}

fn insecure_redirects_everywhere() -> bool {
    static SET: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("SAPWOOD_INSECURE_REDIRECTS").is_some_and(|v| v == "1"));
    *SET
}

pub(crate) fn open_source(url: &str, options: &OpenOptions) -> Result<Opening> {
    let wanted = source_options(options);
    if sapwood_source::is_remote(url) {
        let handle = runtime::handle()?;
        return runtime::wait(sapwood_source::open(url, &wanted, &handle));
    }
    if url.contains("://") {
        let handle = runtime::handle()?;
        return poll_once(sapwood_source::open(url, &wanted, &handle));
    }
    sapwood_source::open_local(path_of(url), wanted.head, wanted.tail)
}

/// Asks until the opener has what it needs.
pub(crate) fn answer<T>(
    source: &Arc<dyn Source>,
    opener: &mut Opener,
    mut question: impl FnMut(&mut Opener) -> Result<Step<T>>,
) -> Result<T> {
    for _ in 0..STEPS {
        match question(opener)? {
            Step::Done(t) => {
                opener.forget_large();
                return Ok(t);
            }
            Step::Need(spans) => {
                let bytes = gathered(source, &spans, |sink| source.clone().fetch_soon(spans.clone(), sink))?;
                for (span, bytes) in spans.iter().zip(bytes) {
                    opener.push(span.start, bytes);
                }
            }
        }
    }
    Err(Error::corrupt("the file's directories have no end"))
}

/// Reads spans and waits for all.
pub(crate) fn read(source: &Arc<dyn Source>, spans: &[Span]) -> Result<Vec<Bytes>> {
    gathered(source, spans, |sink| source.clone().fetch_last(spans.to_vec(), sink))
}

fn gathered<F>(source: &Arc<dyn Source>, spans: &[Span], fetch: impl FnOnce(Arc<dyn Sink>) -> F) -> Result<Vec<Bytes>>
where
    F: Future<Output = Result<FetchReport>> + Send + 'static,
{
    let gather = Arc::new(Gather(Mutex::new(vec![Bytes::new(); spans.len()])));
    let fetch = fetch(gather.clone());
    if source.is_local() {
        poll_once(fetch)?;
    } else {
        runtime::wait(fetch)?;
    }
    Ok(std::mem::take(&mut *gather.0.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Local files are read within the first poll.
pub(crate) fn poll_once<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(r) => r,
        Poll::Pending => Err(Error::new(ErrorKind::Io, "a local file made its reader wait")),
    }
}

struct Gather(Mutex<Vec<Bytes>>);

impl Sink for Gather {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(place) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index) {
            *place = bytes;
        }
    }
}
