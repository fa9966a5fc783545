//! The first request: both ends of a file about which nothing is known.

use super::body::Body;
use super::client::Client;
use super::failure::{RequestFailure, RetryBudget};
use super::file::{HttpFile, UnderWay, no_ranges};
use super::hosts;
use super::opening_window;
use super::range::{RangeRequest, content_range, stated_total};
use super::reply::Reply;
use super::version::{FileVersion, Validator, VersionCheck};
use crate::assemble::Piece;
use crate::counters::Counters;
use crate::job::Job;
use crate::lock;
use crate::open::SourceOptions;
use crate::s3::S3Url;
use crate::source::{Opening, Sink, Source};
use crate::url::Url;
use bytes::{Bytes, BytesMut};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// A response with the whole file is read to its end up to this size, however little was wanted: another request would
/// take longer.
const SMALL_FILE: u64 = 1 << 20;

/// Opens a file on an HTTP server.
pub(crate) async fn open(url: Url, options: SourceOptions, handle: Handle) -> Result<Opening> {
    let name = url.redacted();
    let first = async {
        let client = Arc::new(Client::new(url, options, handle)?);
        ends(&client).await
    };
    first.await.map_err(|e| e.in_file(name))
}

/// Opens an object in an S3 store.
pub(crate) async fn open_object(url: &S3Url, options: SourceOptions, handle: Handle) -> Result<Opening> {
    let first = async {
        let client = Arc::new(Client::of_object(url, options, handle)?);
        ends(&client).await
    };
    first.await.map_err(|e| e.in_file(url.redacted()))
}

async fn ends(client: &Arc<Client>) -> Result<Opening> {
    let mut retry_budget = RetryBudget::new(&client.options);
    let (mut simple, mut stepped) = (false, false);
    loop {
        let multi = !simple && client.server().host.multi();
        let result = attempt(client, multi, stepped, &mut retry_budget).await;
        retry_budget.catch_up();
        let (error, wait, stalled) = match result {
            Ok(opening) => return Ok(opening),
            Err(RequestFailure::Fallback(_)) if multi => {
                (simple, stepped) = (true, true);
                Counters::add(&client.counters.fallbacks, 1);
                crate::trace::fall_back(|| client.server().url.redacted(), "single ranges");
                continue;
            }
            // A server may hang on several ranges; one that cannot be reached will not get better.
            Err(RequestFailure::Retry { stalled: true, .. } | RequestFailure::Timeout { .. }) if multi => {
                client.server().host.silent_over_multi();
                crate::trace::fall_back(|| client.server().url.redacted(), "single ranges");
                simple = true;
                continue;
            }
            Err(RequestFailure::Retry { error, .. } | RequestFailure::Unreached(error))
                if client.counters.snapshot().requests == 0 =>
            {
                return Err(error);
            }
            Err(RequestFailure::Retry { error, wait, stalled }) => (error, wait, stalled),
            Err(RequestFailure::Unreached(error)) => (error, None, false),
            Err(RequestFailure::OtherServer) => {
                (Error::new(ErrorKind::Io, "another server took over while the file was being opened"), None, false)
            }
            Err(
                RequestFailure::Fallback(error)
                | RequestFailure::FewerRanges(error)
                | RequestFailure::Fatal(error)
                | RequestFailure::Timeout { error, .. },
            ) => return Err(error),
        };
        retry_budget.spend(error, wait, stalled).await?;
        Counters::add(&client.counters.retries, 1);
    }
}

