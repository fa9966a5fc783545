//! What sapwood-write wrote is read bit by bit, whatever the codec, the clusters, the steps, the cache and the threads.

mod common;

use common::{Folder, batches, check, columns, every_branch, open, write};
use sapwood::{
    Array, CacheSize, Compression, DType, ErrorKind, File, OpenOptions, ScanOptions, StepSize, Tree, Values,
};
use sapwood_write::{BranchSpec, Cluster, FileWriter, TreeOptions};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// All branches of a tree, the counters that the writer added included.
fn all(tree: &Tree) -> Vec<usize> {
    tree.order().to_vec()
}

fn options(tree: &Tree, entries: Option<Range<u64>>) -> ScanOptions {
    ScanOptions::default().branches(all(tree)).entries(entries)
}

fn tiny(cluster: Cluster) -> TreeOptions {
    TreeOptions::default().cluster(cluster).basket_bytes(600).optimize_baskets(false)
}

#[test]
fn every_type_codec_and_layout() {
    let folder = Folder::new();
    let cases = [
        ("none", TreeOptions::default(), 300),
        ("zlib:1", tiny(Cluster::Entries(100)), 450),
        ("zlib:9", tiny(Cluster::Never), 333),
        ("lzma:3", tiny(Cluster::Entries(64)), 200),
        ("lz4:1", tiny(Cluster::Bytes(20_000)), 700),
        ("lz4:9", TreeOptions::default().cluster(Cluster::Entries(90)), 500),
        ("zstd:5", tiny(Cluster::Entries(1)), 40),
        ("zstd:1", TreeOptions::default().cluster(Cluster::Never).basket_bytes(100).optimize_baskets(false), 120),
        ("zlib:1", TreeOptions::default(), 1),
    ];
    for (i, (codec, layout, entries)) in cases.into_iter().enumerate() {
        let path = folder.file(&format!("{i}.root"));
        write(&path, entries, codec, layout);
        let tree = open(&path).tree("Events").unwrap();
        assert_eq!(tree.entries(), entries);
        check(&tree, &options(&tree, None), &format!("{codec}, {layout:?}"));
    }
}

#[test]
fn a_tree_without_entries_has_one_empty_batch_of_the_right_types() {
    let folder = Folder::new();
    let path = folder.file("empty.root");
    write(&path, 0, "zstd", TreeOptions::default());
    let tree = open(&path).tree("Events").unwrap();
    assert_eq!((tree.entries(), tree.clusters()), (0, [0].as_slice()));
    for step in [StepSize::All, StepSize::Cluster, StepSize::Entries(1), StepSize::Bytes(1)] {
        let options = options(&tree, None).step(step);
        let got = batches(&tree, &options).unwrap();
        assert!(got.len() <= 1, "{step:?}");
        for batch in got {
            let types: Vec<Array> = all(&tree).iter().map(|&b| tree.column_type(b).unwrap().empty()).collect();
            assert_eq!(batch.columns, types, "{step:?}");
        }
    }
}

#[test]
fn every_range_step_cache_and_number_of_threads() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 1000, "zlib:1", tiny(Cluster::Entries(130)));
    let file = open(&path);
    let tree = file.tree("Events").unwrap();
    let ranges = [None, Some(0..1000), Some(0..1), Some(999..1000), Some(129..131), Some(37..803), Some(500..500)];
    let steps = [
        StepSize::All,
        StepSize::Cluster,
        StepSize::Entries(1000),
        StepSize::Entries(77),
        StepSize::Entries(u64::MAX),
        StepSize::Bytes(1),
        StepSize::Bytes(20_000),
        StepSize::Bytes(u64::MAX),
    ];
    let caches = [CacheSize::Off, CacheSize::Auto, CacheSize::Bytes(1), CacheSize::Bytes(30_000)];
    for (i, entries) in ranges.into_iter().enumerate() {
        for (j, &step) in steps.iter().enumerate() {
            // each range meets each step; caches and threads take turns, so that all pairs are met
            let cache = caches[(i + j) % caches.len()];
            let threads = [1, 2, 8][(i + 2 * j) % 3];
            let options = options(&tree, entries.clone()).step(step).cache(Some(cache)).threads(threads);
            check(&tree, &options, &format!("{step:?}, {cache:?}, {threads} threads"));
        }
    }
}

