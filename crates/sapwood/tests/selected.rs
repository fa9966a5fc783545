//! Entry lists and cuts: the values of the chosen entries, and of the baskets only those with one of them.

mod common;

use common::{Folder, column, open, same_bits, write};
use sapwood::{Array, Batch, CacheSize, Cut, EntryList, File, Result, ScanOptions, StepSize, Tree, Values};
use sapwood_serve::{Origin, OriginHandle, OriginOptions};
use sapwood_write::{Cluster, TreeOptions};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

const ENTRIES: u64 = 20_000;

/// Baskets of a cluster each, 500 entries.
fn clusters() -> TreeOptions {
    TreeOptions::default().cluster(Cluster::Entries(500)).basket_bytes(64_000).optimize_baskets(false)
}

fn serve(folder: &Folder, delay: u64) -> OriginHandle {
    Origin::start(OriginOptions { delay: Duration::from_millis(delay), ..OriginOptions::new(folder.path()) }).unwrap()
}

fn far(delay: u64) -> (Folder, OriginHandle, File) {
    let folder = Folder::new();
    write(&folder.file("a.root"), ENTRIES, "zlib:1", clusters());
    let origin = serve(&folder, delay);
    let file = open(&format!("{}/a.root", origin.url()));
    (folder, origin, file)
}

/// The rows of a column for these entries.
fn rows(name: &str, entries: &EntryList) -> Array {
    let mut out: Option<Array> = None;
    for run in entries.runs() {
        let part = column(name, run.clone());
        match &mut out {
            Some(joined) => joined.append(&part).unwrap(),
            None => out = Some(part),
        }
    }
    out.unwrap_or_else(|| column(name, 0..0))
}

/// Reads the branches, checks every value against what was written, and gives the entries that came.
fn read(tree: &Tree, options: &ScanOptions) -> Result<EntryList> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut end = 0;
    for batch in tree.scan_with(options)? {
        let batch = batch?;
        assert!(batch.entries.start >= end, "batches come in order");
        end = batch.entries.end;
        let entries = batch.selected.clone().expect("the batch says which entries it has");
        assert!(entries.is_empty() || batch.entries.start <= entries.hull().start);
        assert!(entries.hull().end <= batch.entries.end);
        for (&b, values) in options.branches.iter().zip(&batch.columns) {
            let name = &tree.header().branches[b].name;
            assert!(same_bits(values, &rows(name, &entries)), "{name} of {:?}", entries.runs());
        }
        ranges.extend_from_slice(entries.runs());
    }
    Ok(EntryList::from_ranges(ranges))
}

/// What the server sent meanwhile: requests and bytes.
fn cost(file: &File, work: impl FnOnce()) -> (u64, u64, u64) {
    let before = file.io();
    work();
    let after = file.io();
    (
        after.requests - before.requests,
        after.bytes_fetched - before.bytes_fetched,
        after.round_trips - before.round_trips,
    )
}

/// The bytes of the baskets of these branches that have one of the entries.
fn basket_bytes(tree: &Tree, branches: &[usize], entries: &EntryList) -> u64 {
    let mut sum = 0;
    for &b in branches {
        let b = &tree.header().branches[b];
        for i in 0..b.write_basket {
            let end = b.basket_entry.get(i + 1).copied().filter(|e| *e > 0).unwrap_or(b.entries);
            if entries.touches(&(b.basket_entry[i]..end)) {
                sum += u64::from(b.basket_bytes[i]);
            }
        }
    }
    sum
}

fn find(tree: &Tree, names: &[&str]) -> Vec<usize> {
    names.iter().map(|n| tree.find(n).unwrap()).collect()
}

