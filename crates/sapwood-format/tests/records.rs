//! Headers, keys, strings, objects' tags and pieces of files: edge cases.

mod common;

use bytes::Bytes;
use common::label;
use sapwood_format::cursor::Cursor;
use sapwood_format::{Chunks, Header, Key, Pointed, datetime, parse_key_list, read_base_object, read_pointer};
use sapwood_span::{ErrorKind, Span};

#[test]
fn numbers_are_big_endian_and_end_with_the_record() {
    let data: Vec<u8> = (1..=15).collect();
    let mut c = Cursor::new(&data, 100);
    assert_eq!(c.u64().unwrap(), 0x0102_0304_0506_0708);
    assert_eq!((c.pos(), c.reference(), c.left()), (8, 108, 7));
    assert_eq!(c.f32().unwrap(), f32::from_bits(0x090a_0b0c));
    let e = c.f64().unwrap_err();
    assert_eq!((e.kind(), e.what()), (ErrorKind::Corrupt, "the record ends too early: 8 bytes expected at 12 of 15"));
    assert_eq!(c.pos(), 12, "a read that fails takes nothing");
    assert!(c.skip(4).is_err() && c.skip(3).is_ok() && c.u8().is_err());
    assert!(c.seek(15).is_ok() && c.seek(16).is_err() && c.skip(usize::MAX).is_err());
}

#[test]
fn strings_short_long_and_lying() {
    let long = [&[255, 0, 0, 1, 0][..], &[b'x'; 256]].concat();
    assert_eq!(Cursor::new(&long, 0).string().unwrap().len(), 256);
    assert_eq!(Cursor::new(&[254], 0).string().unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(Cursor::new(&[0], 0).string().unwrap(), "");
    assert_eq!(Cursor::new(&[1, 0xe9], 0).string().unwrap(), "\u{10ffe9}", "bytes that are no UTF-8 are kept");
    for lie in [[255, 0, 0, 1, 0], [255, 0x80, 0, 0, 0], [255, 0x7f, 255, 255, 255]] {
        assert_eq!(Cursor::new(&lie, 0).string().unwrap_err().kind(), ErrorKind::Corrupt);
    }
    let mut c = Cursor::new(b"TBranch\0rest", 0);
    assert_eq!((c.c_string().unwrap().as_str(), c.pos()), ("TBranch", 8));
    assert!(c.c_string().is_err(), "no zero byte follows");
}

#[test]
fn counts_are_bounded_by_what_is_left() {
    let with = |n: i32, rest: usize| [&n.to_be_bytes()[..], &vec![0; rest]].concat();
    assert_eq!(Cursor::new(&with(3, 12), 0).count(4).unwrap(), 3);
    for (n, rest) in [(4, 15), (-1, 100), (i32::MIN, 100), (i32::MAX, 100)] {
        let e = Cursor::new(&with(n, rest), 0).count(4).unwrap_err();
        assert!(e.what().starts_with(&format!("{n} items announced")), "{e}");
    }
}

#[test]
fn byte_counts_hold_objects_together() {
    // byte count 6: version 3 and four bytes
    let data = [0x40, 0, 0, 6, 0, 3, 1, 2, 3, 4, 99];
    let mut c = Cursor::new(&data, 0);
    let v = c.version().unwrap();
    assert_eq!((v.number, v.start, v.end, v.member_wise), (3, 0, Some(10), false));
    c.u8().unwrap();
    c.finish(&v).unwrap();
    assert_eq!(c.u8().unwrap(), 99);
    let e = c.finish(&v).unwrap_err();
    assert_eq!(e.what(), "an object extends to byte 11, but should end at 10");
    // member-wise: 0x4000 in the version after a byte count
    let v = Cursor::new(&[0x40, 0, 0, 2, 0x40, 9], 0).version().unwrap();
    assert_eq!((v.number, v.member_wise), (9, true));
    // a count too short for the version itself, or longer than the record
    for count in [0u8, 1, 3] {
        assert!(Cursor::new(&[0x40, 0, 0, count, 0, 3], 0).version().is_err(), "{count}");
    }
}

#[test]
fn pointers_to_nothing_to_old_and_to_new_objects() {
    let read = |data: &[u8]| read_pointer(&mut Cursor::new(data, 0));
    assert_eq!(read(&[0, 0, 0, 0]).unwrap(), Pointed::Null);
    assert_eq!(read(&[0, 0, 0, 77]).unwrap(), Pointed::Reference(77));
    let new = b"\x40\x00\x00\x09\xff\xff\xff\xffTOne\x00rest";
    assert_eq!(read(new).unwrap(), Pointed::Object { class: "TOne".to_owned(), at: 2, end: Some(13) });
    assert!(read(&new[..12]).is_err(), "its end is missing");
    // a second object of the class: the tag points to where the class was named (4, plus 2)
    let twice = [&new[..13], b"\x40\x00\x00\x04\x80\x00\x00\x06"].concat();
    let mut c = Cursor::new(&twice, 0);
    read_pointer(&mut c).unwrap();
    assert_eq!(read_pointer(&mut c).unwrap(), Pointed::Object { class: "TOne".to_owned(), at: 15, end: Some(21) });
    // a class that is not named where the tag points: before the record, after the reader, inside a number
    for tag in [0u8, 1, 2, 7, 17, 200] {
        let lying = [&new[..13], &[0x40, 0, 0, 4, 0x80, 0, 0, tag]].concat();
        let mut c = Cursor::new(&lying, 0);
        read_pointer(&mut c).unwrap();
        assert_eq!(read_pointer(&mut c).unwrap_err().kind(), ErrorKind::Corrupt, "tag {tag}");
    }
}

#[test]
fn the_status_bits_of_an_object_that_others_refer_to() {
    let plain = [0, 1, 0, 0, 0, 0, 3, 0, 0, 0];
    let mut c = Cursor::new(&plain, 0);
    assert_eq!((read_base_object(&mut c).unwrap(), c.left()), (0x0300_0000, 0));
    let referenced = [0, 1, 0, 0, 0, 0, 3, 0, 0, 0x10, 0xaa, 0xbb];
    let mut c = Cursor::new(&referenced, 0);
    assert_eq!((read_base_object(&mut c).unwrap(), c.left()), (0x0300_0010, 0), "two bytes more: the process id");
    assert!(read_base_object(&mut Cursor::new(&referenced[..11], 0)).is_err());
}

#[test]
fn keys_small_and_large() {
    for big in [false, true] {
        let seek = if big { 5 << 32 } else { 1234 };
        let bytes = label("TTree", "Events", "a title", 7, seek, 40, big);
        let mut c = Cursor::new(&bytes, 0);
        let key = Key::read(&mut c).unwrap();
        assert_eq!(c.left(), 0);
        assert_eq!((key.class.as_str(), key.name.as_str(), key.title.as_str()), ("TTree", "Events", "a title"));
        assert_eq!((key.cycle, key.span.start, key.parent), (7, seek, 100));
        assert_eq!(key.payload(), Span::new(seek + bytes.len() as u64, 40));
        assert!(key.is_raw() && key.is_tree() && !key.is_directory());
        for n in 0..bytes.len() {
            assert!(Key::read(&mut Cursor::new(&bytes[..n], 0)).is_err(), "cut to {n} bytes");
        }
    }
}

#[test]
fn damaged_keys_are_refused() {
    let good = label("TTree", "t", "", 1, 1000, 40, false);
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        Key::read(&mut Cursor::new(&bytes, 0)).map(drop).unwrap_err()
    };
    for (at, value) in [(0, [0u8; 4]), (0, [0xff; 4]), (0, [0, 0, 0, 1]), (6, [0xff; 4])] {
        let e = with(at, &value);
        assert!(e.what().contains("is damaged"), "{e}");
    }
    assert!(with(14, &[0xff, 0xff]).what().contains("label of 65535"), "a label longer than its record");
}

