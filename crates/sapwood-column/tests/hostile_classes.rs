//! Malicious class descriptions: refused with a message, without filling the memory.

use sapwood_column::{interpret, interpret_within, members_of_all, type_name};
use sapwood_format::streamer::code;
use sapwood_format::tree::{Branch, BranchElement, Leaf, Tree};
use sapwood_format::{ClassInfo, Element, Streamers};
use sapwood_span::{ErrorKind, Result};
use std::sync::atomic::AtomicUsize;

fn member(name: &str, type_name: &str, code: i32) -> Element {
    let kind = "TStreamerObjectAny".to_owned();
    Element { name: name.to_owned(), kind, type_name: type_name.to_owned(), code, ..Element::default() }
}

fn class(name: &str, elements: Vec<Element>) -> ClassInfo {
    ClassInfo { name: name.to_owned(), version: 1, checksum: 0, elements }
}

/// A branch that holds a whole object of this class.
fn whole(class_name: &str, classes: Vec<ClassInfo>) -> Result<String> {
    let element =
        BranchElement { class_name: class_name.to_owned(), class_version: 1, id: -1, ..BranchElement::default() };
    let branch = Branch { class: "TBranchElement".to_owned(), element: Some(element), ..Branch::default() };
    let tree = Tree { branches: vec![branch], top: vec![0], ..Tree::default() };
    let mut streamers = Streamers::default();
    classes.into_iter().for_each(|c| streamers.add(c));
    let _ = type_name(&tree, 0, &streamers);
    interpret(&tree, 0, &streamers).map(|l| l.column_type().to_string())
}

/// A branch of one leaf.
fn leaf(class: &str, title: &str, len: i32) -> Result<String> {
    let leaf = Leaf { class: class.to_owned(), title: title.to_owned(), len, ..Leaf::default() };
    let branch = Branch { class: "TBranch".to_owned(), leaves: vec![0], ..Branch::default() };
    let tree = Tree { branches: vec![branch], leaves: vec![leaf], top: vec![0], ..Tree::default() };
    interpret(&tree, 0, &Streamers::default()).map(|l| l.column_type().to_string())
}

#[test]
fn a_class_is_a_record_of_its_members() {
    let classes = vec![
        class("A", vec![member("x", "int", code::INT), member("b", "B", code::ANY)]),
        class("B", vec![member("y", "vector<float>", code::STL), member("s", "TString", code::TSTRING)]),
    ];
    assert_eq!(whole("A", classes).unwrap(), "{x: int32, b: {y: var * float32, s: string}}");
}

#[test]
fn classes_that_hold_themselves() {
    for elements in [
        vec![member("a", "A", code::ANY)],
        vec![member("a", "vector<A>", code::STL)],
        vec![member("a", "map<int,vector<A> >", code::STL)],
        vec![Element { kind: "TStreamerBase".to_owned(), ..member("A", "BASE", code::BASE) }],
    ] {
        let what = format!("{elements:?}");
        let e = whole("A", vec![class("A", elements)]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported, "{what}: {e}");
    }
}

/// Twenty-eight classes, each containing the next one twice, have 2^28 members.
#[test]
fn classes_that_double() {
    let name = |i: usize| format!("C{i}");
    let mut classes: Vec<ClassInfo> = (0..28)
        .map(|i| class(&name(i), vec![member("a", &name(i + 1), code::ANY), member("b", &name(i + 1), code::ANY)]))
        .collect();
    classes.push(class(&name(28), vec![member("x", "int", code::INT)]));
    let e = whole("C0", classes).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
}

#[test]
fn type_names_nested_without_end_and_without_sense() {
    let deep = format!("{}int{}", "vector<".repeat(100_000), ">".repeat(100_000));
    for name in [
        deep.as_str(),
        "vector<",
        "vector<>",
        "vector<,>",
        "map<int>",
        ">><<",
        "vector<int*>",
        "vector<vector<float>",
        "pair<int>",
        "vector<é>",
        "",
    ] {
        let read = whole("A", vec![class("A", vec![member("x", name, code::STL)])]);
        assert!(read.is_err(), "{name:.40}: {read:?}");
        assert!(whole(name, vec![]).is_err(), "{name:.40}");
    }
}

