//! Baskets of every layout, good and bad: correct values, or an error that names the entry.

use sapwood_column::{
    Array, DType, Decoded, Entries, Item, Layout, Object, OtherVersion, PackedFloat, Values, attach_counts,
};
use sapwood_format::tree::{BasketData, EmbeddedBasket};
use sapwood_span::{Error, ErrorKind, Result};
use std::time::Duration;

/// Length of the label, which offsets include.
const KEY_LEN: u32 = 70;

fn table(offsets: &[u32]) -> Vec<u8> {
    offsets.iter().flat_map(|o| (o + KEY_LEN).to_be_bytes()).collect()
}

fn decode_as(layout: &Layout, data: &[u8], entries: usize, offsets: Option<&[u32]>) -> Result<Decoded> {
    let table = offsets.map(table);
    let basket = BasketData { entries, data, offsets: table.map(Into::into), key_len: KEY_LEN };
    let decoded = layout.decode(&basket, None);
    // a basket in the tree's header gives the same
    if offsets.is_none_or(|o| o.len() == entries) {
        let embedded = EmbeddedBasket {
            entries: entries as u32,
            data: data.to_vec(),
            offsets: offsets.map(<[u32]>::to_vec),
            key_len: KEY_LEN,
        };
        let other = layout.decode_embedded(&embedded);
        assert_eq!(format!("{decoded:?}"), format!("{other:?}"));
    }
    decoded
}

fn decode(item: Item, entries: Entries, data: &[u8], offsets: &[u32]) -> Result<Array> {
    match decode_as(&Layout::new(item, entries), data, offsets.len(), Some(offsets))? {
        Decoded::Column(a) => {
            assert_eq!(a.len(), offsets.len());
            Ok(a)
        }
        Decoded::Uncounted(_) => Err(Error::invalid("the offsets were given")),
    }
}

fn corrupt(result: Result<impl std::fmt::Debug>) -> String {
    let e = result.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}");
    e.what().to_owned()
}

fn number(d: DType) -> Item {
    Item::Number(d)
}

fn list(offsets: &[i64], content: Array) -> Array {
    Array::List { offsets: offsets.to_vec(), content: Box::new(content) }
}

fn text(offsets: &[i64], bytes: &[u8]) -> Array {
    Array::Text { offsets: offsets.to_vec(), bytes: bytes.to_vec() }
}

fn i16s(values: &[i16]) -> Array {
    Array::Flat(Values::I16(values.to_vec()))
}

/// Byte count and version 1 in front.
fn headed(body: &[u8]) -> Vec<u8> {
    let count = 0x4000_0000u32 + body.len() as u32 + 2;
    [&count.to_be_bytes()[..], &[0, 1], body].concat()
}

mod numbers {
    use super::*;