/// One kind of request: both ends in one request, or in two concurrent ones.
async fn attempt(
    client: &Arc<Client>,
    multi: bool,
    stepped: bool,
    retry_budget: &mut RetryBudget,
) -> Result<Opening, RequestFailure> {
    let host = client.connect_first(retry_budget).await?.host;
    let (head, mut tail) = (client.options.head.max(1), client.options.tail.max(1));
    if host.is_far(client.options.far) {
        tail = tail.min(opening_window::FIRST.saturating_sub(head)).max(1);
        // A handshake is too expensive for a server to be requested on a guess.
        if client.options.warm && !host.secure() {
            client.warm(hosts::MOST_PARALLEL);
        }
    }
    // the end is here already: nothing is asked for beside the beginning
    let is_alone = !multi && client.options.tail == 0;
    if is_alone {
        tail = 0;
    }
    let mut beside = None;
    let mut reply = if multi {
        client.send(RangeRequest::short(&format!("bytes=0-{},-{tail}", head - 1), 2), retry_budget).await?
    } else {
        let other = Arc::clone(client);
        beside = (!is_alone).then(|| Beside(client.handle().spawn(async move { tail_alone(&other, tail).await })));
        client.send(RangeRequest::short(&format!("bytes=0-{}", head - 1), 1), retry_budget).await?
    };
    let ranges = reply.header("content-range").and_then(content_range);
    match reply.status {
        206 => {}
        200 => return whole(client, reply, multi, retry_budget).await,
        416 if ranges.is_some_and(|r| r.total == Some(0)) => return Ok(in_memory(client, Bytes::new(), false)),
        _ => {
            reply.drain().await;
            return Err(client.refused(&reply, multi));
        }
    }
    let version = Arc::new(FileVersion::default());
    version.learn(&reply, Validator::of(&reply.headers));
    client.pin(&reply);
    let mut body = match (Body::of(&reply), reply.header("content-range").and_then(stated_total)) {
        (Ok(body), _) => body,
        // A file shorter than what was requested blindly: now its size is known.
        (Err(_), Some(size)) if size < head => {
            drop(reply);
            let known = Known::new(client, size, tail, version);
            return known.complete().await;
        }
        (Err(what), _) => return Err(RequestFailure::nonsense(what, multi)),
    };
    let mut known = None;
    let mut out = Vec::new();
    let budget = head.saturating_add(tail).saturating_mul(2).saturating_add(SMALL_FILE);
    while let Some(chunk) = reply.chunk().await? {
        retry_budget.heard();
        if reply.wire > budget {
            return Err(RequestFailure::nonsense("the server sends much more than was requested", multi));
        }
        body.push(chunk, &mut out)
            .map_err(|m| RequestFailure::nonsense(format!("the server's response is invalid: {m}"), multi))?;
        if let (None, Some(size)) = (&known, body.total()) {
            known = Some(Known::new(client, size, tail, Arc::clone(&version)));
        }
        if let Some(known) = &known {
            known.job.accept(&mut out);
        }
    }
    let known =
        known.ok_or_else(|| RequestFailure::nonsense("the server does not report the size of the file", multi))?;
    // One range of two says little: XrdHttp accepts several ranges, but none from the end. The next request with
    // several will show it.
    if !multi && stepped {
        reply.host.refuses_multi();
    }
    // Its connection must be free for the next requests.
    drop(reply);
    if let (Some(mut beside), false) = (beside, known.is_complete())
        && let Ok(Some(mut found)) = (&mut beside.0).await
        && found.total == known.file.size
        && found.told_by(&version)
    {
        known.job.accept(&mut found.pieces);
    }
    known.complete().await
}

/// A file whose size is known by now, and its ends as they arrive.
struct Known {
    file: Arc<HttpFile>,
    job: Arc<Job>,
    ends: Arc<Ends>,
    spans: [Span; 2],
}

impl Known {
    fn new(client: &Arc<Client>, size: u64, tail: u64, version: Arc<FileVersion>) -> Self {
        let tail = tail.min(size);
        let spans = [Span::new(0, client.options.head.min(size)), Span::new(size - tail, tail)];
        let ends = Arc::new(Ends { ends: Mutex::default(), version: Arc::clone(&version) });
        let sink: Arc<dyn Sink> = ends.clone();
        let job = Job::new(&spans, sink, Instant::now());
        let file = Arc::new(HttpFile {
            client: Arc::clone(client),
            size,
            version,
            memory: None,
            ranges_ignored: false,
            under_way: UnderWay::default(),
        });
        if client.options.warm && size > client.options.head.saturating_add(client.options.tail) {
            file.prepare(usize::MAX);
        }
        Self { file, job, ends, spans }
    }

    fn is_complete(&self) -> bool {
        self.job.missing(&[Span::new(0, self.file.size)]).is_empty()
    }

