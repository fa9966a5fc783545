//! What several tests of reading need: a directory, a file with every type, and the columns of a scan joined.
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod disk;

use sapwood::{Array, Batch, Compression, DType, File, OpenOptions, Result, ScanOptions, Tree, Values};
use sapwood_write::{BranchSpec, FileOptions, FileWriter, TreeOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

/// A directory that goes away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sapwood-read-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A number that depends on the entry, the branch and the item, spread over all 64 bits.
pub fn mixed(entry: u64, salt: u64) -> u64 {
    let mut z = (entry << 20) ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Numbers of a type from 64 bits each: every bit pattern can come, not-a-numbers among them.
pub fn typed(dtype: DType, bits: impl Iterator<Item = u64>) -> Values {
    match dtype {
        DType::Bool => Values::Bool(bits.map(|b| (b & 1) as u8).collect()),
        DType::I8 => Values::I8(bits.map(|b| b as i8).collect()),
        DType::U8 => Values::U8(bits.map(|b| b as u8).collect()),
        DType::I16 => Values::I16(bits.map(|b| b as i16).collect()),
        DType::U16 => Values::U16(bits.map(|b| b as u16).collect()),
        DType::I32 => Values::I32(bits.map(|b| b as i32).collect()),
        DType::U32 => Values::U32(bits.map(|b| b as u32).collect()),
        DType::I64 => Values::I64(bits.map(|b| b as i64).collect()),
        DType::U64 => Values::U64(bits.collect()),
        DType::F32 => Values::F32(bits.map(|b| f32::from_bits(b as u32)).collect()),
        DType::F64 => Values::F64(bits.map(f64::from_bits).collect()),
    }
}

/// A branch of each shape for each type; half of the jagged ones share a counter.
pub fn every_branch() -> Vec<BranchSpec> {
    let mut out = Vec::new();
    for d in DType::ALL {
        let name = d.name();
        out.push(BranchSpec::scalar(format!("{name}_one"), d));
        out.push(BranchSpec::fixed(format!("{name}_three"), d, 3));
        out.push(match d.size() {
            1 | 4 => BranchSpec::jagged_by(format!("{name}_any"), d, "nShared"),
            _ => BranchSpec::jagged(format!("{name}_any"), d),
        });
    }
    out
}

/// The values of a branch of [`every_branch`] for these entries: branch, counter, entries alone decide.
pub fn column(name: &str, entries: std::ops::Range<u64>) -> Array {
    // no type's name begins with n: these are the counters
    let (type_name, shape) = match name.strip_prefix('n') {
        Some(_) => (name, "count"),
        None => name.rsplit_once('_').unwrap(),
    };
    let salt = name.bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
    let shared = shape == "count" || DType::ALL.iter().any(|d| d.name() == type_name && matches!(d.size(), 1 | 4));
    let count = |e: u64| mixed(e, if shared { 1 } else { 2 }) % 5;
    if shape == "count" {
        let shared = name == "nShared";
        let n = |e: u64| mixed(e, if shared { 1 } else { 2 }) % 5;
        return Array::Flat(Values::I32(entries.map(|e| n(e) as i32).collect()));
    }
    let d = DType::ALL.into_iter().find(|d| d.name() == type_name).unwrap();
    let len = (entries.end - entries.start) as usize;
    match shape {
        "one" => Array::Flat(typed(d, entries.map(|e| mixed(e, salt)))),
        "three" => {
            let content = typed(d, entries.flat_map(|e| (0..3).map(move |i| mixed(e, salt + i))));
            Array::Regular { size: 3, len, content: Box::new(Array::Flat(content)) }
        }
        _ => {
            let mut offsets = vec![0];
            for e in entries.clone() {
                offsets.push(offsets[offsets.len() - 1] + count(e) as i64);
            }
            let content = typed(d, entries.flat_map(|e| (0..count(e)).map(move |i| mixed(e, salt + i))));
            Array::List { offsets, content: Box::new(Array::Flat(content)) }
        }
    }
}

/// Writes `entries` of [`every_branch`] as the tree `Events`.
pub fn write(path: &str, entries: u64, compression: &str, options: TreeOptions) {
    let file = FileOptions::default()
        .compression(compression.parse::<Compression>().unwrap())
        .created(Some(UNIX_EPOCH))
        .uuid(Some([7; 16]));
    let mut file = FileWriter::create_with(path, file).unwrap();
    let specs = every_branch();
    let mut tree = file.tree("Events", "all types", &specs, options).unwrap();
    let columns: Vec<(&str, Array)> = specs.iter().map(|s| (s.name.as_str(), column(&s.name, 0..entries))).collect();
    let given: Vec<(&str, &Array)> = columns.iter().map(|(n, a)| (*n, a)).collect();
    tree.extend(&given).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
}

pub fn open(url: &str) -> File {
    File::open(url, &OpenOptions::default()).unwrap()
}

/// All batches of a scan, checked to come in order and to cover the entries exactly.
pub fn batches(tree: &Tree, options: &ScanOptions) -> Result<Vec<Batch>> {
    let wanted = options.entries.clone().unwrap_or(0..tree.entries());
    let mut at = wanted.start;
    let mut out = Vec::new();
    for batch in tree.scan_with(options)? {
        let batch = batch?;
        assert_eq!(batch.entries.start, at, "a batch begins where the one before ended");
        assert!(batch.entries.end > at || wanted.is_empty(), "an empty batch");
        at = batch.entries.end;
        for column in &batch.columns {
            assert_eq!(column.len() as u64, batch.entries.end - batch.entries.start);
        }
        out.push(batch);
    }
    assert_eq!(at, wanted.end, "the batches end where the wanted entries end");
    Ok(out)
}

/// The columns of a scan, its batches joined.
pub fn columns(tree: &Tree, options: &ScanOptions) -> Result<Vec<Array>> {
    let mut out: Vec<Array> =
        options.branches.iter().map(|&b| tree.column_type(b).map(|t| t.empty())).collect::<Result<_>>()?;
    for batch in batches(tree, options)? {
        for (joined, part) in out.iter_mut().zip(&batch.columns) {
            joined.append(part)?;
        }
    }
    Ok(out)
}

/// Whether two columns hold the same bits: not-a-numbers equal themselves, -0 is not 0.
pub fn same_bits(a: &Array, b: &Array) -> bool {
    match (a, b) {
        (Array::Flat(Values::F32(a)), Array::Flat(Values::F32(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
        }
        (Array::Flat(Values::F64(a)), Array::Flat(Values::F64(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
        }
        (Array::Flat(a), Array::Flat(b)) => a == b,
        (Array::Regular { size, len, content }, Array::Regular { size: s, len: l, content: c }) => {
            (size, len) == (s, l) && same_bits(content, c)
        }
        (Array::List { offsets, content }, Array::List { offsets: o, content: c }) => {
            offsets == o && same_bits(content, c)
        }
        (Array::Text { .. }, Array::Text { .. }) => a == b,
        (Array::Record { len, fields }, Array::Record { len: l, fields: f }) => {
            len == l
                && fields.len() == f.len()
                && fields.iter().zip(f).all(|((n, a), (m, b))| n == m && same_bits(a, b))
        }
        _ => false,
    }
}

/// Compares each column with what was written.
pub fn check(tree: &Tree, options: &ScanOptions, what: &str) {
    let entries = options.entries.clone().unwrap_or(0..tree.entries());
    let read = columns(tree, options).unwrap_or_else(|e| panic!("{what}: {e}"));
    for (&b, read) in options.branches.iter().zip(&read) {
        let name = &tree.header().branches[b].name;
        assert!(same_bits(read, &column(name, entries.clone())), "{what}: {name}, entries {entries:?}");
    }
}
