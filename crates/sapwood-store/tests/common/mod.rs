//! Shared by the tests: temporary directories, computed content, child processes that run one test again.
#![allow(dead_code)]

use bytes::Bytes;
use sapwood_store::{CachedFile, FileId, FileVersion, Store, StoreOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

pub const MB: u64 = 1 << 20;

/// A directory that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = format!("sapwood-store-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn store(&self) -> PathBuf {
        self.0.join("store")
    }

    pub fn open(&self, max_bytes: u64) -> Store {
        open(&self.store(), max_bytes)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn open(directory: &Path, max_bytes: u64) -> Store {
    Store::open(&StoreOptions { directory: directory.to_owned(), max_bytes }).unwrap()
}

/// A file whose bytes follow from `seed`.
#[derive(Clone)]
pub struct Remote {
    pub id: FileId,
    seed: u64,
    /// Small files are computed once.
    content: Bytes,
}

impl Remote {
    pub fn new(url: &str, seed: u64, size: u64) -> Self {
        let mut out =
            Self { id: FileId { url: url.to_owned(), version: FileVersion::default() }, seed, content: Bytes::new() };
        if size <= MB {
            out.content = out.bytes(0, size as usize);
        }
        let beginning = out.bytes(0, size.min(512) as usize);
        out.id.version =
            FileVersion { size, etag: Some(format!("\"{seed}\"")), modified: None, checksum: None, beginning };
        out
    }

    pub fn bytes(&self, start: u64, len: usize) -> Bytes {
        if !self.content.is_empty() {
            let mut out = self.content.slice((start as usize).min(self.content.len())..);
            if out.len() >= len {
                out.truncate(len);
                return out;
            }
        }
        let mut out = Vec::with_capacity(len + 8);
        let mut word = start / 8;
        while out.len() < len + 8 {
            out.extend(mix(word ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes());
            word += 1;
        }
        let skip = (start % 8) as usize;
        Bytes::from(out).slice(skip..skip + len)
    }

    pub fn insert(&self, file: &CachedFile, start: u64, len: usize) {
        file.insert(start, self.bytes(start, len));
    }

    /// Reads and returns whether something was found; checks that it is correct.
    pub fn check(&self, file: &CachedFile, start: u64, len: usize) -> bool {
        match file.read(sapwood_span::Span::new(start, len as u64)) {
            Some(got) => {
                assert!(got == self.bytes(start, len), "wrong bytes at {start}+{len} of {}", self.id.url);
                true
            }
            None => false,
        }
    }
}

/// Pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % n.max(1)
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// All regular files below a directory.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            out.extend(files_below(&entry.path()));
        } else if kind.is_file() {
            out.push(entry.path());
        }
    }
    out.sort();
    out
}

/// Bytes that a directory occupies, as `du` counts them.
pub fn occupied(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = folder.symlink_metadata() else { return 0 };
    let inside: u64 = match folder.read_dir() {
        Ok(entries) if meta.is_dir() => entries.flatten().map(|e| occupied(&e.path())).sum(),
        _ => 0,
    };
    meta.blocks() * 512 + inside
}

/// The role of this process: none in the test itself.
pub fn role() -> Option<(String, PathBuf, u64)> {
    let said = std::env::var("SAPWOOD_STORE_TEST").ok()?;
    let mut parts = said.splitn(3, '|');
    let mut next = || parts.next().unwrap_or_default().to_owned();
    let (role, number, folder) = (next(), next(), next());
    Some((role, folder.into(), number.parse().unwrap()))
}

/// Runs the test `child` of this test program in another process.
pub fn child(role: &str, folder: &Path, number: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child_process", "--exact", "--nocapture", "--test-threads=1"])
        .env("SAPWOOD_STORE_TEST", format!("{role}|{number}|{}", folder.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}
