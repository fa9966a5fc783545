//! Reading through the local cache: right values, and no request for what is held.

mod common;

use common::{Folder, check, write};
use sapwood::local_cache::{LocalCache, Store, StoreOptions, Verify, WholeFile};
use sapwood::write::{BranchSpec, Cluster, FileOptions, FileWriter, TreeOptions};
use sapwood::{Array, CacheSize, DType, ErrorKind, File, OpenOptions, ScanOptions, Span, Tree, Values};
use sapwood_serve::{Origin, OriginHandle, OriginOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Files at an origin, and a directory for the cache.
struct Lab {
    files: Folder,
    cache: Folder,
    origin: OriginHandle,
}

impl Lab {
    fn new() -> Self {
        let files = Folder::new();
        let origin = Origin::start(OriginOptions::new(files.path())).unwrap();
        Self { files, cache: Folder::new(), origin }
    }

    fn directory(&self) -> PathBuf {
        self.cache.path().join("cache")
    }

    fn options(&self) -> OpenOptions {
        let local_cache = LocalCache::In { directory: self.directory(), max_bytes: Some(1 << 30) };
        OpenOptions::new().local_cache(local_cache).timeout(Duration::from_secs(20))
    }

    fn url(&self, name: &str) -> String {
        format!("{}{name}", self.origin.url())
    }

    fn open(&self, name: &str) -> File {
        File::open(&self.url(name), &self.options()).unwrap()
    }

    /// Waits until what was read is in the directory.
    fn flush(&self) {
        Store::open(&StoreOptions { directory: self.directory(), max_bytes: 1 << 30 }).unwrap().flush();
    }

    fn requests(&self) -> usize {
        self.origin.requests().len()
    }

    /// Reads all of a file's tree; then what came is in the directory.
    fn read_all(&self, name: &str) {
        check(&self.open(name).tree("Events").unwrap(), &all(&self.open(name).tree("Events").unwrap()), "filling");
        self.flush();
    }
}

fn small_baskets() -> TreeOptions {
    TreeOptions::new().cluster(Cluster::Entries(500)).basket_bytes(2000).optimize_baskets(false)
}

fn all(tree: &Tree) -> ScanOptions {
    ScanOptions::new(tree.order())
}

/// A tree `Events` with the branch `x`: entry number times this, under this UUID. All of one layout.
fn write_multiples(path: &str, factor: u32, uuid: u8) {
    let options =
        FileOptions::new().compression("none".parse().unwrap()).created(SystemTime::UNIX_EPOCH).uuid([uuid; 16]);
    let mut file = FileWriter::create_with(path, options).unwrap();
    let mut tree = file.tree("Events", "", &[BranchSpec::scalar("x", DType::U32)], small_baskets()).unwrap();
    let column = Array::Flat(Values::U32((0..300_000).map(|i: u32| i.wrapping_mul(factor)).collect()));
    tree.extend(&[("x", &column)]).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
}

fn age(path: &str, time: SystemTime) {
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000)
}

/// The factor that all values of a file agree on, or why they cannot be read.
fn factor(file: &File, entries: std::ops::Range<u64>) -> sapwood::Result<u32> {
    let tree = file.tree("Events")?;
    let scan = tree.scan_with(&all(&tree).entries(entries))?;
    let mut found = None;
    for batch in scan {
        let batch = batch?;
        let Array::Flat(Values::U32(values)) = &batch.columns[0] else { panic!("another type") };
        for (i, value) in (batch.entries.start as u32..).zip(values) {
            if i == 0 {
                continue;
            }
            let factor = *found.get_or_insert_with(|| value / i);
            assert_eq!(*value, i.wrapping_mul(factor), "entry {i}: values of two files are mixed");
        }
    }
    Ok(found.unwrap())
}

#[test]
fn a_second_session_asks_for_nothing_but_the_opening() {
    let lab = Lab::new();
    write(&lab.files.file("a.root"), 6000, "none", small_baskets());
    lab.read_all("a.root");
    let before = lab.requests();
    let file = lab.open("a.root");
    let tree = file.tree("Events").unwrap();
    check(&tree, &all(&tree), "warm");
    check(&tree, &all(&tree).cache(CacheSize::Off), "warm, basket by basket");
    assert_eq!(lab.requests() - before, 1, "{:?}", lab.origin.requests().split_off(before));
    let io = file.io();
    assert!(io.local_cache_bytes > file.size() / 2 && io.local_cache_reads > 100, "{io:?}");
    assert!(io.bytes_fetched < 5000, "{io:?}");
    let without = File::open(&lab.url("a.root"), &lab.options().local_cache(LocalCache::Off)).unwrap();
    let tree = without.tree("Events").unwrap();
    check(&tree, &all(&tree), "without");
    assert_eq!((without.io().local_cache_bytes, without.io().local_cache_reads), (0, 0));
}

