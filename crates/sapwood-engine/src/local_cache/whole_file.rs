//! Whole files fetched into the local cache.

use super::stores::{name_of, store};
use crate::open_source::open_source;
use crate::options::OpenOptions;
use crate::read_source::gathered;
use crate::runtime;
use sapwood_source::{Opening, Source};
use sapwood_span::sync::lock;
use sapwood_span::{Error, ErrorKind, Result, Span};
use sapwood_store::Store;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Bytes that are asked for at once; what has come of a file when it breaks off is a multiple of it.
const CHUNK: u64 = 4 << 20;

/// Chunks in flight at once.
const LANES: usize = 4;

/// How often a fetch looks whether it is to be broken off.
const LOOK: Duration = Duration::from_millis(50);

/// What came of fetching a whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeFile {
    /// The URL, without credentials.
    pub url: String,
    /// Size of the file.
    pub size: u64,
    /// Bytes that had to be fetched; the rest was held.
    pub fetched: u64,
    /// The server's checksum of the file, which what is held matches (`adler32:0a1b2c3d`). None where the server tells none, or
    /// where nothing was compared.
    pub checksum: Option<String>,
}

/// When the file is held against its server's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Always: all of it is read once more.
    Always,
    /// Where something had to be fetched.
    IfFetched,
}

/// Fetches into the local cache what it lacks of a file, and holds all of it against its server's checksum. What came stays
/// there when it is broken off; what does not match is dropped. `progress` gets the bytes that are held and those of the
/// file.
///
/// # Errors
/// The local cache is off, cannot keep the file, or is full; what opening and reading meet; `Corrupt` when the checksum is
/// another one; `Interrupted` when it is cancelled.
pub fn fetch_whole(
    url: &str,
    options: &OpenOptions,
    verify: Verify,
    progress: &(dyn Fn(u64, u64) + Sync),
    cancel: &Arc<AtomicBool>,
) -> Result<WholeFile> {
    let store = store(&options.local_cache)?;
    if !sapwood_source::is_remote(url) {
        return Err(Error::invalid("only remote files are cached").in_file(url));
    }
    let Opening { source, size, .. } = open_source(url, options)?;
    let name = source.name().to_owned();
    store.flush();
    let before = source.stats();
    let fetched_any = fetch_missing(&source, size, &store, progress, cancel).map_err(|e| e.in_file(&name))?;
    let fetched = source.stats().wire.saturating_sub(before.wire);
    let is_verified = verify == Verify::Always || fetched_any;
    let checksum = if is_verified { verified(&source, size, cancel) } else { Ok(None) };
    if checksum.as_ref().is_err_and(|e| e.kind() == ErrorKind::Corrupt) {
        // nothing of it is to be trusted: what did not match may be any part of it
        store.purge(Some(&name_of(url, &options.s3)))?;
    }
    Ok(WholeFile { url: name.clone(), size, fetched, checksum: checksum.map_err(|e| e.in_file(name))? })
}

/// Fetches what is not held; gives whether there was anything.
fn fetch_missing(
    source: &Arc<dyn Source>,
    size: u64,
    store: &Store,
    progress: &(dyn Fn(u64, u64) + Sync),
    cancel: &Arc<AtomicBool>,
) -> Result<bool> {
    let missing: Vec<Span> = chunks(size).filter(|&chunk| !source.is_held(chunk)).collect();
    let held = AtomicU64::new(size - missing.iter().map(|s| s.len).sum::<u64>());
    progress(held.load(Relaxed), size);
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let over = Arc::new(AtomicBool::new(false));
    let fail = |error| {
        over.store(true, Relaxed);
        lock(&failure).get_or_insert(error);
    };
    let work = || {
        while !over.load(Relaxed) {
            let Some(&chunk) = missing.get(next.fetch_add(1, Relaxed)) else { return };
            let done = fetch(source, chunk, [cancel, &over]);
            store.flush();
            match done {
                Ok(()) if source.is_held(chunk) => {
                    progress(held.fetch_add(chunk.len, Relaxed) + chunk.len, size);
                }
                Ok(()) => fail(not_kept(source, &store.warnings())),
                Err(e) => fail(e),
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
    let failed = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(!missing.is_empty()), Err)
}

fn chunks(size: u64) -> impl Iterator<Item = Span> {
    (0..size).step_by(CHUNK as usize).map(move |start| Span::new(start, CHUNK.min(size - start)))
}

/// Fetches a chunk, unless one of the flags says that it is not wanted any more.
fn fetch(source: &Arc<dyn Source>, chunk: Span, stop: [&Arc<AtomicBool>; 2]) -> Result<()> {
    let stop = stop.map(Arc::clone);
    let fetch = |sink| {
        let mut fetch = source.clone().fetch_last(vec![chunk], sink);
        async move {
            while !stop.iter().any(|flag| flag.load(Relaxed)) {
                if let Ok(done) = tokio::time::timeout(LOOK, &mut fetch).await {
                    return done;
                }
            }
            Err(interrupted())
        }
    };
    gathered(source, &[chunk], fetch).map(drop)
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

/// Holds what the cache has of a file against its server's checksum, and gives that; none where the server tells none.
fn verified(source: &Arc<dyn Source>, size: u64, cancel: &AtomicBool) -> Result<Option<String>> {
    let Some(told) = runtime::wait(Arc::clone(source).checksum())? else { return Ok(None) };
    let mut sum = told.begin();
    for chunk in chunks(size) {
        if cancel.load(Relaxed) {
            return Err(interrupted());
        }
        let lost = || Error::new(ErrorKind::Io, "a part of the file is no longer in the local cache").at(chunk);
        sum.update(&source.read_held(chunk).ok_or_else(lost)?);
    }
    let found = told.of(sum);
    if found != told {
        let what = format!(
            "the downloaded data have the checksum {found}, but the server reports {told}; they were not cached"
        );
        let remedy = "fetch it again; if this happens again, the file or its checksum is damaged on the server";
        return Err(Error::corrupt(what).with_remedy(remedy));
    }
    Ok(Some(told.to_string()))
}

/// What was fetched is not in the directory.
fn not_kept(source: &Arc<dyn Source>, warnings: &[String]) -> Error {
    if source.version().is_none_or(|version| !version.has_validator) {
        let what = "cannot be cached: its server sends neither an ETag nor a modification time, or only the whole file";
        return Error::unsupported(what);
    }
    let why = warnings.last().map_or_else(|| "it may be too small for the file".to_owned(), Clone::clone);
    Error::new(ErrorKind::Io, format!("the local cache did not keep all of the file: {why}"))
        .with_remedy("see `sapwood cache status`; `sapwood cache on --max SIZE` makes it larger")
}