    #[test]
    fn each_type_in_its_own_order_of_bytes() {
        let data: Vec<u8> = vec![0, 1, 2, 3, 250, 251, 252, 253];
        let flat = |d: DType| {
            let layout = Layout::new(number(d), Entries::One);
            match decode_as(&layout, &data, 8 / d.size(), None).unwrap() {
                Decoded::Column(Array::Flat(v)) => v,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(flat(DType::Bool), Values::Bool(vec![0, 1, 1, 1, 1, 1, 1, 1]), "each 0 or 1");
        assert_eq!(flat(DType::I8), Values::I8(vec![0, 1, 2, 3, -6, -5, -4, -3]));
        assert_eq!(flat(DType::U8), Values::U8(data.clone()));
        assert_eq!(flat(DType::I16), Values::I16(vec![1, 0x203, -0x505, -0x303]));
        assert_eq!(flat(DType::U16), Values::U16(vec![1, 0x203, 0xfafb, 0xfcfd]));
        assert_eq!(flat(DType::I32), Values::I32(vec![0x0001_0203, 0xfafb_fcfdu32 as i32]));
        assert_eq!(flat(DType::U32), Values::U32(vec![0x0001_0203, 0xfafb_fcfd]));
        assert_eq!(flat(DType::F32), Values::F32(vec![f32::from_bits(0x0001_0203), f32::from_bits(0xfafb_fcfd)]));
        assert_eq!(flat(DType::I64), Values::I64(vec![0x0001_0203_fafb_fcfd]));
        assert_eq!(flat(DType::U64), Values::U64(vec![0x0001_0203_fafb_fcfd]));
        assert_eq!(flat(DType::F64), Values::F64(vec![f64::from_bits(0x0001_0203_fafb_fcfd)]));
    }

    #[test]
    fn a_basket_of_another_size_is_refused() {
        let layout = Layout::new(number(DType::F32), Entries::One);
        for (bytes, entries) in [(13, 3), (11, 3), (0, 1), (4, 0), (12, u32::MAX as usize)] {
            let why = corrupt(decode_as(&layout, &vec![0; bytes], entries, None));
            assert_eq!(why, format!("{entries} entries of 4 bytes in a basket with {bytes} bytes of values"));
        }
    }

    #[test]
    fn arrays_of_arrays() {
        let item = Item::Fixed(2, Box::new(Item::Fixed(3, Box::new(number(DType::I8)))));
        let layout = Layout::new(item, Entries::One);
        assert_eq!(layout.column_type().to_string(), "2 * 3 * int8");
        let data: Vec<u8> = (0..12).collect();
        let inner = Array::Regular { size: 3, len: 4, content: Box::new(Array::Flat(Values::I8((0..12).collect()))) };
        let whole = Array::Regular { size: 2, len: 2, content: Box::new(inner) };
        assert_eq!(decode_as(&layout, &data, 2, None).unwrap(), Decoded::Column(whole));
    }

    #[test]
    fn packed_numbers() {
        let range = Item::Packed(PackedFloat::Range { low: -1.0, factor: 2.0 }, DType::F64);
        let layout = Layout::new(range, Entries::One);
        let got = decode_as(&layout, &[0, 0, 0, 0, 0, 0, 0, 5], 2, None).unwrap();
        assert_eq!(got, Decoded::Column(Array::Flat(Values::F64(vec![-1.0, 1.5]))));
        let short = Item::Packed(PackedFloat::Truncated { bits: 12 }, DType::F32);
        let layout = Layout::new(Item::Fixed(2, Box::new(short)), Entries::One);
        let got = decode_as(&layout, &[127, 0, 0, 128, 0x28, 0], 1, None).unwrap();
        let content = Box::new(Array::Flat(Values::F32(vec![1.0, -3.0])));
        assert_eq!(got, Decoded::Column(Array::Regular { size: 2, len: 1, content }));
        assert!(corrupt(decode_as(&layout, &[0; 5], 1, None)).contains("1 entries of 6 bytes"));
    }

    #[test]
    fn status_bits_of_objects_that_others_refer_to_are_two_bytes_longer() {
        let data = [0, 0, 0, 1, 0, 0, 0, 0x10, 9, 9, 0, 0, 0, 2];
        let got = decode(Item::Bits, Entries::One, &data, &[0, 4, 10]).unwrap();
        assert_eq!(got, Array::Flat(Values::U32(vec![1, 0x10, 2])));
    }
}

mod jagged {
    use super::*;

    const DATA: [u8; 8] = [0, 1, 0, 2, 0, 3, 0, 4];

    fn jagged(offsets: &[u32]) -> Result<Array> {
        decode(number(DType::I16), Entries::UntilEnd, &DATA, offsets)
    }

    #[test]
    fn lists_end_where_the_next_begin() {
        assert_eq!(jagged(&[0, 4, 4]).unwrap(), list(&[0, 2, 2, 4], i16s(&[1, 2, 3, 4])));
        assert_eq!(jagged(&[0]).unwrap(), list(&[0, 4], i16s(&[1, 2, 3, 4])));
        assert_eq!(jagged(&[0, 8]).unwrap(), list(&[0, 4, 4], i16s(&[1, 2, 3, 4])));
        let empty = decode(number(DType::I16), Entries::UntilEnd, &[], &[0, 0]).unwrap();
        assert_eq!(empty, list(&[0, 0, 0], i16s(&[])));
    }

    #[test]
    fn wrong_tables_of_offsets_are_refused_by_entry() {
        for (offsets, why) in [
            (&[0, 4, 2][..], "entry 2 of the basket begins at byte 2 of 8, the one before at 4"),
            (&[0, 10], "entry 1 of the basket begins at byte 10 of 8, the one before at 0"),
            (&[0, 3], "entry 1 of the basket begins at byte 3 of 8, the one before at 0"),
            (&[2, 4], "entry 0 of the basket begins at byte 2 of 8, the one before at 0"),
            (&[0, u32::MAX - KEY_LEN], "entry 1 of the basket begins at byte 4294967225 of 8, the one before at 0"),
        ] {
            assert_eq!(corrupt(jagged(offsets)), why);
        }
        let odd = decode(number(DType::I16), Entries::UntilEnd, &DATA[..7], &[0, 2]);
        assert_eq!(corrupt(odd), "7 bytes of values are not whole items of 2");
    }

    #[test]
    fn a_memory_handed_back_is_used_and_what_was_in_it_gone() {
        let layout = Layout::new(number(DType::I16), Entries::UntilEnd);
        let offsets = table(&[0, 2]);
        let basket =
            BasketData { entries: 2, data: &DATA[..4], offsets: Some((&offsets[..]).into()), key_len: KEY_LEN };
        let old = list(&[0, 1, 2, 3], i16s(&[7, 8, 9]));
        let fresh = layout.decode(&basket, None).unwrap();
        assert_eq!(layout.decode(&basket, Some(old)).unwrap(), fresh);
        assert_eq!(fresh, Decoded::Column(list(&[0, 1, 2], i16s(&[1, 2]))));
    }

    #[test]
    fn left_out_offsets_follow_from_the_counter() {
        let layout = Layout::new(number(DType::I16), Entries::UntilEnd);
        let Decoded::Uncounted(items) = decode_as(&layout, &DATA, 3, None).unwrap() else { panic!("not counted") };
        let counts = |n: &[i32]| Array::Flat(Values::I32(n.to_vec()));
        let counted = attach_counts(items.clone(), &counts(&[1, 0, 3])).unwrap();
        assert_eq!(counted, list(&[0, 1, 1, 4], i16s(&[1, 2, 3, 4])));
        for n in [&[1, 0, 2][..], &[5], &[], &[i32::MAX, i32::MAX]] {
            assert!(corrupt(attach_counts(items.clone(), &counts(n))).contains("the basket has 4"), "{n:?}");
        }
        let huge = Array::Flat(Values::U64(vec![u64::MAX, 5]));
        assert!(corrupt(attach_counts(items.clone(), &huge)).contains("the counter adds up to"));
        let not_a_number = list(&[0, 4], i16s(&[1, 1, 1, 1]));
        assert!(corrupt(attach_counts(items, &not_a_number)).contains("is not a number"));
    }

    #[test]
    fn items_of_any_size_need_their_offsets() {
        for entries in [Entries::UntilEnd, Entries::FlaggedUntilEnd, Entries::HeadedUntilEnd] {
            let layout = Layout::new(Item::Text, entries);
            let e = decode_as(&layout, &DATA, 2, None).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Unsupported, "{:?}: {e}", layout.entries);
        }
        let layout = Layout::new(number(DType::I8), Entries::FlaggedUntilEnd);
        let e = decode_as(&layout, &[1, 5, 6], 2, None).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported, "which entry holds 5 and 6 nobody knows");
    }

