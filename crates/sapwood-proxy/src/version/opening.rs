//! Opens files at origins.

use super::{AtOrigin, OpenVersion};
use crate::collect::Collect;
use crate::common::Common;
use crate::failure::{Failure, failure_of};
use crate::metrics::Metrics;
use crate::place::Place;
use bytes::Bytes;
use sapwood_codec::Digest;
use sapwood_engine::local_cache::{FileId, FileVersion, name_of, version_of};
use sapwood_source::{Opening, Source};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::sync::Arc;

/// The same where the file's own name is long.
const LONG_HEAD: u64 = 16 << 10;
/// Bytes at the end that distinguish versions where the server does not.
const TAIL: u64 = 8 << 10;

/// Opens a file at the first of these places that has it. `name`: its name in the store.
///
/// # Errors
/// The first error other than "not found"; otherwise that it is not found.
pub(crate) async fn open(places: &[Place], common: &Arc<Common>) -> Result<Arc<OpenVersion>, Failure> {
    let name = places.first().map(|place| name_of(&place.url(false), &common.s3)).unwrap_or_default();
    let mut first = None;
    for place in common.by_health(places) {
        let server = place.route.target.server();
        match open_at(place, places, &name, common).await {
            Ok(version) => {
                common.healthy(&server);
                return Ok(version);
            }
            Err(error) => {
                Metrics::add(&common.metrics.origin_errors, 1);
                let failure = failure_of(&error, false);
                if matches!(failure, Failure::Origin(_) | Failure::TimedOut(_)) {
                    common.failing(&server);
                }
                let is_news = !matches!((&first, &failure), (Some(_), Failure::NotFound));
                if first.is_none() || (is_news && first == Some(Failure::NotFound)) {
                    first = Some(failure);
                }
            }
        }
    }
    Err(first.unwrap_or(Failure::NotFound))
}

async fn open_at(place: &Place, places: &[Place], name: &str, common: &Arc<Common>) -> Result<Arc<OpenVersion>> {
    let handle = tokio::runtime::Handle::current();
    let mut opening = sapwood_source::open(&place.url(false), &common.source_options(place), &handle).await?;
    let stats = opening.source.stats();
    Metrics::add(&common.metrics.origin_bytes, stats.wire);
    Metrics::add(&common.metrics.origin_requests, stats.requests);
    let source = Arc::clone(&opening.source);
    let told = source.version();
    let is_whole = told.is_none();
    let mut version = if is_whole { Some(by_content(&opening).await?) } else { version_of(&opening) };
    if version.is_none() {
        // a long name, or a server that reports too little
        let size = opening.size;
        let (head, tail) = (Span::new(0, LONG_HEAD.min(size)), Span::new(size - TAIL.min(size), TAIL.min(size)));
        let [first, last] = read(&source, [head, tail]).await?;
        (opening.head, opening.tail) = (first, (tail.start, last));
        version = version_of(&opening);
    }
    let is_kept = version.is_some() && !is_whole;
    // an identity that distinguishes nothing is the same as none
    let unlike = || FileVersion {
        size: opening.size,
        checksum: Some(format!("open:{}", common.number())),
        ..FileVersion::default()
    };
    let version = version.unwrap_or_else(unlike);
    if is_kept {
        source.recognise_by(&version.beginning);
    }
    let id = FileId { url: name.to_owned(), version };
    let blocks = common.blocks(&id, is_kept).await;
    let has_validator = is_whole || told.is_some_and(|told| told.has_validator);
    let (server, is_http) = (place.route.target.server(), place.route.target.scheme.uses_http());
    let origin = AtOrigin { source, server, is_http, has_validator, is_whole };
    let version = OpenVersion::new(id, Arc::clone(&blocks), origin, places, common);
    blocks.add(0, &opening.head, version.number);
    if is_kept {
        blocks.keep(vec![(0, opening.head.clone()), opening.tail.clone()]).await;
    }
    Ok(version)
}

/// A file received as a whole is identified by all of its bytes.
async fn by_content(opening: &Opening) -> Result<FileVersion> {
    let [all] = read(&opening.source, [Span::new(0, opening.size)]).await?;
    let mut digest = Digest::default();
    digest.update(&all);
    let checksum = Some(format!("content:{:016x}", digest.value()));
    Ok(FileVersion { size: opening.size, checksum, ..FileVersion::default() })
}

async fn read<const N: usize>(source: &Arc<dyn Source>, spans: [Span; N]) -> Result<[Bytes; N]> {
    let sink = Collect::new(N);
    Arc::clone(source).fetch_soon_compared(spans.to_vec(), Arc::<Collect>::clone(&sink)).await?;
    let all = sink.all().and_then(|all| <[Bytes; N]>::try_from(all).ok());
    let incomplete = || Error::new(ErrorKind::Protocol, "the origin did not send all of the requested ranges");
    all.ok_or_else(|| incomplete().in_file(source.name()))
}
