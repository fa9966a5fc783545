//! A disk in memory that fails on demand, and a file on it that is updated.

use sapwood::write::{BranchSpec, Cluster, CppType, FileOptions, FileWriter, Storage, TreeOptions, TreeWriter};
use sapwood::{Array, Compression, DType, File, OpenOptions, ScanOptions, StepSize, Values};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A disk in memory that remembers every write.
#[derive(Clone, Default)]
pub struct Disk(pub Arc<Mutex<State>>);

#[derive(Default)]
pub struct State {
    pub bytes: Vec<u8>,
    /// Each write, and `None` for each sync.
    pub log: Vec<Option<(u64, Vec<u8>)>>,
    /// Writes that still succeed.
    pub left: Option<usize>,
    /// Syncs that still succeed.
    pub syncs: Option<usize>,
    /// The name is another file's now.
    pub replaced: bool,
    pub abandoned: Option<u64>,
}

impl Disk {
    pub fn holding(bytes: &[u8]) -> Self {
        let disk = Self::default();
        disk.0.lock().unwrap().bytes = bytes.to_vec();
        disk
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().bytes.clone()
    }
}

pub fn put(bytes: &mut Vec<u8>, at: u64, new: &[u8]) {
    let at = at as usize;
    if bytes.len() < at + new.len() {
        bytes.resize(at + new.len(), 0);
    }
    bytes[at..at + new.len()].copy_from_slice(new);
}

impl Storage for Disk {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if let Some(left) = &mut state.left {
            if *left == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            *left -= 1;
        }
        put(&mut state.bytes, at, bytes);
        state.log.push(Some((at, bytes.to_vec())));
        Ok(())
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock().unwrap();
        let from = state.bytes.get(at as usize..at as usize + into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(from);
        Ok(())
    }

    fn check(&mut self) -> io::Result<()> {
        match self.0.lock().unwrap().replaced {
            true => Err(io::Error::other("another program has replaced the file")),
            false => Ok(()),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if let Some(left) = &mut state.syncs {
            if *left == 0 {
                return Err(io::Error::other("the disk is broken"));
            }
            *left -= 1;
        }
        state.log.push(None);
        Ok(())
    }

    fn complete(&mut self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap().bytes.truncate(len as usize);
        Ok(())
    }

    fn abandon(&mut self, committed: u64) {
        let mut state = self.0.lock().unwrap();
        state.abandoned = Some(committed);
        state.bytes.truncate(committed as usize);
    }
}

pub fn specs() -> Vec<BranchSpec> {
    vec![
        BranchSpec::scalar("x", DType::I64),
        BranchSpec::jagged("j", DType::F32),
        BranchSpec::object("s", CppType::Text),
        BranchSpec::object("vv", CppType::vector(CppType::vector(CppType::Number(DType::I32)))),
    ]
}

pub fn fill(tree: &mut TreeWriter, from: usize, to: usize) {
    let n = to - from;
    let x = Array::Flat(Values::I64((from..to).map(|i| i as i64).collect()));
    let offsets: Vec<i64> = (0..=n).map(|i| 2 * i as i64).collect();
    let floats = Values::F32((2 * from..2 * to).map(|i| i as f32).collect());
    let j = Array::List { offsets: offsets.clone(), content: Box::new(Array::Flat(floats)) };
    let text = (from..to).map(|i| format!("{i:05}")).collect::<String>().into_bytes();
    let s = Array::Text { offsets: (0..=n).map(|i| 5 * i as i64).collect(), bytes: text };
    let inner = Array::List {
        offsets: (0..=2 * n).map(|i| i as i64).collect(),
        content: Box::new(Array::Flat(Values::I32((2 * from..2 * to).map(|i| i as i32).collect()))),
    };
    let vv = Array::List { offsets, content: Box::new(inner) };
    tree.extend(&[("x", &x), ("j", &j), ("s", &s), ("vv", &vv)]).unwrap();
}

pub fn options() -> TreeOptions {
    TreeOptions::default().cluster(Cluster::Entries(50)).basket_bytes(1000)
}

/// A file with a tree of 120 entries, one in a directory, and a text.
pub fn old_file() -> Vec<u8> {
    let disk = Disk::default();
    let options = FileOptions::default().compression(Compression::default());
    let mut file = FileWriter::create_on(Box::new(disk.clone()), Path::new("old.root"), options).unwrap();
    let mut tree = file.tree("t", "", &specs(), self::options()).unwrap();
    fill(&mut tree, 0, 120);
    tree.finish().unwrap();
    let dir = file.mkdir("a/b").unwrap();
    let mut tree = file.tree_in(dir, "inner", "", &specs(), self::options()).unwrap();
    fill(&mut tree, 0, 7);
    tree.finish().unwrap();
    file.finish().unwrap();
    disk.bytes()
}

/// Appends to one tree, writes a new cycle of the other, a new tree in a new directory, deletes nothing and something.
pub fn update(disk: &Disk, len: usize) -> sapwood::Result<()> {
    let mut file = FileWriter::update_on(Box::new(disk.clone()), len as u64, Path::new("old.root"), 1)?;
    let mut tree = file.append_to("t", self::options())?;
    fill(&mut tree, 120, 333);
    tree.finish()?;
    let dir = file.mkdir("a/b")?;
    let mut tree = file.tree_in(dir, "inner", "", &specs(), self::options())?;
    fill(&mut tree, 0, 9);
    tree.finish()?;
    file.delete("a/b/inner", Some(1))?;
    let dir = file.mkdir("new")?;
    file.tree_in(dir, "empty", "", &specs(), self::options())?.finish()?;
    file.finish()
}

/// Keys and the number of entries of each tree, every value checked.
pub fn content(path: &str) -> sapwood::Result<Vec<String>> {
    let file = File::open(path, &OpenOptions::default())?;
    let mut out = Vec::new();
    for listing in file.list("", true)? {
        let path = format!("{};{}", listing.path, listing.key.cycle);
        if !listing.key.is_tree() {
            out.push(path);
            continue;
        }
        let tree = file.tree(&path)?;
        let scan = ScanOptions::default()
            .branches(vec![tree.find("x")?, tree.find("j")?, tree.find("s")?, tree.find("vv")?])
            .step(StepSize::All);
        for batch in tree.scan_with(&scan)? {
            let batch = batch?;
            let n = tree.entries() as i64;
            assert_eq!(batch.columns[0], Array::Flat(Values::I64((0..n).collect())));
            let Array::List { content, .. } = &batch.columns[1] else { panic!() };
            assert_eq!(**content, Array::Flat(Values::F32((0..2 * n).map(|i| i as f32).collect())));
            let Array::Text { bytes, .. } = &batch.columns[2] else { panic!() };
            assert_eq!(*bytes, (0..n).map(|i| format!("{i:05}")).collect::<String>().into_bytes());
        }
        out.push(format!("{path} {}", tree.entries()));
    }
    out.sort();
    Ok(out)
}
