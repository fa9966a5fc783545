//! Several processes, some of which are killed.

mod common;

use common::{Folder, MB, Random, Remote, child, occupied, open, role};
use sapwood_span::Span;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

fn remote(i: u64) -> Remote {
    Remote::new(&format!("https://host/{}.root", i / 2), i, 20 * MB)
}

/// Inserts this many bytes, and reads.
fn work(folder: &Path, seed: u64, bytes: u64, max: u64) {
    let store = open(folder, max);
    let mut random = Random(seed);
    println!("working");
    let mut inserted = 0;
    while inserted < bytes {
        let i = random.below(6);
        let file = store.file(&remote(i).id);
        for _ in 0..random.below(20) {
            let start = random.below(19 * MB);
            match random.below(3) {
                0 => drop(remote(i).check(&file, start, 1 + random.below(1000) as usize)),
                _ => {
                    let len = 1 + random.below(100_000);
                    remote(i).insert(&file, start, len as usize);
                    inserted += len;
                }
            }
            if let Some(part) = file.held(Span::new(start, MB)).first() {
                remote(i).check(&file, part.start, part.len as usize);
            }
        }
        match random.below(12) {
            0 => file.validated(),
            1 => store.flush(),
            2 => file.refresh(),
            3 if seed % 4 == 3 => drop(store.purge(Some(&remote(i).id.url)).unwrap()),
            4 if seed % 4 == 2 => assert_eq!(store.verify(&|_, _| {}).damaged_bytes, 0),
            5 => drop(store.list()),
            _ => {}
        }
        if let Some(id) = store.latest(&remote(i).id.url) {
            assert!(id == remote(i / 2 * 2).id || id == remote(i / 2 * 2 + 1).id);
        }
    }
    store.flush();
    // the limit is small on purpose
    let others: Vec<String> = store.warnings().into_iter().filter(|w| !w.contains("is too small")).collect();
    assert_eq!(others, Vec::<String>::new());
}

#[test]
fn child_process() {
    let Some((role, folder, seed)) = role() else { return };
    match role.as_str() {
        "fill" => work(&folder, seed * 4, u64::MAX, 1000 * MB),
        "share" => work(&folder, seed, 8 * MB, 16 * MB),
        _ => unreachable!(),
    }
}

#[test]
fn killed_while_filling() {
    let kills = std::env::var("SAPWOOD_STORE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let folder = Folder::new();
    let mut random = Random(11);
    let mut before = 0;
    for kill in 0..kills {
        let mut filling = child("fill", &folder.store(), kill);
        let mut said = BufReader::new(filling.stdout.take().unwrap()).lines();
        assert!(said.by_ref().any(|line| line.unwrap().contains("working")));
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        filling.kill().unwrap();
        filling.wait().unwrap();
        let store = folder.open(1000 * MB);
        let mut held = 0;
        for i in 0..6 {
            let file = store.file(&remote(i).id);
            for part in file.held(Span::new(0, 20 * MB)) {
                for start in (part.start..part.end()).step_by(1 << 20) {
                    let len = (part.end() - start).min(1 << 20);
                    assert!(remote(i).check(&file, start, len as usize), "kill {kill}: what is held can be read");
                }
            }
            held += file.bytes_held();
        }
        assert!(held >= before, "kill {kill}: {before} bytes before, {held} after");
        assert_eq!(store.warnings(), Vec::<String>::new(), "kill {kill}");
        before = held;
    }
    assert!(before > 100_000, "{before}");
}

#[test]
fn eight_processes_at_once() {
    let folder = Folder::new();
    let mut children: Vec<_> = (0..8).map(|i| child("share", &folder.store(), i)).collect();
    let mut largest = 0;
    while children.iter_mut().any(|c| c.try_wait().unwrap().is_none()) {
        // without the lock, files dropped during the walk would count as well as their replacements
        let lock = std::fs::File::open(folder.store().join("lock"));
        if lock.as_ref().is_ok_and(|lock| lock.lock().is_ok()) {
            largest = largest.max(occupied(&folder.store()));
        }
        drop(lock);
        std::thread::sleep(Duration::from_millis(10));
    }
    for process in children {
        let done = process.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
    largest = largest.max(occupied(&folder.store()));
    assert!(largest <= 16 * MB && largest > 4 * MB, "{largest} bytes");
    let store = folder.open(16 * MB);
    assert_eq!(store.verify(&|_, _| {}).damaged, 0);
}

#[test]
fn what_another_process_adds_is_found() {
    let folder = Folder::new();
    let store = folder.open(1000 * MB);
    let files: Vec<_> = (0..6).map(|i| store.file(&remote(i).id)).collect();
    let mut filling = child("fill", &folder.store(), 77);
    while files.iter().map(|f| f.bytes_held()).sum::<u64>() < MB {
        files.iter().for_each(|f| f.refresh());
        std::thread::sleep(Duration::from_millis(5));
    }
    filling.kill().unwrap();
    filling.wait().unwrap();
    for (i, file) in (0..6).zip(&files) {
        for part in file.held(Span::new(0, 20 * MB)) {
            assert!(remote(i).check(file, part.start, part.len as usize));
        }
    }
}

/// Ends the threads of a test.
struct Stopping<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_forked_child_has_a_store_of_its_own() {
    let folder = Folder::new();
    let store = folder.open(1000 * MB);
    let file = store.file(&remote(1).id);
    remote(1).insert(&file, 0, 100_000);
    // threads that hold locks while the process is forked
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..2 {
            let (file, stop, store, folder) = (&file, &stop, &store, &folder);
            scope.spawn(move || {
                let mut random = Random(n);
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let start = 100_000 + random.below(10 * MB);
                    remote(1).insert(file, start, 100);
                    file.held(Span::new(0, 20 * MB));
                    drop(common::open(&folder.store(), 1000 * MB));
                    store.warnings();
                }
            });
        }
        // also when an assertion fails
        let _stopping = Stopping(&stop);
        for round in 0..20 {
            store.flush();
            // SAFETY: the child only uses the store, and leaves by `_exit`
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: ends a child that would wait for a lock forever
                unsafe { libc::alarm(20) };
                let start = 15 * MB + round * 1000;
                let right = remote(1).check(&file, 0, 100_000);
                remote(1).insert(&file, start, 500);
                let seen = remote(1).check(&file, start, 500);
                store.flush();
                drop(file.clone());
                // SAFETY: nothing of the parent's is run or unwound
                unsafe { libc::_exit(if right && seen { 0 } else { 1 }) };
            }
            let mut status = 0;
            // SAFETY: waits for the child that was just made
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "round {round}");
        }
    });
    file.refresh();
    for round in 0..20 {
        assert!(remote(1).check(&file, 15 * MB + round * 1000, 500), "round {round}");
    }
    store.flush();
    assert_eq!(store.verify(&|_, _| {}).damaged, 0);
}