#[test]
fn steps_are_as_large_as_asked_for() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 1000, "zlib:1", tiny(Cluster::Entries(130)));
    let tree = open(&path).tree("Events").unwrap();
    let lengths = |step, entries| {
        let options = options(&tree, Some(entries)).step(step);
        let got = batches(&tree, &options).unwrap();
        got.iter().map(|b| b.entries.end - b.entries.start).collect::<Vec<_>>()
    };
    assert_eq!(lengths(StepSize::All, 10..900), [890]);
    assert_eq!(lengths(StepSize::Entries(400), 100..1000), [400, 400, 100]);
    // 8 MB and more of decoded columns are a step; this is far less
    assert_eq!(lengths(StepSize::Cluster, 0..1000), [1000]);
    assert_eq!(lengths(StepSize::Bytes(1), 0..5), [1; 5]);
    assert_eq!(tree.clusters(), [0, 130, 260, 390, 520, 650, 780, 910, 1000]);
}

#[test]
fn one_branch_twice_and_none_at_all() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 50, "lz4", TreeOptions::default());
    let tree = open(&path).tree("Events").unwrap();
    let b = tree.find("int32_any").unwrap();
    let twice = ScanOptions::default().branches(vec![b, b]);
    let got = columns(&tree, &twice).unwrap();
    assert_eq!(got[0], got[1]);
    check(&tree, &twice, "twice");
    let none = batches(&tree, &ScanOptions::default()).unwrap();
    assert!(none.iter().all(|b| b.columns.is_empty()));
}

#[test]
fn the_tree_cache_reads_less_often_than_size_0() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 1000, "zlib:1", tiny(Cluster::Never));
    let requests = |cache| {
        let tree = open(&path).tree("Events").unwrap();
        let options = options(&tree, None).cache(Some(cache)).threads(1);
        let mut scan = tree.scan_with(&options).unwrap();
        let all: Vec<_> = scan.by_ref().map(|b| b.unwrap().entries).collect();
        assert!(!all.is_empty());
        scan.report()
    };
    let off = requests(CacheSize::Off);
    assert_eq!(off.requests, off.baskets, "size 0: each basket is a read of its own");
    assert_eq!(off.bytes_fetched, off.bytes_wanted, "and nothing else is read");
    let auto = requests(CacheSize::Auto);
    assert_eq!(auto.baskets, off.baskets);
    assert_eq!(auto.bytes_wanted, off.bytes_wanted);
    assert!(auto.requests * 20 < off.requests, "{} reads with the cache, {} without", auto.requests, off.requests);
    let small = requests(CacheSize::Bytes(20_000));
    assert!(small.requests > auto.requests && small.requests < off.requests, "{} reads", small.requests);
}

#[test]
fn cancel_ends_a_scan() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 500, "zlib:1", tiny(Cluster::Entries(50)));
    let tree = open(&path).tree("Events").unwrap();
    for threads in [1, 4] {
        let options = options(&tree, None).step(StepSize::Entries(50)).threads(threads);
        let mut scan = tree.scan_with(&options).unwrap();
        assert_eq!(scan.next().unwrap().unwrap().entries, 0..50);
        scan.cancel().store(true, Ordering::Relaxed);
        let error = scan.next().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert_eq!(error.file(), Some(path.as_str()));
        assert!(scan.next().is_none(), "the scan is over");
    }
    // and before it began
    let options = options(&tree, None);
    options.cancel.store(true, Ordering::Relaxed);
    assert_eq!(tree.scan_with(&options).unwrap().next().unwrap().unwrap_err().kind(), ErrorKind::Interrupted);
}

