//! Objects found by their paths: cycles, slashes, directories in directories, loops.

mod common;

use common::{Node, ask, file, folder, object};
use sapwood_format::{Opener, Step, Target};
use sapwood_span::{Error, ErrorKind, Result};

fn find(bytes: &[u8], path: &str) -> Result<(String, i16)> {
    let target = Target::parse(path);
    ask(bytes, |o| o.find(&target)).0.map(|l| (l.path, l.key.cycle))
}

fn list(bytes: &[u8], directory: &str, recursive: bool) -> Result<Vec<String>> {
    let found = ask(bytes, |o| o.list(directory, recursive)).0?;
    Ok(found.into_iter().map(|l| format!("{};{}", l.path, l.key.cycle)).collect())
}

fn sample(big: bool) -> Vec<u8> {
    file(
        &[
            object("x", 2),
            object("x", 1),
            object("odd;name", 1),
            object("with/slash", 1),
            folder("a", vec![object("x", 5), folder("b", vec![object("deep", 1)]), folder("empty", vec![])]),
            Node::Folder { name: "two", cycle: 1, holds: vec![object("old", 1)] },
            Node::Folder { name: "two", cycle: 2, holds: vec![object("new", 1)] },
        ],
        big,
    )
}

#[test]
fn small_and_large_positions() {
    for big in [false, true] {
        let bytes = sample(big);
        let mut opener = Opener::new(bytes.len() as u64);
        opener.push(0, bytes.clone().into());
        assert!(matches!(opener.list("", false), Ok(Step::Done(keys)) if keys.len() == 7));
        let header = opener.header().unwrap();
        assert_eq!((header.big, header.version, header.version_text().as_str()), (big, 63_602, "6.36.02"));
        assert_eq!((header.begin, header.end, header.compression), (100, bytes.len() as u64, 505));
    }
}

#[test]
fn the_newest_cycle_unless_another_is_named() {
    let bytes = sample(false);
    assert_eq!(find(&bytes, "x").unwrap(), ("x".to_owned(), 2));
    assert_eq!(find(&bytes, "x;1").unwrap(), ("x".to_owned(), 1));
    assert_eq!(find(&bytes, "a/x").unwrap(), ("a/x".to_owned(), 5));
    assert_eq!(find(&bytes, "a/x;5").unwrap().1, 5);
    for path in ["x;3", "x;-1", "a/x;1"] {
        assert_eq!(find(&bytes, path).unwrap_err().kind(), ErrorKind::NotFound, "{path}");
    }
}

#[test]
fn slashes_around_and_inside() {
    let bytes = sample(true);
    assert_eq!(find(&bytes, "/a/b/deep").unwrap().0, "a/b/deep");
    assert_eq!(find(&bytes, "a/b/").unwrap().0, "a/b");
    assert_eq!(find(&bytes, "with/slash").unwrap().0, "with/slash");
    assert_eq!(find(&bytes, "odd;name").unwrap().0, "odd;name");
    assert_eq!(find(&bytes, "odd;name;1").unwrap().0, "odd;name");
    for path in ["", "/", "a//x", "x/y", "a/b/deep/er"] {
        assert_eq!(find(&bytes, path).unwrap_err().kind(), ErrorKind::NotFound, "{path:?}");
    }
}

#[test]
fn folders_have_cycles_too() {
    let bytes = sample(false);
    assert_eq!(find(&bytes, "two/new").unwrap().0, "two/new");
    assert_eq!(find(&bytes, "two;1/old").unwrap().0, "two/old");
    assert_eq!(find(&bytes, "two;2/new;1").unwrap().0, "two/new");
    assert_eq!(find(&bytes, "two/old").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn lists_of_one_folder_and_of_all() {
    let bytes = sample(false);
    assert_eq!(list(&bytes, "a", false).unwrap(), ["a/x;5", "a/b;1", "a/empty;1"]);
    assert_eq!(list(&bytes, "a/empty", true).unwrap(), Vec::<String>::new());
    assert_eq!(list(&bytes, "two;1", false).unwrap(), ["two/old;1"]);
    let all = list(&bytes, "", true).unwrap();
    assert_eq!(all.len(), 13, "{all:?}");
    assert!(all.contains(&"a/b/deep;1".to_owned()) && all.contains(&"two/old;1".to_owned()), "{all:?}");
    let e = list(&bytes, "x", false).unwrap_err();
    assert_eq!((e.kind(), e.what()), (ErrorKind::Invalid, "x is a TObjString, not a directory"));
}

#[test]
fn what_is_missing_is_answered_with_what_is_there() {
    let bytes = sample(false);
    let e = find(&bytes, "a/y").unwrap_err();
    assert!(e.to_string().contains("no object a/y; a/ contains: x, b, empty"), "{e}");
    let many: Vec<Node> = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|n| object(n, 1)).into();
    let e = find(&file(&many, false), "z;4").unwrap_err();
    assert!(e.to_string().contains("no object z;4; the file contains: a, b, c, d, e, f, g, h, …"), "{e}");
    let e: Error = ask(&bytes, |o| o.tree(&Target::parse("x"))).0.unwrap_err();
    assert_eq!((e.kind(), e.what()), (ErrorKind::Invalid, "x is a TObjString, not a tree"));
}

#[test]
fn folders_that_lead_back_come_to_an_end() {
    let bytes = file(&[object("x", 1), Node::Loop { name: "back" }], false);
    assert_eq!(list(&bytes, "", false).unwrap(), ["x;1", "back;1"]);
    // the directory's real content would be silently missing
    let e = list(&bytes, "", true).unwrap_err();
    assert_eq!((e.kind(), e.what()), (ErrorKind::Corrupt, "directory back has the key list of another directory"));
    assert_eq!(find(&bytes, "back/back/back/x").unwrap().0, "back/back/back/x");
    let path = "back/".repeat(5000) + "x";
    assert_eq!(find(&bytes, &path).unwrap_err().what(), "directories are too deeply nested");
}

#[test]
fn a_file_in_one_piece_is_fetched_once() {
    let small = file(&[object("x", 1)], false);
    assert!(small.len() < 1024);
    let target = Target::parse("x");
    assert_eq!(ask(&small, |o| o.find(&target)).1, 1, "its first bytes hold all");
    let nodes: Vec<Node> = (0..60).map(|_| object("x", 1)).collect();
    let large = file(&nodes, false);
    assert_eq!(ask(&large, |o| o.find(&target)).1, 2, "its first bytes, then the list of keys");
}

#[test]
fn each_length_of_a_file_cut_short_is_refused_or_right() {
    let bytes = sample(false);
    let all = list(&bytes, "", true).unwrap();
    let mut refused = 0;
    for n in 0..bytes.len() {
        match list(&bytes[..n], "", true) {
            Ok(found) => assert_eq!(found, all, "cut to {n} bytes"),
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::Corrupt, "cut to {n} bytes: {e}");
                refused += 1;
            }
        }
    }
    assert!(refused > bytes.len() - 100, "the list of the root's keys lies at the end");
    let e = list(&bytes[..bytes.len() - 1], "", true).unwrap_err();
    assert!(e.what().contains("the file is truncated"), "{e}");
    assert!(e.span().is_some());
}
