//! Objects that point to each other: tables by class, pointers that are positions in them.

use sapwood_column::{Array, DType, Decoded, Entries, Item, Layout, Object, Values};
use sapwood_format::tree::BasketData;
use sapwood_span::{ErrorKind, Result};

const KEY_LEN: u32 = 64;
/// Offset of references relative to the position in the basket's buffer.
const MAP_OFFSET: u32 = 2;

/// `struct Node { int x; Node* left; Node* right; }`, the entry's own object without a header.
fn tree() -> Layout {
    let link = || Item::Link(vec![("Node".to_owned(), 0)]);
    let members =
        vec![("x".to_owned(), Item::Number(DType::I32)), ("left".to_owned(), link()), ("right".to_owned(), link())];
    let node = Object { class: "Node".to_owned(), version: 1, checksum: 0, members: members.clone(), others: vec![] };
    let tables = vec![("Node".to_owned(), Some(Item::Object(node)))];
    Layout::new(Item::Graph { root: Box::new(Item::Members(members)), tables }, Entries::One)
}

/// One entry's bytes, its position in the basket, and the position where the class was named.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    class: Option<u32>,
}

impl Writer {
    fn here(&self) -> u32 {
        self.bytes.len() as u32 + KEY_LEN + MAP_OFFSET
    }

    fn int(&mut self, x: u32) {
        self.bytes.extend(x.to_be_bytes());
    }

    /// An object behind a pointer; returns its reference.
    fn object(&mut self, x: i32, members: impl FnOnce(&mut Self, u32)) -> u32 {
        let (at, reference) = (self.bytes.len(), self.here());
        self.int(0);
        match self.class {
            Some(named) => self.int(0x8000_0000 | named),
            None => {
                self.class = Some(self.here());
                self.int(0xffff_ffff);
                self.bytes.extend(b"Node\0");
            }
        }
        let header = self.bytes.len();
        self.bytes.extend([0; 4]);
        self.bytes.extend([0, 1]);
        self.int(x as u32);
        members(self, reference);
        let end = self.bytes.len();
        self.bytes[at..at + 4].copy_from_slice(&(0x4000_0000 | (end - at - 4) as u32).to_be_bytes());
        self.bytes[header..header + 4].copy_from_slice(&(0x4000_0000 | (end - header - 4) as u32).to_be_bytes());
        reference
    }
}

fn decode(entries: &[Vec<u8>]) -> Result<(Vec<i64>, Vec<Vec<i32>>)> {
    let data = entries.concat();
    let mut at = KEY_LEN;
    let table: Vec<u8> = entries
        .iter()
        .flat_map(|e| {
            let here = at.to_be_bytes();
            at += e.len() as u32;
            here
        })
        .collect();
    let basket =
        BasketData { entries: entries.len(), data: &data, offsets: Some((&table[..]).into()), key_len: KEY_LEN };
    let Decoded::Column(Array::Record { fields, .. }) = tree().decode(&basket, None)? else { panic!("a record") };
    let ints = |fields: &[(String, Array)]| -> Vec<Vec<i32>> {
        let all = fields.iter().map(|(_, a)| match a {
            Array::Flat(Values::I32(v)) => v.clone(),
            other => panic!("{other:?}"),
        });
        all.collect()
    };
    let [(_, Array::Record { fields: root, .. }), (name, Array::List { offsets, content })] = fields.as_slice() else {
        panic!("{fields:?}")
    };
    assert_eq!((name.as_str(), root.len()), ("Node", 3));
    let Array::Record { fields: nodes, .. } = &**content else { panic!("records") };
    Ok((offsets.clone(), [ints(root), ints(nodes)].concat()))
}

#[test]
fn circles_and_shared_objects_stay_what_they_are() {
    let mut w = Writer::default();
    w.int(1);
    // left: an object whose left is itself, and whose right is a new one
    let mut inner = 0;
    w.object(2, |w, own| {
        w.int(own);
        inner = w.object(3, |w, _| {
            w.int(0);
            w.int(own);
        });
    });
    // right: the one that was written within the first
    w.int(inner);
    let empty = [0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
    let (offsets, columns) = decode(&[w.bytes, empty]).unwrap();
    assert_eq!(offsets, [0, 2, 2]);
    let [x, left, right, node_x, node_left, node_right] = columns.as_slice() else { panic!("six columns") };
    assert_eq!((x.as_slice(), left.as_slice(), right.as_slice()), (&[1, 9][..], &[0, -1][..], &[1, -1][..]));
    assert_eq!(node_x, &[2, 3]);
    assert_eq!((node_left.as_slice(), node_right.as_slice()), (&[0, -1][..], &[1, 0][..]));
}

#[test]
fn a_reference_into_what_was_not_read_yet() {
    // left is a new object, right is one written within it: known before the first was read
    let mut w = Writer::default();
    w.int(1);
    let mut inner = 0;
    w.object(2, |w, _| {
        inner = w.object(3, |w, _| {
            w.int(0);
            w.int(0);
        });
        w.int(0);
    });
    w.int(inner);
    let (offsets, columns) = decode(&[w.bytes]).unwrap();
    assert_eq!(offsets, [0, 2]);
    assert_eq!((&columns[1], &columns[2]), (&vec![0], &vec![1]));
    // in the table, too, the first one's left is the second
    assert_eq!((columns[3].as_slice(), columns[4].as_slice()), (&[2, 3][..], &[1, -1][..]));
}

#[test]
fn long_chains_take_no_stack() {
    fn grow(w: &mut Writer, depth: i32) {
        w.object(depth, |w, _| {
            w.int(0);
            if depth > 0 { grow(w, depth - 1) } else { w.int(0) }
        });
    }
    let mut w = Writer::default();
    w.int(0);
    grow(&mut w, 1000);
    w.int(0);
    let (offsets, columns) = decode(&[w.bytes]).unwrap();
    assert_eq!(offsets, [0, 1001]);
    assert!(columns[3].iter().rev().copied().eq(0..=1000));
}

#[test]
fn references_to_nothing_and_wrong_lengths_are_errors() {
    for reference in [1, 65, 70, 0x00ff_ffff] {
        let mut w = Writer::default();
        w.int(1);
        w.int(reference);
        w.int(0);
        assert_eq!(decode(&[w.bytes]).unwrap_err().kind(), ErrorKind::Corrupt, "{reference}");
    }
    let mut w = Writer::default();
    w.int(1);
    w.object(2, |w, _| {
        w.int(0);
        w.int(0);
    });
    w.int(0);
    for at in 0..w.bytes.len() {
        let mut bytes = w.bytes.clone();
        bytes[at] ^= 0x11;
        // values, or an error; no panic
        let _ = decode(&[bytes]);
    }
}
