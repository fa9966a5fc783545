//! Files that are updated, and what is left when that ends at any write.

mod common;

use common::Folder;
use common::disk::{Disk, content, fill, old_file, options, put, specs, update};
use sapwood::write::{FileOptions, FileWriter};
use sapwood::{Compression, ErrorKind, File, OpenOptions};
use std::path::Path;

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
        // where the header failed it may be on disk or not: what either needs stays
        let header = disk.0.lock().unwrap().log.iter().any(|w| matches!(w, Some((0, _))));
        assert_eq!(found, *if header { &after } else { &before }, "{left} writes, committed up to {committed:?}");
        assert!(!header || committed.is_some_and(|c| c >= whole.bytes().len() as u64), "{left}: {committed:?}");
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
    assert!(refused.to_string().contains("directory b is at the position of directory a"), "{refused}");
    assert_eq!(file.delete("t", None).unwrap(), 1);
}

#[test]
fn a_killed_writer_leaves_a_whole_file_of_the_last_autosave() {
    let folder = Folder::new();
    let path = folder.file("killed.root");
    let disk = Disk::default();
    let file_options = FileOptions::default().compression(Compression::NONE);
    let mut file = FileWriter::create_on(Box::new(disk.clone()), Path::new("killed.root"), file_options).unwrap();
    let save = options().auto_save_bytes(20_000);
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
    let keep = || FileOptions::default().replace(false);
    let first = FileWriter::create_with(&path, keep()).unwrap();
    let second = FileWriter::create_with(&path, keep()).unwrap();
    first.finish().unwrap();
    let was = std::fs::read(&path).unwrap();
    assert!(second.finish().unwrap_err().to_string().contains("the file already exists"));
    let e = FileWriter::create_with(&path, keep()).unwrap_err();
    assert!(e.kind() == ErrorKind::AlreadyExists && e.to_string().contains("already exists"), "{e}");
    assert_eq!(std::fs::read(&path).unwrap(), was);
    let one = FileWriter::update(&path).unwrap();
    let e = FileWriter::update(&path).unwrap_err();
    assert!(e.to_string().contains("another process is writing it"), "{e}");
    drop(one);
    assert_eq!(std::fs::read(&path).unwrap(), was);
    assert_eq!(FileWriter::update(folder.file("none.root")).unwrap_err().kind(), ErrorKind::NotFound);
    std::fs::write(folder.file("cut.root"), &was[..was.len() - 5]).unwrap();
    let e = FileWriter::update(folder.file("cut.root")).unwrap_err();
    assert!(e.kind() == ErrorKind::Corrupt && e.to_string().contains("sapwood recover IN OUT"), "{e}");
}
