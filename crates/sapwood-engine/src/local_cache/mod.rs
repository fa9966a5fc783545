//! The local cache: remote files are read through a directory on this machine that keeps what was read.
//!
//! Off unless asked for. [`LocalCache`] says which directory it is; where it says nothing, [`configure`] does for this
//! process, then the environment (`SAPWOOD_CACHE_DIR`, `SAPWOOD_CACHE_MAX`), then the user's configuration
//! ([`UserConfiguration`]).

mod fetch;
mod key;
mod offline;
mod opening;
mod settings;
mod source;
mod stores;
#[cfg(test)]
mod tests;
mod unconfirmed;
mod user_configuration;
mod verifier;
mod warnings;
mod whole_file;

pub(crate) use opening::open;
pub use opening::version_of;
pub use sapwood_store::{CachedFile, FileId, FileVersion, HeldFile, Purged, Status, Store, StoreOptions, Verified};
pub use settings::{DEFAULT_MAX_BYTES, LEAST_BYTES, LocalCache, check_size, configure, default_directory, resolve};
pub use stores::{flush, name_of, store};
pub use unconfirmed::Unconfirmed;
pub use user_configuration::UserConfiguration;
pub use whole_file::{Verify, WholeFile, fetch_whole};

/// Why the local cache that was asked for is not used: each reason once.
pub fn warnings(cache: &LocalCache) -> Vec<String> {
    match resolve(cache) {
        Ok(Some(options)) => warnings::of(&options.directory),
        // what is broken is only read where nothing else says which cache is used
        Ok(None) if *cache == LocalCache::Configured => {
            UserConfiguration::path().map_or_else(|_| Vec::new(), |path| warnings::of(&path))
        }
        _ => Vec::new(),
    }
}

/// Adds to what [`warnings`] gives: something went wrong where nobody waits for it.
pub fn warn(cache: &LocalCache, warning: &str) {
    if let Ok(Some(options)) = resolve(cache) {
        warnings::add(options.directory, warning.to_owned());
    }
}

/// All that went wrong with local caches in this process, each once: also what was noticed only when something was
/// written.
pub fn all_warnings() -> Vec<String> {
    let mut out = warnings::all();
    out.extend(stores::warnings());
    out
}
