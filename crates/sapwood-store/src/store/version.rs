//! One version of a file in this process: its pieces, its directory, and the lock that keeps it from being evicted.

use crate::id::{FileId, LONGEST, url_name, version_hash};
use crate::locked;
use crate::pieces::Pieces;
use crate::segment::{Appending, Segment};
use crate::store::Inner;
use crate::store_directory::{is_folder, lock, make_folder, open_file, read_small, replace_file};
use crate::warning::Kind;
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One version of a file.
pub(crate) struct FileVersion {
    pub(crate) store: Arc<Inner>,
    pub(crate) id: FileId,
    /// The identity as stored on disk; none if this version cannot be kept.
    pub(crate) encoded: Option<Vec<u8>>,
    pub(crate) hash: u128,
    pub(crate) folder: PathBuf,
    /// The held ranges. Never locked while waiting for the disk.
    pub(crate) pieces: Mutex<Pieces>,
    /// Locked during disk work, and before `pieces`.
    pub(crate) disk: Mutex<Disk>,
}

/// The files of a version's directory that this process has open.
#[derive(Default)]
pub(crate) struct Disk {
    /// The identity, with a shared lock: nothing is evicted while some process has one.
    pub(crate) pin: Option<File>,
    pub(crate) known: HashMap<String, Known>,
    pub(crate) appending: Option<Appending>,
    /// The origin confirmed this version before there was a directory to record it in.
    validated: bool,
    pub(crate) looked: Option<Instant>,
}

/// A segment, and how far its index was read.
pub(crate) struct Known {
    pub(crate) segment: Arc<Segment>,
    pub(crate) next: u64,
    /// Whether nothing damaged was found: only then is it appended to. New data must not be where damaged slots point.
    pub(crate) sound: bool,
}

impl FileVersion {
    /// The version with this identity; nothing is read yet.
    pub(crate) fn new(store: Arc<Inner>, id: &FileId) -> Self {
        let encoded = id.encode();
        if encoded.is_none() {
            store.warnings.add(Kind::NotKept, || {
                let url = sapwood_span::redact(&id.url);
                format!("{url} is not kept in the local cache: its URL has a credential, or is too long")
            });
        }
        let hash = version_hash(encoded.as_deref().unwrap_or_default());
        let folder = store.url_folder(&id.url).join(format!("{hash:032x}"));
        Self { store, id: id.clone(), encoded, hash, folder, pieces: Mutex::default(), disk: Mutex::default() }
    }

    /// Whether this version can be kept and the store can be read.
    pub(crate) fn is_usable(&self) -> bool {
        self.encoded.is_some() && self.store.is_usable()
    }

    /// Uses the directory if it exists. Returns whether it does.
    pub(crate) fn attach(&self, disk: &mut Disk) -> io::Result<bool> {
        let identity = self.folder.join("identity");
        if let Some(pin) = &disk.pin {
            if is_same(pin, &identity) {
                return Ok(true);
            }
            self.detach(disk);
        }
        let in_folders = [self.folder.parent().and_then(Path::parent), self.folder.parent(), Some(&self.folder)];
        if !in_folders.into_iter().flatten().all(is_folder) {
            return Ok(false);
        }
        let pin = match open_file(&identity, false) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other?,
        };
        if !lock_shared(&pin)? || !is_same(&pin, &identity) {
            return Ok(false);
        }
        let found = read_small(&pin, LONGEST).ok();
        if found.is_none() || found != self.encoded {
            self.store.warnings.damaged(&identity);
            return Ok(false);
        }
        disk.pin = Some(pin);
        Ok(true)
    }

    /// Drops what is known of the disk.
    pub(crate) fn detach(&self, disk: &mut Disk) {
        *disk = Disk { validated: disk.validated, ..Disk::default() };
        locked(&self.pieces).clear_disk();
    }

    /// Uses the directory, and creates it first if necessary.
    pub(crate) fn create(&self, disk: &mut Disk) -> io::Result<()> {
        if self.attach(disk)? {
            return Ok(());
        }
        let _lock = lock(&self.store.directory)?;
        if self.attach(disk)? {
            return Ok(());
        }
        self.remove_damaged()?;
        let encoded = self.encoded.as_deref().ok_or(io::ErrorKind::InvalidInput)?;
        let url = self.store.url_folder(&self.id.url);
        make_folder(&self.store.files())?;
        make_folder(&url)?;
        make_folder(&self.folder)?;
        replace_file(&self.folder.join("identity"), encoded)?;
        if !self.attach(disk)? {
            return Err(io::Error::other("the directory of a file was replaced"));
        }
        if disk.validated { self.write_latest() } else { Ok(()) }
    }

    /// Removes a directory whose identity is damaged, unless another process uses it.
    fn remove_damaged(&self) -> io::Result<()> {
        if self.store.files().is_symlink() {
            return Err(io::Error::other("its directory `files` is a symbolic link"));
        }
        for link in [self.store.url_folder(&self.id.url), self.folder.clone()] {
            // nothing of ours is behind a link
            if link.is_symlink() {
                std::fs::remove_file(link)?;
            }
        }
        let identity = self.folder.join("identity");
        if identity.is_symlink() {
            std::fs::remove_file(&identity)?;
        }
        match open_file(&identity, true) {
            Ok(file) => file.try_lock().map_err(|_| io::Error::from(io::ErrorKind::ResourceBusy))?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        if is_folder(&self.folder) { std::fs::remove_dir_all(&self.folder) } else { Ok(()) }
    }

    /// Records that the origin has just confirmed this version.
    pub(crate) fn note_validated(&self) -> io::Result<()> {
        let mut disk = locked(&self.disk);
        disk.validated = true;
        if self.store.is_latest(&self.id.url, self.hash) || !self.attach(&mut disk)? {
            return Ok(());
        }
        let _lock = lock(&self.store.directory)?;
        // another process may have purged it meanwhile
        if self.attach(&mut disk)? { self.write_latest() } else { Ok(()) }
    }

    fn write_latest(&self) -> io::Result<()> {
        self.store.write_latest(&self.id.url, self.hash)
    }
}

impl Drop for FileVersion {
    fn drop(&mut self) {
        // what was in use can be evicted now; in a forked child, locks of the parent may be held forever
        if self.store.process == std::process::id() {
            self.store.limit.try_again();
        }
    }
}

/// Whether the open file is still the one at the path.
pub(crate) fn is_same(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// A shared lock; false if another process is removing the version.
fn lock_shared(file: &File) -> io::Result<bool> {
    for _ in 0..20 {
        match file.try_lock_shared() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
    Ok(false)
}

/// The directory of a URL.
pub(crate) fn url_folder(files: &Path, url: &str) -> PathBuf {
    files.join(url_name(url))
}
