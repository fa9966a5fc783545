use crate::batch::Batch;
use crate::entries::EntryList;
use crate::friend_rows::FriendRequest;
use crate::local_cache::LocalCache;
use bytes::Bytes;
use sapwood_plan::CacheSize;
use sapwood_source::S3Options;
use sapwood_span::{Result, Span, setters};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How a file is opened and read.
///
/// ```no_run
/// use sapwood_engine::OpenOptions;
/// use std::time::Duration;
///
/// # fn main() -> sapwood_span::Result<()> {
/// let file = OpenOptions::new().timeout(Duration::from_secs(10)).threads(2usize).open("https://example.org/events.root")?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Size of the tree cache for scans that do not set their own.
    pub cache: CacheSize,
    /// Number of threads that decompress and decode; 0: one per core.
    pub threads: usize,
    /// A transfer without progress for this long is aborted.
    pub timeout: Duration,
    /// Maximum number of connections to one host; None: the source decides.
    pub max_connections: Option<usize>,
    /// Directory with additional trusted certificates for `https`.
    pub ca_dir: Option<PathBuf>,
    /// Whether to search for everything that can be recovered, regardless of the cost: records after the end stated in
    /// the file's header, which a killed writer left; lost subdirectories; also in remote files.
    pub recover_all: bool,
    /// Whether to recover a file that was not closed, was truncated or lost its directory by scanning all its records;
    /// otherwise it is an error, or seems empty. None: local files, and remote files up to 64 MiB; larger ones are an
    /// error that says so.
    pub recover: Option<bool>,
    /// Called with the progress of recovering a remote file.
    pub on_recovery: Option<OnRecovery>,
    /// Whether to follow redirects from `https` to `http`, and from other hosts to this machine or a link-local address.
    /// The environment variable `SAPWOOD_INSECURE_REDIRECTS=1` allows this for all files.
    pub insecure_redirects: bool,
    /// Whether opening a remote file waits for its keys only. Otherwise it also asks for the bytes where a tree's header
    /// usually is, which saves a round trip when a tree is read next.
    pub keys_only: bool,
    /// The local cache that a remote file is read through.
    pub local_cache: LocalCache,
    /// Whether remote files are read from the local cache alone, without asking whether they have changed.
    pub offline: bool,
    /// How `s3://` URLs are read: address, region and credentials of the store. What is not set comes from the
    /// environment (`AWS_*`) and the AWS configuration files.
    pub s3: S3Options,
}

/// Called with the number of bytes scanned so far, and the size of the file.
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
            keys_only: false,
            local_cache: LocalCache::Configured,
            offline: false,
            s3: S3Options::default(),
        }
    }
}

setters!(OpenOptions { cache: CacheSize, threads: usize, timeout: Duration, recover_all: bool, insecure_redirects: bool, keys_only: bool, local_cache: LocalCache, offline: bool, s3: S3Options } into { max_connections: Option<usize>, ca_dir: Option<PathBuf>, recover: Option<bool>, on_recovery: Option<OnRecovery> });

impl OpenOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The size of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StepSize {
    /// All in one batch.
    All,
    /// A few megabytes, aligned to clusters: suits computing while later data arrive.
    #[default]
    Cluster,
    /// This number of entries.
    Entries(u64),
    /// At most this many bytes of decoded columns, as estimated from the tree's header; aligned to clusters if these are
    /// smaller.
    Bytes(u64),
}

/// Progress of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Entries delivered.
    pub entries: u64,
    /// Entries in all.
    pub total: u64,
    /// Bytes that came over the wire or from disk.
    pub bytes: u64,
}

/// A request of a scan that has ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndedRequest {
    /// When it was sent.
    pub began: Instant,
    /// When its last byte was here, or it had failed.
    pub ended: Instant,
    /// Its ranges, and the first entry that needs each.
    pub ranges: Vec<(Span, u64)>,
}

/// Called with each request of a scan that has ended.
pub type OnRequest = Arc<dyn Fn(&EndedRequest) + Send + Sync>;

/// What a scan reads: what [`ScanBuilder`](crate::ScanBuilder) puts together.
#[derive(Clone)]
#[non_exhaustive]
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
    /// Friends to be read along.
    pub friends: Vec<FriendRequest>,
    /// Records of baskets that are here already, by their position in the file: they are not fetched again.
    pub known: Arc<HashMap<u64, Bytes>>,
    /// Entries in a batch.
    pub step: StepSize,
    /// Size of the tree cache; the file's when not given.
    pub cache: Option<CacheSize>,
    /// Number of threads that decompress and decode; 0: as set when the file was opened.
    pub threads: usize,
    /// Called after every batch.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// Called when a request has ended, from any thread.
    pub on_request: Option<OnRequest>,
    /// Set from another thread to end the scan with an `Interrupted` error.
    pub cancel: Arc<AtomicBool>,
}

/// A condition on entries that is evaluated while a scan reads.
#[derive(Clone)]
#[non_exhaustive]
pub struct Cut {
    /// The branches it needs, as indices into the tree's header.
    pub branches: Vec<usize>,
    /// Says for each row of a batch of these branches (its columns are in their order) whether it passes. It is called by
    /// the thread that asks the scan for batches, for some megabytes at a time, in the order of entries.
    pub test: CutTest,
}

setters!(ScanOptions { friends: Vec<FriendRequest>, known: Arc<HashMap<u64, Bytes>>, step: StepSize, threads: usize, cancel: Arc<AtomicBool> } into { branches: Vec<usize>, entries: Option<Range<u64>>, selected: Option<Arc<EntryList>>, cut: Option<Cut>, cache: Option<CacheSize> });

impl ScanOptions {
    /// A scan of these branches, given as indices into the tree's header.
    pub fn new(branches: impl Into<Vec<usize>>) -> Self {
        Self::default().branches(branches)
    }

    /// Calls a function after every batch.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Calls a function when a request has ended.
    #[must_use]
    pub fn on_request(mut self, ended: impl Fn(&EndedRequest) + Send + Sync + 'static) -> Self {
        self.on_request = Some(Arc::new(ended));
        self
    }
}

impl Cut {
    /// A condition on these branches; for `test` see [`Cut::test`].
    pub fn new(
        branches: impl Into<Vec<usize>>,
        test: impl Fn(&Batch) -> Result<Vec<bool>> + Send + Sync + 'static,
    ) -> Self {
        Self { branches: branches.into(), test: Arc::new(test) }
    }
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
            friends: Vec::new(),
            known: Arc::default(),
            step: StepSize::Cluster,
            cache: None,
            threads: 0,
            progress: None,
            on_request: None,
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }
}
