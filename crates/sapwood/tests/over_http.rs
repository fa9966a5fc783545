//! The same values over HTTP as from disk, with few requests; servers that stop and files that change are errors.

mod common;

use common::{Folder, check, column, open, same_bits, write};
use sapwood::{CacheSize, Error, ErrorKind, File, OpenOptions, ScanOptions, StepSize, Tree};
use sapwood_serve::{Origin, OriginHandle, OriginOptions, Served};
use sapwood_write::{Cluster, TreeOptions};
use std::sync::mpsc;
use std::time::Duration;

/// No test waits longer for an end: far beyond what any timeout here allows.
const FOREVER: Duration = Duration::from_secs(40);

fn serve(folder: &Folder) -> OriginHandle {
    Origin::start(OriginOptions::new(folder.path())).unwrap()
}

/// As [`serve`], some way off.
fn serve_far(folder: &Folder) -> OriginHandle {
    Origin::start(OriginOptions { delay: Duration::from_millis(20), ..OriginOptions::new(folder.path()) }).unwrap()
}

fn small_baskets() -> TreeOptions {
    TreeOptions::default().cluster(Cluster::Entries(500)).basket_bytes(2000).optimize_baskets(false)
}

fn all(tree: &Tree, cache: CacheSize) -> ScanOptions {
    ScanOptions::default().branches(tree.order().to_vec()).cache(Some(cache))
}

/// The basket records of a tree in the file.
fn baskets(tree: &Tree) -> Vec<sapwood::Span> {
    let header = tree.header();
    header
        .branches
        .iter()
        .flat_map(|b| (0..b.write_basket).map(|i| sapwood::Span::new(b.basket_seek[i], b.basket_bytes[i].into())))
        .collect()
}

/// Gives the result, or fails where there is none in bounded time.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(work()));
    receive.recv_timeout(FOREVER).expect("it ends in bounded time")
}

#[test]
fn values_are_those_of_the_file() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 1500, "zstd:1", small_baskets());
    let origin = serve(&folder);
    let url = format!("{}a.root", origin.url());
    let file = open(&url);
    assert_eq!((file.url(), file.size()), (url.as_str(), std::fs::metadata(&path).unwrap().len()));
    let tree = file.tree("Events").unwrap();
    for cache in [CacheSize::Off, CacheSize::Auto, CacheSize::Bytes(1), CacheSize::Bytes(50_000)] {
        for (step, entries, threads) in [
            (StepSize::All, None, 1),
            (StepSize::Entries(333), Some(400..1100), 2),
            (StepSize::Cluster, Some(0..1500), 8),
            (StepSize::Bytes(30_000), Some(1499..1500), 2),
        ] {
            let mut options = all(&tree, cache).step(step).entries(entries).threads(threads);
            if cache == CacheSize::Off {
                options.branches.truncate(4); // a request per basket
            }
            check(&tree, &options, &format!("{cache:?}, {step:?}"));
        }
    }
}

#[test]
fn a_cold_open_asks_for_the_first_basket_early() {
    let folder = Folder::new();
    write(&folder.file("a.root"), 6000, "none", small_baskets());
    let origin = serve_far(&folder);
    let file = open(&format!("{}a.root", origin.url()));
    let tree = file.tree("Events").unwrap();
    assert!(file.size() > 1 << 20, "{} bytes: more than the first reads bring", file.size());
    let spans = baskets(&tree);
    let options = all(&tree, CacheSize::Auto).entries(Some(0..100));
    check(&tree, &options, "cold");
    let log = origin.requests();
    let asks_for_basket = |s: &Served| s.ranges.iter().any(|r| spans.iter().any(|b| r.contains(*b)));
    // the first reads may bring the last baskets along: what counts is who asks for the first ones
    let first = spans.iter().min().unwrap();
    let before = log.iter().position(|s| s.ranges.iter().any(|r| r.contains(*first))).unwrap();
    assert!(before <= 3, "{before} requests came before the first basket's: {log:#?}");
    assert!(log.iter().any(asks_for_basket));
    assert!(log.iter().all(|s| s.status == 206), "{log:#?}");
}

#[test]
fn the_tree_cache_asks_less_often_than_size_0() {
    let folder = Folder::new();
    write(&folder.file("a.root"), 3000, "zlib:1", small_baskets());
    let origin = serve_far(&folder);
    let url = format!("{}a.root", origin.url());
    let requests = |cache| {
        let tree = open(&url).tree("Events").unwrap();
        let mut options = all(&tree, cache);
        options.branches.retain(|&b| tree.header().branches[b].name.starts_with("float"));
        let before = origin.requests().len();
        let mut scan = tree.scan_with(&options).unwrap();
        assert!(scan.by_ref().all(|b| b.is_ok()));
        let report = scan.report();
        let served = origin.requests().split_off(before);
        assert_eq!(report.requests, served.len() as u64, "the report counts what the server saw");
        let ranges: usize = served.iter().map(|s| s.ranges.len()).sum();
        assert_eq!(report.ranges, ranges as u64);
        report
    };
    let off = requests(CacheSize::Off);
    assert_eq!(off.requests, off.baskets, "size 0: each basket is a request of its own");
    assert_eq!(off.round_trips, off.baskets, "one after another");
    assert!(off.baskets > 40, "{} baskets", off.baskets);
    let auto = requests(CacheSize::Auto);
    assert_eq!((auto.baskets, auto.bytes_wanted), (off.baskets, off.bytes_wanted));
    assert!(auto.requests * 4 <= off.requests, "{} requests with the cache, {} without", auto.requests, off.requests);
    assert!(auto.round_trips * 8 <= off.round_trips, "{} round trips, {}", auto.round_trips, off.round_trips);
}