#[test]
fn a_list_holds_as_many_keys_as_it_says() {
    let keys = [label("A", "a", "", 1, 500, 1, false), label("B", "b", "", 1, 600, 1, true)];
    let list = |n: i32| {
        let payload = [n.to_be_bytes().to_vec(), keys.concat()].concat();
        [label("TFile", "", "", 1, 900, payload.len(), false), payload].concat()
    };
    let names = |n| parse_key_list(&list(n)).map(|k| k.into_iter().map(|k| k.name).collect::<Vec<_>>());
    assert_eq!(names(2).unwrap(), ["a", "b"]);
    assert_eq!(names(0).unwrap(), Vec::<String>::new());
    for n in [3, -1, i32::MAX] {
        assert_eq!(names(n).unwrap_err().kind(), ErrorKind::Corrupt, "{n}");
    }
}

#[test]
fn what_is_no_root_file_is_refused() {
    let good = &common::file(&[], false)[..75];
    assert!(Header::parse(good).is_ok());
    let e = Header::parse(b"PK\x03\x04 a zip file").unwrap_err();
    assert!(e.what().contains("not a ROOT file"), "{e}");
    for n in 0..good.len() {
        // the last bytes (the unique id) are not checked
        let parsed = Header::parse(&good[..n]);
        assert!(parsed.is_err() || parsed.unwrap() == Header::parse(good).unwrap(), "cut to {n} bytes");
    }
    for (at, value) in [(8, 0u32), (8, u32::MAX), (28, 0), (28, u32::MAX)] {
        let mut bytes = good.to_vec();
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        let e = Header::parse(&bytes).unwrap_err();
        assert!(e.what().contains("the file header is damaged"), "{e}");
    }
}

#[test]
fn dates() {
    // 1995-01-01 is zero but for month and day; 2026-11-21 12:34:56
    assert_eq!(datetime((1 << 22) | (1 << 17)), (1995, 1, 1, 0, 0, 0));
    let packed = (31 << 26) | (11 << 22) | (21 << 17) | (12 << 12) | (34 << 6) | 56;
    assert_eq!(datetime(packed), (2026, 11, 21, 12, 34, 56));
}

#[test]
fn pieces_of_a_file_are_put_together() {
    let all: Vec<u8> = (0..100).collect();
    let piece = |a: usize, b: usize| Bytes::copy_from_slice(&all[a..b]);
    let mut chunks = Chunks::default();
    chunks.push(10, piece(10, 30));
    chunks.push(30, piece(30, 40));
    chunks.push(35, piece(35, 60));
    chunks.push(10, piece(10, 12));
    let get = |a: u64, b: u64| chunks.get(Span::new(a, b - a)).map(|b| b.to_vec());
    assert_eq!(get(10, 60).unwrap(), &all[10..60], "over three pieces; a shorter one did not replace a longer");
    assert_eq!(get(29, 31).unwrap(), &all[29..31]);
    assert_eq!(get(12, 12).unwrap(), &all[0..0]);
    for (a, b) in [(9, 11), (59, 61), (0, 5), (70, 80)] {
        assert_eq!(get(a, b), None, "{a}-{b}");
    }
    assert_eq!(chunks.get(Span::new(u64::MAX - 1, 9)), None);
}
