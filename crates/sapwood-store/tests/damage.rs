//! Whatever happens to the files of a store, a read returns correct bytes or nothing.

mod common;

use common::{Folder, MB, Random, Remote, files_below, open};
use sapwood_span::Span;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

const SIZE: u64 = 400_000;

fn remotes() -> &'static [Remote] {
    static ALL: OnceLock<Vec<Remote>> = OnceLock::new();
    ALL.get_or_init(make_remotes)
}

fn make_remotes() -> Vec<Remote> {
    let mut out: Vec<Remote> = (1..5).map(|i| Remote::new(&format!("https://host/{i}.root"), i, SIZE)).collect();
    // another version of the first
    out.push(Remote::new("https://host/1.root", 9, SIZE));
    out
}

/// Inserts what is missing of each file, in pieces of many sizes.
fn fill(folder: &Path) {
    let store = open(folder, 100 * MB);
    let mut random = Random(5);
    for remote in remotes() {
        let file = store.file(&remote.id);
        let mut at = 0;
        while at < SIZE {
            let len = (1 + random.below(40_000)).min(SIZE - at);
            remote.insert(&file, at, len as usize);
            at += len;
        }
        file.validated();
    }
    store.flush();
}

/// Reads everything in pieces; returns the number of bytes found.
fn read_all(folder: &Path) -> u64 {
    let store = open(folder, 100 * MB);
    let mut read = 0;
    for remote in remotes() {
        let file = store.file(&remote.id);
        for at in (0..SIZE).step_by(5000) {
            if remote.check(&file, at, 5000) {
                read += 5000;
            }
        }
        for part in file.held(Span::new(0, SIZE)) {
            remote.check(&file, part.start, part.len as usize);
        }
        if let Some(id) = store.latest(&remote.id.url) {
            assert!(remotes().iter().any(|r| r.id == id), "a version that never was: {id:?}");
        }
    }
    read
}

const ALL: u64 = SIZE * 5;

#[test]
fn a_thousand_flipped_bytes() {
    let folder = Folder::new();
    fill(&folder.store());
    assert_eq!(read_all(&folder.store()), ALL);
    let mut random = Random(1);
    for round in 0..25 {
        for _ in 0..40 {
            let files = files_below(&folder.store());
            // as many in small files as in large ones
            let path = &files[random.below(files.len() as u64) as usize];
            let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
            let len = file.metadata().unwrap().len();
            if len == 0 {
                continue;
            }
            let (at, mut byte) = (random.below(len), [0]);
            file.read_exact_at(&mut byte, at).unwrap();
            byte[0] ^= 1 + random.below(255) as u8;
            file.write_all_at(&byte, at).unwrap();
        }
        let read = read_all(&folder.store());
        assert!(read < ALL, "round {round}: nothing noticed");
        // dropped bytes can be inserted again, and stay
        fill(&folder.store());
        assert_eq!(read_all(&folder.store()), ALL, "round {round}");
    }
    let found = open(&folder.store(), 100 * MB).verify(&|_, _| {});
    assert!(found.pieces > 100, "{found:?}");
    let again = open(&folder.store(), 100 * MB).verify(&|_, _| {});
    assert_eq!((again.damaged, again.pieces), (0, found.pieces), "after {found:?}");
    assert_eq!(read_all(&folder.store()), ALL);
}

#[test]
fn verify_drops_what_is_damaged_and_counts_it() {
    let folder = Folder::new();
    fill(&folder.store());
    let clean = open(&folder.store(), 100 * MB).verify(&|_, _| {});
    assert_eq!((clean.files, clean.bytes, clean.damaged), (5, ALL, 0));
    for path in files_below(&folder.store()).iter().filter(|p| p.extension().is_some_and(|e| e == "data")) {
        std::fs::File::options().write(true).open(path).unwrap().write_all_at(b"damaged!", 100).unwrap();
    }
    let store = open(&folder.store(), 100 * MB);
    let remote = &remotes()[0];
    let file = store.file(&remote.id);
    assert_eq!(file.bytes_held(), SIZE);
    let found = store.verify(&|done, all| assert!(done <= all));
    assert_eq!((found.files, found.damaged, found.pieces), (5, 5, clean.pieces - 5), "{found:?}");
    assert_eq!(found.bytes + found.damaged_bytes, ALL);
    assert!(file.bytes_held() < SIZE, "an open file knows");
    assert_eq!(store.warnings().len(), 1, "{:?}", store.warnings());
    assert_eq!(store.verify(&|_, _| {}).damaged, 0);
}

#[test]
fn truncated_and_foreign_files() {
    let mut random = Random(3);
    for round in 0..60 {
        let folder = Folder::new();
        fill(&folder.store());
        let files = files_below(&folder.store());
        let path = &files[(round * files.len() / 60).min(files.len() - 1)];
        let mut content = std::fs::read(path).unwrap();
        match round % 5 {
            0 => content.truncate(random.below(content.len() as u64) as usize),
            1 => content.clear(),
            2 => content = (0..random.below(100_000)).map(|_| random.below(256) as u8).collect(),
            3 => content.extend((0..random.below(10_000)).map(|_| random.below(256) as u8)),
            // a file of the same kind from another version
            _ => {
                let same = |p: &&std::path::PathBuf| p.extension() == path.extension() && *p != path;
                content = files.iter().find(same).map(|p| std::fs::read(p).unwrap()).unwrap_or_default();
            }
        }
        std::fs::write(path, &content).unwrap();
        read_all(&folder.store());
        fill(&folder.store());
        assert_eq!(read_all(&folder.store()), ALL, "round {round}, {}", path.display());
    }
}

#[test]
fn missing_files() {
    let folder = Folder::new();
    fill(&folder.store());
    for i in 0..files_below(&folder.store()).len() {
        let files = files_below(&folder.store());
        if let Some(path) = files.get(i) {
            std::fs::remove_file(path).unwrap();
            read_all(&folder.store());
            fill(&folder.store());
            assert_eq!(read_all(&folder.store()), ALL, "without {}", path.display());
        }
    }
}

#[test]
fn a_segment_in_the_folder_of_another_version_gives_nothing() {
    let folder = Folder::new();
    fill(&folder.store());
    let (a, b) = (&remotes()[0], &remotes()[4]);
    assert_eq!(a.id.url, b.id.url);
    let segments: Vec<_> = files_below(&folder.store())
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "data" || e == "index"))
        .collect();
    // all segments into all directories
    for from in &segments {
        for to in &segments {
            let to = to.parent().unwrap().join(from.file_name().unwrap());
            if !to.exists() {
                std::fs::copy(from, to).unwrap();
            }
        }
    }
    assert_eq!(read_all(&folder.store()), ALL);
}

/// An index extended with zeros would otherwise be read for minutes.
#[test]
fn an_index_that_grew_is_not_read_to_its_end() {
    let folder = Folder::new();
    fill(&folder.store());
    let mut grown = 0;
    for path in files_below(&folder.store()).iter().filter(|p| p.extension().is_some_and(|e| e == "index")) {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
        grown += 1;
    }
    assert!(grown > 0);
    read_all(&folder.store());
    fill(&folder.store());
    assert_eq!(read_all(&folder.store()), ALL);
}
