//! Malicious headers of trees: endless loops and depth.

use sapwood_format::streamer::code;
use sapwood_format::tree::{Tree, read_tree};
use sapwood_format::{ClassInfo, Element, Streamers};
use sapwood_span::{ErrorKind, Result};

fn element(name: &str, kind: &str, code: i32) -> Element {
    Element { name: name.to_owned(), kind: kind.to_owned(), code, ..Element::default() }
}

fn class(name: &str, elements: &[Element]) -> ClassInfo {
    ClassInfo { name: name.to_owned(), version: 1, checksum: 0, elements: elements.to_vec() }
}

/// Classes of which only the members matter here.
fn streamers() -> Streamers {
    let list = |name| element(name, "TStreamerObject", code::OBJECT);
    let pointer = |name| element(name, "TStreamerObjectPointer", code::OBJECT_P);
    let mut out = Streamers::default();
    out.add(class("TTree", &[list("fBranches")]));
    out.add(class("TBranch", &[list("fBranches"), list("fLeaves")]));
    out.add(class("TBranchElement", &[pointer("fBranchCount"), list("fBranches"), list("fLeaves")]));
    out.add(class("TLeaf", &[pointer("fLeafCount")]));
    out
}

/// Writes objects with ROOT's tags; the position of each pointer can be referred to.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn version(&mut self) -> &mut Self {
        self.0.extend([0, 1]);
        self
    }

    fn list(&mut self, n: i32) -> &mut Self {
        self.version();
        self.0.extend(n.to_be_bytes());
        self.0.extend([0; 4]);
        self
    }

    /// A new object: its reference position.
    fn object(&mut self, class: &str) -> u32 {
        let at = self.0.len() as u32 + 2;
        self.0.extend([0xff; 4]);
        self.0.extend(class.as_bytes());
        self.0.push(0);
        self.version();
        at
    }

    fn pointer(&mut self, to: u32) -> &mut Self {
        self.0.extend(to.to_be_bytes());
        self
    }
}

fn read(w: &Writer) -> Result<Tree> {
    read_tree(&w.0, 0, "TTree", &streamers())
}

/// No branch is its own ancestor: names, orders and interpretations follow these links to their ends.
fn check(tree: &Tree) {
    for i in 0..tree.branches.len() {
        let mut at = tree.branches[i].parent;
        for _ in 0..=tree.branches.len() {
            at = at.and_then(|p| tree.branches[p].parent);
        }
        assert_eq!(at, None, "branch {i} lies below itself");
        let _ = tree.path(i);
    }
    assert!(tree.in_order().len() <= tree.branches.len());
    for leaf in &tree.leaves {
        assert!(leaf.count.is_none_or(|c| c < tree.leaves.len()));
    }
}

#[test]
fn branches_within_branches() {
    let mut w = Writer::default();
    w.version().list(1);
    w.object("TBranch");
    w.list(2);
    w.object("TBranch");
    w.list(0).list(0);
    w.pointer(0);
    w.list(0);
    let tree = read(&w).unwrap();
    assert_eq!((tree.branches.len(), tree.top.as_slice()), (2, [0].as_slice()));
    assert_eq!((tree.branches[0].children.as_slice(), tree.branches[1].parent), ([1].as_slice(), Some(0)));
    check(&tree);
}

#[test]
fn a_branch_below_itself() {
    let mut w = Writer::default();
    w.version().list(1);
    let own = w.object("TBranch");
    w.list(1).pointer(own).list(0);
    match read(&w) {
        Ok(tree) => check(&tree),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}"),
    }
}

#[test]
fn two_branches_below_each_other() {
    let mut w = Writer::default();
    w.version().list(2);
    let first = w.object("TBranch");
    w.list(1);
    let second = w.object("TBranch");
    w.list(1).pointer(first).list(0);
    w.list(0);
    w.pointer(second);
    match read(&w) {
        Ok(tree) => check(&tree),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}"),
    }
}

#[test]
fn a_branch_with_two_mothers() {
    let mut w = Writer::default();
    w.version().list(3);
    w.object("TBranch");
    w.list(1);
    let child = w.object("TBranch");
    w.list(0).list(0);
    w.list(0);
    w.object("TBranch");
    w.list(1).pointer(child).list(0);
    w.pointer(child);
    match read(&w) {
        Ok(tree) => check(&tree),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}"),
    }
}

