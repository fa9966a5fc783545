//! Files that are updated, and what is left when that ends at any write.

mod common;

use common::Folder;
use sapwood::write::{BranchSpec, Cluster, CppType, FileOptions, FileWriter, Storage, TreeOptions, TreeWriter};
use sapwood::{Array, Compression, DType, ErrorKind, File, OpenOptions, ScanOptions, StepSize, Values};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A disk in memory that remembers every write.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Each write, and `None` for each sync.
    log: Vec<Option<(u64, Vec<u8>)>>,
    /// Writes that still succeed.
    left: Option<usize>,
    abandoned: Option<u64>,
}

impl Disk {
    fn holding(bytes: &[u8]) -> Self {
        let disk = Self::default();
        disk.0.lock().unwrap().bytes = bytes.to_vec();
        disk
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().bytes.clone()
    }
}

fn put(bytes: &mut Vec<u8>, at: u64, new: &[u8]) {
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

    fn sync(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().log.push(None);
        Ok(())
    }

    fn complete(&mut self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap().bytes.truncate(len as usize);
        Ok(())
    }

    fn abandon(&mut self, committed: u64) {
        self.0.lock().unwrap().abandoned = Some(committed);
    }
}

fn specs() -> Vec<BranchSpec> {
    vec![
        BranchSpec::scalar("x", DType::I64),
        BranchSpec::jagged("j", DType::F32),
        BranchSpec::object("s", CppType::Text),
        BranchSpec::object("vv", CppType::vector(CppType::vector(CppType::Number(DType::I32)))),
    ]
}