#[test]
fn what_is_held_and_what_is_missing_join() {
    let lab = Lab::new();
    let path = lab.files.file("a.root");
    write(&path, 3000, "zlib:1", small_baskets());
    let bytes = std::fs::read(&path).unwrap();
    let size = bytes.len() as u64;
    let some: Vec<Span> = (0..40).map(|i| Span::new(size / 45 * i, 1 + (i * 977) % (size / 60))).collect();
    lab.open("a.root").read(&some).unwrap();
    lab.flush();
    let before = lab.requests();
    let file = lab.open("a.root");
    let fetched = file.io().bytes_fetched;
    let mut spans: Vec<Span> = (0..60).map(|i| Span::new(size / 61 * i, (i * 2111) % (size / 50))).collect();
    spans.extend([Span::new(0, 0), Span::new(0, size / 2), Span::new(size - 1, 1), some[3], some[3]]);
    for (span, got) in spans.iter().zip(file.read(&spans).unwrap()) {
        assert!(got == bytes[span.start as usize..span.end() as usize], "{span}");
    }
    let held: u64 = some.iter().map(|s| s.len).sum();
    let came = file.io().bytes_fetched - fetched;
    assert!(came < size - held / 2, "{came} of {size} bytes although {held} were held");
    lab.flush();
    // and now all of it is here
    let between = lab.requests();
    assert!(between > before);
    file.read(&[Span::new(0, size / 2)]).unwrap();
    assert_eq!(lab.requests(), between);
    assert!(file.read(&[Span::new(size - 1, 2)]).is_err());
}

#[test]
fn a_partly_held_tree_is_read_right_and_what_is_held_does_not_come_again() {
    let lab = Lab::new();
    write(&lab.files.file("a.root"), 6000, "none", small_baskets());
    let first = lab.open("a.root").tree("Events").unwrap();
    check(&first, &all(&first).entries(1000..3000), "some entries");
    lab.flush();
    let file = lab.open("a.root");
    let tree = file.tree("Events").unwrap();
    check(&tree, &all(&tree), "all entries");
    let io = file.io();
    assert!(io.local_cache_bytes > io.bytes_wanted / 4, "{io:?}");
    assert!(io.bytes_fetched < io.bytes_wanted * 4 / 5, "{io:?}");
    lab.flush();
    let before = lab.requests();
    let tree = lab.open("a.root").tree("Events").unwrap();
    check(&tree, &all(&tree), "warm");
    assert_eq!(lab.requests() - before, 1);
}

#[test]
fn a_file_that_was_replaced_gives_its_new_values() {
    let lab = Lab::new();
    let path = lab.files.file("a.root");
    write_multiples(&path, 3, 1);
    age(&path, long_ago());
    assert_eq!(factor(&lab.open("a.root"), 0..300_000).unwrap(), 3);
    lab.flush();
    // as many bytes, and the same time of change
    let size = std::fs::metadata(&path).unwrap().len();
    write_multiples(&path, 7, 2);
    age(&path, long_ago());
    assert_eq!(std::fs::metadata(&path).unwrap().len(), size);
    let before = lab.requests();
    assert_eq!(factor(&lab.open("a.root"), 0..300_000).unwrap(), 7);
    assert!(lab.requests() - before > 1, "nothing of the old file is used");
    lab.flush();
    let before = lab.requests();
    assert_eq!(factor(&lab.open("a.root"), 0..300_000).unwrap(), 7);
    assert_eq!(lab.requests() - before, 1);
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_an_error_and_never_a_mixture() {
    let lab = Lab::new();
    let path = lab.files.file("a.root");
    write_multiples(&path, 3, 1);
    age(&path, long_ago());
    assert_eq!(factor(&lab.open("a.root"), 0..120_000).unwrap(), 3);
    lab.flush();
    let file = lab.open("a.root");
    file.tree("Events").unwrap();
    write_multiples(&path, 7, 2);
    age(&path, long_ago());
    // what is held is of the version that was opened
    assert_eq!(factor(&file, 0..120_000).unwrap(), 3);
    let error = factor(&file, 0..300_000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("changed while it was being read"), "{error}");
    lab.flush();
    assert_eq!(factor(&lab.open("a.root"), 0..300_000).unwrap(), 7);
}

#[test]
fn two_files_of_one_layout_are_not_mixed() {
    let lab = Lab::new();
    for (name, by, uuid) in [("a.root", 3, 1), ("b.root", 5, 2)] {
        write_multiples(&lab.files.file(name), by, uuid);
        age(&lab.files.file(name), long_ago());
    }
    for _ in 0..2 {
        assert_eq!(factor(&lab.open("a.root"), 0..300_000).unwrap(), 3);
        assert_eq!(factor(&lab.open("b.root"), 0..300_000).unwrap(), 5);
        lab.flush();
    }
}

#[test]
fn offline_needs_no_server_and_says_so() {
    let lab = Lab::new();
    write(&lab.files.file("a.root"), 3000, "none", small_baskets());
    let offline = lab.options().offline(true);
    let error = File::open(&lab.url("a.root"), &offline).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("not in the local cache"), "{error}");
    let tree = lab.open("a.root").tree("Events").unwrap();
    check(&tree, &all(&tree).entries(0..1500), "filling");
    lab.flush();
    let before = lab.requests();
    let file = File::open(&lab.url("a.root"), &offline).unwrap();
    assert!(file.remarks().iter().any(|r| r.contains("offline")), "{:?}", file.remarks());
    let tree = file.tree("Events").unwrap();
    check(&tree, &all(&tree).entries(0..1500), "offline");
    let missing = tree.scan_with(&all(&tree).entries(2500..3000)).unwrap();
    let error = missing.map(|b| b.map(|_| ())).find_map(Result::err).unwrap();
    assert!(error.to_string().contains("not in the local cache"), "{error}");
    assert_eq!(lab.requests(), before);
    let none = offline.local_cache(LocalCache::Off);
    assert!(File::open(&lab.url("a.root"), &none).unwrap_err().to_string().contains("needs a local cache"));
}

