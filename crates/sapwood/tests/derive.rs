//! `#[derive(Record)]`: what the branches are, and that rows come back.

mod common;

use common::Folder;
use sapwood::write::{
    BranchSpec, BranchType, CppType, FileWriter, Merger, NtupleOptions, Record, Rows, TreeOptions, Value,
};
use sapwood::{Array, Compression, DType, File, OpenOptions, ScanOptions, StepSize, Values};
use std::collections::HashMap;

#[derive(Record)]
#[record(class = "geo::Point")]
struct Point {
    r#type: u8,
    at: [[f32; 2]; 3],
}

#[derive(Record)]
struct Row<'a> {
    #[record(title = "a number", compression = "lz4:4", basket_bytes = 1_000, name = "x")]
    number: f64,
    grid: [[i16; 2]; 3],
    #[record(counter = "n")]
    a: Vec<bool>,
    #[record(counter = "n")]
    b: &'a [u64],
    text: &'a str,
    #[record(split = 1)]
    points: Vec<Point>,
    #[record(member_wise, split = 0)]
    kept: [Box<Point>; 1],
    map: HashMap<i32, Vec<String>>,
    #[record(skip)]
    _left_out: fn(u8) -> Vec<u8>,
}

fn row(k: u16, many: &[u64]) -> Row<'_> {
    let point = |i: u8| Point { r#type: i, at: [[0.0, 1.0], [2.0, 3.0], [4.0, f32::from(i)]] };
    let n = usize::from(k % 3);
    Row {
        number: f64::from(k),
        grid: [[0, 1], [2, 3], [4, k as i16]],
        a: vec![k.is_multiple_of(2); n],
        b: &many[..n],
        text: if n == 0 { "" } else { "text" },
        points: (0..n as u8).map(point).collect(),
        kept: [Box::new(point(7))],
        map: (0..n as i32).map(|i| (-i, vec![format!("m{i}")])).collect(),
        _left_out: |n| vec![n],
    }
}

#[test]
fn branches_are_what_fields_and_attributes_say() {
    let branches = Row::branches().unwrap();
    let names: Vec<&str> = branches.iter().map(|b| &*b.name).collect();
    assert_eq!(names, ["x", "grid", "a", "b", "text", "points", "kept", "map"]);
    assert_eq!(branches[0].title.as_deref(), Some("a number"));
    assert_eq!((branches[0].basket_bytes, branches[0].compression), (Some(1000), "lz4:4".parse().ok()));
    assert_eq!((&branches[1].ty, &branches[1].extents[..]), (&BranchType::Fixed(DType::I16, 6), &[3, 2][..]));
    let counted = |dtype| BranchType::Jagged { dtype, counter: Some("n".into()) };
    assert_eq!((&branches[2].ty, &branches[3].ty), (&counted(DType::Bool), &counted(DType::U64)));
    let members = vec![("type".into(), CppType::Number(DType::U8)), ("at".into(), CppType::Array(DType::F32, 6))];
    let point = CppType::class("geo::Point", members);
    assert_eq!(branches[5], BranchSpec::object("points", CppType::vector(point)).split_level(1));
    assert_eq!((branches[6].split_level, branches[6].member_wise, branches[4].split_level), (0, true, 99));
}