fn fill(tree: &mut TreeWriter, from: usize, to: usize) {
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

fn options() -> TreeOptions {
    TreeOptions { cluster: Cluster::Entries(50), basket_bytes: 1000, ..TreeOptions::default() }
}

/// A file with a tree of 120 entries, one in a directory, and a text.
fn old_file() -> Vec<u8> {
    let disk = Disk::default();
    let options = FileOptions { compression: Compression::default(), ..FileOptions::default() };
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
fn update(disk: &Disk, len: usize) -> sapwood::Result<()> {
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
fn content(path: &str) -> sapwood::Result<Vec<String>> {
    let file = File::open(path, &OpenOptions::default())?;
    let mut out = Vec::new();
    for listing in file.list("", true)? {
        let path = format!("{};{}", listing.path, listing.key.cycle);
        if !listing.key.is_tree() {
            out.push(path);
            continue;
        }
        let tree = file.tree(&path)?;
        let scan = ScanOptions {
            branches: vec![tree.find("x")?, tree.find("j")?, tree.find("s")?, tree.find("vv")?],
            step: StepSize::All,
            ..ScanOptions::default()
        };
        for batch in tree.scan(&scan)? {
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

#[test]
fn an_update_that_is_cut_at_any_write_leaves_the_old_or_the_new() {
    let folder = Folder::new();
    let path = folder.file("cut.root");
    let old = old_file();
    std::fs::write(&path, &old).unwrap();
    let before = content(&path).unwrap();
    assert_eq!(before, ["a/b/inner;1 7", "a/b;1", "a;1", "t;1 120"]);
    let disk = Disk::holding(&old);
    update(&disk, old.len()).unwrap();
    std::fs::write(&path, disk.bytes()).unwrap();
    let after = content(&path).unwrap();
    assert_eq!(after, ["a/b/inner;2 9", "a/b;1", "a;1", "new/empty;1 0", "new;1", "t;1 333"]);

    let log = std::mem::take(&mut disk.0.lock().unwrap().log);
    let (mut bytes, mut seen) = (old.clone(), [0, 0]);
    for write in log.iter().flatten() {
        let (at, new) = write;
        // the header goes in one write of a few hundred bytes, which disks do as one; all others may be torn
        let cuts = if *at == 0 { vec![new.len()] } else { vec![1, new.len() / 2, new.len()] };
        for cut in cuts {
            let mut torn = bytes.clone();
            put(&mut torn, *at, &new[..cut.min(new.len())]);
            std::fs::write(&path, &torn).unwrap();
            let found = content(&path).unwrap();
            assert!(found == before || found == after, "cut {cut} bytes into the write at {at}: {found:?}");
            seen[usize::from(found == after)] += 1;
        }
        put(&mut bytes, *at, new);
    }
    assert!(seen[0] >= 3 && seen[1] >= 2, "{seen:?}");
    // the header must not be on disk before what it tells of
    let header = log.iter().position(|w| matches!(w, Some((0, _)))).unwrap();
    assert!(log[header - 1].is_none() && log[header + 1].is_none(), "synced before and after");
}

#[test]
fn a_full_disk_ends_an_update_with_the_old_content() {
    let folder = Folder::new();
    let path = folder.file("full.root");
    let old = old_file();
    std::fs::write(&path, &old).unwrap();
    let before = content(&path).unwrap();
    let whole = Disk::holding(&old);
    update(&whole, old.len()).unwrap();
    std::fs::write(&path, whole.bytes()).unwrap();
    let after = content(&path).unwrap();
    for left in 0.. {
        let disk = Disk::holding(&old);
        disk.0.lock().unwrap().left = Some(left);
        let done = update(&disk, old.len());
        let Err(e) = done else { break };
        assert!(e.to_string().contains("no space is left") && e.kind() == ErrorKind::Io, "{e}");
        std::fs::write(&path, disk.bytes()).unwrap();
        let found = content(&path).unwrap();
        let committed = disk.0.lock().unwrap().abandoned;
        let wanted = if committed == Some(old.len() as u64) { &before } else { &after };
        assert_eq!(found, *wanted, "{left} writes, committed up to {committed:?}");
    }
}

#[test]
fn freed_space_is_used_again() {
    let old = old_file();
    let mut lengths = Vec::new();
    let mut bytes = old;
    for _ in 0..6 {
        let disk = Disk::holding(&bytes);
        let len = bytes.len() as u64;
        let mut file = FileWriter::update_on(Box::new(disk.clone()), len, Path::new("a.root"), 1).unwrap();
        file.delete("a/b/inner", None).unwrap();
        let dir = file.mkdir("a/b").unwrap();
        let mut tree = file.tree_in(dir, "inner", "", &specs(), options()).unwrap();
        fill(&mut tree, 0, 7);
        tree.finish().unwrap();
        file.finish().unwrap();
        bytes = disk.bytes();
        lengths.push(bytes.len());
    }
    let growth: Vec<usize> = lengths.windows(2).map(|w| w[1] - w[0]).collect();
    // baskets, headers and key lists go where the last ones were
    assert!(growth[4] < 100, "{growth:?}");
}

#[test]
fn baskets_that_another_tree_has_stay() {
    let folder = Folder::new();
    let path = folder.file("shared.root");
    let old = old_file();
    std::fs::write(&path, &old).unwrap();
    let listed = File::open(&path, &OpenOptions::default()).unwrap().list("", false).unwrap();
    let span = listed.iter().find(|l| l.path == "t").unwrap().key.span;
    // the same header once more: two trees have the same baskets, as cycles of one that was saved twice
    let two = |deleted: &[&str]| {
        let disk = Disk::holding(&old);
        let mut file = FileWriter::update_on(Box::new(disk.clone()), old.len() as u64, Path::new("a.root"), 1).unwrap();
        let dir = file.mkdir("b").unwrap();
        file.copy_object(dir, &mut old[span.start as usize..span.end() as usize].to_vec()).unwrap();
        deleted.iter().for_each(|name| assert_eq!(file.delete(name, None).unwrap(), 1));
        file.commit().unwrap();
        // what was freed is written over
        let mut tree = file.tree("next", "", &specs(), options()).unwrap();
        fill(&mut tree, 0, 120);
        tree.finish().unwrap();
        file.finish().unwrap();
        std::fs::write(&path, disk.bytes()).unwrap();
        (content(&path).unwrap(), disk.bytes().len())
    };
    let (kept, long) = two(&["t"]);
    assert!(kept.contains(&"b/t;1 120".to_owned()) && kept.contains(&"next;1 120".to_owned()), "{kept:?}");
    let (kept, short) = two(&["t", "b/t"]);
    assert!(
        kept.contains(&"next;1 120".to_owned())
            && !kept.iter().any(|k| k.contains("t;1 120") && !k.starts_with("next")),
        "{kept:?}"
    );
    assert!(short + 500 < long, "{short} {long}");
}

#[test]
fn a_tree_of_the_same_session_leaves_its_space_as_well() {
    let old = old_file();
    let rounds = |n: usize| {
        let disk = Disk::holding(&old);
        let mut file = FileWriter::update_on(Box::new(disk.clone()), old.len() as u64, Path::new("a.root"), 1).unwrap();
        for _ in 0..n {
            assert_eq!(file.delete("t", None).unwrap(), 1);
            // what is freed can be used once nobody would find it after a crash
            file.commit().unwrap();
            let mut tree = file.tree("t", "", &specs(), options()).unwrap();
            fill(&mut tree, 0, 120);
            tree.finish().unwrap();
        }
        file.finish().unwrap();
        disk.bytes().len()
    };
    let (two, many) = (rounds(2), rounds(20));
    // some bytes stay between records; a tree has four thousand
    assert!(many < two + 2500, "{two} {many}");
}

#[test]
fn directories_that_lead_in_a_circle_are_not_followed() {
    let mut bytes = old_file();
    let folder = Folder::new();
    let path = folder.file("circle.root");
    std::fs::write(&path, &bytes).unwrap();
    let listed = File::open(&path, &OpenOptions::default()).unwrap().list("", true).unwrap();
    let seek = |path: &str| (listed.iter().find(|l| l.path == path).unwrap().key.span.start as u32).to_be_bytes();
    let (a, b) = (seek("a"), seek("a/b"));
    // each copy of b's key says where it lies and then in which directory
    let key = [b, a].concat();
    let places: Vec<usize> = (0..bytes.len() - 8).filter(|&at| bytes[at..at + 8] == key).collect();
    assert!(places.len() >= 2);
    places.iter().for_each(|&at| bytes[at..at + 4].copy_from_slice(&a));
    let disk = Disk::holding(&bytes);
    let mut file = FileWriter::update_on(Box::new(disk), bytes.len() as u64, Path::new("circle.root"), 1).unwrap();
    let refused = file.delete("a/b/inner", None).unwrap_err();
    assert!(refused.to_string().contains("directory b lies where directory a does"), "{refused}");
    assert_eq!(file.delete("t", None).unwrap(), 1);
}

#[test]
fn a_killed_writer_leaves_a_whole_file_of_the_last_autosave() {
    let folder = Folder::new();
    let path = folder.file("killed.root");
    let disk = Disk::default();
    let file_options = FileOptions { compression: Compression::NONE, ..FileOptions::default() };
    let mut file = FileWriter::create_on(Box::new(disk.clone()), Path::new("killed.root"), file_options).unwrap();
    let save = TreeOptions { auto_save_bytes: 20_000, ..options() };
    let mut tree = file.tree("t", "", &specs(), save).unwrap();
    let mut entries = Vec::new();
    for i in 0..20 {
        fill(&mut tree, 100 * i, 100 * (i + 1));
        std::fs::write(&path, disk.bytes()).unwrap();
        if let Ok(found) = content(&path)
            && let [one] = found.as_slice()
        {
            entries.push(one.rsplit(' ').next().unwrap().parse::<u64>().unwrap());
        }
    }
    assert!(entries.windows(2).all(|w| w[0] <= w[1]), "{entries:?}");
    let last = entries.last().copied().unwrap_or(0);
    assert!(last >= 1400 && last.is_multiple_of(50), "{entries:?}");
    tree.finish().unwrap();
    file.finish().unwrap();
    std::fs::write(&path, disk.bytes()).unwrap();
    assert_eq!(content(&path).unwrap(), ["t;1 2000"]);
}

#[test]
fn a_new_file_does_not_replace_unless_told() {
    let folder = Folder::new();
    let path = folder.file("there.root");
    let keep = || FileOptions { replace: false, ..FileOptions::default() };
    let first = FileWriter::create_with(&path, keep()).unwrap();
    let second = FileWriter::create_with(&path, keep()).unwrap();
    first.finish().unwrap();
    let was = std::fs::read(&path).unwrap();
    assert!(second.finish().unwrap_err().to_string().contains("the file is there already"));
    let e = FileWriter::create_with(&path, keep()).unwrap_err();
    assert!(e.kind() == ErrorKind::Invalid && e.to_string().contains("there already"), "{e}");
    assert_eq!(std::fs::read(&path).unwrap(), was);
    let one = FileWriter::update(&path).unwrap();
    let e = FileWriter::update(&path).unwrap_err();
    assert!(e.to_string().contains("another process is writing it"), "{e}");
    drop(one);
    assert_eq!(std::fs::read(&path).unwrap(), was);
    assert_eq!(FileWriter::update(folder.file("none.root")).unwrap_err().kind(), ErrorKind::NotFound);
    std::fs::write(folder.file("cut.root"), &was[..was.len() - 5]).unwrap();
    let e = FileWriter::update(folder.file("cut.root")).unwrap_err();
    assert!(e.kind() == ErrorKind::Corrupt && e.to_string().contains("recover it first"), "{e}");
}
