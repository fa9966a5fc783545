//! What is done with every file, damaged or not: all that a user could do.

use sapwood::{CacheSize, File, OpenOptions, Result, ScanOptions, StepSize, Tree};
use sapwood_column::{interpret, type_name};
use sapwood_format::Streamers;
use sapwood_format::tree::{Tree as Header, clusters};
use std::path::{Path, PathBuf};

/// A damaged header may name the same tree many times.
const TREES: usize = 20;

/// Opens a file, lists it, and reads each branch of each tree, and some together; how many columns were read.
pub fn read_everything(path: &str) -> Result<usize> {
    let file = File::open(path, &OpenOptions::default().threads(1))?;
    let mut read = 0;
    // numbers that are all the same shrink a hundred-thousandfold in a page: then much memory is no sign of damage
    let is_small = |tree: &Tree| tree.header().ntuple.is_none() || tree.header().total_bytes < 16 << 20;
    let trees = file.list("", true)?.into_iter().filter(|l| l.key.is_tree() || l.key.is_ntuple());
    for listing in trees.take(TREES) {
        let Ok(tree) = file.tree(&format!("{};{}", listing.path, listing.key.cycle)) else { continue };
        if !is_small(&tree) {
            continue;
        }
        read += read_tree(&tree);
    }
    Ok(read)
}

fn read_tree(tree: &Tree) -> usize {
    let mut good = Vec::new();
    for &b in tree.order() {
        let _ = (tree.name_of(b), tree.type_name(b), tree.find(&tree.header().branches[b].name));
        if tree.column_type(b).is_ok() && scan(tree, vec![b], StepSize::All, CacheSize::Auto).is_ok() {
            good.push(b);
        }
    }
    let some: Vec<usize> = good.iter().copied().take(8).collect();
    let third = (tree.entries() / 3).max(1);
    let _ = scan(tree, some.clone(), StepSize::Entries(third), CacheSize::Off);
    let _ = scan(tree, some.clone(), StepSize::Bytes(1000), CacheSize::Bytes(1000));
    // what cannot be read in one piece is not read in small ones either
    for &b in tree.order().iter().filter(|b| !good.contains(b)).take(3) {
        let _ = scan(tree, vec![b], StepSize::Entries(1), CacheSize::Auto);
    }
    good.len()
}

fn scan(tree: &Tree, branches: Vec<usize>, step: StepSize, cache: CacheSize) -> Result<()> {
    let options = ScanOptions::default().branches(branches).step(step).cache(Some(cache)).threads(1);
    for batch in tree.scan_with(&options)? {
        let batch = batch?;
        for (column, &b) in batch.columns.iter().zip(&options.branches) {
            assert_eq!(column.len() as u64, batch.entries.end - batch.entries.start, "branch {}", tree.name_of(b));
        }
    }
    Ok(())
}

/// Everything that is derived from a tree's header.
pub fn look_at_tree(tree: &Header, streamers: &Streamers) {
    let bounds = clusters(tree);
    assert!(bounds.windows(2).all(|w| w[0] < w[1]), "clusters ascend");
    for i in tree.in_order() {
        let _ = (tree.path(i), type_name(tree, i, streamers));
        if let Ok(layout) = interpret(tree, i, streamers) {
            let _ = layout.column_type().to_string();
            for (_, basket) in &tree.branches[i].embedded {
                let _ = layout.decode_embedded(basket);
            }
        }
    }
}

/// All files of the corpus beside the repository; none where it is not there.
pub fn corpus() -> Vec<PathBuf> {
    let mut out = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus")), &mut out);
    out.sort();
    out
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "root") {
            out.push(path);
        }
    }
}
