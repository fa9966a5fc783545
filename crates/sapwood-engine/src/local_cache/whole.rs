//! Whole files fetched into the local cache.

use super::stores::store;
use crate::open_source::open_source;
use crate::options::OpenOptions;
use crate::read_source::gathered;
use sapwood_source::{Opening, Source};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are asked for at once; what has come of a file when it breaks off is a multiple of it.
const CHUNK: u64 = 4 << 20;

/// Chunks under way at once.
const LANES: usize = 4;

/// What came of fetching a whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeFile {
    /// The URL, without credentials.
    pub url: String,
    /// Size of the file.
    pub size: u64,
    /// Bytes that had to be fetched; the rest was held.
    pub fetched: u64,
}

/// Fetches into the local cache what it lacks of a file. What came stays there when it is broken off. `progress` gets the
/// bytes that are held and those of the file.
///
/// # Errors
/// The local cache is off, cannot keep the file, or is full; what opening and reading meet; `Interrupted` when it is
/// cancelled.
pub fn fetch_whole(
    url: &str,
    options: &OpenOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
    cancel: &AtomicBool,
) -> Result<WholeFile> {
    let store = store(&options.local_cache)?;
    if !sapwood_source::is_remote(url) {
        return Err(Error::invalid("is a local file: the local cache keeps remote ones").in_file(url));
    }
    let Opening { source, size, .. } = open_source(url, options)?;
    let name = source.name().to_owned();
    store.flush();
    let chunks = (0..size).step_by(CHUNK as usize).map(|start| Span::new(start, CHUNK.min(size - start)));
    let missing: Vec<Span> = chunks.filter(|&chunk| !source.is_held(chunk)).collect();
    let held = AtomicU64::new(size - missing.iter().map(|s| s.len).sum::<u64>());
    let before = source.stats();
    progress(held.load(Relaxed), size);
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let failed = || failure.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            if failed().is_some() {
                return;
            }
            let Some(&chunk) = missing.get(next.fetch_add(1, Relaxed)) else { return };
            let done = if cancel.load(Relaxed) {
                Err(Error::new(ErrorKind::Interrupted, "interrupted"))
            } else {
                fetch(&source, chunk)
            };
            store.flush();
            match done {
                Ok(()) if source.is_held(chunk) => {
                    progress(held.fetch_add(chunk.len, Relaxed) + chunk.len, size);
                }
                Ok(()) => {
                    failed().get_or_insert_with(|| not_kept(&source, &store.warnings()));
                }
                Err(e) => {
                    failed().get_or_insert(e);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        // without more threads it is done by this one
        (1..LANES.min(missing.len())).for_each(|i| {
            let _ = std::thread::Builder::new().name(format!("sapwood-whole-{i}")).spawn_scoped(scope, work);
        });
        work();
    });
    if let Some(e) = failed().take() {
        return Err(e.in_file(name));
    }
    Ok(WholeFile { url: name, size, fetched: source.stats().wire.saturating_sub(before.wire) })
}

fn fetch(source: &Arc<dyn Source>, chunk: Span) -> Result<()> {
    gathered(source, &[chunk], |sink| source.clone().fetch_last(vec![chunk], sink)).map(drop)
}

/// What was fetched is not in the folder.
fn not_kept(source: &Arc<dyn Source>, warnings: &[String]) -> Error {
    if source.version().is_none_or(|version| !version.is_told) {
        let what =
            "cannot be kept: its server tells neither an ETag nor a modification time, or sends it only as a whole";
        return Error::unsupported(what);
    }
    let why = warnings.last().map_or_else(|| "it may be too small for the file".to_owned(), Clone::clone);
    Error::new(ErrorKind::Io, format!("the local cache did not keep all of the file: {why}"))
        .with_remedy("see `sapwood cache status`; `sapwood cache on --max SIZE` makes it larger")
}
