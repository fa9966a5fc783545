//! Reading entry by entry: right values in any order, and what it asks a server for.

mod common;

use common::{Folder, column, open, same_bits, write};
use sapwood::{CacheSize, EntryReader, File, ScanOptions, Tree};
use sapwood_serve::{Origin, OriginHandle, OriginOptions};
use sapwood_write::{Cluster, TreeOptions};

const ENTRIES: u64 = 20_000;

fn far() -> (Folder, OriginHandle, File) {
    let folder = Folder::new();
    let layout = TreeOptions::default().cluster(Cluster::Entries(1000)).basket_bytes(3000).optimize_baskets(false);
    write(&folder.file("a.root"), ENTRIES, "zlib:1", layout);
    let origin = Origin::start(OriginOptions::new(folder.path())).unwrap();
    let file = open(&format!("{}a.root", origin.url()));
    (folder, origin, file)
}

const NAMES: [&str; 4] = ["float64_any", "int16_three", "uint8_any", "uint32_one"];

fn find(tree: &Tree) -> Vec<usize> {
    NAMES.iter().map(|n| tree.find(n).unwrap()).collect()
}

/// Reads the entry of all branches and checks the values.
fn check(reader: &mut EntryReader, branches: &[usize], entry: u64) {
    for (&b, name) in branches.iter().zip(NAMES) {
        let block = reader.get(b, entry).unwrap();
        let row = (entry - block.entries.start) as usize;
        assert!(same_bits(&block.column.slice(row, row + 1), &column(name, entry..entry + 1)), "{name}[{entry}]");
        assert_eq!(block.column.len() as u64, block.entries.end - block.entries.start);
    }
}

/// Requests and bytes of some work.
fn cost(file: &File, work: impl FnOnce()) -> (u64, u64) {
    let before = file.io();
    work();
    let after = file.io();
    (after.requests - before.requests, after.bytes_fetched - before.bytes_fetched)
}

/// What a scan of the same branches costs.
fn scanned(tree: &Tree, branches: &[usize]) -> (u64, u64) {
    let options = ScanOptions::default().branches(branches.to_vec());
    cost(tree.file(), || tree.scan_with(&options).unwrap().for_each(|b| drop(b.unwrap())))
}

#[test]
fn a_loop_learns_its_branches_and_reads_them_ahead() {
    let (_folder, _origin, file) = far();
    let tree = file.tree("Events").unwrap();
    let branches = find(&tree);
    let (_, least) = scanned(&tree, &branches);
    let mut reader = tree.entry_reader();
    let (requests, bytes) = cost(&file, || (0..ENTRIES).for_each(|e| check(&mut reader, &branches, e)));
    let stats = reader.stats();
    assert!(!stats.learning && stats.cached == branches, "{stats:?}");
    // the baskets of the first entries are fetched one by one, all others ahead, none twice
    assert!(stats.misses <= 8 && stats.jumps == 0, "{stats:?}");
    // the first small baskets of the other branches come along with the first request
    assert!(bytes <= least + least / 50 + (128 << 10), "{bytes} bytes, a scan takes {least}");
    let block = tree.automatic_cache_size().max(256 << 10) / 2;
    assert!(requests <= 12 + 2 * bytes / block, "{requests} requests for {bytes} bytes");
}

#[test]
fn declared_branches_need_no_learning() {
    let (_folder, _origin, file) = far();
    let tree = file.tree("Events").unwrap();
    let branches = find(&tree);
    let (_, least) = scanned(&tree, &branches);
    let mut reader = tree.entry_reader();
    for name in NAMES {
        assert_eq!(reader.add_branch(name).unwrap(), 1);
    }
    reader.stop_learning();
    let (_, bytes) = cost(&file, || (0..ENTRIES).for_each(|e| check(&mut reader, &branches, e)));
    assert_eq!((reader.stats().misses, reader.stats().jumps), (0, 0));
    assert!(bytes <= least + least / 50, "{bytes} bytes, a scan takes {least}");

    let mut reader = tree.entry_reader();
    let all = reader.add_branch("*").unwrap();
    assert!(all >= 33 && !reader.stats().learning);
    assert_eq!(reader.add_branch("int*").unwrap(), 0, "they are there");
    assert!(reader.add_branch("nothing*").unwrap_err().to_string().contains("no branch matches nothing*"));
    assert!(reader.add_branch("float64_an").unwrap_err().to_string().contains("float64_any"));
    check(&mut reader, &branches, 0);
    assert_eq!(reader.stats().misses, 0);
    assert!(reader.get(branches[0], ENTRIES).unwrap_err().to_string().contains("there is no entry 20000"));
}

