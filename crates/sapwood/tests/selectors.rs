//! Selectors: the result does not depend on the number of threads, and errors name the entries.

use sapwood::read::{Batch, ChainFile, OpenOptions, Selector, StepSize, Tree};
use sapwood::write::{BranchSpec, FileOptions, TreeOptions};
use sapwood::{Array, DType, Error, Result, Values};
use std::path::PathBuf;
use std::time::Duration;

const ENTRIES: usize = 10_000;

struct Sample(PathBuf);

impl Sample {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sapwood-selectors-{name}-{}.root", std::process::id()));
        let mut file = FileOptions::new().create(&path).unwrap();
        let mut tree = file
            .tree("Events", "", &[BranchSpec::scalar("x", DType::F64)], TreeOptions::new().basket_bytes(800))
            .unwrap();
        // sums of these depend on the order of the additions
        let x = (0..ENTRIES).map(|i| (i as f64).sin() * 10f64.powi(i as i32 % 17 - 8)).collect();
        tree.extend(&[("x", &Array::Flat(Values::F64(x)))]).unwrap();
        tree.finish().unwrap();
        file.finish().unwrap();
        Self(path)
    }

    fn tree(&self) -> Tree {
        OpenOptions::new().open(self.0.to_str().unwrap()).unwrap().tree("Events").unwrap()
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[derive(Clone, Default)]
struct Sum {
    sum: f64,
    firsts: Vec<u64>,
    fails_at: Option<u64>,
    panics: bool,
}

impl Selector for Sum {
    type Output = (u64, Vec<u64>);

    fn process(&mut self, batch: &Batch, _: &ChainFile) -> Result<()> {
        if self.fails_at.is_some_and(|at| batch.entries.contains(&at)) {
            assert!(!self.panics, "a selector that panics");
            return Err(Error::invalid("no muon"));
        }
        // early batches are done last
        std::thread::sleep(Duration::from_millis(if batch.entries.start < 3000 { 10 } else { 0 }));
        if let Some(Array::Flat(Values::F64(x))) = batch.columns.first() {
            self.sum = x.iter().fold(self.sum, |sum, x| sum + x);
        }
        self.firsts.push(batch.entries.start);
        Ok(())
    }

    fn merge(&mut self, later: Self) -> Result<()> {
        self.sum += later.sum;
        self.firsts.extend(later.firsts);
        Ok(())
    }

    fn end(self) -> Result<Self::Output> {
        Ok((self.sum.to_bits(), self.firsts))
    }
}

fn run(tree: &Tree, selector: Sum, threads: usize) -> Result<(u64, Vec<u64>)> {
    tree.process(selector, threads, |tree| {
        Ok(tree.scan().branches(["x"]).step(StepSize::Entries(700)).into_options()?.1)
    })
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let sample = Sample::new("threads");
    let tree = sample.tree();
    let expected = run(&tree, Sum::default(), 1).unwrap();
    assert_eq!(expected.1, (0..ENTRIES as u64).step_by(700).collect::<Vec<_>>());
    for threads in [0, 2, 5] {
        assert_eq!(run(&tree, Sum::default(), threads).unwrap(), expected);
    }
}

#[test]
fn batches_are_known_before_they_are_read() {
    let sample = Sample::new("batches");
    let tree = sample.tree();
    for step in [StepSize::Entries(700), StepSize::Bytes(9000), StepSize::Cluster, StepSize::All] {
        let (_, options) = tree.scan().branches(["x"]).step(step).entries(5..9000).into_options().unwrap();
        let read: Vec<_> = tree.scan_with(&options).unwrap().map(|b| b.unwrap().entries).collect();
        assert_eq!(tree.batches(&options).unwrap(), read);
    }
}

#[test]
fn an_error_names_file_and_entries() {
    let sample = Sample::new("errors");
    let tree = sample.tree();
    for threads in [1, 3] {
        let failing = Sum { fails_at: Some(1500), ..Sum::default() };
        let error = run(&tree, failing, threads).unwrap_err().to_string();
        assert!(
            error.contains("entries 1400 to 2099: no muon") && error.contains("sapwood-selectors-errors"),
            "{error}"
        );
    }
}

#[test]
fn a_panic_is_an_error() {
    let sample = Sample::new("panics");
    let panicking = Sum { fails_at: Some(1500), panics: true, ..Sum::default() };
    let error = run(&sample.tree(), panicking, 2).unwrap_err().to_string();
    assert!(error.contains("entries 1400 to 2099"), "{error}");
}
