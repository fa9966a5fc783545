//! Records written member by member: the kernel reads the same as the general reader, and leaves the rest to it.

use sapwood_column::{Array, DType, Decoded, Entries, Item, Layout, Object, PackedFloat, Skip};
use sapwood_format::tree::BasketData;
use sapwood_span::Result;

const CHECKSUM: u32 = 0x1234_5678;

fn decode(item: Item, entries: &[Vec<u8>], with_offsets: bool) -> Result<Array> {
    let data = entries.concat();
    let mut at = 0;
    let starts = entries.iter().flat_map(|e| {
        let here = u32::to_be_bytes(at);
        at += e.len() as u32;
        here
    });
    let table: Vec<u8> = starts.collect();
    // without offsets the entries are read one by one, by the general reader
    let offsets = with_offsets.then_some(table.as_slice());
    let basket = BasketData { entries: entries.len(), data: &data, offsets: offsets.map(Into::into), key_len: 0 };
    match Layout::new(item, Entries::One).decode(&basket, None)? {
        Decoded::Column(a) => Ok(a),
        Decoded::Uncounted(_) => unreachable!("one item an entry"),
    }
}

/// A class with a base, TObject's members, a packed number, an array and an object.
fn class() -> Item {
    let named = |members: Vec<(&str, Item)>| members.into_iter().map(|(n, i)| (n.to_owned(), i)).collect();
    let object = |class: &str, members| Object {
        class: class.to_owned(),
        version: 3,
        checksum: CHECKSUM,
        members: named(members),
        others: vec![],
    };
    let base = object("Base", vec![("TObject", Item::Skip(Skip::TObject)), ("id", Item::Number(DType::I16))]);
    let inner = object("Inner", vec![("x", Item::Number(DType::F32))]);
    let hit = object(
        "Hit",
        vec![
            ("Base", Item::Base(base)),
            ("e", Item::Packed(PackedFloat::Float, DType::F64)),
            ("w", Item::Fixed(2, Box::new(Item::Number(DType::U8)))),
            ("in", Item::Object(inner)),
        ],
    );
    Item::Headed(Box::new(Item::Records(Box::new(Item::Object(hit)))))
}

/// An entry of these records: all TObjects, all ids, all energies, all arrays, all objects.
fn entry(ids: &[i16], by_checksum: bool) -> Vec<u8> {
    let mut body = vec![0x40, 9];
    let version = |out: &mut Vec<u8>| {
        out.extend(if by_checksum { [0, 0] } else { [0, 3] });
        if by_checksum {
            out.extend(CHECKSUM.to_be_bytes());
        }
    };
    version(&mut body);
    body.extend((ids.len() as i32).to_be_bytes());
    ids.iter().for_each(|_| body.extend([0, 1, 0, 0, 0, 7, 3, 0, 0, 0]));
    ids.iter().for_each(|id| body.extend(id.to_be_bytes()));
    ids.iter().for_each(|id| body.extend(f32::from(*id).to_be_bytes()));
    ids.iter().for_each(|id| body.extend([*id as u8, 1]));
    for id in ids {
        let mut object = Vec::new();
        version(&mut object);
        object.extend((f32::from(*id) / 2.0).to_be_bytes());
        body.extend((0x4000_0000 | object.len() as u32).to_be_bytes());
        body.extend(object);
    }
    [&(0x4000_0000 | body.len() as u32).to_be_bytes()[..], &body].concat()
}

#[test]
fn the_kernel_reads_what_the_general_reader_reads() {
    for by_checksum in [false, true] {
        let entries = [&[1, 2][..], &[], &[3], &[4, -5, 6]].map(|ids| entry(ids, by_checksum));
        let read = decode(class(), &entries, true).unwrap();
        assert_eq!(read, decode(class(), &entries, false).unwrap());
        let Array::List { offsets, content } = read else { panic!("a list of records") };
        assert_eq!(offsets, [0, 2, 2, 3, 6]);
        let Array::Record { len: 6, fields } = *content else { panic!("six records") };
        let names: Vec<&str> = fields.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["id", "e", "w", "in"]);
        assert_eq!(format!("{:?}", fields[0].1), "Flat(I16([1, 2, 3, 4, -5, 6]))");
        assert_eq!(format!("{:?}", fields[1].1), "Flat(F64([1.0, 2.0, 3.0, 4.0, -5.0, 6.0]))");
    }
}

#[test]
fn objects_that_others_refer_to_take_two_more_bytes() {
    // kIsReferenced in the second object's bits, and a process id after them
    let mut odd = entry(&[8, 9], false);
    odd[4 + 2 + 2 + 4 + 10 + 9] = 0x10;
    odd.splice(4 + 2 + 2 + 4 + 20..4 + 2 + 2 + 4 + 20, [0, 1]);
    let count = 0x4000_0000 | (odd.len() as u32 - 4);
    odd[..4].copy_from_slice(&count.to_be_bytes());
    let entries = [entry(&[1], false), odd];
    let read = decode(class(), &entries, true).unwrap();
    assert_eq!(read, decode(class(), &entries, false).unwrap());
    assert_eq!(read.len(), 2);
}

#[test]
fn damage_is_told_by_the_general_reader() {
    let good = [entry(&[1, 2], false), entry(&[3], false)];
    for at in 0..good[0].len() {
        let mut entries = good.clone();
        entries[0][at] ^= 0x20;
        match (decode(class(), &entries, true), decode(class(), &entries, false)) {
            (Ok(with), Ok(without)) => assert_eq!(with, without, "byte {at}"),
            // without offsets, a wrong length is noticed elsewhere
            (Err(_), _) => {}
            (Ok(_), Err(e)) => panic!("byte {at}: read, but {e}"),
        }
    }
}