#[test]
fn only_baskets_with_a_chosen_entry_are_fetched() {
    let (_folder, _origin, file) = far(0);
    let tree = file.tree("Events").unwrap();
    let branches = tree.order().to_vec();
    let scattered = EntryList::from_numbers((0..20).map(|i| i * 997 + 13).collect());
    let neighbours = EntryList::from(7_990..8_010);
    // twenty clusters of all branches are over a megabyte, in twenty places; the neighbours lie in two clusters
    for (list, most) in [(scattered, 16), (neighbours, 5)] {
        for step in [StepSize::All, StepSize::Cluster, StepSize::Entries(300), StepSize::Bytes(10_000)] {
            let selected = Some(Arc::new(list.clone()));
            let options = ScanOptions::default().branches(branches.clone()).selected(selected).step(step);
            let (requests, bytes, _) = cost(&file, || assert_eq!(read(&tree, &options).unwrap(), list));
            let wanted = basket_bytes(&tree, &branches, &list);
            // gaps of up to a kilobyte are read along, headers of the parts count
            assert!(bytes <= wanted + wanted / 8, "{step:?}: {bytes} bytes for {wanted}");
            assert!(requests <= most, "{step:?}: {requests} requests");
        }
    }
}

#[test]
fn twenty_neighbours_of_one_branch_cost_next_to_nothing() {
    let (_folder, _origin, file) = far(0);
    let tree = file.tree("Events").unwrap();
    let list = EntryList::from(10_240..10_260);
    let options = ScanOptions::default().branches(find(&tree, &["float32_one"])).selected(Some(Arc::new(list.clone())));
    let (requests, bytes, _) = cost(&file, || assert_eq!(read(&tree, &options).unwrap(), list));
    assert!(requests == 1 && bytes < 5000, "{requests} requests, {bytes} bytes");
}

#[test]
fn lists_within_ranges_and_empty_lists() {
    let folder = Folder::new();
    write(&folder.file("a.root"), 3000, "zlib:1", clusters());
    let file = open(&folder.file("a.root"));
    let tree = file.tree("Events").unwrap();
    let list = Arc::new(EntryList::from_numbers((0..3000).filter(|n| n % 3 == 1).collect()));
    let options = |entries: Range<u64>, selected: &Arc<EntryList>| {
        ScanOptions::default().branches(tree.order().to_vec()).entries(Some(entries)).selected(Some(selected.clone()))
    };
    assert_eq!(read(&tree, &options(700..1900, &list)).unwrap(), list.within(&(700..1900)));
    let none = Arc::new(EntryList::default());
    assert!(read(&tree, &options(0..3000, &none)).unwrap().is_empty());
    let all = Arc::new(EntryList::from(0..3000));
    assert_eq!(read(&tree, &options(0..3000, &all)).unwrap(), *all);
    // entries that the tree does not have are none
    let beyond = Arc::new(EntryList::from_numbers(vec![5, 4000]));
    assert_eq!(read(&tree, &options(0..3000, &beyond)).unwrap().iter().collect::<Vec<_>>(), [5]);
}

/// A cut that lets these entries pass, and reads one branch for it.
fn cut(tree: &Tree, passes: impl Fn(u64) -> bool + Send + Sync + 'static) -> Cut {
    let branches = find(tree, &["uint64_one", "nShared"]);
    let test = move |batch: &Batch| {
        let entries = batch.selected.clone().unwrap_or(EntryList::from(batch.entries.clone()));
        assert!(same_bits(&batch.columns[0], &rows("uint64_one", &entries)), "the cut sees its branch");
        assert!(matches!(&batch.columns[1], Array::Flat(Values::I32(n)) if n.len() as u64 == entries.len()));
        Ok(entries.iter().map(&passes).collect())
    };
    Cut::new(branches, test)
}

