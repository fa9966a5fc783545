//! One file's requests to its server: sends range requests, follows redirects, returns replies.

use super::credential;
use super::failure::{LEAST, RequestFailure, RetryBudget, broke_before_response};
use super::hosts::{Host, Opened, PooledConnection};
use super::range::RangeRequest;
use super::reply::{Reply, reachable, silent};
use crate::checksum::{WANT_DIGEST, WANT_REPR_DIGEST};
use crate::counters::Counters;
use crate::lock;
use crate::open::SourceOptions;
use crate::redirect::{Scope, allowed, check_name, check_peer, keeps_http_credential, refused};
use crate::s3::{Bucket, Response as Refusal, RetryDecision, S3Keys, S3Url, Tried};
use crate::silence::{self, Silence};
use crate::trace;
use crate::url::Url;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use sapwood_span::{Error, ErrorKind, Result};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

const MAX_REDIRECTS: usize = 16;
/// The value of a `Range` header where no bytes are requested.
const NO_RANGE: &str = "";

/// Where a file is read, after redirects.
#[derive(Clone)]
pub(crate) struct ServerUrl {
    pub url: Url,
    pub host: Arc<Host>,
    /// Scope of the server that redirected here.
    from: Option<Scope>,
}

impl ServerUrl {
    /// Refuses a connection to an address that the redirecting server could not have reached itself.
    fn check(&self, peer: Option<IpAddr>) -> Result<()> {
        self.from.map_or(Ok(()), |from| check_peer(from, peer, self.url.bare_host()))
    }
}

pub(crate) struct Client {
    pub name: String,
    pub options: SourceOptions,
    handle: Handle,
    /// The process whose thread is behind the handle: a forked child does not have it.
    process: u32,
    pub counters: Arc<Counters>,
    /// Where the file is asked for first; that of an object follows its bucket.
    original: Mutex<Url>,
    authorization: Option<HeaderValue>,
    /// For an object in an S3 store.
    object: Option<Object>,
    server: Mutex<ServerUrl>,
    opened: Opened,
    /// Nothing has been heard from the server lately.
    away: AtomicBool,
}

/// An object in an S3 store.
struct Object {
    bucket: Arc<Bucket>,
    url: S3Url,
    /// The ETag that the object was opened with: a store responds with 412 for any other.
    opened_as: OnceLock<HeaderValue>,
}

impl Client {
    pub(super) fn new(url: Url, options: SourceOptions, handle: Handle) -> Result<Self> {
        let authorization = credential::authorization(&url, options.token.as_deref())?;
        let text = authorization.as_ref().and_then(|a| a.to_str().ok());
        let host = options.hosts.get(&url, text, options.ca_dir.as_deref(), options.max_connections)?;
        Ok(Self::on(url, host, authorization, None, options, handle))
    }

    /// For an object in an S3 store.
    pub(super) fn of_object(object: &S3Url, options: SourceOptions, handle: Handle) -> Result<Self> {
        let bucket = options.hosts.buckets().get(object, &options.s3)?;
        let url = bucket.object(object)?;
        let user = bucket.user();
        let host = options.hosts.get(&url, Some(&user), options.ca_dir.as_deref(), options.max_connections)?;
        host.refuses_multi();
        let object = Object { bucket, url: object.clone(), opened_as: OnceLock::new() };
        Ok(Self::on(url, host, None, Some(object), options, handle))
    }

    fn on(
        url: Url,
        host: Arc<Host>,
        authorization: Option<HeaderValue>,
        object: Option<Object>,
        options: SourceOptions,
        handle: Handle,
    ) -> Self {
        let counters = Arc::new(Counters::default());
        let opened: Opened = {
            let counters = Arc::clone(&counters);
            Arc::new(move || Counters::add(&counters.connections, 1))
        };
        let server = Mutex::new(ServerUrl { url: url.clone(), host, from: None });
        Self {
            name: object.as_ref().map_or_else(|| url.redacted(), |object| object.url.redacted()),
            options,
            handle,
            process: std::process::id(),
            counters,
            original: Mutex::new(url),
            authorization,
            object,
            server,
            opened,
            away: AtomicBool::new(false),
        }
    }

    fn original(&self) -> Url {
        lock(&self.original).clone()
    }

    /// Whether the store itself refuses to send another version of the file than the one that was opened.
    pub(super) fn is_pinned(&self) -> bool {
        self.object.as_ref().is_some_and(|object| object.opened_as.get().is_some())
    }