#[test]
fn rows_come_back() {
    let folder = Folder::new();
    let path = folder.file("rows.root");
    let many = [5, u64::MAX];
    let mut file = FileWriter::create(&path, Compression::default()).unwrap();
    let mut tree = file.records::<Row>("t", "", TreeOptions::default()).unwrap();
    tree.extend([row(0, &many), row(1, &many)].iter()).unwrap();
    tree.flush().unwrap();
    for k in 2..10_000 {
        tree.fill(&row(k, &many)).unwrap();
    }
    assert_eq!(tree.entries(), 10_000);
    tree.finish().unwrap();
    // producers take rows, too
    let merger = Merger::new(file.tree("u", "", &Row::branches().unwrap(), TreeOptions::default()).unwrap());
    let (mut producer, mut rows) = (merger.producer().unwrap(), Rows::new().unwrap());
    (0..10_000).for_each(|k| rows.push(&row(k, &many)));
    producer.extend(&rows.columns()).unwrap();
    producer.finish().unwrap();
    merger.finish().unwrap();
    file.finish().unwrap();

    let file = File::open(&path, &OpenOptions::default()).unwrap();
    let read = |tree: &str, branch: &str| {
        let tree = file.tree(tree).unwrap();
        let branches = vec![tree.find(branch).unwrap()];
        let options = ScanOptions::default().branches(branches).step(StepSize::All);
        tree.scan_with(&options).unwrap().next().unwrap().unwrap().columns.remove(0)
    };
    let Array::Flat(Values::F64(x)) = read("t", "x") else { panic!() };
    assert!(x.iter().enumerate().all(|(k, &x)| x == k as f64) && x.len() == 10_000);
    let Array::List { offsets, content } = read("t", "points/points.at[6]") else { panic!() };
    assert_eq!(offsets[..5], [0, 0, 1, 3, 3]);
    let Array::Regular { size: 6, content, .. } = *content else { panic!() };
    let Array::Flat(Values::F32(at)) = *content else { panic!() };
    assert_eq!(at[..18], [0., 1., 2., 3., 4., 0., 0., 1., 2., 3., 4., 0., 0., 1., 2., 3., 4., 1.]);
    let Array::List { content, .. } = read("t", "map.first") else { panic!() };
    let Array::Flat(Values::I32(keys)) = *content else { panic!() };
    assert_eq!(keys[..3], [0, -1, 0], "in their order");
    for branch in ["x", "grid", "a", "b", "text", "points.type", "points.at[6]", "kept", "map.first", "map.second"] {
        assert_eq!(read("t", branch), read("u", branch), "{branch}");
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    #[derive(Record)]
    struct Packed {
        #[record(compression = "brotli:3")]
        x: f32,
    }
    let e = Packed::branches().unwrap_err();
    assert_eq!((e.branch(), e.to_string().contains("brotli")), (Some("x"), true), "{e}");
    #[derive(Record)]
    struct Counted {
        #[record(counter = "n")]
        x: String,
    }
    assert!(Counted::branches().unwrap_err().to_string().contains("not a list of numbers"));
    let folder = Folder::new();
    let mut file = FileWriter::create(folder.file("a.root"), Compression::default()).unwrap();
    let deep = Point::branch("p").split_level(100);
    let e = file.tree("t", "", &[deep], TreeOptions::default()).unwrap_err();
    assert!(e.to_string().contains("no split level 100"), "{e}");
}

#[test]
fn a_class_has_the_same_members_in_all_of_a_file() {
    #[derive(Record)]
    #[record(class = "geo::Point")]
    struct Other {
        x: f32,
    }
    let folder = Folder::new();
    let mut file = FileWriter::create(folder.file("a.root"), Compression::default()).unwrap();
    let both = [Point::branch("p"), Point::branch("q"), BranchSpec::of::<Vec<Other>>("o")];
    let tree = file.tree("t", "", &both[..2], TreeOptions::default()).unwrap();
    for (name, branches) in [("u", &both[2..]), ("v", &both[1..])] {
        let e = file.tree(name, "", branches, TreeOptions::default()).unwrap_err();
        assert!(e.branch() == Some("o") && e.to_string().contains("class geo::Point with different members"), "{e}");
    }
    tree.finish().unwrap();
    file.finish().unwrap();
}

#[derive(Record)]
struct Sample {
    id: u32,
    weights: Vec<f64>,
    name: String,
    hits: Vec<Hit>,
}

#[derive(Record)]
struct Hit {
    x: f32,
    channel: u16,
}

#[test]
fn rows_of_an_ntuple_come_back() {
    let folder = Folder::new();
    let path = folder.file("rows.root");
    let mut file = FileWriter::create(&path, Compression::default()).unwrap();
    let mut rows = file.ntuple_records::<Sample>("samples", "", NtupleOptions::new()).unwrap();
    for i in 0..5000_u32 {
        let hits = (0..i % 3).map(|k| Hit { x: k as f32, channel: i as u16 }).collect();
        rows.fill(&Sample { id: i, weights: vec![0.5; (i % 2) as usize], name: format!("s{i}"), hits }).unwrap();
    }
    assert_eq!(rows.entries(), 5000);
    rows.finish().unwrap();
    file.finish().unwrap();
    let tree = File::open(&path, &OpenOptions::default()).unwrap().tree("samples").unwrap();
    assert_eq!(tree.entries(), 5000);
    let scan = tree.scan().branches(["id", "hits.channel"]).step(StepSize::All).build().unwrap();
    let batch = scan.map(Result::unwrap).next().unwrap();
    assert_eq!(batch.columns[0], Array::Flat(Values::U32((0..5000).collect())));
    let Array::List { content, .. } = &batch.columns[1] else { panic!() };
    let channels = (0..5000_u16).flat_map(|i| vec![i; usize::from(i % 3)]).collect();
    assert_eq!(**content, Array::Flat(Values::U16(channels)));
}