#[test]
fn leaves_with_nonsense_in_their_titles() {
    assert_eq!(leaf("TLeafF", "x[2][3]/F", 6).unwrap(), "2 * 3 * float32");
    assert_eq!(leaf("TLeafI", "x", 1).unwrap(), "int32");
    for (title, len) in [("x[[[", 4), ("x]4[", 4), ("x[4", 4), ("x[4294967296][4294967296]", 4), ("[é]", 4)] {
        assert_eq!(leaf("TLeafD", title, len).unwrap(), "4 * float64", "the leaf's length counts: {title}");
    }
    assert_eq!(leaf("TLeafF", "x", -1).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(leaf("TLeafX", "x", 1).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn branches_that_are_not_there() {
    let tree = Tree::default();
    assert_eq!(interpret(&tree, 0, &Streamers::default()).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(type_name(&tree, 7, &Streamers::default()), "");
}

/// A class whose objects point to others of the same class.
fn chain() -> Vec<ClassInfo> {
    vec![class("Node", vec![member("x", "int", code::INT), member("next", "Node*", code::ANY_P)])]
}

#[test]
fn a_class_that_points_to_itself_is_a_table() {
    let read = whole("Node", chain()).unwrap();
    assert_eq!(read, "{object: {x: int32, next: int32}, Node: var * {x: int32, next: int32}}");
}

#[test]
fn a_leaf_of_one_value_with_dimensions_without_end() {
    // their product is right: each of them would be an array within the previous one, deeper than any stack
    let e = leaf("TLeafI", &format!("x{}", "[1]".repeat(100_000)), 1).unwrap_err();
    assert!(e.what().contains("more than 64 dimensions"), "{e}");
    assert!(leaf("TLeafI", "x[1][1][1]", 1).is_ok());
}

#[test]
fn a_pointer_to_a_class_from_which_nobody_derives_over_bases_that_double() {
    // 2 to the 60th paths from the last class to the first, and none to Other
    let base = |i: usize| Element { kind: "TStreamerBase".to_owned(), ..member(&format!("C{i}"), "BASE", code::BASE) };
    let mut classes: Vec<_> = (0..60).map(|i| class(&format!("C{}", i + 1), vec![base(i), base(i)])).collect();
    classes.push(class("Other", vec![member("x", "int", code::INT)]));
    classes.push(class("A", vec![member("p", "Other*", code::OBJECT_P)]));
    assert_eq!(whole("A", classes).unwrap(), "{p: var * {x: int32}}");
}

#[test]
fn a_class_of_which_each_member_has_versions_without_end() {
    let mut classes: Vec<_> = (0..2000).map(|i| ClassInfo { version: i + 1, ..class("B", Vec::new()) }).collect();
    classes.push(class("A", (0..2000).map(|i| member(&format!("b{i}"), "B", code::ANY)).collect()));
    let e = whole("A", classes).unwrap_err();
    assert!(e.what().contains("an impossible number of members"), "{e}");
}

#[test]
fn a_tree_each_of_whose_branches_doubles() {
    // 2 to the 12th members of thirteen classes; 1000 branches of them would be 16 million, and all that hold them
    let mut classes: Vec<_> = (0..12)
        .map(|i| {
            let next = format!("C{}", i + 1);
            class(&format!("C{i}"), vec![member("a", &next, code::ANY), member("b", &next, code::ANY)])
        })
        .collect();
    classes.push(class("C12", vec![member("x", "int", code::INT)]));
    let mut streamers = Streamers::default();
    classes.into_iter().for_each(|c| streamers.add(c));
    let element = BranchElement { class_name: "C0".to_owned(), class_version: 1, id: -1, ..BranchElement::default() };
    let branch = Branch { class: "TBranchElement".to_owned(), element: Some(element), ..Branch::default() };
    let tree = Tree { branches: vec![branch; 1000], top: (0..1000).collect(), ..Tree::default() };
    let left = AtomicUsize::new(members_of_all(&streamers));
    interpret_within(&tree, 0, &streamers, &left).unwrap();
    let read = (0..1000).filter(|&i| interpret_within(&tree, i, &streamers, &left).is_ok()).count();
    assert!((1..8).contains(&read), "{read} of 1000");
    let e = interpret_within(&tree, 999, &streamers, &left).unwrap_err();
    assert!(e.what().contains("far more members"), "{e}");
}