    #[test]
    fn flagged_arrays() {
        let data = [1, 0, 5, 0, 6, 0, 1, 0, 7];
        let got = decode(number(DType::I16), Entries::FlaggedUntilEnd, &data, &[0, 5, 6]).unwrap();
        assert_eq!(got, list(&[0, 2, 2, 3], i16s(&[5, 6, 7])));
        let why = corrupt(decode(number(DType::I16), Entries::FlaggedUntilEnd, &data, &[0, 4]));
        assert!(why.starts_with("entry 0 of the basket: "), "{why}");
        let why = corrupt(decode(number(DType::I16), Entries::FlaggedUntilEnd, &[0, 9, 9], &[0]));
        assert_eq!(why, "entry 0 of the basket: 2 bytes are left over");
    }
}

mod one_by_one {
    use super::*;

    #[test]
    fn strings_of_leaf_lists() {
        let data = [2, b'a', b'b', 0, 1, b'c'];
        let got = decode(Item::Text, Entries::Text, &data, &[0, 3, 4, 4]).unwrap();
        assert_eq!(got, text(&[0, 2, 2, 2, 3], b"abc"), "one that was never set takes no byte at all");
        let layout = Layout::new(Item::Text, Entries::Text);
        let without = decode_as(&layout, &data, 3, None).unwrap();
        assert_eq!(without, Decoded::Column(text(&[0, 2, 2, 3], b"abc")));
        // more entries than bytes, and fewer
        assert!(corrupt(decode_as(&layout, &data, 1 << 31, None)).starts_with("entry 3 of the basket: "));
        assert_eq!(corrupt(decode_as(&layout, &data, 2, None)), "2 bytes are left after the last entry");
    }

