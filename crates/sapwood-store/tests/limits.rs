//! The limit in bytes, and what is evicted first.

mod common;

use common::{Folder, MB, Random, Remote, child, files_below, occupied, open, role};
use sapwood_store::Store;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::{Duration, SystemTime};

const MAX: u64 = 4 * MB;

fn remote(i: u64) -> Remote {
    Remote::new(&format!("https://host/{i}.root"), i, 100 * MB)
}

fn add(store: &Store, i: u64, bytes: usize) {
    let file = store.file(&remote(i).id);
    remote(i).insert(&file, 0, bytes);
    store.flush();
}

/// Sets the time at which the files of a version were last used.
fn used(folder: &Folder, i: u64, time: SystemTime) {
    for path in files_below(&folder.store()) {
        let identity = path.parent().unwrap().join("identity");
        let is =
            std::fs::read(identity).is_ok_and(|b| b.windows(40).any(|w| w.starts_with(remote(i).id.url.as_bytes())));
        if is {
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }
    }
}

fn held(store: &Store, i: u64) -> u64 {
    store.file(&remote(i).id).bytes_held()
}

#[test]
fn the_limit_holds_after_each_flush() {
    let folder = Folder::new();
    let store = folder.open(MAX);
    let mut random = Random(1);
    for round in 0..300 {
        let i = random.below(40);
        let file = store.file(&remote(i).id);
        remote(i).insert(&file, random.below(90 * MB), 1 + random.below(200_000) as usize);
        drop(file);
        store.flush();
        assert!(occupied(&folder.store()) <= MAX, "round {round}");
    }
    let status = store.status();
    assert!(status.bytes > MAX / 2 && status.left_out_bytes == 0, "{status:?}");
    assert_eq!(store.warnings(), Vec::<String>::new());
}

#[test]
fn many_small_files_count_with_the_blocks_that_they_occupy() {
    let folder = Folder::new();
    let store = folder.open(MAX);
    for i in 0..600 {
        add(&store, i, 10);
        if i % 50 == 49 {
            assert!(occupied(&folder.store()) <= MAX, "file {i}");
        }
    }
    assert!(held(&store, 599) == 10 && held(&store, 0) == 0);
}

#[test]
fn the_least_recently_used_goes_first() {
    let folder = Folder::new();
    let store = folder.open(MAX);
    let now = SystemTime::now();
    for i in 0..6 {
        add(&store, i, 500_000);
        used(&folder, i, now - Duration::from_secs(1000 - 100 * i));
    }
    // reading counts as use
    let file = store.file(&remote(0).id);
    assert!(remote(0).check(&file, 0, 500_000));
    drop(file);
    add(&store, 10, 1_400_000);
    assert_eq!((held(&store, 1) < 500_000, held(&store, 0)), (true, 500_000));
    assert_eq!((held(&store, 5), held(&store, 10)), (500_000, 1_400_000));
}

#[test]
fn older_versions_of_a_url_go_first() {
    let folder = Folder::new();
    let store = folder.open(MAX);
    add(&store, 1, 400_000);
    let (old, new) = (Remote::new("https://host/x", 50, 10 * MB), Remote::new("https://host/x", 51, 10 * MB));
    for remote in [&old, &new] {
        let file = store.file(&remote.id);
        remote.insert(&file, 0, 1_000_000);
        file.validated();
        store.flush();
    }
    add(&store, 2, 2_000_000);
    assert!(store.file(&old.id).bytes_held() < 1_000_000);
    assert_eq!((held(&store, 1), store.file(&new.id).bytes_held(), held(&store, 2)), (400_000, 1_000_000, 2_000_000));
    assert_eq!(store.latest("https://host/x"), Some(new.id));
}

