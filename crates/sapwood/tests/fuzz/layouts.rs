//! Layouts at random: what a damaged description could ask for.

use crate::random::Random;
use sapwood_column::{DType, Entries, Item, Layout, Listing, Object, OtherVersion, PackedFloat, Skip};

const TYPES: &[DType] = &DType::ALL;

/// Extents: the usual ones, and what damage makes of them.
const SIZES: &[usize] = &[0, 1, 2, 3, 100, 1 << 31, usize::MAX];

/// Classes that pointers may lead to.
const CLASSES: &[&str] = &["C", "D"];

pub fn layout(r: &mut Random) -> Layout {
    let entries = match r.below(8) {
        0..=2 => Entries::One,
        3..=4 => Entries::UntilEnd,
        5 if r.below(2) == 0 => r.pick(&[Entries::CountedUntilEnd, Entries::Counted]).clone(),
        5 => Entries::FlaggedUntilEnd,
        6 => Entries::HeadedUntilEnd,
        _ => return Layout::new(Item::Text, Entries::Text),
    };
    Layout::new(item(r, 4), entries)
}

fn item(r: &mut Random, depth: usize) -> Item {
    let inner = |r: &mut Random| Box::new(item(r, depth.saturating_sub(1)));
    match r.below(if depth == 0 { 5 } else { 19 }) {
        0 => Item::Number(*r.pick(TYPES)),
        1 => match r.below(3) {
            0 => Item::Packed(PackedFloat::Float, DType::F64),
            1 => Item::Packed(PackedFloat::Range { low: -1.0, factor: r.below(100) as f64 }, DType::F64),
            _ => Item::Packed(PackedFloat::Truncated { bits: 2 + r.below(13) as i32 }, DType::F32),
        },
        2 => Item::Bits,
        3 => Item::Text,
        4 => Item::LongText,
        // arrays are made of numbers, and of arrays of numbers
        5 => {
            let number = Box::new(Item::Number(*r.pick(TYPES)));
            let row = Item::Fixed(*r.pick(SIZES), number);
            Item::Fixed(*r.pick(SIZES), Box::new(if r.below(2) == 0 { row } else { item(r, 0) }))
        }
        6 | 7 => Item::Sequence(inner(r)),
        8 => Item::Headed(inner(r)),
        9 => Item::Headed(Box::new(Item::Records(Box::new(match r.below(4) {
            0 => Item::Members(members(r, depth)),
            1 => item(r, depth - 1),
            2 => Item::Pair(Box::new((item(r, depth - 1), item(r, depth - 1)))),
            _ => Item::Object(object(r, depth)),
        })))),
        10 => Item::Object(object(r, depth)),
        11 => Item::Base(object(r, depth)),
        12 => Item::Records(inner(r)),
        13 if r.below(2) == 0 => {
            Item::Flagged(Box::new(Item::Fixed(*r.pick(SIZES), Box::new(Item::Times(0, inner(r))))))
        }
        13 => Item::Named(inner(r)),
        14 => Item::Pointer((0..1 + r.below(2)).map(|i| (CLASSES[i].to_owned(), item(r, depth - 1))).collect()),
        16 if r.below(2) == 0 => {
            let kind = [Listing::Array, Listing::Linked, Listing::Map][r.below(3)];
            Item::Listed { kind, item: inner(r) }
        }
        17 if r.below(2) == 0 => {
            let links = || CLASSES.iter().enumerate().map(|(i, c)| ((*c).to_owned(), i)).collect();
            let root = if r.below(2) == 0 { Item::Link(links()) } else { Item::CloneLinks(links()) };
            let tables = CLASSES.iter().map(|c| ((*c).to_owned(), (r.below(4) > 0).then(|| item(r, depth - 1))));
            let tables = tables.collect();
            let root = Box::new(if r.below(3) == 0 { item(r, depth - 1) } else { root });
            Item::Graph { root, tables }
        }
        16 => Item::Clones(vec![("C".to_owned(), Item::Object(object(r, depth)))]),
        15 if r.below(2) == 0 => Item::Absent("Never".to_owned()),
        15 => Item::Enumeration("Color".to_owned()),
        _ => Item::Members(members(r, depth)),
    }
}

fn object(r: &mut Random, depth: usize) -> Object {
    let version = r.below(4) as i32 - 1;
    let others = (0..r.below(2)).map(|_| OtherVersion {
        version: r.below(3) as i32,
        checksum: r.below(2) as u32,
        members: members(r, depth),
        places: (0..r.below(3)).map(|_| Some(r.below(3)).filter(|&p| p < 2)).collect(),
    });
    let others = others.collect();
    Object { class: "C".to_owned(), version, checksum: r.below(2) as u32, members: members(r, depth), others }
}

fn members(r: &mut Random, depth: usize) -> Vec<(String, Item)> {
    let mut out: Vec<(String, Item)> = Vec::new();
    for i in 0..r.below(4) {
        let by = r.below(i + 1);
        let next = match r.below(8) {
            0 if i > 0 => Item::Counted(by, Box::new(item(r, 0))),
            1 if i > 0 => Item::Times(by, Box::new(item(r, 0))),
            2 if i > 0 => Item::Triangle(by, Box::new(item(r, 0))),
            3 => Item::Skip(*r.pick(&[
                Skip::Bytes(0),
                Skip::Bytes(3),
                Skip::Bytes(usize::MAX),
                Skip::TObject,
                Skip::Bits,
            ])),
            _ => item(r, depth - 1),
        };
        out.push((format!("m{i}"), next));
    }
    out
}