    #[test]
    fn long_strings_and_c_strings() {
        let mut data = vec![255, 0, 0, 1, 44];
        data.extend([b'x'; 300]);
        let got = decode(Item::Text, Entries::One, &data, &[0]).unwrap();
        assert_eq!(got, text(&[0, 300], &[b'x'; 300]));
        let got = decode(Item::LongText, Entries::One, &[0, 0, 0, 1, b'y', 0, 0, 0, 0], &[0, 5]).unwrap();
        assert_eq!(got, text(&[0, 1, 1], b"y"));
        let why = corrupt(decode(Item::LongText, Entries::One, &[0x7f, 0, 0, 1, b'y'], &[0]));
        assert!(why.contains("2130706433 items announced"), "{why}");
    }

    #[test]
    fn wrong_tables_of_offsets_are_refused_by_entry() {
        let data = [1, b'a', 1, b'b'];
        for (offsets, why) in [
            (&[0, 3][..], "entry 0 of the basket: 1 bytes are left over"),
            (&[0, 1], "entry 0 of the basket: the record ends too early: 1 bytes expected at 1 of 1"),
            (&[0, 9], "entry 0 of the basket is at bytes 0-9 of 4"),
            (&[0, 2, 1], "entry 1 of the basket is at bytes 2-1 of 4"),
            (&[2, 2], "the first entry of the basket begins at byte 2"),
        ] {
            assert_eq!(corrupt(decode(Item::Text, Entries::One, &data, offsets)), why, "{offsets:?}");
        }
    }

    #[test]
    fn collections_of_collections() {
        let strings = Item::Headed(Box::new(Item::Sequence(Box::new(Item::Text))));
        let data = headed(&[0, 0, 0, 2, 1, b'a', 0]);
        let got = decode(strings.clone(), Entries::One, &data, &[0]).unwrap();
        assert_eq!(got, list(&[0, 2], text(&[0, 1, 1], b"a")));
        let numbers = Item::Sequence(Box::new(Item::Sequence(Box::new(number(DType::I16)))));
        let data = headed(&[0, 0, 0, 2, 0, 0, 0, 1, 0, 9, 0, 0, 0, 0]);
        let got = decode(Item::Headed(Box::new(numbers.clone())), Entries::One, &data, &[0]).unwrap();
        assert_eq!(got, list(&[0, 2], list(&[0, 1, 1], i16s(&[9]))));
        // counts larger than the bytes
        for body in [&[0x7f, 0xff, 0xff, 0xff][..], &[0xff; 4], &[0, 0, 0, 2, 0, 0, 0, 200]] {
            let why = corrupt(decode(Item::Headed(Box::new(numbers.clone())), Entries::One, &headed(body), &[0]));
            assert!(why.starts_with("entry 0 of the basket: "), "{why}");
        }
        // a byte count that ends inside the items
        let mut short = headed(&[0, 0, 0, 2, 1, b'a', 0]);
        short[3] -= 1;
        let why = corrupt(decode(strings, Entries::One, &short, &[0]));
        assert!(why.contains("extends to byte 13, but should end at 12"), "{why}");
    }

