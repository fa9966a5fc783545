//! `sapwood cache`.

use super::name;
use crate::units;
use clap::{Args, Subcommand};
use sapwood::local_cache::{self, LocalCache};
use std::path::PathBuf;

/// `sapwood cache`
#[derive(Args)]
#[command(after_help = "\
The local cache keeps the byte ranges that were read from remote files. It is off by default. Turn it on for all commands
and programs of this user with `sapwood cache on`, for one process with SAPWOOD_CACHE_DIR and SAPWOOD_CACHE_MAX, or for
one command with --local-cache. Each time a file is opened, Sapwood checks with the server whether it has changed.

Examples:
  sapwood cache on --max 50GB
  sapwood cache status
  sapwood cache get https://host/data.root
  sapwood cache purge https://host/data.root")]
pub(crate) struct CacheArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: CacheVerb,
}

/// What `sapwood cache` does.
#[derive(Subcommand)]
pub(crate) enum CacheVerb {
    /// Turn the local cache on for this user, or change its directory or size limit
    On(SwitchOn),
    /// Turn the local cache off for this user; cached data remain until they are purged
    Off,
    /// Show the directory, the size limit and the space used
    Status,
    /// List cached files
    Ls,
    /// Show the cached ranges of one file
    Info {
        /// URL of the file
        #[arg(value_name = "URL", value_parser = name())]
        url: String,
    },
    /// Download whole files into the cache; cached parts are not fetched again
    Get {
        /// URLs of the files
        #[arg(value_name = "URL", required = true, value_parser = name())]
        urls: Vec<String>,
    },
    /// Check the checksums of all cached data; remove damaged data
    Verify,
    /// Remove one file, or all files, from the cache
    Purge {
        /// URL of the file [default: all files]
        #[arg(value_name = "URL", value_parser = name())]
        url: Option<String>,
    },
}

/// `sapwood cache on`
#[derive(Args)]
pub(crate) struct SwitchOn {
    /// Cache directory [default: $XDG_CACHE_HOME/sapwood or ~/.cache/sapwood]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Size limit, such as 50GB; the least recently used data are removed [default: unchanged, or 20GB the first time]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max: Option<u64>,
    /// Same as `sapwood cache off`
    #[arg(long, conflicts_with_all = ["dir", "max"])]
    pub off: bool,
}

/// The value of `--local-cache`.
pub(super) fn folder(text: &str) -> Result<LocalCache, String> {
    match text {
        "" => Err("pass a directory, or off".to_owned()),
        "off" => Ok(LocalCache::Off),
        directory => Ok(LocalCache::In { directory: directory.into(), max_bytes: None }),
    }
}

/// A size limit.
pub(super) fn size(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text).map_err(|e| e.to_string())? {
        0 => Err("the size limit must be greater than 0; `sapwood cache off` turns the cache off".to_owned()),
        n => local_cache::check_size(n).map(|()| n).map_err(|e| e.to_string()),
    }
}