#[test]
fn what_is_in_use_stays_and_new_pieces_are_left_out() {
    let folder = Folder::new();
    let store = folder.open(MAX);
    let file = store.file(&remote(1).id);
    remote(1).insert(&file, 0, 3_000_000);
    store.flush();
    add(&store, 2, 2_000_000);
    assert!(remote(1).check(&file, 0, 3_000_000));
    let left_out = store.status().left_out_bytes;
    assert!(left_out >= 1_000_000 && occupied(&folder.store()) <= MAX, "{left_out}");
    assert!(held(&store, 2) < 2_000_000);
    drop(file);
    add(&store, 3, 2_000_000);
    assert!(held(&store, 3) == 2_000_000 && held(&store, 1) < 3_000_000);
}

#[test]
fn what_another_process_uses_stays() {
    let folder = Folder::new();
    let store = folder.open(MAX);
    add(&store, 1, 1_000_000);
    let mut other = child("use", &folder.store(), 1);
    let mut said = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(said.by_ref().any(|line| line.unwrap().contains("in use")));
    for i in 2..12 {
        add(&store, i, 800_000);
    }
    assert_eq!(held(&store, 1), 1_000_000);
    assert!(store.list().iter().any(|f| f.id == remote(1).id && f.in_use));
    drop(other.stdin.take());
    assert!(said.by_ref().any(|line| line.unwrap().contains("still there")));
    assert!(other.wait().unwrap().success());
    for i in 12..22 {
        add(&store, i, 800_000);
    }
    assert_eq!(held(&store, 1), 0);
}

#[test]
fn child_process() {
    let Some((_, folder, i)) = role() else { return };
    let store = open(&folder, MAX);
    let file = store.file(&remote(i).id);
    println!("in use");
    std::io::stdin().lines().for_each(drop);
    assert!(remote(i).check(&file, 0, 1_000_000));
    println!("still there");
}

#[test]
fn the_clock_does_not_matter() {
    let folder = Folder::new();
    let far = Duration::from_secs(3_000_000_000);
    for time in [SystemTime::UNIX_EPOCH, SystemTime::now() + far] {
        let store = folder.open(MAX);
        for i in 0..4 {
            add(&store, i, 500_000);
            used(&folder, i, time);
            let file = store.file(&remote(i).id);
            file.validated();
            assert!(remote(i).check(&file, 0, 500_000));
            assert_eq!(store.latest(&remote(i).id.url), Some(remote(i).id));
        }
        for i in 4..10 {
            add(&store, i, 700_000);
            assert_eq!(held(&store, i), 700_000);
            used(&folder, i, time);
            assert!(occupied(&folder.store()) <= MAX);
        }
    }
}

#[test]
fn a_smaller_limit_takes_effect_with_the_next_write() {
    let folder = Folder::new();
    let store = folder.open(10 * MB);
    for i in 0..9 {
        add(&store, i, 1_000_000);
    }
    let again = folder.open(3 * MB);
    for i in 20..24 {
        add(&again, i, 300_000);
    }
    assert!(occupied(&folder.store()) <= 3 * MB);
    assert_eq!(store.status().max_bytes, 3 * MB);
}

#[test]
fn purge_removes_a_url_or_everything() {
    let folder = Folder::new();
    let store = folder.open(MAX);
    (0..3).for_each(|i| add(&store, i, 100_000));
    let file = store.file(&remote(1).id);
    let purged = store.purge(Some(&remote(1).id.url)).unwrap();
    assert!(purged.files == 1 && purged.bytes >= 100_000, "{purged:?}");
    assert!(file.bytes_held() == 0 && !remote(1).check(&file, 0, 10));
    assert_eq!((held(&store, 0), held(&store, 1), held(&store, 2)), (100_000, 0, 100_000));
    // an open file is kept
    remote(1).insert(&file, 5, 1000);
    store.flush();
    assert!(remote(1).check(&file, 5, 1000));
    drop(file);
    assert_eq!(held(&store, 1), 1000);
    assert_eq!(store.purge(None).unwrap().files, 3);
    assert!(store.list().is_empty() && store.status().bytes < 20_000);
    assert_eq!(store.purge(None).unwrap().files, 0);
}