    #[test]
    fn collections_within_split_collections() {
        let item = Item::Sequence(Box::new(number(DType::I8)));
        let data = headed(&[0, 0, 0, 1, 5, 0, 0, 0, 0]);
        let got = decode(item.clone(), Entries::HeadedUntilEnd, &data, &[0, data.len() as u32]).unwrap();
        let inner = list(&[0, 1, 1], Array::Flat(Values::I8(vec![5])));
        assert_eq!(got, list(&[0, 2, 2], inner), "the second entry has no item, and no header");
        let mut by_members = data.clone();
        by_members[4] |= 0x40;
        let e = decode(item, Entries::HeadedUntilEnd, &by_members, &[0]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
    }

    #[test]
    fn items_that_take_no_bytes_never_fill_an_entry() {
        let nothing = [
            Item::Fixed(0, Box::new(number(DType::F32))),
            Item::Members(vec![]),
            Item::Fixed(0, Box::new(Item::Packed(PackedFloat::Float, DType::F64))),
        ];
        for item in nothing {
            for entries in [Entries::UntilEnd, Entries::FlaggedUntilEnd, Entries::HeadedUntilEnd] {
                let what = format!("{item:?} {entries:?}");
                let (send, receive) = std::sync::mpsc::channel();
                let item = item.clone();
                std::thread::spawn(move || send.send(decode(item, entries, &headed(&[1, 2, 3, 4]), &[0])));
                // a reader that consumes no bytes could loop forever
                let e = receive.recv_timeout(Duration::from_secs(30)).expect(&what).unwrap_err();
                assert!(matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{what}: {e}");
            }
        }
    }
}

mod objects {
    use super::*;

    fn class() -> Object {
        let members = vec![("id".to_owned(), number(DType::I16)), ("name".to_owned(), Item::Text)];
        Object { class: "Hit".to_owned(), version: 1, checksum: 0xabcd, members, others: vec![] }
    }

    fn objects(class: Object) -> Item {
        Item::Headed(Box::new(Item::Records(Box::new(Item::Object(class)))))
    }

    /// Marks a collection as written member by member, by a ROOT that includes the class version.
    fn mark(collection: &mut [u8]) {
        collection[4] |= 0x40;
        collection[5] = 9;
    }

    fn records(ids: &[i16], offsets: &[i64], names: &[u8]) -> Array {
        let fields = vec![("id".to_owned(), i16s(ids)), ("name".to_owned(), text(offsets, names))];
        Array::Record { len: ids.len(), fields }
    }

    #[test]
    fn one_by_one_with_headers() {
        let data = headed(&[0, 5, 1, b'a']);
        let got = decode(Item::Object(class()), Entries::One, &data, &[0]).unwrap();
        assert_eq!(got, records(&[5], &[0, 1], b"a"));
        // without a version a checksum identifies the description
        let mut foreign = headed(&[0, 0, 0xab, 0xcd, 0, 5, 1, b'a']);
        foreign[5] = 0;
        assert_eq!(decode(Item::Object(class()), Entries::One, &foreign, &[0]).unwrap(), got);
        foreign[9] ^= 1;
        let mut newer = data;
        newer[5] = 2;
        for other in [foreign, newer] {
            let e = decode(Item::Object(class()), Entries::One, &other, &[0]).unwrap_err();
            assert!(e.kind() == ErrorKind::Unsupported && e.what().contains("class Hit"), "{e}");
        }
    }

    #[test]
    fn collections_object_by_object_and_member_by_member() {
        let item = objects(class());
        let two = [headed(&[0, 5, 1, b'a']), headed(&[0, 6, 0])].concat();
        let by_object = headed(&[&[0, 0, 0, 2], &two[..]].concat());
        let expected = list(&[0, 2], records(&[5, 6], &[0, 1, 1], b"a"));
        assert_eq!(decode(item.clone(), Entries::One, &by_object, &[0]).unwrap(), expected);
        // the mark of member-wise streaming, the class version, the count, then all ids, then all names
        let mut by_member = headed(&[0, 1, 0, 0, 0, 2, 0, 5, 0, 6, 1, b'a', 0]);
        mark(&mut by_member);
        assert_eq!(decode(item.clone(), Entries::One, &by_member, &[0]).unwrap(), expected);
        by_member[7] = 9;
        let e = decode(item.clone(), Entries::One, &by_member, &[0]).unwrap_err();
        assert!(e.what().contains("version 9"), "{e}");
        by_member[7] = 1;
        by_member[8] = 0x7f;
        let why = corrupt(decode(item, Entries::One, &by_member, &[0]));
        assert!(why.contains("items announced"), "{why}");
    }

    #[test]
    fn a_base_class_stands_among_the_members() {
        let base =
            Object { class: "Base".to_owned(), version: 1, checksum: 0, members: class().members, others: vec![] };
        let members = vec![("Base".to_owned(), Item::Base(base)), ("z".to_owned(), number(DType::I8))];
        let derived = Object { class: "D".to_owned(), version: 1, checksum: 0, members, others: vec![] };
        let row = |z: i8| Array::Record {
            len: 1,
            fields: vec![
                ("id".to_owned(), i16s(&[5])),
                ("name".to_owned(), text(&[0, 1], b"a")),
                ("z".to_owned(), Array::Flat(Values::I8(vec![z]))),
            ],
        };
        let body = [headed(&[0, 5, 1, b'a']), vec![9]].concat();
        let whole = decode(Item::Object(derived.clone()), Entries::One, &headed(&body), &[0]).unwrap();
        assert_eq!(whole, row(9));
        // member by member the base has no header
        let mut by_member = headed(&[0, 1, 0, 0, 0, 1, 0, 5, 1, b'a', 9]);
        mark(&mut by_member);
        let item = objects(derived);
        assert_eq!(decode(item, Entries::One, &by_member, &[0]).unwrap(), list(&[0, 1], row(9)));
    }

    #[test]
    fn arrays_counted_by_a_member_before_them() {
        let counted = |item: Item| Item::Members(vec![("n".to_owned(), number(DType::I16)), ("x".to_owned(), item)]);
        let row = |n: i16, x: &[i16]| Array::Record {
            len: 1,
            fields: vec![("n".to_owned(), i16s(&[n])), ("x".to_owned(), list(&[0, x.len() as i64], i16s(x)))],
        };
        let inner = || Box::new(number(DType::I16));
        let bare = |data: &[u8]| decode(counted(Item::Times(0, inner())), Entries::One, data, &[0]);
        assert_eq!(bare(&[0, 2, 0, 7, 0, 8]).unwrap(), row(2, &[7, 8]));
        assert_eq!(bare(&[0xff, 0xff]).unwrap(), row(-1, &[]), "a negative number means none");
        assert!(corrupt(bare(&[0, 3, 0, 7, 0, 8])).contains("3 items announced, but 4 bytes are left"));
        let flagged = |data: &[u8]| decode(counted(Item::Counted(0, inner())), Entries::One, data, &[0]);
        assert_eq!(flagged(&[0, 1, 1, 0, 7]).unwrap(), row(1, &[7]));
        assert_eq!(flagged(&[0, 1, 0]).unwrap(), row(1, &[]), "the flag says that it is not there");
        let late = Item::Members(vec![("x".to_owned(), Item::Times(1, inner())), ("n".to_owned(), number(DType::I16))]);
        assert!(corrupt(decode(late, Entries::One, &[0, 1, 0, 7], &[0])).contains("before its counter"));
    }

    #[test]
    fn several_leaves_in_one_branch() {
        let item = Item::Members(vec![("a".to_owned(), number(DType::I16)), ("b".to_owned(), number(DType::I8))]);
        let layout = Layout::new(item, Entries::One);
        assert_eq!(layout.column_type().to_string(), "{a: int16, b: int8}");
        let got = decode_as(&layout, &[0, 1, 2, 0, 3, 4], 2, None).unwrap();
        let fields = vec![("a".to_owned(), i16s(&[1, 3])), ("b".to_owned(), Array::Flat(Values::I8(vec![2, 4])))];
        assert_eq!(got, Decoded::Column(Array::Record { len: 2, fields }));
    }

    #[test]
    fn objects_in_another_version_of_their_class() {
        let old = OtherVersion {
            version: 7,
            checksum: 0,
            // `id` was a float, `gone` was removed, `name` did not exist yet
            members: vec![("gone".to_owned(), number(DType::I16)), ("id".to_owned(), number(DType::F32))],
            places: vec![None, Some(0)],
        };
        let class = Object { others: vec![old], ..class() };
        let old_bytes = |id: f32| {
            let mut bytes = headed(&[&[9, 9][..], &id.to_be_bytes()].concat());
            bytes[5] = 7;
            bytes
        };
        let new_bytes = headed(&[0, 5, 1, b'a']);
        let data = [&new_bytes[..], &old_bytes(6.0)].concat();
        let got = decode(Item::Object(class), Entries::One, &data, &[0, new_bytes.len() as u32]).unwrap();
        assert_eq!(got, records(&[5, 6], &[0, 1, 1], b"a"));
    }

    #[test]
    fn records_of_one_size_are_read_at_once_and_others_one_by_one() {
        let members = vec![("x".to_owned(), number(DType::I16)), ("y".to_owned(), number(DType::I8))];
        let class = Object { class: "P".to_owned(), version: 1, members, ..Object::default() };
        let fields = |x: &[i16], y: &[i8]| Array::Record {
            len: x.len(),
            fields: vec![("x".to_owned(), i16s(x)), ("y".to_owned(), Array::Flat(Values::I8(y.to_vec())))],
        };
        let (a, b) = (headed(&[0, 1, 2]), headed(&[0, 3, 4]));
        // without a byte count: valid, but unusual
        let short = [0, 1, 0, 5, 6];
        let data = [&a[..], &short, &b].concat();
        let two = decode(Item::Object(class.clone()), Entries::UntilEnd, &[&a[..], &b].concat(), &[0, 18]).unwrap();
        assert_eq!(two, list(&[0, 2, 2], fields(&[1, 3], &[2, 4])));
        let three = decode(Item::Object(class), Entries::UntilEnd, &data, &[0]).unwrap();
        assert_eq!(three, list(&[0, 3], fields(&[1, 5, 3], &[2, 6, 4])));
    }

    #[test]
    fn bytes_that_no_description_covers() {
        let data = headed(&[0, 5, 1, b'a', 0]);
        let e = decode(Item::Object(class()), Entries::One, &data, &[0]).unwrap_err();
        assert!(e.kind() == ErrorKind::Unsupported && e.what().contains("1 bytes of class Hit"), "{e}");
    }
}

mod pointers {
    use super::*;

    fn pointer() -> Item {
        let members = vec![("x".to_owned(), number(DType::I8))];
        let class = Object { class: "P".to_owned(), version: 1, members, ..Object::default() };
        Item::Pointer(vec![("P".to_owned(), Item::Object(class))])
    }

    fn lists(offsets: &[i64], x: &[i8]) -> Array {
        let x = Array::Flat(Values::I8(x.to_vec()));
        list(offsets, Array::Record { len: offsets.len() - 1, fields: vec![("x".to_owned(), x)] })
    }

    /// Byte count, the tag of a new class with its name, the object.
    fn new_object(x: u8) -> Vec<u8> {
        let body = [&u32::MAX.to_be_bytes()[..], b"P\0", &headed(&[x])].concat();
        [&(0x4000_0000 | body.len() as u32).to_be_bytes()[..], &body].concat()
    }

    #[test]
    fn none_a_new_object_and_the_same_again() {
        let first = new_object(7);
        // a reference: the position of the pointer, counted from the label, plus two
        let again = (KEY_LEN + 4 + 2).to_be_bytes();
        // an object of the class that was named before: its tag points there
        let tag = 0x8000_0000 | (KEY_LEN + 4 + 4 + 2);
        let other = [&tag.to_be_bytes()[..], &headed(&[9])].concat();
        let other = [&(0x4000_0000 | other.len() as u32).to_be_bytes()[..], &other].concat();
        let data = [&[0; 4][..], &first, &again, &other].concat();
        let item = Item::Fixed(4, Box::new(pointer()));
        let Array::Regular { content, .. } = decode(item, Entries::One, &data, &[0]).unwrap() else { panic!("4 each") };
        assert_eq!(
            *content,
            Array::List {
                offsets: vec![0, 0, 1, 2, 3],
                content: match lists(&[0, 1, 2, 3], &[7, 7, 9]) {
                    Array::List { content, .. } => content,
                    _ => unreachable!(),
                }
            }
        );
    }

    #[test]
    fn pointers_to_nowhere_and_in_circles() {
        for reference in [1u32, KEY_LEN + 2, KEY_LEN + 400, 0x3fff_ffff] {
            let e = decode(pointer(), Entries::One, &reference.to_be_bytes(), &[0]).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Corrupt, "{reference}: {e}");
        }
        let other = [&u32::MAX.to_be_bytes()[..], b"Q\0", &headed(&[1])].concat();
        let e = decode(pointer(), Entries::One, &other, &[0]).unwrap_err();
        assert!(e.kind() == ErrorKind::Unsupported && e.what().contains("class Q"), "{e}");
    }
}

mod counted_in_collections {
    use super::*;

