//! Opening a remote file through the local cache.

use super::key::{CacheKey, cache_key};
use super::offline::{NotAsked, not_held};
use super::settings::resolve;
use super::source::{CachedSource, stored};
use super::stores;
use crate::fingerprint;
use crate::options::OpenOptions;
use crate::read_source::gathered;
use crate::runtime;
use bytes::Bytes;
use sapwood_codec::Digest;
use sapwood_source::{Opening, OriginVersion, Source, SourceOptions};
use sapwood_span::{Error, Result, Setting, Span};
use sapwood_store::{CachedFile, FileId, FileVersion, Store};
use std::sync::Arc;

/// Bytes at the end that tell versions apart as well where a server does not: there are the key list and most often a tree's
/// header, which says where each basket is and how long.
const TELLING_TAIL: u64 = 8 << 10;

/// What the checksum of such a version begins with: its tail must come with each opening.
const BY_TAIL: &str = "tail:";

/// A tail that is shorter is not worth doing without the one that comes with the opening.
const SHORT_TAIL: u64 = 4 << 10;

/// Opens a remote file; through the local cache where there is one.
pub(crate) fn open(url: &str, options: &OpenOptions, wanted: &SourceOptions) -> Result<Opening> {
    let handle = runtime::handle()?;
    let Some(settings) = resolve(&options.local_cache)? else {
        if options.offline {
            let what = "reading offline needs a local cache";
            let error = Error::invalid(what).in_file(sapwood_source::redacted(url));
            return Err(error.with_remedy("turn it on").with_setting(Setting::LocalCache));
        }
        return runtime::wait(sapwood_source::open(url, wanted, &handle));
    };
    let key = cache_key(url, &options.s3);
    let store = match stores::open(&settings) {
        Ok(store) => store,
        Err(e) if options.offline => return Err(e),
        Err(e) => {
            super::warnings::add(settings.directory, format!("the local cache is not used: {e}"));
            return runtime::wait(sapwood_source::open(url, wanted, &handle));
        }
    };
    if options.offline {
        return offline(&store, key, wanted);
    }
    let key = key.url;
    // what of the end is here need not come again, if the file is still the same
    let by_tail = |checksum: &String| checksum.starts_with(BY_TAIL);
    let told = |id: &FileId| !id.version.checksum.as_ref().is_some_and(by_tail);
    let held = store.latest(&key).filter(told).map(|id| held_tail(&store.file(&id), &id, wanted.tail));
    let is_held = held.is_some_and(|(tail, size)| tail.len >= SHORT_TAIL.min(size));
    let asked = SourceOptions {
        tail: if is_held { 0 } else { wanted.tail },
        warm: wanted.warm && !is_held,
        compared: true,
        ..wanted.clone()
    };
    let Opening { source: origin, size, head, tail } = runtime::wait(sapwood_source::open(url, &asked, &handle))?;
    let source: Arc<dyn Source> = match origin.version() {
        None => origin,
        Some(version) => {
            let cached = Arc::new(CachedSource::new(origin, store.clone(), key, size, is_held, Vec::new()));
            let identity = fingerprint::identity(&head, size);
            if let Some(version) = identity.and_then(|(first, is_root)| identified(version, first, is_root, &tail)) {
                cached.identify(&version);
                cached.keep(0, &head);
                cached.keep(tail.0, &tail.1);
            }
            cached
        }
    };
    if !is_held {
        return Ok(Opening { source, size, head, tail });
    }
    let (known, _) = held.unwrap_or_default();
    let len = if known.end() == size { known.len } else { wanted.tail.min(size) };
    let span = Span::new(size - len.min(size), len.min(size));
    let read = gathered(&source, &[span], |sink| source.clone().fetch_soon(vec![span], sink))?;
    Ok(Opening { source, size, head, tail: (span.start, read.into_iter().next().unwrap_or_default()) })
}

/// What the local cache tells the version of a file by, as far as opening it told; none where too little does, where more of
/// its beginning has to be read first, or where it came as a whole. A server that says too little of a file is made up for
/// by the last 8 kB of it: without them there is no version.
pub fn version_of(opening: &Opening) -> Option<FileVersion> {
    let version = opening.source.version()?;
    let (first, is_root) = fingerprint::identity(&opening.head, opening.size)?;
    identified(version, first, is_root, &opening.tail).as_ref().map(stored)
}

/// The version with all that tells it from others; none where too little does.
fn identified(version: OriginVersion, first: Bytes, is_root: bool, tail: &(u64, Bytes)) -> Option<OriginVersion> {
    let version = OriginVersion { beginning: first, ..version };
    if version.has_validator {
        return Some(version);
    }
    // whatever rewrites a ROOT file gives it another UUID or date, and these are among its first bytes
    let telling = usize::try_from(TELLING_TAIL.min(version.size)).ok().filter(|_| is_root)?;
    let from = tail.1.len().checked_sub(telling)?;
    let mut digest = Digest::default();
    digest.update(&tail.1[from..]);
    Some(OriginVersion { checksum: Some(format!("{BY_TAIL}{:016x}", digest.value())), ..version })
}

/// The part of the file's last bytes that is held up to its end, and the file's size.
fn held_tail(file: &CachedFile, id: &FileId, most: u64) -> (Span, u64) {
    let size = id.version.size;
    let tail = Span::new(size - most.min(size), most.min(size));
    let held = file.held(tail).into_iter().next_back().filter(|h| h.end() == size);
    (held.unwrap_or(Span::new(size, 0)), size)
}

/// Opens the version that was validated last, without any request.
fn offline(store: &Store, key: CacheKey, wanted: &SourceOptions) -> Result<Opening> {
    if key.has_more {
        // what was omitted may have distinguished files
        let what = "a URL with a credential cannot be read offline: the local cache does not know that part of it";
        return Err(Error::unsupported(what).in_file(key.url).with_remedy("remove the credential"));
    }
    let key = key.url;
    let id = store.latest(&key).ok_or_else(|| not_held(&key, "the file"))?;
    let (size, file) = (id.version.size, store.file(&id));
    let (tail, _) = held_tail(&file, &id, wanted.tail);
    let remark = "read from the local cache only (offline): it may have changed since it was validated".to_owned();
    let origin: Arc<dyn Source> = Arc::new(NotAsked { url: key.clone(), size });
    let cached = CachedSource::new(origin, store.clone(), key.clone(), size, false, vec![remark]);
    cached.identify_offline(file);
    let source: Arc<dyn Source> = Arc::new(cached);
    let head = Span::new(0, wanted.head.min(size));
    let lacks = |_| not_held(&key, "the beginning of the file");
    let read =
        gathered(&source, &[head, tail], |sink| source.clone().fetch_soon(vec![head, tail], sink)).map_err(lacks)?;
    let [first, last] = <[_; 2]>::try_from(read).unwrap_or_default();
    Ok(Opening { source, size, head: first, tail: (tail.start, last) })
}