/// All files below a directory.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { out.extend(files_below(&path)) } else { out.push(path) }
    }
    out
}

#[test]
fn credentials_are_not_in_the_folder_and_a_new_one_finds_what_another_fetched() {
    let lab = Lab::new();
    write(&lab.files.file("a.root"), 2000, "none", small_baskets());
    let plain = lab.url("a.root");
    let url = |token: &str| format!("{}?authz={token}&x=1", plain.replace("http://", "http://user:P4SSWORD@"));
    let open = |token: &str| File::open(&url(token), &lab.options()).unwrap().tree("Events").unwrap();
    let tree = open("S3CRETTOKEN");
    check(&tree, &all(&tree), "filling");
    lab.flush();
    let before = lab.requests();
    let tree = open("AN0THERONE");
    check(&tree, &all(&tree), "warm");
    assert_eq!(lab.requests() - before, 1);
    lab.flush();
    let files = files_below(&lab.directory());
    assert!(!files.is_empty(), "nothing is kept");
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        for secret in ["S3CRETTOKEN", "AN0THERONE", "P4SSWORD"] {
            assert!(!bytes.windows(secret.len()).any(|w| w == secret.as_bytes()), "{secret} in {path:?}");
            assert!(!path.to_string_lossy().contains(secret), "{path:?}");
        }
    }
    let offline = lab.options().offline(true);
    let before = lab.requests();
    File::open(&url("S3CRETTOKEN"), &offline).unwrap();
    assert_eq!(lab.requests(), before);
    let error = File::open(&format!("{plain}?password=P4SSWORD"), &offline).unwrap_err().to_string();
    assert!(error.contains("cannot be read offline") && !error.contains("P4SS"), "{error}");
}

#[test]
fn secrets_under_names_that_are_not_known_are_not_in_the_folder() {
    let lab = Lab::new();
    write(&lab.files.file("a.root"), 500, "none", small_baskets());
    let secrets = [
        "X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024&X-Amz-Date=1",
        "sv=2024-11-04&sp=r&sig=Zm9vYmFyYmF6cXV4",
        "who=Bearer%20S3CRETBEARER",
        "p=kTq2xW9vZb4LmR7cPf1sYh6d",
        "plain=averylongvaluethatisasecret",
        "key=K3YS3CRET",
    ];
    for secret in secrets {
        let url = format!("{}?{secret}", lab.url("a.root"));
        let tree = File::open(&url, &lab.options()).unwrap().tree("Events").unwrap();
        check(&tree, &all(&tree), secret);
        lab.flush();
        let offline = File::open(&url, &lab.options().offline(true)).unwrap();
        check(&offline.tree("Events").unwrap(), &all(&tree), secret);
    }
    let files = files_below(&lab.directory());
    assert!(!files.is_empty(), "nothing is kept");
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        for secret in ["fe5f80f7", "Zm9vYmFy", "S3CRET", "kTq2xW9", "averylong"] {
            assert!(!bytes.windows(secret.len()).any(|w| w == secret.as_bytes()), "{secret} in {path:?}");
        }
    }
}

