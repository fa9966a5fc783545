//! A panic in any thread of ours ends in an error that says so, soon, and never in a wait without end or in wrong data.

mod common;

use common::{Folder, check, column, every_branch, open, write};
use sapwood::defect::inject;
use sapwood::merge::{MergeOptions, merge};
use sapwood::optimize::{OptimizeOptions, optimize};
use sapwood::{Array, CacheSize, Chain, ChainOptions, Error, ErrorKind, OpenOptions, ReadRequest, Result, ScanOptions};
use sapwood_serve::{Origin, OriginOptions};
use sapwood_write::{BranchSpec, Cluster, FileWriter, Merger, TreeOptions};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// No test waits longer for an end.
const FOREVER: Duration = Duration::from_secs(60);

/// One place is armed at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Arms a place, does the work, and checks that its error names the panic.
fn fails(place: &'static str, work: impl FnOnce() -> Result<()> + Send + 'static) -> Error {
    fails_with(place, "", work)
}

/// As [`fails`], in the work on one file: what an earlier scan left behind may still come by.
fn fails_with(place: &'static str, file: &str, work: impl FnOnce() -> Result<()> + Send + 'static) -> Error {
    let (send, receive) = mpsc::channel();
    inject::arm_for(place, file);
    std::thread::spawn(move || send.send(work()));
    let result = receive.recv_timeout(FOREVER).unwrap_or_else(|_| panic!("{place}: it has no end"));
    assert!(!inject::disarm(), "{place}: nobody came by");
    let e = result.expect_err(place);
    assert_eq!(e.kind(), ErrorKind::Defect, "{place}: {e}");
    let text = e.to_string();
    assert!(text.contains(&format!("a bug in Sapwood: injected at {place}")), "{text}");
    assert!(text.contains("please report"), "{text}");
    e
}

fn clusters() -> TreeOptions {
    TreeOptions::default().cluster(Cluster::Entries(500)).basket_bytes(4000).optimize_baskets(false)
}

/// Reads all branches of a file's tree.
fn read(url: &str, threads: usize, cache: CacheSize) -> Result<()> {
    let tree = open(url).tree("Events")?;
    let branches = tree.order().to_vec();
    for batch in tree.scan_with(&ScanOptions::default().branches(branches).threads(threads).cache(Some(cache)))? {
        batch?;
    }
    Ok(())
}

#[test]
fn of_a_worker_that_reads_unpacks_decodes_or_joins() {
    let _alone = alone();
    let folder = Folder::new();
    let path = folder.file("a.root");
    write(&path, 6000, "zlib:1", clusters());
    for place in ["read", "unzip", "decode", "join"] {
        for threads in [1, 4] {
            for cache in [CacheSize::Auto, CacheSize::Off] {
                // a name of its own
                let url = folder.file(&format!("{place}-{threads}-{cache:?}.root"));
                std::fs::hard_link(&path, &url).unwrap();
                let name = url.clone();
                let e = fails_with(place, &url, move || read(&name, threads, cache));
                assert_eq!(e.file(), Some(url.as_str()));
                if place == "decode" {
                    assert!(e.branch().is_some() && e.span().is_some() && e.what().starts_with("basket "), "{e}");
                }
            }
        }
    }
    // the next reading knows nothing of it
    let tree = open(&path).tree("Events").unwrap();
    check(&tree, &ScanOptions::default().branches(tree.order().to_vec()), "after all");
}

#[test]
fn of_what_runs_on_the_network_thread() {
    let _alone = alone();
    let folder = Folder::new();
    // more than opening brings
    write(&folder.file("a.root"), 20_000, "none", clusters());
    let origin = Origin::start(OriginOptions::new(folder.path())).unwrap();
    let url = format!("{}a.root", origin.url());
    for place in ["fetch", "sink"] {
        for cache in [CacheSize::Auto, CacheSize::Off] {
            let url = format!("{url}?{place}-{cache:?}");
            let name = url.clone();
            fails_with(place, &url, move || read(&name, 2, cache));
        }
    }
    let other = url.clone();
    fails("network", move || sapwood::File::open(&other, &OpenOptions::default()).map(|_| ()));
    read(&url, 2, CacheSize::Auto).unwrap();
}

