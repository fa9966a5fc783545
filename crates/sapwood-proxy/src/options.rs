//! Options of a proxy.

use crate::allow::AllowRule;
use sapwood_serve::ServerOptions;
use sapwood_source::S3Options;
use std::path::PathBuf;
use std::time::Duration;

/// Options of a [`Proxy`](crate::Proxy).
#[derive(Clone)]
#[non_exhaustive]
pub struct ProxyOptions {
    /// URLs of origins that have the same tree of files: where one fails, the next one is tried. The proxy's paths are
    /// theirs.
    pub origins: Vec<String>,
    /// What else clients may name after the proxy's address: `root://proxy//root://host//path`,
    /// `http://proxy/https://host/path`.
    pub allow: Vec<AllowRule>,
    /// The directory of the local cache; none caches in memory only.
    pub cache_directory: Option<PathBuf>,
    /// Bytes that the local cache may hold.
    pub cache_max_bytes: u64,
    /// How long an origin's answer about a file is valid for further opens, by clients with the same credential.
    pub fresh: Duration,
    /// How long connecting to an origin may take.
    pub connect_timeout: Duration,
    /// An origin that sends nothing for this long has failed.
    pub progress_timeout: Duration,
    /// Bytes held in memory for clients that read the same at the same time.
    pub memory: u64,
    /// Bytes fetched at most for one client before it requests them; 0 fetches nothing ahead.
    pub prefetch: u64,
    /// How S3 stores are read: address, region, and the proxy's own credentials.
    pub s3: S3Options,
    /// Whether S3 stores among the origins are read with the proxy's own credentials for clients that send none: all who can
    /// connect can then read what these allow.
    pub share_credentials: bool,
    /// Directory of further trusted certificates (PEM) for origins, besides the system's.
    pub ca_dir: Option<PathBuf>,
    /// Where to listen, certificates, limits, log.
    pub server: ServerOptions,
}

sapwood_span::setters!(ProxyOptions {
    origins: Vec<String>,
    allow: Vec<AllowRule>,
    cache_directory: Option<PathBuf>,
    cache_max_bytes: u64,
    fresh: Duration,
    connect_timeout: Duration,
    progress_timeout: Duration,
    memory: u64,
    prefetch: u64,
    s3: S3Options,
    share_credentials: bool,
    ca_dir: Option<PathBuf>,
    server: ServerOptions,
} into {});

impl Default for ProxyOptions {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            allow: Vec::new(),
            cache_directory: None,
            cache_max_bytes: sapwood_engine::local_cache::DEFAULT_MAX_BYTES,
            fresh: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(10),
            progress_timeout: Duration::from_secs(30),
            memory: 64 << 20,
            prefetch: sapwood_prefetch::USUAL_AHEAD,
            s3: S3Options::default(),
            share_credentials: false,
            ca_dir: None,
            server: ServerOptions::default(),
        }
    }
}