#[test]
fn two_files_that_differ_in_what_is_hidden_are_not_confused_offline() {
    // a server that serves two files under one path: the key tells which
    let lab = Lab::new();
    for (name, by, uuid) in [("a.root", 3, 1), ("b.root", 5, 2)] {
        write_multiples(&lab.files.file(name), by, uuid);
    }
    let path = lab.files.file("which.root");
    let url = |key: &str| format!("{}?key={key}", lab.url("which.root"));
    for (name, key, by) in [("a.root", "A", 3), ("b.root", "B", 5)] {
        std::fs::copy(lab.files.file(name), &path).unwrap();
        assert_eq!(factor(&File::open(&url(key), &lab.options()).unwrap(), 0..300_000).unwrap(), by);
        lab.flush();
    }
    for (key, by) in [("A", 3), ("B", 5)] {
        let file = File::open(&url(key), &lab.options().offline(true)).unwrap();
        assert_eq!(factor(&file, 0..300_000).unwrap(), by);
    }
}

#[test]
fn damage_in_the_folder_costs_a_fetch_and_no_value() {
    let lab = Lab::new();
    write(&lab.files.file("a.root"), 4000, "none", small_baskets());
    lab.read_all("a.root");
    for path in files_below(&lab.directory()) {
        let mut bytes = std::fs::read(&path).unwrap();
        let step = (bytes.len() / 50).max(997);
        bytes.iter_mut().skip(300).step_by(step).for_each(|b| *b ^= 0x10);
        std::fs::write(&path, bytes).unwrap();
    }
    let before = lab.requests();
    let tree = lab.open("a.root").tree("Events").unwrap();
    check(&tree, &all(&tree), "damaged");
    assert!(lab.requests() - before > 1, "the test damaged nothing");
}

#[test]
fn a_folder_that_cannot_be_used_is_a_remark() {
    let lab = Lab::new();
    write(&lab.files.file("a.root"), 500, "none", small_baskets());
    std::fs::write(lab.directory(), "a file").unwrap();
    let file = lab.open("a.root");
    let tree = file.tree("Events").unwrap();
    check(&tree, &all(&tree), "without a folder");
    assert!(file.remarks().iter().any(|r| r.contains("local cache")), "{:?}", file.remarks());
}

fn fetch_whole(
    url: &str,
    options: &OpenOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
    cancel: &AtomicBool,
) -> sapwood::Result<WholeFile> {
    let cancel = Arc::new(AtomicBool::new(cancel.load(std::sync::atomic::Ordering::Relaxed)));
    sapwood::local_cache::fetch_whole(url, options, Verify::Always, progress, &cancel)
}

#[test]
fn a_whole_file_is_fetched_once_and_what_is_held_is_not_fetched_again() {
    let lab = Lab::new();
    let path = lab.files.file("a.root");
    write(&path, 12_000, "none", small_baskets());
    let size = std::fs::metadata(&path).unwrap().len();
    lab.open("a.root").read(&[Span::new(0, size / 2)]).unwrap();
    lab.flush();
    let told = Mutex::new(Vec::new());
    let whole = || {
        let progress = |held, all| told.lock().unwrap().push((held, all));
        fetch_whole(&lab.url("a.root"), &lab.options(), &progress, &AtomicBool::new(false)).unwrap()
    };
    let first = whole();
    assert_eq!(first.size, size);
    assert!(first.fetched > size / 3 && first.fetched < size * 2 / 3, "{first:?}");
    assert_eq!(told.lock().unwrap().last(), Some(&(size, size)));
    let second = whole();
    assert!(second.fetched < 5000, "{second:?}");
    let before = lab.requests();
    let file = File::open(&lab.url("a.root"), &lab.options().offline(true)).unwrap();
    let tree = file.tree("Events").unwrap();
    check(&tree, &all(&tree), "offline");
    assert_eq!(lab.requests(), before);
    // and an end before the end
    let stopped = fetch_whole(&lab.url("a.root"), &lab.options(), &|_, _| {}, &AtomicBool::new(true));
    assert!(stopped.is_ok(), "there was nothing left to fetch");
    write(&lab.files.file("b.root"), 2000, "none", small_baskets());
    let stopped = fetch_whole(&lab.url("b.root"), &lab.options(), &|_, _| {}, &AtomicBool::new(true));
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Interrupted);
    let off = lab.options().local_cache(LocalCache::Off);
    assert!(fetch_whole(&lab.url("b.root"), &off, &|_, _| {}, &AtomicBool::new(false)).is_err());
}