#[test]
fn a_branch_and_a_leaf_that_count_themselves() {
    let mut w = Writer::default();
    w.version().list(1);
    let branch = w.object("TBranchElement");
    w.pointer(branch).list(0).list(1);
    let leaf = w.object("TLeaf");
    w.pointer(leaf);
    match read(&w) {
        Ok(tree) => check(&tree),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}"),
    }
}

#[test]
fn references_to_what_is_no_branch_lead_nowhere() {
    let mut w = Writer::default();
    w.version().list(2);
    w.object("TBranch");
    w.list(0).list(1);
    let leaf = w.object("TLeaf");
    w.pointer(0);
    w.pointer(leaf);
    let tree = read(&w).unwrap();
    assert_eq!((tree.top.as_slice(), tree.leaves.len(), tree.leaves[0].branch), ([0].as_slice(), 1, Some(0)));
}

#[test]
fn branches_nested_without_end() {
    let mut w = Writer::default();
    w.version();
    for _ in 0..100_000 {
        w.list(1);
        w.object("TBranch");
    }
    let e = read(&w).unwrap_err();
    assert!(e.to_string().contains("branches are too deeply nested"), "{e}");
}

#[test]
fn leaves_that_count_each_other_without_end() {
    let mut w = Writer::default();
    w.version().list(1);
    w.object("TBranch");
    w.list(0).list(1);
    for _ in 0..100_000 {
        w.object("TLeaf");
    }
    let e = read(&w).unwrap_err();
    assert!(e.to_string().contains("the counters of leaves form a cycle"), "{e}");
}

#[test]
fn a_class_that_is_its_own_base() {
    for (base, own) in [("TTree", "TTree"), ("TOther", "TOther")] {
        let mut streamers = Streamers::default();
        streamers.add(class("TTree", &[element(base, "TStreamerBase", code::BASE)]));
        streamers.add(class("TOther", &[element(own, "TStreamerBase", code::BASE)]));
        let bytes = [0, 1].repeat(1_000_000);
        let e = read_tree(&bytes, 0, "TTree", &streamers).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{e}");
    }
}

#[test]
fn arrays_longer_than_the_header() {
    let mut streamers = Streamers::default();
    let mut array = element("fAny", "TStreamerBasicPointer", code::OFFSET_P + code::DOUBLE);
    array.count_name = "fN".to_owned();
    streamers.add(class("TTree", &[element("fN", "TStreamerBasicType", code::COUNTER), array]));
    for n in [i32::MAX, i32::MIN, 100, -1] {
        let bytes = [&[0, 1][..], &n.to_be_bytes(), &[1], &[0; 16]].concat();
        let read = read_tree(&bytes, 0, "TTree", &streamers);
        assert_eq!(read.is_ok(), n < 0, "{n} items: a negative number means none");
    }
}

/// A header of this many branches that name their class by reference, each of them 20 bytes.
fn of_references(name: usize, n: usize) -> Writer {
    let class = "X".repeat(name);
    let mut w = Writer::default();
    w.version().list(n as i32);
    let first = w.0.len() as u32 + 2;
    // a byte count, so that the undescribed part is skipped
    w.0.extend((0x4000_0000 + (4 + name + 1 + 6) as u32).to_be_bytes());
    w.0.extend([0xff; 4]);
    w.0.extend(class.as_bytes());
    w.0.push(0);
    w.0.extend([0x40, 0, 0, 2, 0, 1]);
    for _ in 1..n {
        w.0.extend((0x4000_0000_u32 + 4 + 6).to_be_bytes());
        w.0.extend((0x8000_0000 | (first + 4)).to_be_bytes());
        w.0.extend([0x40, 0, 0, 2, 0, 1]);
    }
    w
}

#[test]
fn references_to_a_long_name_do_not_copy_it_without_bound() {
    let read = |name: usize, n| {
        let mut streamers = streamers();
        streamers.add(class(&"X".repeat(name), &[]));
        read_tree(&of_references(name, n).0, 0, "TTree", &streamers)
    };
    // a few are read
    let tree = read(3000, 50).unwrap();
    assert_eq!((tree.branches.len(), tree.branches[49].class.len()), (50, 3000));
    // 20 kB used to need a hundred times as much memory for a name of 4 kB, and an unbounded amount for one of half the
    // file
    for (name, n, what) in [(4000, 20_000, "far more memory"), (10_000, 1000, "class name of more than 4096 bytes")] {
        let e = read(name, n).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Corrupt);
        assert!(e.what().contains(what), "{e}");
    }
}