/// Reads a batch, does something to the server or the file, and reads on: the batches until an error, and the error.
fn disturbed(url: &str, disturb: impl FnOnce()) -> (u64, Error) {
    let options = OpenOptions::default().timeout(Duration::from_secs(1));
    let tree = File::open(url, &options).unwrap().tree("Events").unwrap();
    let options = all(&tree, CacheSize::Bytes(20_000)).step(StepSize::Entries(500));
    let mut scan = tree.scan_with(&options).unwrap();
    let mut done = 0;
    let first = scan.next().unwrap().unwrap();
    let mut disturb = Some(disturb);
    let mut next = Some(Ok(first));
    while let Some(batch) = next {
        let batch = match batch {
            Ok(b) => b,
            Err(e) => return (done, e),
        };
        for (&b, read) in options.branches.iter().zip(&batch.columns) {
            let name = &tree.header().branches[b].name;
            assert!(same_bits(read, &column(name, batch.entries.clone())), "{name}: {:?}", batch.entries);
        }
        done = batch.entries.end;
        if let Some(f) = disturb.take() {
            f();
        }
        next = scan.next();
    }
    panic!("all {done} entries were read as if nothing had happened");
}

#[test]
fn a_server_that_stops_is_an_error_in_bounded_time() {
    let folder = Folder::new();
    write(&folder.file("a.root"), 20_000, "none", small_baskets());
    let origin = serve(&folder);
    let url = format!("{}a.root", origin.url());
    let asked = url.clone();
    let (done, error) = in_time(move || disturbed(&asked, || origin.stop()));
    assert!((500..20_000).contains(&done), "{done} entries before the error");
    assert_eq!(error.file(), Some(url.as_str()), "{error}");
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::Timeout | ErrorKind::Protocol), "{error:?}");
}

#[test]
fn a_server_that_was_never_there_is_an_error_in_bounded_time() {
    let folder = Folder::new();
    let origin = serve(&folder);
    let url = format!("{}a.root", origin.url());
    let missing = File::open(&url, &OpenOptions::default()).unwrap_err();
    assert_eq!((missing.kind(), missing.file()), (ErrorKind::NotFound, Some(url.as_str())), "{missing}");
    origin.stop();
    let options = OpenOptions::default().timeout(Duration::from_secs(1));
    let asked = url.clone();
    let error = in_time(move || File::open(&asked, &options).unwrap_err());
    assert_eq!(error.file(), Some(url.as_str()), "{error}");
}

/// The layout is the same, the values are not: bytes of both must never meet in one scan.
#[test]
fn a_file_replaced_while_it_is_read_is_an_error_that_names_it() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 20_000, "none", small_baskets());
    let mut other = std::fs::read(&path).unwrap();
    let tree = open(&path).tree("Events").unwrap();
    for span in baskets(&tree) {
        // the labels stay as they are
        let label = u16::from_be_bytes([other[span.start as usize + 14], other[span.start as usize + 15]]);
        for b in &mut other[span.start as usize + usize::from(label)..span.end() as usize] {
            *b = !*b;
        }
    }
    let new = folder.file("new.root");
    std::fs::write(&new, other).unwrap();
    let origin = serve(&folder);
    let url = format!("{}a.root", origin.url());
    let asked = url.clone();
    let (done, error) = in_time(move || disturbed(&asked, || std::fs::rename(&new, &path).unwrap()));
    assert!((500..20_000).contains(&done), "{done} entries before the error");
    assert_eq!(error.file(), Some(url.as_str()), "{error}");
    assert!(error.to_string().contains("changed"), "{error}");
}

#[test]
fn cancel_ends_a_scan_that_waits_for_the_network() {
    let folder = Folder::new();
    write(&folder.file("a.root"), 3000, "none", small_baskets());
    // so slow that the whole file would take minutes
    let options = OriginOptions { bandwidth: Some(400_000), ..OriginOptions::new(folder.path()) };
    let origin = Origin::start(options).unwrap();
    let url = format!("{}a.root", origin.url());
    let error = in_time(move || {
        let tree = open(&url).tree("Events").unwrap();
        let mut scan = tree.scan_with(&all(&tree, CacheSize::Auto)).unwrap();
        let cancel = scan.cancel();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        scan.next().unwrap().unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
}
