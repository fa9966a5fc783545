//! `sapwood cache`.

use super::name;
use crate::units;
use clap::{Args, Subcommand};
use sapwood::local_cache::LocalCache;
use std::path::PathBuf;

/// `sapwood cache`
#[derive(Args)]
#[command(after_help = "\
The local cache keeps the byte ranges that were read of remote files. It is off unless it is turned on, for all commands
and programs of this user by `sapwood cache on`, for one process by SAPWOOD_CACHE_DIR and SAPWOOD_CACHE_MAX, or for one
command by --local-cache. Each time a file is opened, its server is asked whether it has changed.

Examples:
  sapwood cache on --max 50GB
  sapwood cache status
  sapwood cache get https://host/data.root
  sapwood cache purge https://host/data.root")]
pub struct CacheArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: CacheVerb,
}

/// What `sapwood cache` does.
#[derive(Subcommand)]
pub enum CacheVerb {
    /// Turn the local cache on for this user, or change its folder or size
    On(SwitchOn),
    /// Turn the local cache off for this user; what it holds stays until it is purged
    Off,
    /// Show the folder, the limit, and how much is held
    Status,
    /// List the files of which something is held
    Ls,
    /// Show what is held of one file
    Info {
        /// The file's URL
        #[arg(value_name = "URL", value_parser = name())]
        url: String,
    },
    /// Fetch whole files; what is held is not fetched again
    Get {
        /// The files' URLs
        #[arg(value_name = "URL", required = true, value_parser = name())]
        urls: Vec<String>,
    },
    /// Read all that is held and compare its checksums; drop what is damaged
    Verify,
    /// Remove what is held of one file, or everything
    Purge {
        /// The file's URL [default: everything]
        #[arg(value_name = "URL", value_parser = name())]
        url: Option<String>,
    },
}

/// `sapwood cache on`
#[derive(Args)]
pub struct SwitchOn {
    /// The folder [default: $XDG_CACHE_HOME/sapwood or ~/.cache/sapwood]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Bytes that it may hold, such as 50GB; the least recently used are dropped [default: 20GB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max: Option<u64>,
    /// Turn it off instead, as `sapwood cache off` does
    #[arg(long, conflicts_with_all = ["dir", "max"])]
    pub off: bool,
}

/// The value of `--local-cache`.
pub fn folder(text: &str) -> Result<LocalCache, String> {
    match text {
        "" => Err("name a folder, or write off".to_owned()),
        "off" => Ok(LocalCache::Off),
        directory => Ok(LocalCache::In { directory: directory.into(), max_bytes: None }),
    }
}

fn size(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text).map_err(|e| e.to_string())? {
        0 => Err("the local cache cannot have 0 bytes; turn it off with `sapwood cache off`".to_owned()),
        n => Ok(n),
    }
}