    #[test]
    fn a_flag_and_as_many_as_the_counter_of_each_object_says() {
        let layout = Layout::new(Item::Counted(0, Box::new(number(DType::I8))), Entries::CountedUntilEnd);
        assert_eq!(layout.column_type().to_string(), "var * var * int8");
        let data = [1, 7, 8, 0, 1, 9];
        let Decoded::Uncounted(bytes) = decode_as(&layout, &data, 2, Some(&[0, 4])).unwrap() else {
            panic!("no counts")
        };
        let counts = |n: &[i32]| list(&[0, 2, 3], Array::Flat(Values::I32(n.to_vec())));
        let got = layout.attach(bytes.clone(), &counts(&[2, 5, 1])).unwrap();
        assert_eq!(got, list(&[0, 2, 3], list(&[0, 2, 2, 3], Array::Flat(Values::I8(vec![7, 8, 9])))));
        for wrong in [[1, 5, 1], [3, 5, 1], [2, 5, 0], [2, 5, 2]] {
            let e = layout.attach(bytes.clone(), &counts(&wrong)).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Corrupt, "{wrong:?}: {e}");
        }
    }

    fn kept(layout: &Layout, data: &[u8], starts: &[u32]) -> Array {
        match decode_as(layout, data, starts.len(), Some(starts)).unwrap() {
            Decoded::Uncounted(bytes) => bytes,
            Decoded::Column(_) => panic!("no counts"),
        }
    }

