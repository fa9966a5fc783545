//! Tests: outputs with errors that only a bug in this crate could cause are never given their final name.

use super::basket_split::Rule;
use super::plan::BasketLocation;
use super::{ClusterSize, LaidOut, OptimizeOptions, lay_out, plans, threads, verify};
use crate::input;
use sapwood_codec::Compression;
use sapwood_column::{Array, DType, Values};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result};
use sapwood_write::{BranchSpec, Cluster, CppType, FileWriter, TreeOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const ENTRIES: usize = 3000;

/// A directory that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sapwood-faults-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Numbers, lists and texts, uncompressed, so that values can be found in the file.
fn write(path: &Path) {
    let specs = [
        BranchSpec::scalar("number", DType::I64),
        BranchSpec::scalar("other", DType::I64),
        BranchSpec::jagged("list", DType::F32),
        BranchSpec::object("text", CppType::Text),
    ];
    let mut file = FileWriter::create(path, Compression::NONE).unwrap();
    let options = TreeOptions::default().cluster(Cluster::Entries(700));
    let mut tree = file.tree("events", "", &specs, options).unwrap();
    let offsets: Vec<i64> = (0..=ENTRIES as i64).map(|i| i / 2 * 3).collect();
    let items = offsets.last().copied().unwrap_or(0);
    let list = Array::Flat(Values::F32((0..items).map(|i| i as f32).collect()));
    let numbers = |by: i64| Array::Flat(Values::I64((0..ENTRIES as i64).map(|i| i * by).collect()));
    tree.extend(&[
        ("number", &numbers(1)),
        ("other", &numbers(-1)),
        ("list", &Array::List { offsets: offsets.clone(), content: Box::new(list) }),
        ("text", &Array::Text { bytes: (0..items).map(|i| b'a' + (i % 23) as u8).collect(), offsets }),
    ])
    .unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
}

/// Optimises the file to four clusters, corrupts the plan before or the output after, and compares.
fn compared(
    before: impl FnOnce(&mut Vec<super::TreePlan>),
    behind: impl FnOnce(&mut Vec<u8>, &[Vec<u64>]),
) -> Result<()> {
    compared_from(|plans, _| before(plans), behind)
}

/// The same with the source's bytes.
fn compared_from(
    before: impl FnOnce(&mut Vec<super::TreePlan>, &[u8]),
    behind: impl FnOnce(&mut Vec<u8>, &[Vec<u64>]),
) -> Result<()> {
    let folder = Folder::new();
    let source = folder.0.join("in.root");
    write(&source);
    let options = OptimizeOptions { cluster: ClusterSize::Entries(1000), ..OptimizeOptions::default() };
    let opened = input::open(&text_of_path(&source), &options.open).unwrap();
    let mut planned = plans(&opened, &options).unwrap();
    before(&mut planned, &std::fs::read(&source).unwrap());
    let LaidOut { part, plans, sums, .. } = lay_out(&folder.0.join("out.root"), opened, (planned, &mut []), &options)?;
    let seeks: Vec<Vec<u64>> = {
        let out = input::open(&text_of_path(part.path()), &options.open).unwrap();
        let branches = &out.trees.first().unwrap().facts.branches;
        branches.iter().map(|b| b.baskets.iter().map(|b| b.span.start).collect()).collect()
    };
    let mut bytes = std::fs::read(part.path()).unwrap();
    behind(&mut bytes, &seeks);
    std::fs::write(part.path(), bytes).unwrap();
    verify::compare(part.path(), (&plans, &sums), threads(&options), &options, |_| {})
}

/// Replaces bytes by others of the same length, wherever they are; they must be present.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len());
    let mut found = 0;
    for at in 0..=bytes.len() - old.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + new.len()].copy_from_slice(new);
            found += 1;
        }
    }
    assert!(found > 0, "{old:?} is not in the file");
}

/// A branch's table of basket positions.
fn table(seeks: &[u64]) -> Vec<u8> {
    seeks.iter().flat_map(|s| s.to_be_bytes()).collect()
}

fn corrupt(result: Result<()>, branch: &str) -> Error {
    let error = result.expect_err(branch);
    assert_eq!((error.kind(), error.branch()), (ErrorKind::Corrupt, Some(branch)), "{error}");
    error
}

#[test]
fn what_is_right_passes() {
    compared(|_| {}, |_, _| {}).unwrap();
}

#[test]
fn baskets_in_another_order_are_noticed() {
    for (i, name) in ["number", "other"].iter().enumerate() {
        let behind = |bytes: &mut Vec<u8>, seeks: &[Vec<u64>]| {
            let of = &seeks[i];
            assert_eq!(of.len(), 3);
            replace(bytes, &table(of), &table(&[of[1], of[0], of[2]]));
        };
        corrupt(compared(|_| {}, behind), name);
    }
}

