//! The cost of small records: memory, counted by this test's own allocator, is in proportion to their bytes.

use sapwood_format::object::{read_class, read_pointer};
use sapwood_format::streamer::code;
use sapwood_format::tree::read_tree;
use sapwood_format::{ClassInfo, Element, Streamers, cursor::Cursor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a total of what a thread has allocated.
struct Counting;

thread_local! {
    static GIVEN: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed unchanged to the system's allocator; counting touches none of its memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = GIVEN.try_with(|n| n.set(n.get() + layout.size()));
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes allocated during some work, freed or not.
fn given(work: impl FnOnce()) -> usize {
    let before = GIVEN.with(Cell::get);
    work();
    GIVEN.with(Cell::get) - before
}

const MB: usize = 1 << 20;

fn element(name: &str, kind: &str, type_name: &str, code: i32) -> Element {
    Element { name: name.into(), kind: kind.into(), type_name: type_name.into(), code, ..Element::default() }
}

fn class(name: &str, version: i32, elements: Vec<Element>) -> ClassInfo {
    ClassInfo { name: name.to_owned(), version, checksum: version as u32, elements }
}

/// A list of this many objects of a class that the first of them names; an object is only its version.
fn list_of(name: &str, n: u32) -> Vec<u8> {
    // TList, version 5: TObject, name, number of objects
    let mut body = vec![0, 5, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0];
    body.extend(n.to_be_bytes());
    let first = body.len() as u32 + 4 + 2;
    body.extend((0x4000_0000 + (4 + name.len() as u32 + 1 + 6)).to_be_bytes());
    body.extend([0xff; 4]);
    body.extend(name.as_bytes());
    body.extend([0, 0x40, 0, 0, 2, 0, 1, 0]);
    for _ in 1..n {
        body.extend((0x4000_0000_u32 + 4 + 6).to_be_bytes());
        body.extend((0x8000_0000 | first).to_be_bytes());
        body.extend([0x40, 0, 0, 2, 0, 1, 0]);
    }
    body
}

#[test]
fn references_to_class_names_are_read_as_far_as_the_record_is_long() {
    let data = list_of(&"X".repeat(4000), 100_000);
    let mut refused = false;
    let cost = given(|| {
        let mut c = Cursor::new(&data, 0);
        c.skip(17).unwrap();
        for _ in 0..100_000 {
            match read_pointer(&mut c) {
                Ok(_) => c.skip(7).unwrap(),
                Err(e) => {
                    assert!(e.what().contains("more often than"), "{e}");
                    refused = true;
                    break;
                }
            }
        }
    });
    assert!(refused);
    // 100 000 copies of the name would be 400 MB
    assert!(cost < 130 * data.len(), "{} MB of {} kB", cost / MB, data.len() / 1000);
    // ordinary names
    let data = list_of("ROOT::Math::LorentzVector<ROOT::Math::PxPyPzE4D<double> >", 10_000);
    let mut c = Cursor::new(&data, 0);
    c.skip(17).unwrap();
    for _ in 0..10_000 {
        read_pointer(&mut c).unwrap();
        c.skip(7).unwrap();
    }
}

#[test]
fn long_class_names_in_descriptions_are_copied_as_far_as_the_object_is_long() {
    // a class without data needs no description, only its name, which the member's type gives
    let name = "N".repeat(MB);
    let mut streamers = Streamers::default();
    let mut member = element("all", "TStreamerObjectAny", &name, code::ANY + code::OFFSET_L);
    member.array_len = 2000;
    streamers.add(class("Many", 1, vec![member]));
    let mut data = vec![0, 1];
    for _ in 0..2000 {
        data.extend([0x40, 0, 0, 2, 0, 1]);
    }
    let cost = given(|| {
        let _ = read_class(&data, 0, "Many", &streamers);
    });
    // 2000 copies of 1 MB
    assert!(cost < 40 * MB, "{} MB", cost / MB);
}

#[test]
fn names_above_many_branches_do_not_become_paths_without_bound() {
    let list = |name| element(name, "TStreamerObject", "TObjArray", code::OBJECT);
    let named = element("TNamed", "TStreamerBase", "BASE", code::TNAMED);
    let mut streamers = Streamers::default();
    streamers.add(class("TTree", 1, vec![list("fBranches")]));
    streamers.add(class("TBranch", 1, vec![named, list("fBranches")]));
    let header = |name: usize, n: u32| {
        let array = |n: u32| [&[0, 1][..], &n.to_be_bytes(), &[0; 4]].concat();
        let named = |name: &str| {
            let mut s = vec![0, 1, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 255];
            s.extend((name.len() as u32).to_be_bytes());
            s.extend(name.as_bytes());
            s.push(0);
            s
        };
        let mut w = [&[0, 1][..], &array(1)].concat();
        w.extend([0xff; 4]);
        w.extend(b"TBranch\0\0\x01");
        w.extend(named(&"L".repeat(name)));
        w.extend(array(n));
        for i in 0..n {
            w.extend([0xff; 4]);
            w.extend(b"TBranch\0\0\x01");
            w.extend(named(&format!("b{i}")));
            w.extend(array(0));
        }
        w
    };
    let tree = read_tree(&header(100, 1000), 0, "TTree", &streamers).unwrap();
    assert_eq!(tree.path(1000), format!("{}/b999", "L".repeat(100)));
    // 200 kB whose paths would take 200 MB
    let e = read_tree(&header(100_000, 2000), 0, "TTree", &streamers).map(drop).unwrap_err();
    assert!(e.what().contains("paths of its branches"), "{e}");
}

#[test]
fn members_without_bytes_are_looked_at_as_often_as_the_header_justifies() {
    let mut nothing = element("none", "TStreamerBasicType", "int", code::OFFSET_L + code::INT);
    nothing.array_len = 0;
    let mut streamers = Streamers::default();
    let list = element("fBranches", "TStreamerObject", "TObjArray", code::OBJECT);
    streamers.add(class("TTree", 1, vec![list]));
    streamers.add(class("TBranch", 1, vec![nothing; 20_000]));
    let mut w = vec![0, 1, 0, 1];
    w.extend(5000_u32.to_be_bytes());
    w.extend([0; 4]);
    for _ in 0..5000 {
        w.extend([0xff; 4]);
        w.extend(b"TBranch\0\0\x01");
    }
    let e = read_tree(&w, 0, "TTree", &streamers).map(drop).unwrap_err();
    assert!(e.what().contains("far more members"), "{e}");
}

#[test]
fn classes_derive_over_bases_that_are_named_many_times() {
    // each names its base twice: 2 to the 60th paths lead from the last to the first
    let mut streamers = Streamers::default();
    for i in 0..60 {
        let base = element(&format!("C{i}"), "TStreamerBase", "BASE", code::BASE);
        streamers.add(class(&format!("C{}", i + 1), 1, vec![base.clone(), base]));
    }
    let names = |class| streamers.derived(class, 100, |_| true).iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("C57"), ["C58", "C59", "C60"]);
    assert_eq!(names("C0").len(), 60);
    assert_eq!(names("nobody"), [""; 0]);
    assert_eq!(streamers.derived("C0", 5, |_| true).len(), 6, "no more are looked for");
}

#[test]
fn the_first_of_equal_versions_and_the_last_of_the_newest_count() {
    let mut streamers = Streamers::default();
    for (version, members) in [(2, 1), (3, 2), (3, 3), (1, 4)] {
        streamers.add(class("A", version, vec![Element::default(); members]));
    }
    let members = |c: Option<&std::sync::Arc<ClassInfo>>| c.map(|c| c.elements.len());
    assert_eq!(members(streamers.find("A", 3)), Some(2));
    assert_eq!(members(streamers.find_checksum("A", 3)), Some(2));
    assert_eq!(members(streamers.latest("A")), Some(3));
    assert_eq!(members(streamers.find("A", 7)), None);
}
