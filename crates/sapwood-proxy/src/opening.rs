//! Opens files at origins.

use crate::collect::Collect;
use crate::common::Common;
use crate::credential::{Credential, Shown};
use crate::failure::{Failure, failure_of};
use crate::metrics::Metrics;
use crate::route::Route;
use crate::version::{AtOrigin, OpenVersion};
use bytes::Bytes;
use sapwood_codec::Digest;
use sapwood_engine::local_cache::{FileId, FileVersion, name_of, version_of};
use sapwood_source::{Opening, S3Keys, S3Options, Source, SourceOptions};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::sync::Arc;

/// Bytes read on opening a file: enough to distinguish versions of ROOT files.
const HEAD: u64 = 1024;
/// The same where the file's own name is long.
const LONG_HEAD: u64 = 16 << 10;
/// Bytes at the end that distinguish versions where the server does not.
const TAIL: u64 = 8 << 10;

/// A place to try, and the credential to send.
#[derive(Clone)]
pub(crate) struct Place {
    pub route: Route,
    pub shown: Shown,
}

impl Place {
    /// Options for opening its file or folder.
    pub(crate) fn options(&self, common: &Common) -> SourceOptions {
        SourceOptions {
            head: HEAD,
            tail: 0,
            compare_briefly: true,
            connect_timeout: common.connect_timeout,
            progress_timeout: common.progress_timeout,
            retries: 2,
            token: Some(self.shown.token()),
            ca_dir: common.ca_dir.clone(),
            redirects: self.route.redirects.clone(),
            hosts: common.hosts_for(self),
            s3: self.s3(common),
            ..SourceOptions::default()
        }
    }

    /// How an S3 store is read: with the client's access key and secret, if it sent any; otherwise without credentials,
    /// unless the proxy shares its own for its origins. What clients name themselves is never read with them.
    fn s3(&self, common: &Common) -> S3Options {
        match &self.shown.credential {
            Credential::Basic { user, password } => {
                let keys = S3Keys { access_key: user.clone(), secret_key: password.clone(), session_token: None };
                S3Options { keys: Some(keys), anonymous: None, ..common.s3.clone() }
            }
            _ if common.shares_credentials && self.route.redirects.is_none() => common.s3.clone(),
            _ => S3Options { keys: None, anonymous: Some(true), ..common.s3.clone() },
        }
    }

    /// Whether a path that is not a file may be a folder: over HTTP folder names end in a slash.
    pub(crate) fn may_list(&self) -> bool {
        !self.route.target.scheme.is_http()
    }

    /// Distinguishes it from others: the URL, the credential, and whether the client has named it, since it is then not read
    /// with the proxy's own. The key holds the credential.
    pub(crate) fn key(&self) -> String {
        format!("{} {} {:?}", self.url(false), self.route.redirects.is_some(), self.shown.key())
    }

    /// The same for its server.
    pub(crate) fn url_of_server(&self) -> String {
        format!("{} {:?}", self.route.target.server(), self.shown.key())
    }

    /// The URL for requests. Never display it.
    pub(crate) fn url(&self, is_folder: bool) -> String {
        self.route.target.request_url(&self.shown.credential, &self.shown.query, is_folder)
    }
}

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
    let mut opening = sapwood_source::open(&place.url(false), &place.options(common), &handle).await?;
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
    let is_told = is_whole || told.is_some_and(|told| told.is_told);
    let (server, is_http) = (place.route.target.server(), place.route.target.scheme.uses_http());
    let origin = AtOrigin { source, server, is_http, is_told, is_whole };
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
