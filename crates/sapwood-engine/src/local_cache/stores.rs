//! The stores that this process has opened.

use super::key::cache_key;
use super::settings::{LocalCache, resolve};
use super::verifier::settle_all;
use sapwood_source::S3Options;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result, Setting};
use sapwood_store::{Store, StoreOptions};
use std::path::PathBuf;
use std::sync::Mutex;

static OPEN: Mutex<Vec<(PathBuf, Store)>> = Mutex::new(Vec::new());

/// Opens the store in this directory.
pub(super) fn open(options: &StoreOptions) -> Result<Store> {
    let store = Store::open(options)?;
    let mut open = lock(&OPEN);
    if !open.iter().any(|(directory, _)| *directory == options.directory) {
        open.push((options.directory.clone(), store.clone()));
    }
    Ok(store)
}

/// The store that files opened with this setting use, to look into it.
///
/// # Errors
/// `Invalid` where the local cache is off; what opening the directory meets.
pub fn store(cache: &LocalCache) -> Result<Store> {
    let options = resolve(cache)?.ok_or_else(|| {
        Error::invalid("the local cache is off").with_remedy("turn it on").with_setting(Setting::LocalCache)
    })?;
    open(&options)
}

/// Waits until all that this process has read is in the directories of its local caches: for the end of a process. Servers
/// that are yet to say whether a file has changed are waited for a few round trips, and for five seconds at most.
pub fn flush() {
    settle_all();
    let open: Vec<Store> = lock(&OPEN).iter().map(|(_, store)| store.clone()).collect();
    open.iter().for_each(Store::flush);
}

/// The warnings of all stores.
pub(super) fn warnings() -> Vec<String> {
    let open = lock(&OPEN);
    open.iter().flat_map(|(_, store)| store.warnings()).collect()
}

/// The name under which the local cache knows a URL: without credentials, and with the address of an S3 store.
pub fn name_of(url: &str, s3: &S3Options) -> String {
    cache_key(url, s3).url
}
