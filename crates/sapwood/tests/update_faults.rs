//! What goes wrong while a file is updated: disks that fail, other programs, lists that lie, kills at any write.

mod common;

use common::Folder;
use common::disk::{Disk, content, fill, old_file, options, put, specs, update};
use sapwood::write::{FileOptions, FileWriter};
use sapwood::{ErrorKind, ExamineOptions, File, Finding, OpenOptions, Severity, examine};
use std::path::Path;

fn open(bytes: &[u8]) -> sapwood::Result<(Disk, FileWriter)> {
    let disk = Disk::holding(bytes);
    let file = FileWriter::update_on(Box::new(disk.clone()), bytes.len() as u64, Path::new("a.root"), 1)?;
    Ok((disk, file))
}

/// Writes a text of so many bytes under a name.
fn text(file: &mut FileWriter, name: &str, len: usize) {
    let payload = |_: usize| {
        let mut out = vec![0x40, 0, 0, (len + 13) as u8, 0, 1, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, len as u8];
        out.extend((0..len).map(|i| b'a' + (i % 26) as u8));
        Ok(out)
    };
    let root = file.root();
    file.append_object(root, "TObjString", name, "", Some("none".parse().unwrap()), payload).unwrap();
}

fn damage(path: &str) -> Vec<Finding> {
    let found = examine(path, &OpenOptions::default(), &ExamineOptions::default().deep(true)).unwrap();
    found.findings.into_iter().filter(|f| f.severity == Severity::Damage).collect()
}

#[test]
fn a_failed_sync_keeps_what_either_header_needs() {
    let folder = Folder::new();
    let path = folder.file("sync.root");
    let old = old_file();
    std::fs::write(&path, &old).unwrap();
    let before = content(&path).unwrap();
    for syncs in 0..2 {
        let disk = Disk::holding(&old);
        disk.0.lock().unwrap().syncs = Some(syncs);
        let e = update(&disk, old.len()).unwrap_err();
        assert!(e.to_string().contains("the disk is broken"), "{e}");
        // the header that was written, if it came to the disk
        std::fs::write(&path, disk.bytes()).unwrap();
        let found = content(&path).unwrap();
        assert_eq!(found == before, syncs == 0, "{found:?}");
        assert_eq!(damage(&path), []);
        // the header before, if it did not
        let mut bytes = disk.bytes();
        put(&mut bytes, 0, &old[..300]);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(content(&path).unwrap(), before);
        let again = Disk::holding(&bytes);
        update(&again, bytes.len()).unwrap();
    }
}

