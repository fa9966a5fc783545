//! The store of one directory.

mod file;
mod limit;
mod queue;
mod registry;
pub(crate) mod version;
mod writer;

use crate::id::{FileId, LONGEST, version_hash};
use crate::locked;
use crate::recent::Recent;
use crate::segment::OpenFiles;
use crate::store_directory;
use crate::store_directory::prepare;
use crate::survey::{encode_latest, read_latest};
use crate::warning::{Kind, Warnings};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

pub use file::CachedFile;
use limit::Limit;
use queue::Queue;
use registry::find_or_make;
use version::FileVersion;

/// Where a store is and how much it may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// The directory. It is created if it does not exist.
    pub directory: PathBuf,
    /// Bytes that it may occupy. Pieces are left out if nothing else can be removed.
    pub max_bytes: u64,
}

/// A directory with byte ranges of remote files.
///
/// Cheap to clone. Opening a directory again gives the same store, with the new limit.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) process: u32,
    pub(crate) directory: PathBuf,
    pub(crate) limit: Limit,
    pub(crate) warnings: Warnings,
    pub(crate) queue: Arc<Queue>,
    pub(crate) open_files: OpenFiles,
    pub(crate) recent: Recent,
    pub(crate) counts: Counts,
    files: Mutex<HashMap<PathBuf, Weak<FileVersion>>>,
    /// In a forked child: versions whose handles came from the parent.
    adopted: Mutex<HashMap<PathBuf, Arc<FileVersion>>>,
    /// Whether the format is known.
    usable: AtomicBool,
    writable: AtomicBool,
    writing: AtomicBool,
}

/// The counters of this process.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: AtomicU64,
    pub(crate) hit_bytes: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) missed_bytes: AtomicU64,
    pub(crate) left_out: AtomicU64,
}

impl Store {
    /// Opens a store; creates its directory, for its owner only, if it does not exist.
    ///
    /// # Errors
    /// The directory belongs to another user, others may write to it, it holds other files, or it cannot be created. A
    /// disk that is full or read-only is no error: the store then holds nothing and has a warning.
    pub fn open(options: &StoreOptions) -> Result<Self> {
        let warnings = Warnings::default();
        let prepared = prepare(&options.directory, &warnings)?;
        let inner =
            find_or_make(&prepared.directory, || Inner::new(prepared.directory.clone(), prepared.usable, warnings));
        if prepared.usable && !inner.is_usable() {
            inner.set_usable();
        }
        inner.limit.set_max_bytes(options.max_bytes);
        Ok(Self(inner))
    }

    /// This process's replacement for a store of its parent.
    pub(crate) fn in_child(parent: &Inner) -> Self {
        let (directory, max_bytes) = (parent.directory.clone(), parent.limit.max_bytes());
        Self::open(&StoreOptions { directory: directory.clone(), max_bytes })
            .unwrap_or_else(|_| Self(Arc::new(Inner::new(directory, false, Warnings::default()))))
    }

    /// This store in this process: a forked child has its own.
    pub(crate) fn here(&self) -> Arc<Inner> {
        if self.0.process == std::process::id() { self.0.clone() } else { Self::in_child(&self.0).0 }
    }

    /// One version of a file. Never fails: what cannot be read or written is treated as absent, with one warning.
    pub fn file(&self, id: &FileId) -> CachedFile {
        let version = self.here().version(id);
        if version.is_usable() {
            version.look(&mut locked(&version.disk));
        }
        CachedFile(version)
    }

    /// The version of this URL that was validated last, for use without the origin.
    pub fn latest(&self, url: &str) -> Option<FileId> {
        let inner = self.here();
        let folder = inner.url_folder(url);
        let is_ours =
            inner.is_usable() && store_directory::is_folder(&inner.files()) && store_directory::is_folder(&folder);
        let hash = read_latest(&folder).filter(|_| is_ours)?;
        let path = folder.join(format!("{hash:032x}"));
        let file = store_directory::open_file(&path.join("identity"), false)
            .ok()
            .filter(|_| store_directory::is_folder(&path))?;
        let bytes = store_directory::read_small(&file, LONGEST).ok()?;
        FileId::decode(&bytes).filter(|id| id.url == url && version_hash(&bytes) == hash)
    }

    /// What users should know: the directory cannot be written, the disk is full, something is damaged, the format is
    /// another one. Each is reported once.
    pub fn warnings(&self) -> Vec<String> {
        self.here().warnings.all()
    }

