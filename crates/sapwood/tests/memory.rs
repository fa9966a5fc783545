//! Memory that is held while files are written: counted, byte by byte, by an allocator of this test's own.

mod common;

use common::Folder;
use sapwood::write::{BranchSpec, Cluster, FileWriter, Merger, TreeOptions};
use sapwood::{Array, Compression, DType, Values};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The system's allocator, which counts what is held and the most that ever was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn took(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(held, Relaxed);
}

// SAFETY: every call is handed to the system's allocator as it came; counting touches none of its memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller keeps what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps what `dealloc` asks for.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // while bytes are moved both places may be there
        took(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps what `realloc` asks for.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Tests that count do so one after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// The most bytes that were held during some work beyond those before it.
fn most_held(work: impl FnOnce()) -> usize {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    work();
    MOST.load(Relaxed) - before
}

const MB: usize = 1_000_000;

/// Ten thousand branches, filled by so many producers; 32 MB in clusters of 8 MB.
fn many_branches(folder: &Folder, producers: usize) -> usize {
    let specs: Vec<BranchSpec> = (0..10_000).map(|i| BranchSpec::scalar(format!("b{i}"), DType::F32)).collect();
    let column = Array::Flat(Values::F32((0..50_u16).map(f32::from).collect()));
    let columns: Vec<(&str, &Array)> = specs.iter().map(|s| (&*s.name, &column)).collect();
    most_held(|| {
        let mut file = FileWriter::create(folder.file("many.root"), Compression::default()).unwrap();
        let options = TreeOptions::default().cluster(Cluster::Entries(200));
        let merger = Merger::new(file.tree("t", "", &specs, options).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..producers {
                let (mut producer, columns) = (merger.producer().unwrap(), &columns);
                scope.spawn(move || {
                    for _ in 0..16 / producers {
                        producer.extend(columns).unwrap();
                    }
                });
            }
        });
        assert_eq!(merger.finish().unwrap().lost, []);
        drop(file);
    })
}

#[test]
fn sixteen_producers_of_ten_thousand_branches_hold_what_one_holds() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new();
    let (one, many) = (many_branches(&folder, 1), many_branches(&folder, 16));
    // 32 MB are what all producers together may hold; sixteen copies of a cluster's baskets would be 128 MB
    assert!(many < one + 40 * MB, "one producer: {} MB, sixteen: {} MB", one / MB, many / MB);
}

#[test]
fn a_writer_holds_a_packed_cluster_and_what_is_on_its_way() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new();
    let specs: Vec<BranchSpec> = (0..100).map(|i| BranchSpec::scalar(format!("b{i}"), DType::F64)).collect();
    let column = Array::Flat(Values::F64((0..2000_u16).map(f64::from).collect()));
    let columns: Vec<(&str, &Array)> = specs.iter().map(|s| (&*s.name, &column)).collect();
    // clusters of 192 MB, two of them
    let path = folder.file("one.root");
    let held = most_held(|| {
        let mut file = FileWriter::create(&path, Compression::default()).unwrap();
        let options = TreeOptions::default().cluster(Cluster::Entries(240_000));
        let mut tree = file.tree("t", "", &specs, options).unwrap();
        for _ in 0..240 {
            tree.extend(&columns).unwrap();
        }
        tree.finish().unwrap();
        file.finish().unwrap();
    });
    let packed = std::fs::metadata(&path).unwrap().len() as usize / 2;
    assert!(held < packed + 45 * MB, "{} MB, of which {} MB are a cluster", held / MB, packed / MB);
}
