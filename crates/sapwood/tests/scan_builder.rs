//! Scans that are put together by `Tree::scan`.

use sapwood::query::ScanCut as _;
use sapwood::read::{Cut, EntryList, OpenOptions, StepSize, Tree};
use sapwood::write::{BranchSpec, FileOptions, TreeOptions};
use sapwood::{Array, Compression, DType, ErrorKind, Values};
use std::path::PathBuf;

const ENTRIES: usize = 1000;

/// A file in a directory of its own that is removed with it.
struct Sample(PathBuf);

impl Sample {
    /// `pt` is the number of the entry modulo 100, `eta` its negative, `n` the number of the entry.
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sapwood-scan-builder-{name}-{}.root", std::process::id()));
        let mut file = FileOptions::new().compression(Compression::default()).title("a title").create(&path).unwrap();
        let branches = ["pt", "eta", "n"].map(|name| BranchSpec::scalar(name, DType::F64));
        let mut tree = file.tree("Events", "", &branches, TreeOptions::new().basket_bytes(800)).unwrap();
        let column = |f: fn(usize) -> f64| Array::Flat(Values::F64((0..ENTRIES).map(f).collect()));
        let (pt, eta, n) = (column(|i| (i % 100) as f64), column(|i| -((i % 100) as f64)), column(|i| i as f64));
        tree.extend(&[("pt", &pt), ("eta", &eta), ("n", &n)]).unwrap();
        tree.finish().unwrap();
        file.finish().unwrap();
        Self(path)
    }

    fn tree(&self) -> Tree {
        OpenOptions::new().threads(1).open(self.0.to_str().unwrap()).unwrap().tree("Events").unwrap()
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The values of a scan's last column.
fn last(scan: sapwood::Scan) -> Vec<f64> {
    let mut out = Vec::new();
    for batch in scan {
        match batch.unwrap().columns.pop() {
            Some(Array::Flat(Values::F64(v))) => out.extend(v),
            other => panic!("{other:?}"),
        }
    }
    out
}

#[test]
fn a_cut_in_words_selects_the_same_entries_as_a_function() {
    let sample = Sample::new("cut");
    let tree = sample.tree();
    let expected: Vec<f64> = (0..ENTRIES).filter(|i| i % 100 > 20).map(|i| i as f64).collect();
    let scan = tree.scan().branches(["pt", "n"]).cut("pt > 20").entries(0..1000).build().unwrap();
    assert_eq!(last(scan), expected);
    let pt = tree.find("pt").unwrap();
    let test = |batch: &sapwood::Batch| match &batch.columns[0] {
        Array::Flat(Values::F64(v)) => Ok(v.iter().map(|&pt| pt > 20.0).collect()),
        other => panic!("{other:?}"),
    };
    assert_eq!(last(tree.scan().branches(["n"]).cut_with(Cut::new([pt], test)).build().unwrap()), expected);
    // a cut on a branch that is not read
    let scan = tree.scan().branches(["n"]).cut("pt > 20 && eta > -23").step(StepSize::Entries(10)).build().unwrap();
    assert_eq!(last(scan).len(), 2 * ENTRIES / 100);
}

#[test]
fn branches_entries_and_steps() {
    let sample = Sample::new("parts");
    let tree = sample.tree();
    let (_, options) = tree.scan().branches(["e*", "n"]).branches(["pt", "eta"]).into_options().unwrap();
    let named: Vec<String> = options.branches.iter().map(|&b| tree.name_of(b)).collect();
    assert_eq!(named, ["eta", "n", "pt"], "each once, in the order in which they were named");
    let (_, options) = tree.scan().branches(["*"]).into_options().unwrap();
    assert_eq!(options.branches.len(), 3);
    let mut scan = tree.scan().branches(["n"]).entries(100..350).step(StepSize::Entries(100)).build().unwrap();
    assert_eq!(scan.by_ref().map(|b| b.unwrap().entries).collect::<Vec<_>>(), [100..200, 200..300, 300..350]);
    let some = EntryList::from_numbers(vec![3, 999]);
    assert_eq!(last(tree.scan().branches(["n"]).selected(some).build().unwrap()), [3.0, 999.0]);
}

#[test]
fn what_is_wrong_is_said_when_the_scan_is_built() {
    let sample = Sample::new("wrong");
    let tree = sample.tree();
    let kind = |scan: sapwood::ScanBuilder| scan.build().map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(tree.scan()), ErrorKind::Invalid);
    assert_eq!(kind(tree.scan().branches(["phi"])), ErrorKind::NotFound);
    assert_eq!(kind(tree.scan().branches(["q*"])), ErrorKind::NotFound);
    assert_eq!(kind(tree.scan().branches(["n"]).cut("phi > 1")), ErrorKind::NotFound);
    assert_eq!(kind(tree.scan().branches(["n"]).cut("pt >")), ErrorKind::Invalid);
    assert_eq!(kind(tree.scan().branches(["n"]).cut("Entry$ > 1")), ErrorKind::Unsupported);
    assert_eq!(kind(tree.scan().branches(["n"]).entries(0..2000)), ErrorKind::Invalid);
}