    /// Waits until everything inserted so far is written or left out.
    pub fn flush(&self) {
        self.here().queue.flush();
    }
}

impl Store {
    /// In a forked child: the version that replaces a handle of the parent. It stays in use until the process ends.
    pub(crate) fn adopted(&self, id: &FileId) -> Arc<FileVersion> {
        let version = self.0.version(id);
        let new = locked(&self.0.adopted).insert(version.folder.clone(), version.clone()).is_none();
        if new && version.is_usable() {
            version.look(&mut locked(&version.disk));
        }
        version
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("directory", &self.0.directory).finish_non_exhaustive()
    }
}

impl Inner {
    fn new(directory: PathBuf, usable: bool, warnings: Warnings) -> Self {
        Self {
            process: std::process::id(),
            directory,
            limit: Limit::default(),
            warnings,
            queue: Arc::default(),
            open_files: OpenFiles::default(),
            recent: Recent::default(),
            counts: Counts::default(),
            files: Mutex::default(),
            adopted: Mutex::default(),
            usable: AtomicBool::new(usable),
            writable: AtomicBool::new(true),
            writing: AtomicBool::new(false),
        }
    }

    fn version(self: &Arc<Self>, id: &FileId) -> Arc<FileVersion> {
        let new = Arc::new(FileVersion::new(self.clone(), id));
        let mut files = locked(&self.files);
        let known = files.get(&new.folder).and_then(Weak::upgrade).filter(|v| v.id == *id);
        let version = known.unwrap_or_else(|| {
            files.retain(|_, v| v.strong_count() > 0);
            files.insert(new.folder.clone(), Arc::downgrade(&new));
            new
        });
        drop(files);
        version
    }

    /// Versions that this process uses.
    pub(crate) fn in_use(&self) -> Vec<Arc<FileVersion>> {
        locked(&self.files).values().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    pub(crate) fn url_folder(&self, url: &str) -> PathBuf {
        version::url_folder(&self.files(), url)
    }

    pub(crate) fn is_usable(&self) -> bool {
        self.usable.load(Relaxed)
    }

    /// The directory was emptied and now has this version's format.
    pub(crate) fn set_usable(&self) {
        self.usable.store(true, Relaxed);
        self.writable.store(true, Relaxed);
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable.load(Relaxed)
    }

    pub(crate) fn segment_bytes(&self) -> u64 {
        self.limit.segment_bytes()
    }

    pub(crate) fn is_latest(&self, url: &str, version: u128) -> bool {
        read_latest(&self.url_folder(url)) == Some(version)
    }

    /// Records the version that was validated last. The directory's lock must be held.
    pub(crate) fn write_latest(&self, url: &str, version: u128) -> io::Result<()> {
        store_directory::replace_file(&self.url_folder(url).join("latest"), &encode_latest(version))
    }

    /// A write failed: warns once, and stops writing where a retry makes no sense.
    pub(crate) fn write_failed(&self, error: &io::Error) {
        if self.warnings.write_failed(&self.directory, error) {
            self.writable.store(false, Relaxed);
        }
    }

    pub(crate) fn defect(&self, error: &Error) {
        self.warnings.add(Kind::Failed, || error.to_string());
    }

    pub(crate) fn count(&self, hit: bool, bytes: u64) {
        let counts = &self.counts;
        let (reads, sum) = if hit { (&counts.hits, &counts.hit_bytes) } else { (&counts.misses, &counts.missed_bytes) };
        reads.fetch_add(1, Relaxed);
        sum.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn left_out(&self, bytes: u64) {
        self.counts.left_out.fetch_add(bytes, Relaxed);
    }

    /// Starts the writer thread, once.
    pub(crate) fn start_writer(&self) {
        if self.writing.swap(true, Relaxed) {
            return;
        }
        let (queue, step) = (self.queue.clone(), self.limit.step());
        let started = std::thread::Builder::new().name("sapwood-store".into()).spawn(move || writer::run(&queue, step));
        if started.is_err() {
            // nothing reads the queue: add nothing to it
            self.writable.store(false, Relaxed);
            self.queue.abandon();
            self.warnings.add(Kind::Failed, || "cannot start the thread that writes the local cache".to_owned());
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // in a forked child, the queue may be locked by a thread that does not exist there
        if self.process == std::process::id() {
            self.queue.close();
        }
    }
}