#[test]
fn records_behind_the_end_of_the_header_are_never_cut_off() {
    let old = old_file();
    let open_and_close = |tail: &[u8]| {
        let bytes = [&old, tail].concat();
        let (disk, mut file) = open(&bytes)?;
        text(&mut file, "new", 10);
        file.finish()?;
        assert!(disk.bytes().len() >= bytes.len());
        Ok::<_, sapwood::Error>(disk.bytes())
    };
    // as a writer leaves them that was killed, or that is at work now
    let refused = open_and_close(&old[100..2000]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    assert!(refused.to_string().contains("another program is writing it"), "{refused}");
    assert!(refused.to_string().contains("sapwood recover IN OUT"), "{refused}");
    // zeros, as file systems leave them; ROOT's mark of what is free behind the end
    for tail in [&[0; 3][..], &[0; 5000], &[0x88, 0xca, 0x70, 0xaa]] {
        let bytes = open_and_close(tail).unwrap();
        let folder = Folder::new();
        let path = folder.file("tail.root");
        std::fs::write(&path, &bytes).unwrap();
        let file = File::open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(file.header().end, file.size(), "{} bytes behind", tail.len());
        assert!(file.find("new").is_ok() && file.find("t").is_ok());
        assert_eq!(damage(&path), []);
    }
    // closed without having written a free list: another writer has just begun it
    let mut begun = old.clone();
    begun[16..24].fill(0);
    assert!(open(&begun).err().unwrap().to_string().contains("never closed"));
}

#[test]
fn an_update_that_writes_nothing_leaves_the_file_as_it_is() {
    let bytes = [&old_file()[..], &[0; 100]].concat();
    let (disk, file) = open(&bytes).unwrap();
    file.finish().unwrap();
    let (dropped, file) = open(&bytes).unwrap();
    drop(file);
    for disk in [disk, dropped] {
        assert!(disk.bytes() == bytes && disk.0.lock().unwrap().log.iter().all(Option::is_none));
    }
}

#[test]
fn what_is_killed_at_any_write_is_updated_again_without_loss() {
    let folder = Folder::new();
    let path = folder.file("again.root");
    let old = old_file();
    let disk = Disk::holding(&old);
    update(&disk, old.len()).unwrap();
    let first = disk.bytes();
    // the second update has gaps to write into
    let disk = Disk::holding(&first);
    let change = |disk: &Disk, len: usize| {
        let mut file = FileWriter::update_on(Box::new(disk.clone()), len as u64, Path::new("a.root"), 1)?;
        file.delete("t", None)?;
        let mut tree = file.tree("u", "", &specs(), options())?;
        fill(&mut tree, 0, 60);
        tree.finish()?;
        file.finish()
    };
    change(&disk, first.len()).unwrap();
    std::fs::write(&path, disk.bytes()).unwrap();
    let after = content(&path).unwrap();
    std::fs::write(&path, &first).unwrap();
    let before = content(&path).unwrap();
    let log = std::mem::take(&mut disk.0.lock().unwrap().log);
    let (mut bytes, mut seen) = (first.clone(), [0, 0]);
    for write in log.iter().flatten() {
        let (at, new) = write;
        let cuts = if *at == 0 { vec![new.len()] } else { vec![1, new.len() / 2, new.len()] };
        for cut in cuts {
            let mut torn = bytes.clone();
            put(&mut torn, *at, &new[..cut.min(new.len())]);
            std::fs::write(&path, &torn).unwrap();
            let found = content(&path).unwrap();
            assert!(found == before || found == after, "{found:?}");
            seen[usize::from(found == after)] += 1;
            // a right file, for the doctor as well
            assert_eq!(damage(&path), [], "cut {cut} bytes into the write at {at}");
            // and the next update finds all of it, and mends what is told of gaps
            let again = Disk::holding(&torn);
            let mut file =
                FileWriter::update_on(Box::new(again.clone()), torn.len() as u64, Path::new("a"), 1).unwrap();
            text(&mut file, "again", 30);
            file.finish().unwrap();
            let mended = again.bytes();
            assert!(mended.len() >= torn.len());
            std::fs::write(&path, &mended).unwrap();
            assert_eq!(damage(&path), []);
            let whole = File::open(&path, &OpenOptions::default()).unwrap();
            assert_eq!(whole.header().end, whole.size());
            let mut now = content(&path).unwrap();
            now.retain(|name| name != "again;1");
            assert_eq!(now, found);
        }
        put(&mut bytes, *at, new);
    }
    assert!(seen[0] >= 3 && seen[1] >= 3, "{seen:?}");
}

#[test]
fn a_thousand_updates_that_replace_an_object_keep_the_size() {
    let old = old_file();
    for fragments in [0, 60] {
        let (disk, mut file) = open(&old).unwrap();
        for i in 0..2 * fragments {
            text(&mut file, &format!("part{i}"), 20);
        }
        file.commit().unwrap();
        for i in 0..fragments {
            file.delete(&format!("part{}", 2 * i), None).unwrap();
        }
        text(&mut file, "one", 40);
        file.finish().unwrap();
        let mut bytes = disk.bytes();
        let mut sizes = Vec::new();
        for i in 0..1000 {
            let (disk, mut file) = open(&bytes).unwrap();
            file.delete("one", None).unwrap();
            // of other lengths now and then, as compressed objects are
            text(&mut file, "one", 40 + i % 7 * 5);
            file.finish().unwrap();
            bytes = disk.bytes();
            sizes.push(bytes.len());
        }
        let steady = sizes[30];
        assert!(sizes[30..].iter().all(|&s| s == steady), "{fragments}: {steady} became {:?}", sizes.last());
    }
}

#[test]
fn a_free_list_that_lies_lets_nothing_be_written_over() {
    let folder = Folder::new();
    let path = folder.file("lies.root");
    let old = old_file();
    let (disk, mut file) = open(&old).unwrap();
    text(&mut file, "gone", 200);
    file.commit().unwrap();
    file.delete("gone", None).unwrap();
    file.finish().unwrap();
    let good = disk.bytes();
    std::fs::write(&path, &good).unwrap();
    let before = content(&path).unwrap();
    assert_eq!(damage(&path), []);
    let file = File::open(&path, &OpenOptions::default()).unwrap();
    let list = file.header().free;
    let tree = file.tree("t").unwrap();
    let basket = tree.header().branches[1].basket_seek[0];
    let listed = file.list("", true).unwrap();
    let key = |name: &str| listed.iter().find(|l| l.path == name).unwrap().key.span;
    let label = usize::from(u16::from_be_bytes(good[list.start as usize + 14..][..2].try_into().unwrap()));
    for lie in [basket, key("t").start, key("a/b").start, key("a/b/inner").start, 100, file.header().info.start] {
        let mut bytes = good.clone();
        let at = list.start as usize + label + 2;
        put(&mut bytes, at as u64, &(lie as u32).to_be_bytes());
        put(&mut bytes, at as u64 + 4, &(lie as u32 + 399).to_be_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let said = damage(&path);
        assert!(said.iter().any(|f| f.part == "free list" && f.what.contains("in use")), "{lie}: {said:?}");
        let (disk, mut file) = open(&bytes).unwrap();
        for i in 0..10 {
            text(&mut file, &format!("new{i}"), 30);
        }
        file.finish().unwrap();
        std::fs::write(&path, disk.bytes()).unwrap();
        let mut found = content(&path).unwrap();
        found.retain(|name| !name.starts_with("new"));
        assert_eq!(found, before, "a gap at {lie}");
        assert_eq!(damage(&path), [], "a gap at {lie}");
    }
}

#[test]
fn keys_of_one_name_stand_newest_first() {
    let (disk, mut file) = open(&old_file()).unwrap();
    for n in [10, 20, 30] {
        let mut tree = file.tree("t", "", &specs(), options()).unwrap();
        fill(&mut tree, 0, n);
        tree.finish().unwrap();
    }
    let mut tree = file.append_to("t;2", options()).unwrap();
    fill(&mut tree, 10, 15);
    tree.finish().unwrap();
    let cycles = |file: &mut FileWriter| {
        file.keys("").unwrap().into_iter().filter(|(name, ..)| name == "t").map(|(_, c, _)| c).collect::<Vec<_>>()
    };
    assert_eq!(cycles(&mut file), [4, 3, 2, 1]);
    file.finish().unwrap();
    let (_, mut file) = open(&disk.bytes()).unwrap();
    assert_eq!(cycles(&mut file), [4, 3, 2, 1]);
}

#[test]
fn looking_for_what_is_not_there_does_no_harm() {
    let (disk, mut file) = open(&old_file()).unwrap();
    for path in ["nowhere", "a/nowhere", "t"] {
        assert!(file.keys(path).is_err(), "{path}");
    }
    text(&mut file, "new", 10);
    file.finish().unwrap();
    let (_, mut file) = open(&disk.bytes()).unwrap();
    assert!(file.keys("").unwrap().iter().any(|(name, ..)| name == "new"));
}

#[test]
fn a_directory_whose_keys_cannot_be_read_is_not_written_without_them() {
    let old = old_file();
    let keys = open(&old).unwrap().1.keys("a").unwrap();
    let number = |at: usize| u32::from_be_bytes(old[at..at + 4].try_into().unwrap()) as usize;
    let body = 100 + number(28);
    let list_of_root = number(body + 26)..number(body + 26) + number(body + 10);
    let count = (keys.len() as u32).to_be_bytes();
    let mut tried = 0;
    // one of these is the number of its keys
    for at in (100..old.len() - 4).filter(|&at| old[at..at + 4] == count && !list_of_root.contains(&at)) {
        let mut damaged = old.clone();
        put(&mut damaged, at as u64, &u32::MAX.to_be_bytes());
        let Ok((disk, mut file)) = open(&damaged) else { continue };
        if file.keys("a").is_ok() {
            continue;
        }
        tried += 1;
        assert!(file.keys("a").is_err(), "again, at {at}");
        text(&mut file, "new", 10);
        file.finish().unwrap();
        let mut repaired = disk.bytes();
        put(&mut repaired, at as u64, &count);
        let (_, mut file) = open(&repaired).unwrap();
        assert_eq!(file.keys("a").unwrap(), keys, "at {at}");
        assert!(file.keys("").unwrap().iter().any(|(name, ..)| name == "new"));
    }
    assert!(tried > 0);
}

/// The directory `a` listed as another class than its label names, as uproot-issue64.root has it.
fn with_other_class(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let body = 100 + number(28);
    let (len, seek) = (number(body + 10), number(body + 26));
    let mut list = bytes[seek..seek + len].to_vec();
    let at = list.windows(11).position(|w| w == b"\x0aTDirectory").unwrap();
    list.splice(at..at + 11, *b"\x0eTDirectoryFile");
    put(&mut list, 0, &(len as u32 + 4).to_be_bytes());
    put(&mut list, 6, &(number(seek + 6) as u32 + 4).to_be_bytes());
    put(&mut list, 18, &(bytes.len() as u32).to_be_bytes());
    put(&mut out, body as u64 + 10, &(len as u32 + 4).to_be_bytes());
    put(&mut out, body as u64 + 26, &(bytes.len() as u32).to_be_bytes());
    out.extend(list);
    let end = out.len() as u32;
    put(&mut out, 12, &end.to_be_bytes());
    out
}

#[test]
fn a_directory_that_is_listed_as_another_class_stays_readable() {
    let folder = Folder::new();
    let path = folder.file("issue64.root");
    let bytes = with_other_class(&old_file());
    std::fs::write(&path, &bytes).unwrap();
    let before = content(&path).unwrap();
    let (disk, mut file) = open(&bytes).unwrap();
    file.mkdir("a/c").unwrap();
    file.finish().unwrap();
    std::fs::write(&path, disk.bytes()).unwrap();
    let mut found = content(&path).unwrap();
    found.retain(|name| name != "a/c;1");
    assert_eq!(found, before);
    assert_eq!(damage(&path), []);
    let listed = File::open(&path, &OpenOptions::default()).unwrap().list("", false).unwrap();
    assert!(listed.iter().any(|l| l.path == "a" && l.key.class == "TDirectoryFile"));
}

#[test]
fn an_update_and_a_replacement_exclude_each_other() {
    let folder = Folder::new();
    let path = folder.file("locked.root");
    std::fs::write(&path, old_file()).unwrap();
    let before = content(&path).unwrap();
    let update = FileWriter::update(&path).unwrap();
    let e = FileWriter::create_with(&path, FileOptions::default()).unwrap_err();
    assert!(e.to_string().contains("another process is writing it"), "{e}");
    drop(update);
    let mut new = FileWriter::create_with(&path, FileOptions::default()).unwrap();
    assert!(FileWriter::update(&path).unwrap_err().to_string().contains("another process is writing it"));
    text(&mut new, "new", 5);
    assert_eq!(content(&path).unwrap(), before);
    new.finish().unwrap();
    assert_eq!(content(&path).unwrap(), ["new;1"]);
    FileWriter::update(&path).unwrap().finish().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_update_says_that_its_file_was_replaced_or_written_to() {
    let folder = Folder::new();
    let path = folder.file("replaced.root");
    let old = old_file();
    let started = || {
        std::fs::write(&path, &old).unwrap();
        let mut file = FileWriter::update(&path).unwrap();
        text(&mut file, "new", 5);
        file
    };
    let file = started();
    std::fs::write(folder.file("other"), &old).unwrap();
    std::fs::rename(folder.file("other"), &path).unwrap();
    let e = file.finish().unwrap_err();
    assert!(e.to_string().contains("another program has replaced the file"), "{e}");
    assert_eq!(std::fs::read(&path).unwrap(), old);
    let file = started();
    std::fs::remove_file(&path).unwrap();
    assert!(file.finish().unwrap_err().to_string().contains("another program has deleted the file"));
    // one that does not ask for the lock, and appends or writes a header
    let file = started();
    let longer = [&old[..], b"more"].concat();
    std::fs::write(&path, &longer).unwrap();
    assert!(file.finish().unwrap_err().to_string().contains("another program has changed its length"));
    assert_eq!(std::fs::read(&path).unwrap(), longer);
    let file = started();
    let mut other = old.clone();
    other[60] ^= 1;
    std::fs::write(&path, &other).unwrap();
    assert!(file.finish().unwrap_err().to_string().contains("its header has changed"));
    assert_eq!(std::fs::read(&path).unwrap(), other);
    // replaced between the first write and the last
    let disk = Disk::holding(&old);
    let mut file = FileWriter::update_on(Box::new(disk.clone()), old.len() as u64, Path::new("a.root"), 1).unwrap();
    text(&mut file, "new", 5);
    disk.0.lock().unwrap().replaced = true;
    assert!(file.finish().unwrap_err().to_string().contains("replaced"));
    assert!(disk.bytes() == old);
}
