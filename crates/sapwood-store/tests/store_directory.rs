//! The directory: owner, links in it, full and read-only disks, other formats.

mod common;

use common::{Folder, MB, Remote, child, files_below, open, role};
use sapwood_span::{ErrorKind, Span};
use sapwood_store::{Store, StoreOptions};
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

fn try_open(directory: &Path) -> sapwood_span::Result<Store> {
    Store::open(&StoreOptions { directory: directory.to_owned(), max_bytes: 100 * MB })
}

fn remote() -> Remote {
    Remote::new("https://host/a.root", 1, 10 * MB)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_new_folder_is_for_its_owner_only() {
    let folder = Folder::new();
    let store = open(&folder.0.join("a/b/store"), 100 * MB);
    let file = store.file(&remote().id);
    remote().insert(&file, 0, 100);
    file.validated();
    store.flush();
    let mut folders = vec![folder.0.join("a/b/store")];
    while let Some(path) = folders.pop() {
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700, "{}", path.display());
        folders.extend(path.read_dir().unwrap().flatten().map(|e| e.path()).filter(|p| p.is_dir()));
    }
    for path in files_below(&folder.0) {
        assert_eq!(path.metadata().unwrap().mode() & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn folders_that_are_not_ours_are_refused() {
    let folder = Folder::new();
    let refused = |what: &str, kind: ErrorKind, words: &str| {
        let e = try_open(&folder.0.join(what)).unwrap_err();
        assert!(e.kind() == kind && e.to_string().contains(words), "{what}: {e}");
        assert!(e.to_string().starts_with(&folder.0.join(what).display().to_string()), "{e}");
    };
    for mode in [0o770, 0o777, 0o702] {
        let path = folder.0.join(format!("mode-{mode:o}"));
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        refused(&format!("mode-{mode:o}"), ErrorKind::Denied, "other users may write");
    }
    std::fs::write(folder.0.join("file"), b"").unwrap();
    refused("file", ErrorKind::Invalid, "is not a directory");
    std::fs::create_dir(folder.0.join("mine")).unwrap();
    std::fs::set_permissions(folder.0.join("mine"), Permissions::from_mode(0o755)).unwrap();
    std::fs::write(folder.0.join("mine/thesis.tex"), b"").unwrap();
    refused("mine", ErrorKind::Invalid, "contains other files");
    assert_eq!(folder.0.join("mine").metadata().unwrap().mode() & 0o777, 0o755, "left alone");
    if is_root() {
        let path = folder.0.join("theirs");
        std::fs::create_dir(&path).unwrap();
        chown(&path, Some(65534), None).unwrap();
        refused("theirs", ErrorKind::Denied, "belongs to another user");
        symlink(&path, folder.0.join("link")).unwrap();
        refused("link", ErrorKind::Denied, "belongs to another user");
    } else {
        let e = try_open(Path::new("/usr")).unwrap_err();
        assert!(e.to_string().contains("belongs to another user"), "{e}");
    }
}

#[test]
fn a_folder_that_others_may_read_is_narrowed() {
    let folder = Folder::new();
    std::fs::create_dir(folder.store()).unwrap();
    std::fs::set_permissions(folder.store(), Permissions::from_mode(0o755)).unwrap();
    folder.open(MB);
    assert_eq!(folder.store().metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn links_inside_are_not_followed() {
    let folder = Folder::new();
    let fill = || {
        let store = folder.open(100 * MB);
        let file = store.file(&remote().id);
        remote().insert(&file, 0, 100_000);
        file.validated();
        store.flush();
        assert!(remote().check(&file, 0, 100_000));
    };
    fill();
    let in_order = |p: &PathBuf| (p.components().count(), p.clone());
    let mut paths = files_below(&folder.store());
    let data = paths.iter().find(|p| p.extension().is_some_and(|e| e == "data")).unwrap().clone();
    paths.extend(data.ancestors().skip(1).take(3).map(Path::to_owned));
    paths.sort_by_key(in_order);
    let outside = folder.0.join("outside");
    let untouched = |outside: &Path, before: &[(PathBuf, Vec<u8>)]| {
        let now: Vec<_> = files_below(outside).into_iter().map(|p| (p.clone(), std::fs::read(p).unwrap())).collect();
        assert!(now == before, "a file behind a link was changed");
    };
    for path in paths {
        if !path.exists() {
            continue;
        }
        // the contents are moved out, and a link leads to them
        std::fs::create_dir(&outside).unwrap();
        let target = outside.join("target");
        std::fs::rename(&path, &target).unwrap();
        symlink(&target, &path).unwrap();
        let before: Vec<_> =
            files_below(&outside).into_iter().map(|p| (p.clone(), std::fs::read(p).unwrap())).collect();
        if path.ends_with("files") {
            let e = try_open(&folder.store()).unwrap_err();
            assert!(e.to_string().contains("symbolic link"), "{e}");
            untouched(&outside, &before);
            std::fs::remove_dir_all(&outside).unwrap();
            std::fs::remove_dir_all(folder.store()).unwrap();
            fill();
            continue;
        }
        let store = folder.open(100 * MB);
        let file = store.file(&remote().id);
        let is_metadata = ["latest", "format", "lock"].iter().any(|n| path.ends_with(n));
        assert!(is_metadata || !remote().check(&file, 0, 100_000), "{}", path.display());
        remote().insert(&file, 0, 100_000);
        file.validated();
        store.flush();
        store.verify(&|_, _| {});
        drop((file, store));
        untouched(&outside, &before);
        let _ = folder.open(100 * MB).purge(None);
        untouched(&outside, &before);
        std::fs::remove_dir_all(&outside).unwrap();
        // start over
        std::fs::remove_dir_all(folder.store()).unwrap();
        fill();
        std::fs::remove_dir_all(folder.store()).unwrap();
        fill();
    }
}

#[test]
fn another_format_is_left_alone() {
    let folder = Folder::new();
    let keep = || {
        let store = folder.open(100 * MB);
        let file = store.file(&remote().id);
        remote().insert(&file, 0, 1000);
        store.flush();
        (remote().check(&file, 0, 1000), store.warnings())
    };
    assert_eq!(keep(), (true, vec![]));
    // format 0, with its checksum
    let sum = twox_hash::XxHash3_64::oneshot(b"sapwood-store 0");
    std::fs::write(folder.store().join("format"), format!("sapwood-store 0 {sum:016x}\n")).unwrap();
    let before = files_below(&folder.store());
    let (read, warnings) = keep();
    assert!(!read && warnings.len() == 1, "{warnings:?}");
    assert!(warnings[0].contains("format 0") && warnings[0].contains("sapwood cache purge"), "{warnings:?}");
    assert_eq!(files_below(&folder.store()), before);
    let store = folder.open(100 * MB);
    assert!(store.list().is_empty() && store.latest(&remote().id.url).is_none());
    assert!(store.purge(None).unwrap().files == 1);
    drop(store);
    assert_eq!(keep(), (true, vec![]));
}

#[test]
fn a_url_with_a_credential_is_not_written() {
    let folder = Folder::new();
    let store = folder.open(100 * MB);
    let remote = Remote::new("https://host/a.root?access_token=abcdef", 1, MB);
    let file = store.file(&remote.id);
    remote.insert(&file, 0, 1000);
    file.validated();
    store.flush();
    assert!(!remote.check(&file, 0, 1000) && store.list().is_empty());
    assert!(store.warnings().len() == 1 && !store.warnings()[0].contains("abcdef"), "{:?}", store.warnings());
    for path in files_below(&folder.store()) {
        assert!(!std::fs::read(path).unwrap().windows(6).any(|w| w == b"abcdef"));
    }
}

#[test]
fn child_process() {
    let Some((role, folder, _)) = role() else { return };
    let store = open(&folder, 100 * MB);
    let file = store.file(&remote().id);
    let held = file.bytes_held();
    // more than there is room for, in several steps
    for at in 0..8 {
        remote().insert(&file, at * MB, 1 << 20);
        store.flush();
        file.validated();
    }
    for part in file.held(Span::new(0, 10 * MB)) {
        assert!(remote().check(&file, part.start, part.len as usize));
    }
    assert!(file.bytes_held() < 8 * MB);
    if role == "read-only" {
        assert!(held == 100_000 && file.bytes_held() == held && remote().check(&file, 0, 100_000));
    }
    assert!(store.status().left_out_bytes > 0);
    assert_eq!(store.warnings().len(), 1, "{:?}", store.warnings());
    println!("warning: {}", store.warnings()[0]);
}

fn warning_of(done: &std::process::Output) -> String {
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    said.lines().find_map(|l| l.split_once("warning: ").map(|(_, w)| w.to_owned())).unwrap_or(said)
}

#[test]
fn files_may_not_grow() {
    let folder = Folder::new();
    // 2048 blocks of 512 or 1024 bytes; the signal is ignored, so that the write fails
    let script = "trap '' XFSZ; ulimit -f 1024; exec \"$@\"";
    let done = Command::new("bash")
        .args(["-c", script, "bash"])
        .arg(std::env::current_exe().unwrap())
        .args(["child_process", "--exact", "--nocapture"])
        .env("SAPWOOD_STORE_TEST", format!("full|0|{}", folder.store().display()))
        .output()
        .unwrap();
    assert!(warning_of(&done).contains("no space for the local cache"), "{}", warning_of(&done));
    assert_eq!(folder.open(100 * MB).verify(&|_, _| {}).damaged, 0);
}

/// A separate file system, removed at the end.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir(&at).ok()?;
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&at).output().ok()?;
        done.status.success().then_some(Self(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let Some(disk) = Mounted::new(folder.0.join("disk"), "size=2m") else {
        return eprintln!("skipped: a_full_disk wants to mount a small file system");
    };
    let done = child("full", &disk.0.join("store"), 0).wait_with_output().unwrap();
    assert!(warning_of(&done).contains("no space for the local cache"), "{}", warning_of(&done));
    let store = open(&disk.0.join("store"), 100 * MB);
    assert_eq!(store.verify(&|_, _| {}).damaged, 0);
    // full before the store is made
    std::fs::write(disk.0.join("ballast"), vec![0; 4 << 20]).unwrap_err();
    let done = child("full", &disk.0.join("other"), 0).wait_with_output().unwrap();
    assert!(warning_of(&done).contains("no space for the local cache"), "{}", warning_of(&done));
}

#[test]
fn a_read_only_disk() {
    let folder = Folder::new();
    let Some(disk) = Mounted::new(folder.0.join("disk"), "size=4m") else {
        return eprintln!("skipped: a_read_only_disk wants to mount a small file system");
    };
    let path = disk.0.join("store");
    let fill = || {
        let store = open(&path, 100 * MB);
        let file = store.file(&remote().id);
        remote().insert(&file, 0, 100_000);
        store.flush();
    };
    fill();
    let done = Command::new("mount").args(["-o", "remount,ro"]).arg(&disk.0).status().unwrap();
    assert!(done.success());
    let done = child("read-only", &path, 0).wait_with_output().unwrap();
    assert!(warning_of(&done).contains("cannot be written"), "{}", warning_of(&done));
    // a store that cannot even be created
    let store = open(&disk.0.join("new"), 100 * MB);
    let file = store.file(&remote().id);
    remote().insert(&file, 0, 100);
    store.flush();
    assert!(file.bytes_held() == 0 && store.warnings().len() == 1, "{:?}", store.warnings());
}

#[test]
fn a_link_that_takes_the_place_of_the_files_is_not_followed_by_an_open_store() {
    let folder = Folder::new();
    let store = folder.open(100 * MB);
    let file = store.file(&remote().id);
    remote().insert(&file, 0, 100_000);
    file.validated();
    store.flush();
    let outside = folder.0.join("outside");
    std::fs::rename(folder.store().join("files"), &outside).unwrap();
    symlink(&outside, folder.store().join("files")).unwrap();
    let before = files_below(&outside);
    assert!(before.len() > 3 && store.latest(&remote().id.url).is_none());
    assert_eq!(store.purge(Some(&remote().id.url)).unwrap().files, 0);
    remote().insert(&file, 200_000, 100_000);
    store.flush();
    assert!(files_below(&outside) == before, "what is behind the link was changed");
}

#[test]
fn a_folder_that_somebody_removed_is_made_again_by_the_next_write() {
    let folder = Folder::new();
    let store = folder.open(100 * MB);
    let file = store.file(&remote().id);
    remote().insert(&file, 0, 100_000);
    file.validated();
    store.flush();
    std::fs::remove_dir_all(folder.store()).unwrap();
    remote().insert(&file, 200_000, 100_000);
    store.flush();
    assert!(remote().check(&file, 200_000, 100_000));
    assert_eq!(store.latest(&remote().id.url), Some(remote().id));
    assert_eq!(folder.store().metadata().unwrap().mode() & 0o777, 0o700);
    assert!(store.warnings().is_empty(), "{:?}", store.warnings());
    assert_eq!(store.list()[0].bytes, 100_000);
}

#[test]
fn a_limit_below_which_nothing_fits_is_one_warning() {
    let folder = Folder::new();
    let store = folder.open(20_000);
    for i in 0..3 {
        let remote = Remote::new(&format!("https://host/{i}.root"), 1, MB);
        let file = store.file(&remote.id);
        remote.insert(&file, 0, 100_000);
        store.flush();
    }
    let warnings = store.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("is too small"), "{warnings:?}");
}

#[test]
fn a_read_only_folder() {
    let folder = Folder::new();
    {
        let store = folder.open(100 * MB);
        let file = store.file(&remote().id);
        remote().insert(&file, 0, 100_000);
        store.flush();
    }
    let mut all = vec![folder.store()];
    let mut i = 0;
    while let Some(path) = all.get(i).cloned() {
        all.extend(path.read_dir().into_iter().flatten().flatten().map(|e| e.path()));
        i += 1;
    }
    for path in &all {
        let mode = if path.is_dir() { 0o500 } else { 0o400 };
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    if is_root() {
        // root may write everywhere: another user runs the child
        use std::os::unix::process::CommandExt;
        all.iter().for_each(|path| chown(path, Some(65534), Some(65534)).unwrap());
        let copy = folder.0.join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        command = Command::new(copy);
        command.uid(65534).gid(65534).current_dir("/");
    }
    let done = command
        .args(["child_process", "--exact", "--nocapture"])
        .env("SAPWOOD_STORE_TEST", format!("read-only|0|{}", folder.store().display()))
        .output()
        .unwrap();
    for path in all.iter().filter(|p| p.is_dir()) {
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    }
    assert!(warning_of(&done).contains("cannot be written"), "{}", warning_of(&done));
}