#[test]
fn a_loop_backwards_is_read_ahead_backwards() {
    let (_folder, _origin, file) = far();
    let tree = file.tree("Events").unwrap();
    let branches = find(&tree);
    let (_, least) = scanned(&tree, &branches);
    let mut reader = tree.entry_reader();
    let (requests, bytes) = cost(&file, || (0..ENTRIES).rev().for_each(|e| check(&mut reader, &branches, e)));
    let stats = reader.stats();
    assert!(stats.misses <= 12 && stats.jumps == 0, "{stats:?}");
    assert!(bytes <= least + least / 20 + (128 << 10), "{bytes} bytes, a scan takes {least}");
    assert!(requests <= 12 + ENTRIES / 1000 * 2, "{requests} requests for 20 clusters");
}

#[test]
fn jumps_fetch_the_baskets_of_their_entries_only() {
    let (_folder, _origin, file) = far();
    let tree = file.tree("Events").unwrap();
    let branches = find(&tree);
    let mut reader = tree.entry_reader();
    (0..200).for_each(|e| check(&mut reader, &branches, e));
    reader.stop_learning();
    // what was on its way for the loop is over
    check(&mut reader, &branches, 15_000);
    let places: Vec<u64> = (0..20).map(|i| i * 7919 % ENTRIES).collect();
    let (requests, bytes) = cost(&file, || places.iter().for_each(|&e| check(&mut reader, &branches, e)));
    let largest = branches.iter().map(|&b| u64::from(*tree.header().branches[b].basket_bytes.iter().max().unwrap()));
    let each: u64 = largest.sum();
    assert!(requests <= 25 + 20, "{requests} requests");
    assert!(bytes <= 21 * (each + 6000), "{bytes} bytes, an entry's baskets have {each} at most");
    // from a jump a loop may go on
    let before = reader.stats();
    (12_000..14_000).for_each(|e| check(&mut reader, &branches, e));
    assert_eq!(reader.stats().jumps, before.jumps + 1);
}

#[test]
fn a_branch_that_was_not_learnt_is_fetched_alone_and_joins() {
    let (_folder, _origin, file) = far();
    let tree = file.tree("Events").unwrap();
    let branches = find(&tree);
    let late = tree.find("int64_one").unwrap();
    let mut reader = tree.entry_reader();
    (0..5000).for_each(|e| check(&mut reader, &branches, e));
    assert!(!reader.stats().cached.contains(&late));
    let misses = reader.stats().misses;
    for e in 5000..ENTRIES {
        check(&mut reader, &branches, e);
        let block = reader.get(late, e).unwrap();
        let row = (e - block.entries.start) as usize;
        assert!(same_bits(&block.column.slice(row, row + 1), &column("int64_one", e..e + 1)));
    }
    let stats = reader.stats();
    assert!(stats.cached.contains(&late) && stats.misses - misses <= 10, "{stats:?}");
}

#[test]
fn without_a_cache_each_basket_is_asked_for_once_as_it_is_touched() {
    let (_folder, _origin, file) = far();
    let tree = file.tree("Events").unwrap();
    let branches = find(&tree);
    let mut reader = tree.entry_reader();
    reader.set_cache_size(CacheSize::Off);
    let (requests, _) = cost(&file, || (0..3000).for_each(|e| check(&mut reader, &branches, e)));
    assert!(requests >= reader.stats().misses, "{requests}");
    assert_eq!(reader.stats().blocks, 0);
    // and with little of one, budgets hold
    for bytes in [4_000, 60_000, 1 << 20] {
        let mut reader = tree.entry_reader();
        reader.set_cache_size(CacheSize::Bytes(bytes));
        (0..4000).for_each(|e| check(&mut reader, &branches, e));
        (2000..6000).rev().for_each(|e| check(&mut reader, &branches, e));
    }
}

#[test]
fn the_automatic_size_is_the_one_root_computes() {
    let (_folder, _origin, file) = far();
    let tree = file.tree("Events").unwrap();
    let h = tree.header();
    assert_eq!(h.auto_flush, 1000);
    let expected = (1.5 * 1000.0 * h.zip_bytes as f64 / (ENTRIES as f64 + 1.0)) as u64;
    assert_eq!(tree.automatic_cache_size(), expected);
}
