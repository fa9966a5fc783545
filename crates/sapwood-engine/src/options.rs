use crate::batch::Batch;
use crate::entries::EntryList;
use crate::local_cache::LocalCache;
use bytes::Bytes;
use sapwood_plan::CacheSize;
use sapwood_span::Result;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How a file is opened and read.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Size of the tree cache for scans that do not say otherwise.
    pub cache: CacheSize,
    /// Threads that inflate and decode; 0: as many as there are cores.
    pub threads: usize,
    /// A transfer on which no byte moves for so long is given up.
    pub timeout: Duration,
    /// Connections to one host at most; none: what the source finds best.
    pub max_connections: Option<usize>,
    /// Folder of further certificates to trust, for `https`.
    pub ca_dir: Option<PathBuf>,
    /// Whether all is looked for that can be recovered, at whatever cost: records behind the end that the header of a
    /// file names, which a writer left that was killed; directories below the root that are lost; remote files.
    pub recover_all: bool,
    /// Whether a file that was never closed, was truncated or has lost its directory is recovered by looking at all its
    /// records; else it is refused or seems empty. None: local files are, those far away up to 64 MiB, and larger ones
    /// end in an error that says so.
    pub recover: Option<bool>,
    /// Told how far that has come with a file far away.
    pub on_recovery: Option<OnRecovery>,
    /// Whether redirects are followed from `https` to `http`, and from elsewhere to this machine or its link. The
    /// environment variable `SAPWOOD_INSECURE_REDIRECTS=1` says the same for all files.
    pub insecure_redirects: bool,
    /// The local cache that a remote file is read through.
    pub local_cache: LocalCache,
    /// Whether remote files are read from the local cache alone, without asking whether they have changed.
    pub offline: bool,
}

/// Called with the bytes that were looked at so far, and with those of the whole file.
#[derive(Clone)]
pub struct OnRecovery(pub Arc<dyn Fn(u64, u64) + Send + Sync>);

impl std::fmt::Debug for OnRecovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnRecovery")
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            cache: CacheSize::Auto,
            threads: 0,
            timeout: Duration::from_secs(60),
            max_connections: None,
            ca_dir: None,
            recover: None,
            recover_all: false,
            on_recovery: None,
            insecure_redirects: false,
            local_cache: LocalCache::Configured,
            offline: false,
        }
    }
}

/// How many entries come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepSize {
    /// All in one batch.
    All,
    /// Some megabytes, along the clusters: what suits computing while later data are on their way.
    #[default]
    Cluster,
    /// So many entries.
    Entries(u64),
    /// So many bytes of decoded columns, at most, as far as the tree's header tells; along the clusters where they are
    /// smaller than that.
    Bytes(u64),
}

/// How far a scan has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Entries delivered.
    pub entries: u64,
    /// Entries in all.
    pub total: u64,
    /// Bytes that came over the wire or from disk.
    pub bytes: u64,
}

/// What a scan reads.
#[derive(Clone)]
pub struct ScanOptions {
    /// Branches, as indices into the tree's header.
    pub branches: Vec<usize>,
    /// Entries; all when not given.
    pub entries: Option<Range<u64>>,
    /// Only these of the entries: baskets without one of them are not fetched, and columns have a row for each of them.
    pub selected: Option<Arc<EntryList>>,
    /// Only the entries that pass: the branches it needs are read first, and of the other branches only the baskets with
    /// an entry that passed. Columns have a row for each entry that did.
    pub cut: Option<Cut>,
    /// Records of baskets that are here already, by their position in the file: they are not fetched again.
    pub known: Arc<HashMap<u64, Bytes>>,
    /// Entries in a batch.
    pub step: StepSize,
    /// Size of the tree cache; the file's when not given.
    pub cache: Option<CacheSize>,
    /// Threads that inflate and decode; 0: as the file was opened.
    pub threads: usize,
    /// Called after every batch.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// Set from another thread to end the scan with an `Interrupted` error.
    pub cancel: Arc<AtomicBool>,
}

/// A condition on entries that is evaluated while a scan reads.
#[derive(Clone)]
pub struct Cut {
    /// The branches it needs, as indices into the tree's header.
    pub branches: Vec<usize>,
    /// Says for each row of a batch of these branches (its columns are in their order) whether it passes. It is called by
    /// the thread that asks the scan for batches, for some megabytes at a time, in the order of entries.
    pub test: CutTest,
}

/// See [`Cut::test`].
pub type CutTest = Arc<dyn Fn(&Batch) -> Result<Vec<bool>> + Send + Sync>;

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            branches: Vec::new(),
            entries: None,
            selected: None,
            cut: None,
            known: Arc::default(),
            step: StepSize::Cluster,
            cache: None,
            threads: 0,
            progress: None,
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}
