//! The local cache: remote files are read through a folder on this machine that keeps what was read.
//!
//! Off unless asked for. [`LocalCache`] says which folder it is; where it says nothing, [`configure`] does for this
//! process, then the environment (`SAPWOOD_CACHE_DIR`, `SAPWOOD_CACHE_MAX`), then the user's configuration
//! ([`UserConfiguration`]).

mod fetch;
mod key;
mod offline;
mod opening;
mod settings;
mod source;
mod stores;
mod unconfirmed;
mod user_configuration;
mod warnings;
mod whole;

pub(crate) use opening::open;
pub use opening::version_of;
pub use sapwood_store::{CachedFile, FileId, FileVersion, HeldFile, Purged, Status, Store, StoreOptions, Verified};
pub use settings::{DEFAULT_MAX_BYTES, LocalCache, configure, default_directory, resolve};
pub use stores::{flush, name_of, store};
pub use unconfirmed::Unconfirmed;
pub use user_configuration::UserConfiguration;
pub use whole::{WholeFile, fetch_whole};

/// Why the local cache that was asked for is not used: each reason once.
pub fn warnings(cache: &LocalCache) -> Vec<String> {
    resolve(cache).ok().flatten().map_or_else(Vec::new, |options| warnings::of(&options.directory))
}