#[test]
fn of_the_opener_of_a_chain_whatever_is_left_out() {
    let _alone = alone();
    let folder = Folder::new();
    let names: Vec<String> = (0..3).map(|i| folder.file(&format!("{i}.root"))).collect();
    names.iter().for_each(|name| write(name, 1000, "zlib:1", clusters()));
    for skip_bad in [false, true] {
        let files = names.iter().map(|u| (u.clone(), Some("Events".to_owned()))).collect();
        let options = ChainOptions::default().skip_bad(skip_bad);
        let first = names[0].clone();
        let e = fails("chain", move || {
            for part in Chain::new(files, options).scan(|link: &sapwood::ChainFile| {
                let branches = link.tree.order().to_vec();
                Ok((ReadRequest::Read(ScanOptions::default().branches(branches)), ()))
            }) {
                part?;
            }
            Ok(())
        });
        assert_eq!(e.file(), Some(first.as_str()));
    }
}

#[test]
fn of_a_thread_that_packs() {
    let _alone = alone();
    let folder = Folder::new();
    let path = folder.file("a.root");
    // packed by the caller, and by threads
    for entries in [100, 40_000] {
        let target = path.clone();
        fails("pack", move || {
            let mut file = FileWriter::create(&target, "zlib:1".parse()?)?;
            let specs: Vec<BranchSpec> = every_branch();
            let mut tree = file.tree("Events", "", &specs, clusters())?;
            let columns: Vec<(&str, Array)> =
                specs.iter().map(|s| (s.name.as_str(), column(&s.name, 0..entries))).collect();
            tree.extend(&columns.iter().map(|(n, a)| (*n, a)).collect::<Vec<_>>())?;
            tree.finish()?;
            file.finish().map(|_| ())
        });
        assert!(!Path::new(&path).exists(), "a file that lacks a basket");
    }
}

#[test]
fn of_a_thread_that_merges_or_optimizes() {
    let _alone = alone();
    let folder = Folder::new();
    let (a, out) = (folder.file("a.root"), folder.file("out.root"));
    write(&a, 3000, "zlib:1", clusters());
    let options = || MergeOptions::default().compression(Some("zlib:2".parse().unwrap()));
    let (inputs, target) = (vec![a.clone(), a.clone()], out.clone());
    fails("ordered", move || merge(Path::new(&target), &inputs, &options()).map(|_| ()));
    assert!(!Path::new(&out).exists());
    let (input, target) = (a.clone(), out.clone());
    fails("ordered", move || optimize(Path::new(&target), &input, &OptimizeOptions::default()).map(|_| ()));
    assert!(!Path::new(&out).exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half done is left");
}

#[cfg(unix)]
#[test]
fn of_the_thread_that_takes_what_a_process_produces() {
    let _alone = alone();
    let folder = Folder::new();
    let mut file = FileWriter::create(folder.file("a.root"), "zlib:1".parse().unwrap()).unwrap();
    let specs = [BranchSpec::scalar("x", sapwood::DType::I32)];
    let merger = Merger::new(file.tree("t", "", &specs, TreeOptions::default()).unwrap());
    let gate = merger.listen().unwrap();
    inject::arm("take");
    // the line breaks while it connects
    assert!(sapwood_write::Producer::connect(gate.address()).is_err());
    assert!(!inject::disarm());
    let summary = gate.close(Duration::from_secs(5));
    // it counted as one that had finished
    assert_eq!((summary.finished, summary.lost.len()), (0, 1));
    assert!(summary.lost[0].why.contains("a bug in Sapwood: injected at take"), "{}", summary.lost[0].why);
}