#[test]
fn a_basket_that_stands_in_for_another_is_noticed() {
    let behind = |bytes: &mut Vec<u8>, seeks: &[Vec<u64>]| {
        replace(bytes, &table(&seeks[0]), &table(&[seeks[0][0], seeks[0][0], seeks[0][2]]));
    };
    corrupt(compared(|_| {}, behind), "number");
    // that of another branch, of as many bytes
    let behind = |bytes: &mut Vec<u8>, seeks: &[Vec<u64>]| replace(bytes, &table(&seeks[0]), &table(&seeks[1]));
    corrupt(compared(|_| {}, behind), "number");
}

#[test]
fn entries_in_another_order_are_noticed() {
    // two entries of one basket swap places: the same total of bytes
    let swap = |bytes: &mut Vec<u8>, _: &[Vec<u64>]| {
        let pair = |a: i64, b: i64| [a.to_be_bytes(), b.to_be_bytes()].concat();
        replace(bytes, &pair(1500, 1501), &pair(1501, 1500));
    };
    corrupt(compared(|_| {}, swap), "number");
}

#[test]
fn entries_of_other_lengths_are_noticed() {
    // the items are the same, but one moved to the previous entry: 1000 entries of 1.5 items, 5 bytes of label less
    let shift = |bytes: &mut Vec<u8>, seeks: &[Vec<u64>]| {
        let list = seeks[3][0] as usize;
        let key = usize::from(u16::from_be_bytes([bytes[list + 14], bytes[list + 15]]));
        let offsets: Vec<u8> = (10..13_u32).flat_map(|i| (key as u32 + 4 * (i / 2 * 3)).to_be_bytes()).collect();
        let mut other = offsets.clone();
        other[7] += 4;
        replace(bytes, &offsets, &other);
    };
    corrupt(compared(|_| {}, shift), "list");
}

#[test]
fn a_branch_under_another_name_or_of_another_type_is_noticed() {
    let name = |bytes: &mut Vec<u8>, _: &[Vec<u64>]| replace(bytes, b"\x05other", b"\x05othex");
    assert!(corrupt(compared(|_| {}, name), "other").what().contains("othex"));
    let class =
        |bytes: &mut Vec<u8>, _: &[Vec<u64>]| replace(bytes, b"\xff\xff\xff\xffTLeafL\0", b"\xff\xff\xff\xffTLeafD\0");
    assert!(corrupt(compared(|_| {}, class), "number").what().contains("TLeafD"));
}

#[test]
fn what_the_plan_forgets_is_noticed() {
    // the last basket of a branch: nothing of it is ever read, so nothing else would detect it
    corrupt(compared(|plans| drop(plans[0].branches[1].baskets.pop()), |_, _| {}), "other");
    // a branch as a whole
    compared(|plans| drop(plans[0].branches.pop()), |_, _| {}).unwrap_err();
}

/// Keeps a branch's baskets whole.
fn keep(plans: &mut [super::TreePlan], branch: usize) {
    plans[0].branches[branch].shape.rule = Rule::Whole("as requested".to_owned());
}

/// As in a tree stored in its header with labels of 32-bit positions: references in its entries count from elsewhere.
#[test]
fn a_whole_basket_behind_a_label_of_another_length_is_noticed() {
    let shorter = |by: u32| {
        move |plans: &mut Vec<super::TreePlan>, bytes: &[u8]| {
            let text = plans[0].branches.iter().position(|b| b.name == "text").unwrap();
            keep(plans, text);
            for old in &mut plans[0].branches[text].baskets {
                let BasketLocation::File(span) = old.place else { continue };
                let record = &bytes[span.start as usize..span.end() as usize];
                let key_len = u32::from(u16::from_be_bytes([record[14], record[15]]));
                old.place = BasketLocation::Header(bytes::Bytes::copy_from_slice(record), key_len - by);
            }
        }
    };
    compared_from(shorter(0), |_, _| {}).unwrap();
    corrupt(compared_from(shorter(8), |_, _| {}), "text");
}

#[test]
fn a_whole_basket_with_other_offsets_is_noticed() {
    let shift = |bytes: &mut Vec<u8>, seeks: &[Vec<u64>]| {
        // the second entry of the first basket begins one number later
        let at = seeks[3][0] as usize;
        let key = u32::from(u16::from_be_bytes([bytes[at + 14], bytes[at + 15]]));
        let offsets = |second: u32| [key, second, key + 12].map(u32::to_be_bytes).concat();
        replace(bytes, &offsets(key), &offsets(key + 4));
    };
    corrupt(compared_from(|plans, _| keep(plans, 3), shift), "list");
}

#[test]
fn other_process_ids_are_noticed() {
    let shift = |bytes: &mut Vec<u8>, seeks: &[Vec<u64>]| {
        // they are in the upper bits of the directory's position
        let at = seeks[0][1] as usize + 26;
        bytes[at + 1] += 1;
    };
    corrupt(compared(|_| {}, shift), "number");
    corrupt(compared_from(|plans, _| keep(plans, 0), shift), "number");
}