    /// Fetches what is still missing.
    async fn complete(self) -> Result<Opening, RequestFailure> {
        self.file.complete(&self.job, false, false).await.map_err(RequestFailure::Fatal)?;
        let [head, tail] = std::mem::take(&mut *lock(&self.ends.ends));
        let lost = || RequestFailure::Fatal(Error::new(ErrorKind::Protocol, "the ends of the file did not arrive"));
        let payload = crate::bounds::covered(&self.spans);
        Counters::add(&self.file.client.counters.payload, payload);
        Ok(Opening {
            size: self.file.size,
            head: head.ok_or_else(lost)?,
            tail: (self.spans[1].start, tail.ok_or_else(lost)?),
            source: self.file,
        })
    }
}

struct Ends {
    ends: Mutex<[Option<Bytes>; 2]>,
    version: Arc<FileVersion>,
}

impl Sink for Ends {
    fn part(&self, index: usize, bytes: Bytes) {
        if index == 0 {
            self.version.beginning.keep(&bytes);
        }
        if let Some(end) = lock(&self.ends).get_mut(index) {
            *end = Some(bytes);
        }
    }
}

/// The request for the tail that runs concurrently with the one for the head; cancelled when dropped.
struct Beside(JoinHandle<Option<Found>>);

impl Drop for Beside {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Found {
    total: u64,
    reply: Reply,
    pieces: Vec<Piece>,
}

impl Found {
    /// Whether it comes from the server for which this version is known, and is of this version.
    fn told_by(&self, version: &FileVersion) -> bool {
        version.check(&self.reply).is_ok_and(|told| told == VersionCheck::Same)
    }
}

/// The last bytes of the file, if the server supports suffix ranges; if not, the head's response gives the size and
/// they are requested by position.
async fn tail_alone(client: &Client, tail: u64) -> Option<Found> {
    let mut retry_budget = RetryBudget::new(&client.options);
    let mut reply = client.send(RangeRequest::short(&format!("bytes=-{tail}"), 1), &mut retry_budget).await.ok()?;
    if reply.status != 206 {
        return None;
    }
    let mut body = Body::of(&reply).ok()?;
    let mut pieces = Vec::new();
    while let Some(chunk) = reply.chunk().await.ok()? {
        if reply.wire > tail {
            return None;
        }
        body.push(chunk, &mut pieces).ok()?;
    }
    Some(Found { total: body.total()?, reply, pieces })
}

/// The response is the whole file: kept if it is small, or if there is no alternative.
async fn whole(
    client: &Arc<Client>,
    mut reply: Reply,
    multi: bool,
    retry_budget: &mut RetryBudget,
) -> Result<Opening, RequestFailure> {
    let options = &client.options;
    let limit = if multi { options.head.saturating_add(options.tail).max(SMALL_FILE) } else { options.whole_file };
    let length = reply.length();
    let too_large = |size| {
        if multi {
            RequestFailure::nonsense("the server responded to several ranges with the whole file", true)
        } else {
            RequestFailure::Fatal(no_ranges(size))
        }
    };
    if length.is_some_and(|n| n > limit) {
        return Err(too_large(length));
    }
    let mut all = BytesMut::new();
    while let Some(chunk) = reply.chunk().await? {
        retry_budget.heard();
        if reply.wire > limit {
            return Err(too_large(None));
        }
        all.extend_from_slice(&chunk);
    }
    if !multi {
        Counters::add(&client.counters.fallbacks, 1);
        crate::trace::fall_back(|| client.server().url.redacted(), "the whole file");
    }
    let all = all.freeze();
    let beyond_ends = all.len() as u64 > options.head.saturating_add(options.tail);
    Ok(in_memory(client, all, !multi && beyond_ends))
}

fn in_memory(client: &Arc<Client>, all: Bytes, ranges_ignored: bool) -> Opening {
    let size = all.len() as u64;
    let head = all.slice(..client.options.head.min(size) as usize);
    let start = size - client.options.tail.min(size);
    let tail = all.slice(start as usize..);
    Counters::add(&client.counters.payload, size);
    let version = Arc::new(FileVersion::default());
    let source = Arc::new(HttpFile {
        client: Arc::clone(client),
        size,
        version,
        memory: Some(all),
        ranges_ignored,
        under_way: UnderWay::default(),
    });
    Opening { source, size, head, tail: (start, tail) }
}