#[test]
fn progress_grows_to_the_end() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 500, "zlib:1", tiny(Cluster::Entries(50)));
    let tree = open(&path).tree("Events").unwrap();
    let said = Arc::new(Mutex::new(Vec::new()));
    let listener = said.clone();
    let options =
        options(&tree, Some(20..420)).step(StepSize::Entries(90)).progress(move |p| listener.lock().unwrap().push(p));
    batches(&tree, &options).unwrap();
    let said = said.lock().unwrap();
    assert_eq!(said.iter().map(|p| p.entries).collect::<Vec<_>>(), [90, 180, 270, 360, 400]);
    assert!(said.iter().all(|p| p.total == 400));
    assert!(said.windows(2).all(|w| w[0].bytes <= w[1].bytes));
    assert!(said[said.len() - 1].bytes > 0);
}

#[test]
fn several_scans_of_one_file_at_once() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 600, "zstd:1", tiny(Cluster::Entries(100)));
    let file = open(&path);
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for i in 0..4u64 {
            let (file, done) = (file.clone(), &done);
            scope.spawn(move || {
                let tree = file.tree("Events").unwrap();
                check(&tree, &options(&tree, Some(i * 100..i * 100 + 200)), "at once");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(done.into_inner(), 4);
}

#[test]
fn names_that_are_not_there_are_answered_with_those_that_are() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 5, "zlib:1", TreeOptions::default());
    let file = open(&path);
    let error = file.tree("Event").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("Events"), "{error}");
    let tree = file.tree("Events").unwrap();
    let error = tree.find("int32_on").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("int32_one"), "{error}");
    let nowhere = ScanOptions::default().branches(vec![10_000]);
    assert_eq!(tree.scan_with(&nowhere).err().unwrap().kind(), ErrorKind::NotFound);
    #[allow(clippy::reversed_empty_ranges, reason = "what is refused")]
    for entries in [0..6, 4..3, 6..6] {
        let error = tree.scan_with(&options(&tree, Some(entries))).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert_eq!(File::open(&folder.file("b.root"), &OpenOptions::default()).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn every_branch_has_its_type_in_words() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 5, "zlib:1", TreeOptions::default());
    let tree = open(&path).tree("Events").unwrap();
    for spec in every_branch() {
        let (d, shape) = spec.name.rsplit_once('_').unwrap();
        let said = tree.column_type(tree.find(&spec.name).unwrap()).unwrap().to_string();
        let expected = match shape {
            "one" => d.to_owned(),
            "three" => format!("3 * {d}"),
            _ => format!("var * {d}"),
        };
        assert_eq!(said, expected);
    }
}

#[test]
fn entries_larger_than_baskets_and_baskets_larger_than_the_cache() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    let mut file = FileWriter::create(&path, Compression::NONE).unwrap();
    let layout = TreeOptions::default().cluster(Cluster::Entries(2)).basket_bytes(100).optimize_baskets(false);
    let mut tree = file.tree("t", "", &[BranchSpec::jagged("x", DType::U8)], layout).unwrap();
    let offsets: Vec<i64> = vec![0, 0, 100_000, 100_001, 400_000];
    let content = Array::Flat(Values::U8((0..400_000u32).map(|i| (i * 7 / 5) as u8).collect()));
    let column = Array::List { offsets, content: Box::new(content) };
    tree.extend(&[("x", &column)]).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
    let tree = open(&path).tree("t").unwrap();
    let x = tree.find("x").unwrap();
    for cache in [CacheSize::Off, CacheSize::Auto, CacheSize::Bytes(1000)] {
        let options = ScanOptions::default().branches(vec![x]).cache(Some(cache));
        assert_eq!(columns(&tree, &options).unwrap(), std::slice::from_ref(&column), "{cache:?}");
    }
}

/// A file that shrinks while it is read is an error, not rubbish.
#[test]
fn a_file_cut_short_while_open_is_an_error() {
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 2000, "none", tiny(Cluster::Entries(50)));
    let tree = open(&path).tree("Events").unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(size / 2).unwrap();
    let error = batches(&tree, &options(&tree, None)).unwrap_err();
    assert_eq!(error.file(), Some(path.as_str()), "{error}");
    // noticed by its size before a read, or by a read that ends early
    assert!(error.to_string().contains("being read"), "{error}");
}
