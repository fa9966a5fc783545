//! Trees of ROOT 2, whose files describe no classes.

use sapwood_format::Streamers;
use sapwood_format::tree::{Tree, read_tree};
use sapwood_span::{ErrorKind, Result};

/// Writes like such a ROOT.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn bytes(&mut self, b: &[u8]) -> &mut Self {
        self.0.extend_from_slice(b);
        self
    }

    fn short(&mut self, n: i16) -> &mut Self {
        self.bytes(&n.to_be_bytes())
    }

    fn int(&mut self, n: i32) -> &mut Self {
        self.bytes(&n.to_be_bytes())
    }

    fn double(&mut self, x: f64) -> &mut Self {
        self.bytes(&x.to_be_bytes())
    }

    fn text(&mut self, t: &str) -> &mut Self {
        self.bytes(&[t.len() as u8]).bytes(t.as_bytes())
    }

    /// A `TNamed`, which had no byte count then.
    fn named(&mut self, name: &str, title: &str) -> &mut Self {
        self.short(1).short(1).int(0).int(0x0300_0000).text(name).text(title)
    }

    /// The head of a `TObjArray` with this many slots.
    fn list(&mut self, n: i32) -> &mut Self {
        self.short(2).text("").int(n).int(0)
    }

    fn ints(&mut self, n: &[i32]) -> &mut Self {
        self.int(n.len() as i32);
        n.iter().fold(self, |w, &n| w.int(n))
    }

    /// Writes `content` after a byte count.
    fn counted(&mut self, content: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inner = Self::default();
        content(&mut inner);
        self.int(0x4000_0000 | inner.0.len() as i32).bytes(&inner.0)
    }

    /// A pointer to a new object of a class.
    fn object(&mut self, class: &str, content: impl FnOnce(&mut Self)) -> &mut Self {
        self.counted(|w| {
            w.int(-1).bytes(class.as_bytes()).bytes(&[0]).counted(content);
        })
    }
}

/// The header of a tree with one branch of floats in two baskets; a branch's members before and after its lists differ
/// between versions.
fn header(tree: i16, branch: i16) -> Vec<u8> {
    let mut w = Writer::default();
    w.counted(|w| {
        w.short(tree).named("ntp1", "Reco Gammas");
        // lines, fills, markers
        w.short(1).short(1).short(1).short(1).short(1).short(0).short(1001).short(1).short(1).short(1).int(0x3f80_0000);
        w.int(25).int(1_000_000_000).int(0).double(1344.0).double(5e6).double(4e5).int(100_000_000).int(1_000_000);
        w.list(2).object("TBranch", |w| branch_of(w, branch)).int(0);
        // leaves again, an index
        w.list(1).int(0).ints(&[]).ints(&[]);
    });
    w.0
}

fn branch_of(w: &mut Writer, version: i16) {
    let numbers = |w: &mut Writer| {
        w.double(1344.0).double(5440.0).double(2700.0);
    };
    w.short(version).named("e", "e/F").int(1).int(8000).int(0);
    if version < 6 {
        w.int(5).int(2).int(1344);
        numbers(w);
        w.int(0);
    } else {
        w.int(2).int(1344).int(0).int(5);
        if version > 6 {
            w.int(0);
        }
        numbers(w);
    }
    w.list(1).int(0).list(1).object("TLeafF", |w| {
        w.short(1).counted(|w| {
            w.short(1).named("e", "e").int(1).int(4).int(0).bytes(&[0, 0]).int(0);
        });
        w.int(0).int(0);
    });
    w.list(0);
    let (bytes, entries, places) = ([1000, 1700, 0, 0, 0], [0, 1000, 0, 0, 0], [64, 1064, 0, 0, 0]);
    if version < 6 {
        w.ints(&entries).ints(&bytes).ints(&places);
    } else {
        for array in [bytes, entries, places] {
            array.iter().fold(w.bytes(&[1]), |w, &n| w.int(n));
        }
    }
    w.text("");
}

fn read(tree: i16, branch: i16) -> Result<Tree> {
    read_tree(&header(tree, branch), 40, "TTree", &Streamers::default())
}

#[test]
fn are_read_without_descriptions() {
    for version in 1..=4 {
        for branch in 5..=7 {
            let tree = read(version, branch).unwrap();
            assert_eq!((tree.name.as_str(), tree.title.as_str(), tree.entries), ("ntp1", "Reco Gammas", 1344));
            assert_eq!(tree.zip_bytes, 400_000);
            let [b] = &tree.branches[..] else { panic!("{} branches", tree.branches.len()) };
            assert_eq!((b.name.as_str(), b.basket_size, b.entries, b.write_basket), ("e", 8000, 1344, 2));
            assert_eq!((b.total_bytes, b.zip_bytes), (5440, 2700));
            assert_eq!(b.basket_bytes[..2], [1000, 1700]);
            assert_eq!(b.basket_entry[..2], [0, 1000]);
            assert_eq!(b.basket_seek[..2], [64, 1064]);
            let [l] = &tree.leaves[..] else { panic!("{} leaves", tree.leaves.len()) };
            assert_eq!((l.class.as_str(), l.name.as_str(), l.len, l.branch), ("TLeafF", "e", 1, Some(0)));
        }
    }
}

#[test]
fn older_branches_are_refused() {
    // they lack the lengths of their baskets
    let e = read(4, 4).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(e.to_string().contains("version 4 of its class TBranch"), "{e}");
}

#[test]
fn cut_short_they_are_refused() {
    let whole = header(4, 5);
    for len in 0..whole.len() - 30 {
        assert!(read_tree(&whole[..len], 40, "TTree", &Streamers::default()).is_err(), "{len} bytes");
    }
}