#[test]
fn a_cut_gives_the_rows_that_pass() {
    let folder = Folder::new();
    write(&folder.file("a.root"), 6000, "zlib:1", clusters());
    let file = open(&folder.file("a.root"));
    let tree = file.tree("Events").unwrap();
    type Passes = fn(u64) -> bool;
    let cuts: [(&str, Passes); 5] = [
        ("all", |_| true),
        ("none", |_| false),
        ("every third", |n| n % 3 == 0),
        ("one cluster", |n| (1200..1400).contains(&n)),
        ("blocks", |n| n / 700 % 2 == 0),
    ];
    let some = Arc::new(EntryList::from_numbers((0..6000).filter(|n| n % 5 < 2).collect()));
    for (what, passes) in cuts {
        for step in [StepSize::All, StepSize::Cluster, StepSize::Entries(777)] {
            for threads in [1, 4] {
                for selected in [None, Some(some.clone())] {
                    let among = selected.clone();
                    let options = ScanOptions::default()
                        .branches(tree.order().to_vec())
                        .cut(Some(cut(&tree, passes)))
                        .step(step)
                        .threads(threads)
                        .selected(selected);
                    let listed = |n: &u64| among.as_ref().is_none_or(|l| l.touches(&(*n..*n + 1)));
                    let expected = (0..6000).filter(|&n| passes(n)).filter(listed).collect();
                    let read = read(&tree, &options).unwrap();
                    assert_eq!(read, EntryList::from_numbers(expected), "{what}, {step:?}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn baskets_where_nothing_passes_are_not_fetched() {
    let (folder, _origin, remote) = far(0);
    let local = open(&folder.file("a.root"));
    // on a way with a round trip (a busy machine makes one, too) so much may be asked for before the cut is known
    let early = 16 * (64 << 10);
    for (file, cache, early) in [
        (&local, CacheSize::Auto, 0),
        (&remote, CacheSize::Auto, early),
        (&remote, CacheSize::Bytes(200_000), early),
        (&remote, CacheSize::Off, early),
    ] {
        let tree = file.tree("Events").unwrap();
        let branches = tree.order().to_vec();
        let options = ScanOptions::default()
            .branches(branches.clone())
            .cut(Some(cut(&tree, |n| (4100..4200).contains(&n) || n == 15_777)))
            .cache(Some(cache));
        let passed = EntryList::from_numbers((4100..4200).chain([15_777]).collect());
        let (_, bytes, _) = cost(file, || assert_eq!(read(&tree, &options).unwrap(), passed));
        let all = EntryList::from(0..ENTRIES);
        // the cut's own branches, the baskets with entries that passed, the counters that decoding needs
        let own = options.cut.as_ref().unwrap().branches.clone();
        let counters: Vec<usize> =
            branches.iter().copied().filter(|&b| tree.header().branches[b].name.starts_with('n')).collect();
        let least = basket_bytes(&tree, &[own, counters].concat(), &all) + basket_bytes(&tree, &branches, &passed);
        let whole = basket_bytes(&tree, &branches, &all);
        assert!(bytes < least + least / 4 + 100_000 + early, "{cache:?}: {bytes} bytes, {least} are needed");
        assert!(bytes < whole / 3 + early, "{cache:?}: {bytes} of {whole}");
    }
}

#[test]
fn a_cut_that_passes_everywhere_costs_one_round_trip_at_most() {
    let (_folder, _origin, file) = far(25);
    let tree = file.tree("Events").unwrap();
    let plain = ScanOptions::default().branches(tree.order().to_vec());
    // connections are open and the way is known after the first
    for b in tree.scan_with(&plain).unwrap() {
        b.unwrap();
    }
    let (requests, bytes, trips) = cost(&file, || tree.scan_with(&plain).unwrap().for_each(|b| drop(b.unwrap())));
    let options = plain.clone().cut(Some(cut(&tree, |_| true)));
    let all = EntryList::from(0..ENTRIES);
    let (r, b, t) = cost(&file, || assert_eq!(read(&tree, &options).unwrap(), all));
    assert!(t <= trips + 1, "{t} round trips, {trips} without a cut");
    assert!(b <= bytes + bytes / 50, "{b} bytes, {bytes} without a cut");
    assert!(r <= requests * 2, "{r} requests, {requests} without a cut");
}

#[test]
fn what_a_cut_says_wrong_is_an_error() {
    let folder = Folder::new();
    write(&folder.file("a.root"), 2000, "zlib:1", clusters());
    let file = open(&folder.file("a.root"));
    let tree = file.tree("Events").unwrap();
    let branches = find(&tree, &["uint64_one"]);
    let options = |test: fn(&Batch) -> Result<Vec<bool>>| {
        ScanOptions::default().branches(tree.order().to_vec()).cut(Some(Cut::new(branches.clone(), test)))
    };
    let message = |options: &ScanOptions| tree.scan_with(options).unwrap().find_map(|b| b.err()).unwrap().to_string();
    assert!(message(&options(|_| Ok(vec![true]))).contains("a cut has 1 values for"));
    assert!(message(&options(|_| Err(sapwood::Error::invalid("no such thing")))).contains("no such thing"));
}
