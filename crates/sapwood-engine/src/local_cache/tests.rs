//! What of a fetch gets into the cache, with an origin that answers as a test says.

use super::source::CachedSource;
use super::stores;
use bytes::Bytes;
use sapwood_source::{BoxFuture, FetchReport, OriginVersion, Sink, Source, SourceStats};
use sapwood_span::{Error, Limits, Result, Span};
use sapwood_store::{Store, StoreOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use tokio::sync::Semaphore;

const SIZE: u64 = 1000;

/// Sends bytes at once, and says that the file is unchanged once it is allowed to.
struct Slow {
    /// Ranges that one request can carry.
    ranges: usize,
    /// Comparisons that may end.
    allowed: Semaphore,
    compared: AtomicUsize,
    asked: AtomicUsize,
    changed: bool,
    /// The first answer stops before the last span.
    short: bool,
}

impl Slow {
    fn new(ranges: usize, allowed: usize) -> Self {
        let allowed = Semaphore::new(allowed);
        Self { ranges, allowed, compared: 0.into(), asked: 0.into(), changed: false, short: false }
    }

    async fn answer(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>, compare: bool) -> Result<FetchReport> {
        let short = self.asked.fetch_add(1, SeqCst) == 0 && self.short;
        let brought = spans.len() - usize::from(short);
        for (index, span) in spans.iter().enumerate().take(brought) {
            sink.part(index, Bytes::from(vec![7; span.len as usize]));
        }
        if short {
            std::future::pending::<()>().await;
        }
        if compare {
            self.allowed.acquire().await.unwrap().forget();
            self.compared.fetch_add(1, SeqCst);
            if self.changed {
                return Err(Error::corrupt("it changed"));
            }
        }
        Ok(FetchReport { compared: compare, ..FetchReport::default() })
    }
}

impl Source for Slow {
    fn name(&self) -> &str {
        "http://host/f"
    }

    fn size(&self) -> Option<u64> {
        Some(SIZE)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_ranges: self.ranges,
            max_range_bytes: u64::MAX,
            max_request_bytes: 1 << 20,
            max_in_flight: 4,
            queue: 1,
            streams: None,
            range_overhead: 100,
            round_trip: None,
            bandwidth: None,
        }
    }

    fn is_local(&self) -> bool {
        false
    }

    fn fetch(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        Box::pin(self.answer(spans, sink, false))
    }

    fn fetch_last(self: Arc<Self>, spans: Vec<Span>, sink: Arc<dyn Sink>) -> BoxFuture<'static, Result<FetchReport>> {
        Box::pin(self.answer(spans, sink, true))
    }

    fn stats(&self) -> SourceStats {
        SourceStats::default()
    }
}

/// Says which spans have come.
struct Told(mpsc::Sender<usize>);

impl Sink for Told {
    fn part(&self, index: usize, _: Bytes) {
        self.0.send(index).unwrap();
    }
}

/// Held by each test: [`Lab::held`] settles every file of the process, those of other tests too.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Lab {
    folder: PathBuf,
    store: Store,
    origin: Arc<Slow>,
    source: Arc<CachedSource>,
}

impl Lab {
    fn new(name: &str, origin: Slow) -> Self {
        let folder = std::env::temp_dir().join(format!("sapwood-verifier-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let store = stores::open(&StoreOptions { directory: folder.clone(), max_bytes: 1 << 24 }).unwrap();
        let origin = Arc::new(origin);
        let url = "http://host/f".to_owned();
        let source = Arc::new(CachedSource::new(origin.clone(), store.clone(), url, SIZE, false, Vec::new()));
        let beginning = Bytes::from_static(b"root");
        source.identify(&OriginVersion { size: SIZE, has_validator: true, beginning, ..OriginVersion::default() });
        Self { folder, store, origin, source }
    }

    /// Fetches, and leaves once so many spans have come.
    fn fetch_and_leave(&self, spans: &[Span], after: usize) {
        let (send, receive) = mpsc::channel();
        let fetch = self.source.clone().fetch(spans.to_vec(), Arc::new(Told(send)));
        let task = crate::runtime::handle().unwrap().spawn(fetch);
        for _ in 0..after {
            receive.recv().unwrap();
        }
        task.abort();
        while !task.is_finished() {
            std::thread::yield_now();
        }
    }

    fn held(&self) -> u64 {
        stores::flush();
        self.store.list().iter().map(|f| f.bytes).sum()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const PARTS: [Span; 2] = [Span::new(100, 50), Span::new(300, 60)];

#[test]
fn what_has_come_is_kept_although_its_reader_leaves_before_it_is_confirmed() {
    let _alone = alone();
    let lab = Lab::new("left", Slow::new(16, 0));
    lab.fetch_and_leave(&PARTS, 2);
    lab.origin.allowed.add_permits(1);
    assert_eq!(lab.held(), 110);
    assert_eq!((lab.origin.asked.load(SeqCst), lab.origin.compared.load(SeqCst)), (1, 1), "no request more");
}

#[test]
fn what_came_of_a_fetch_that_was_broken_off_is_kept() {
    let _alone = alone();
    let lab = Lab::new("cut", Slow { short: true, ..Slow::new(16, 9) });
    lab.fetch_and_leave(&PARTS, 1);
    assert_eq!(lab.held(), 50);
    assert_eq!((lab.origin.asked.load(SeqCst), lab.origin.compared.load(SeqCst)), (2, 1));
}

#[test]
fn nothing_is_kept_of_a_file_that_changed_after_its_reader_left() {
    let _alone = alone();
    let lab = Lab::new("changed", Slow { changed: true, ..Slow::new(16, 0) });
    lab.fetch_and_leave(&PARTS, 2);
    lab.origin.allowed.add_permits(9);
    assert_eq!(lab.held(), 0);
}

#[test]
fn all_of_a_small_file_is_kept_by_one_more_request_where_ranges_come_one_by_one() {
    let _alone = alone();
    let mut lab = Lab::new("single", Slow::new(1, 9));
    for at in [0, 200, 400] {
        let spans = vec![Span::new(at, 100)];
        let (send, _receive) = mpsc::channel();
        crate::runtime::wait(lab.source.clone().fetch(spans, Arc::new(Told(send)))).unwrap();
    }
    assert_eq!(lab.origin.compared.load(SeqCst), 0);
    assert_eq!(lab.held(), 300);
    assert_eq!((lab.origin.asked.load(SeqCst), lab.origin.compared.load(SeqCst)), (4, 1));
    // all is confirmed: nothing more is asked, neither at the end of the process nor when the file is closed
    assert_eq!(lab.held(), 300);
    lab.source.close();
    assert_eq!(lab.held(), 300);
    assert_eq!(lab.origin.asked.load(SeqCst), 4);
    // and without an end of the process, when the file is no longer used
    let (send, _receive) = mpsc::channel();
    crate::runtime::wait(lab.source.clone().fetch(vec![Span::new(600, 100)], Arc::new(Told(send)))).unwrap();
    let other = Lab::new("other", Slow::new(1, 9));
    lab.source = other.source.clone();
    let since = std::time::Instant::now();
    while lab.held() < 400 && since.elapsed().as_secs() < 60 {
        std::thread::yield_now();
    }
    assert_eq!((lab.held(), lab.origin.compared.load(SeqCst)), (400, 2));
}