    /// The first response of an object: from now on only this version of it is requested.
    pub(super) fn pin(&self, reply: &Reply) {
        let tag = reply.headers.get(header::ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""));
        if let (Some(object), Some(tag)) = (&self.object, tag) {
            let _ = object.opened_as.set(tag.clone());
        }
    }

    /// Where the file is read now.
    pub(super) fn server(&self) -> ServerUrl {
        lock(&self.server).clone()
    }

    /// The credential, if it may be sent to this URL.
    fn credential_for(&self, url: &Url) -> Option<&HeaderValue> {
        self.authorization.as_ref().filter(|_| keeps_http_credential(&self.original(), url))
    }

    /// For a response whose status is neither 200 nor 206.
    pub(super) fn refused(&self, reply: &Reply, multi: bool) -> RequestFailure {
        RequestFailure::status(reply.status, reply.header("retry-after"), multi, self.credential_for(&reply.url))
    }

    /// Follows a server's redirect.
    ///
    /// # Errors
    /// `Denied` for redirects that would expose the caller's credentials or network position.
    fn follow(&self, from: &ServerUrl, peer: Option<IpAddr>, location: &str) -> Result<ServerUrl> {
        let url = from.url.join(location)?;
        allowed(self.options.redirects.as_ref(), &url.redacted())?;
        if self.options.insecure_redirects {
            return self.move_to(url, None);
        }
        if from.url.https && !url.https {
            let what = format!("the server redirects from https to {}, which is not encrypted", url.redacted());
            return Err(refused(what));
        }
        let scope = Scope::of_peer(peer);
        check_name(scope, url.bare_host())?;
        self.move_to(url, Some(scope))
    }

    /// Back to the original server: it may know another replica.
    fn begin_anew(&self) -> Result<ServerUrl> {
        trace::go_back(|| self.original().redacted());
        self.move_to(self.original(), None)
    }

    fn move_to(&self, url: Url, from: Option<Scope>) -> Result<ServerUrl> {
        let user = self.object.as_ref().map(|object| object.bucket.user());
        let text = self.credential_for(&url).and_then(|a| a.to_str().ok()).or(user.as_deref());
        let o = &self.options;
        let host = o.hosts.get(&url, text, o.ca_dir.as_deref(), o.max_connections)?;
        if self.object.is_some() {
            host.refuses_multi();
        }
        let server = ServerUrl { url, host, from };
        *lock(&self.server) = server.clone();
        Ok(server)
    }

    /// The runtime that runs this, or the one that opened the file.
    pub(super) fn handle(&self) -> Handle {
        Handle::try_current().unwrap_or_else(|_| self.handle.clone())
    }

    /// Opens connections ahead.
    pub(super) fn warm(&self, connections: usize) {
        if self.process != std::process::id() && Handle::try_current().is_err() {
            return;
        }
        self.server().host.warm(connections, &self.handle(), self.connect_timeout(), &self.opened);
    }

    /// Sends a request for these ranges, follows redirects, and goes back to the original server when the target of a redirect stops working.
    pub(super) async fn send(
        &self,
        range: RangeRequest<'_>,
        retry_budget: &mut RetryBudget,
    ) -> Result<Reply, RequestFailure> {
        let (mut renewed, mut tried) = (false, Tried::default());
        for _ in 0..=MAX_REDIRECTS {
            let server = self.server();
            let keys = self.keys().await.map_err(RequestFailure::Fatal)?;
            let mut reply = match self.exchange(&server, range, keys.as_deref(), retry_budget).await {
                Ok(reply) => reply,
                Err(RequestFailure::Unreached(_)) if !renewed && server.url != self.original() => {
                    renewed = true;
                    self.begin_anew().map_err(RequestFailure::Fatal)?;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            if self.is_remedied(&mut reply, keys.as_deref(), &mut tried).await? {
                continue;
            }
            match reply.status {
                301 | 302 | 303 | 307 | 308 => {
                    let to = reply.header("location").map(str::to_owned);
                    let to = to.ok_or_else(|| {
                        RequestFailure::Fatal(Error::new(
                            ErrorKind::Protocol,
                            "the server redirects without a Location",
                        ))
                    })?;
                    reply.drain().await;
                    let moved = self.follow(&server, reply.peer, &to).map_err(RequestFailure::Fatal)?;
                    Counters::add(&self.counters.redirects, 1);
                    trace::redirect(|| server.url.redacted(), || moved.url.redacted());
                    if range.ranges > 1 && !moved.host.multi() {
                        let what = "the redirect target does not accept several ranges in one request";
                        return Err(RequestFailure::Fallback(Error::new(ErrorKind::Protocol, what)));
                    }
                }
                401 | 403 | 404 | 410 | 500..=599 if !renewed && server.url != self.original() => {
                    renewed = true;
                    reply.drain().await;
                    self.begin_anew().map_err(RequestFailure::Fatal)?;
                }
                _ => return Ok(reply),
            }
        }
        let what = format!("more than {MAX_REDIRECTS} redirects, the last one to {}", self.server().url.redacted());
        self.begin_anew().map_err(RequestFailure::Fatal)?;
        Err(RequestFailure::Fatal(Error::new(ErrorKind::Protocol, what)))
    }

    /// The keys to sign with, for an object.
    async fn keys(&self) -> Result<Option<Arc<S3Keys>>> {
        match &self.object {
            Some(object) => object.bucket.keys(&self.options, &self.handle()).await,
            None => Ok(None),
        }
    }

    /// Interprets a store's error response. Returns whether another request may do better.
    async fn is_remedied(
        &self,
        reply: &mut Reply,
        keys: Option<&S3Keys>,
        tried: &mut Tried,
    ) -> Result<bool, RequestFailure> {
        let Some(object) = self.object.as_ref().filter(|_| reply.status >= 300) else { return Ok(false) };
        // that it is gone or replaced is reported by the files that had it open
        if matches!(reply.status, 404 | 412) && self.is_pinned() {
            return Ok(false);
        }
        let body = reply.small().await?;
        if reply.status == 416 {
            reply.state_size(&body);
            return Ok(false);
        }
        let response = Refusal { status: reply.status, headers: &reply.headers, body: &body };
        match object.bucket.react(&response, keys, tried, &self.options, &self.handle()).await {
            Ok(RetryDecision::Retry) => {
                let url = object.bucket.object(&object.url).map_err(RequestFailure::Fatal)?;
                trace::redirect(|| reply.url.redacted(), || url.redacted());
                lock(&self.original).clone_from(&url);
                self.move_to(url, None).map_err(RequestFailure::Fatal)?;
                Counters::add(&self.counters.redirects, 1);
                Ok(true)
            }
            Ok(RetryDecision::Default) => Ok(false),
            Ok(RetryDecision::Refuse(error)) | Err(error) => Err(RequestFailure::Fatal(error)),
        }
    }

    /// Requests the headers of the file only, with checksums among them, as [`send`](Self::send) requests bytes.
    pub(super) async fn head(&self, retry_budget: &mut RetryBudget) -> Result<Reply, RequestFailure> {
        self.send(RangeRequest::short(NO_RANGE, 0), retry_budget).await
    }

    /// Connects to a host for the first time: its distance decides how requests are made.
    pub(super) async fn connect_first(&self, retry_budget: &mut RetryBudget) -> Result<ServerUrl, RequestFailure> {
        let server = self.server();
        if lock(&server.host.meter).distance().is_none() {
            let lent = self.lend(&server, 0, retry_budget).await?;
            server.host.give_back(lent);
        }
        Ok(server)
    }

    async fn lend(
        &self,
        server: &ServerUrl,
        bytes: u64,
        retry_budget: &mut RetryBudget,
    ) -> Result<PooledConnection, RequestFailure> {
        let wait = self.counters.wait();
        let mut longest = Duration::MAX;
        let time_limit = || {
            longest = self.connect_timeout().min(retry_budget.begin());
            longest
        };
        let lent = server.host.lend(bytes, &self.handle(), time_limit, &self.opened).await;
        let lent = lent.map_err(|error| match error.kind() {
            ErrorKind::Denied | ErrorKind::Invalid => RequestFailure::Fatal(error),
            // the server's silence has taken all the time: not the network is to blame
            ErrorKind::Timeout if longest <= LEAST => {
                self.lost(silent(Silence::Stalled, "no response", self.options.progress_timeout))
            }
            _ => self.lost(RequestFailure::Unreached(error)),
        })?;
        if lent.waited && !lent.used {
            self.counters.waited(wait, if server.host.secure() { 2 } else { 1 });
        }
        Ok(lent)
    }

    async fn exchange(
        &self,
        server: &ServerUrl,
        range: RangeRequest<'_>,
        keys: Option<&S3Keys>,
        retry_budget: &mut RetryBudget,
    ) -> Result<Reply, RequestFailure> {
        loop {
            let mut lent = self.lend(server, range.bytes, retry_budget).await?;
            server.check(lent.link.peer).map_err(RequestFailure::Fatal)?;
            let asked_for = self.request(server, range.header, keys).map_err(RequestFailure::Fatal)?;
            let (wait, begin, used) = (self.counters.wait(), Instant::now(), lent.used);
            trace::request(|| server.url.redacted(), range.header, used);
            let asked = self.ask(&mut lent, asked_for, range.ranges);
            let longest = retry_budget.asked(range.ranges > 1);
            match silence::broken_by(asked, longest, || reachable(&server.url)).await {
                Err(silence) => {
                    server.host.forget_idle();
                    return Err(self.lost(silent(silence, "no response", self.options.progress_timeout)));
                }
                Ok(Ok(response)) => {
                    self.away.store(false, Relaxed);
                    trace::answer(|| server.url.redacted(), response.status().as_u16(), begin.elapsed());
                    self.counters.waited(wait, 1);
                    lock(&server.host.meter).waited(begin.elapsed());
                    if let Some(name) = response.headers().get(header::SERVER).and_then(|v| v.to_str().ok()) {
                        server.host.says_it_is(name);
                    }
                    return Reply::new(
                        response,
                        lent,
                        server.host.clone(),
                        server.url.clone(),
                        self.counters.clone(),
                        self.options.progress_timeout,
                    );
                }
                // The server may have closed an idle connection at any time: that says nothing about the next one.
                Ok(Err(error)) if used && !error.is_parse() => {}
                Ok(Err(error)) if error.is_parse() => {
                    let what = "the server's response is not HTTP";
                    return Err(RequestFailure::retry(Error::new(ErrorKind::Protocol, what).with_source(error)));
                }
                Ok(Err(error)) => {
                    return Err(RequestFailure::retry(broke_before_response(error)));
                }
            }
        }
    }

    /// The request for these ranges.
    ///
    /// # Errors
    /// `Invalid` for an address that HTTP cannot express: another one in its place would be a guess.
    fn request(&self, server: &ServerUrl, range: &str, keys: Option<&S3Keys>) -> Result<Request<Full<Bytes>>> {
        let mut request = Request::new(Full::<Bytes>::default());
        // A proxy without a tunnel needs the whole address.
        let proxy = if server.url.https { None } else { super::proxy::of(&server.url).ok().flatten() };
        let target = match &proxy {
            Some(_) => format!("http://{}{}", server.url.authority(), server.url.target),
            None => server.url.target.clone(),
        };
        let unfit = |what: &str| Error::invalid(format!("{what} of {} is not valid in HTTP", server.url.redacted()));
        *request.uri_mut() = target.parse().map_err(|_| unfit("the path"))?;
        let headers = request.headers_mut();
        let mut set = |name, value: &str| {
            let value = HeaderValue::from_str(value).map_err(|_| unfit("a header"))?;
            headers.insert(name, value);
            Ok(())
        };
        set(header::HOST, &server.url.authority())?;
        set(header::USER_AGENT, concat!("sapwood/", env!("CARGO_PKG_VERSION")))?;
        set(header::ACCEPT, "*/*")?;
        set(header::ACCEPT_ENCODING, "identity")?;
        if range == NO_RANGE {
            set(HeaderName::from_static("want-repr-digest"), WANT_REPR_DIGEST)?;
            set(HeaderName::from_static("want-digest"), WANT_DIGEST)?;
        } else {
            set(header::RANGE, range)?;
        }
        if let Some(authorization) = proxy.and_then(|p| p.authorization) {
            set(header::PROXY_AUTHORIZATION, &authorization)?;
        }
        if let Some(credential) = self.credential_for(&server.url) {
            headers.insert(header::AUTHORIZATION, credential.clone());
        }
        if range == NO_RANGE {
            *request.method_mut() = Method::HEAD;
        }
        if let Some(object) = &self.object {
            if let Some(tag) = object.opened_as.get() {
                request.headers_mut().insert(header::IF_MATCH, tag.clone());
            }
            let method = if range == NO_RANGE { "HEAD" } else { "GET" };
            object.bucket.sign(keys, method, &server.url, request.headers_mut())?;
        }
        Ok(request)
    }

    async fn ask(
        &self,
        lent: &mut PooledConnection,
        request: Request<Full<Bytes>>,
        ranges: usize,
    ) -> hyper::Result<Response<Incoming>> {
        lent.link.sender.ready().await?;
        Counters::add(&self.counters.requests, 1);
        Counters::add(&self.counters.ranges, ranges as u64);
        lent.link.sender.send_request(request).await
    }

    /// The network may be down: connections are tried for a short time only, so that the first one after it is back is
    /// opened at once and not when TCP next retransmits.
    fn lost(&self, failure: RequestFailure) -> RequestFailure {
        self.away.store(true, Relaxed);
        failure
    }

    fn connect_timeout(&self) -> Duration {
        // a server that accepts and then sends nothing (TLS) counts as a stalled transfer
        let usual = self.options.connect_timeout.min(self.options.progress_timeout);
        if self.away.load(Relaxed) { usual.min(silence::PROBE) } else { usual }
    }
}