    #[test]
    fn objects_behind_one_header_for_all() {
        let items = Item::Fixed(2, Box::new(Item::Times(0, Box::new(number(DType::I8)))));
        let layout = Layout::new(Item::Headed(Box::new(items)), Entries::CountedUntilEnd);
        assert_eq!(layout.column_type().to_string(), "var * 2 * var * int8");
        let (first, second) = (headed(&[1, 2, 3, 4]), headed(&[]));
        let data = [&first[..], &second].concat();
        let bytes = kept(&layout, &data, &[0, first.len() as u32]);
        let counts = |n: &[i32]| list(&[0, 2, 2], Array::Flat(Values::I32(n.to_vec())));
        let got = layout.attach(bytes.clone(), &counts(&[2, 0])).unwrap();
        let inner = list(&[0, 2, 4, 4, 4], Array::Flat(Values::I8(vec![1, 2, 3, 4])));
        assert_eq!(got, list(&[0, 2, 2], Array::Regular { size: 2, len: 2, content: Box::new(inner) }));
        for wrong in [[1, 0], [3, 0], [i32::MAX, 0], [2, -1], [1, 2]] {
            let e = layout.attach(bytes.clone(), &counts(&wrong));
            assert_eq!(e.is_err(), wrong != [2, -1], "{wrong:?}: a counter below zero counts none");
        }
        let e = layout.attach(bytes, &list(&[0, 2], Array::Flat(Values::I32(vec![2, 0])))).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_flag_in_front_of_several_arrays() {
        let items = Item::Fixed(3, Box::new(Item::Times(0, Box::new(number(DType::I8)))));
        let layout = Layout::new(Item::Flagged(Box::new(items)), Entries::Counted);
        assert_eq!(layout.column_type().to_string(), "3 * var * int8");
        let bytes = kept(&layout, &[1, 7, 8, 9, 0], &[0, 4]);
        let got = layout.attach(bytes, &Array::Flat(Values::I32(vec![1, 5]))).unwrap();
        let inner = list(&[0, 1, 2, 3, 3, 3, 3], Array::Flat(Values::I8(vec![7, 8, 9])));
        assert_eq!(got, Array::Regular { size: 3, len: 2, content: Box::new(inner) });
    }
}

mod nested_numbers {
    use super::*;

    #[test]
    fn whole_baskets_of_vectors_of_vectors_and_what_is_wrong_in_them() {
        let item = Item::Headed(Box::new(Item::Sequence(Box::new(Item::Sequence(Box::new(number(DType::I16)))))));
        let first = headed(&[0, 0, 0, 2, 0, 0, 0, 1, 0, 9, 0, 0, 0, 0]);
        let second = headed(&[0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 0, 4]);
        let data = [&first[..], &second].concat();
        let starts = [0, first.len() as u32];
        let got = decode(item.clone(), Entries::One, &data, &starts).unwrap();
        assert_eq!(got, list(&[0, 2, 3], list(&[0, 1, 1, 3], i16s(&[9, 3, 4]))));
        // every single byte that is part of a length
        for at in [0, 1, 2, 3, 6, 9, 10, 13, 20, 21, 23, 26, 30] {
            let mut damaged = data.clone();
            damaged[at] ^= 0x11;
            assert!(decode(item.clone(), Entries::One, &damaged, &starts).is_err(), "byte {at}");
        }
    }
}
