//! One response of a server, read piece by piece.

use super::failure::RequestFailure;
use super::hosts::{Host, PooledConnection};
use crate::counters::Counters;
use crate::lock;
use crate::silence::{self, Silence};
use crate::url::Url;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use sapwood_span::{Error, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The body of a redirect or an error is read to its end up to this size, to keep the connection.
const SMALL_BODY: u64 = 64 << 10;

/// A response whose body has yet to be read. If dropped before the body's end, it closes its connection: what is in
/// flight is not waited for.
pub(crate) struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub host: Arc<Host>,
    /// The server's address; none behind a proxy.
    pub(super) peer: Option<IpAddr>,
    /// Bytes of the body so far.
    pub wire: u64,
    body: Incoming,
    lent: Option<PooledConnection>,
    counters: Arc<Counters>,
    pub url: Url,
    /// The progress timeout.
    pub longest: Duration,
}

impl Reply {
    pub(super) fn new(
        response: Response<Incoming>,
        lent: PooledConnection,
        host: Arc<Host>,
        url: Url,
        counters: Arc<Counters>,
        longest: Duration,
    ) -> Result<Self, RequestFailure> {
        let (head, body) = response.into_parts();
        let reply = Self {
            status: head.status.as_u16(),
            headers: head.headers,
            host,
            peer: lent.link.peer,
            wire: 0,
            body,
            lent: Some(lent),
            counters,
            url,
            longest,
        };
        match reply.header("content-encoding") {
            Some(coding) if !coding.trim().eq_ignore_ascii_case("identity") && matches!(reply.status, 200 | 206) => {
                let what = format!("the server sends the file with Content-Encoding {coding}, which was not requested");
                Err(RequestFailure::Fatal(Error::new(ErrorKind::Protocol, what)))
            }
            _ => Ok(reply),
        }
    }

    /// A header, if it is there and text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }

    /// Length of the body, if it was announced.
    pub(super) fn length(&self) -> Option<u64> {
        self.header("content-length").and_then(|v| v.trim().parse().ok())
    }

    /// The next bytes of the body; none at its end. A stalled transfer is abandoned after half of the progress timeout:
    /// the rest is for another try.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, RequestFailure> {
        loop {
            let frame = silence::broken_by(self.body.frame(), self.longest / 2, || reachable(&self.url)).await;
            match frame {
                Err(silence) => {
                    self.host.forget_idle();
                    return Err(silent(silence, "the transfer has made no progress", self.longest));
                }
                Ok(None) => {
                    if let Some(lent) = self.lent.take() {
                        self.host.give_back(lent);
                    }
                    return Ok(None);
                }
                Ok(Some(Err(error))) => {
                    let error =
                        Error::new(ErrorKind::Io, "the connection broke during the transfer").with_source(error);
                    return Err(RequestFailure::retry(error));
                }
                Ok(Some(Ok(frame))) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    if bytes.is_empty() {
                        continue;
                    }
                    self.wire += bytes.len() as u64;
                    Counters::add(&self.counters.wire, bytes.len() as u64);
                    lock(&self.host.meter).arrived(bytes.len() as u64, Instant::now());
                    if let Some(lent) = &mut self.lent {
                        lent.arrived(bytes.len() as u64);
                        if let Some(gauge) = &mut lent.link.gauge {
                            gauge.tell(&self.host.meter);
                        }
                    }
                    return Ok(Some(bytes));
                }
            }
        }
    }

    /// The body of an error, as far as it is small.
    pub(super) async fn small(&mut self) -> Result<Vec<u8>, RequestFailure> {
        let mut out = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if self.wire > SMALL_BODY {
                break;
            }
            out.extend_from_slice(&chunk);
        }
        Ok(out)
    }

    /// A store says the size of an object that has no such range in the body of its response.
    pub(super) fn state_size(&mut self, body: &[u8]) {
        let size = crate::s3::actual_size(body).and_then(|size| HeaderValue::from_str(&format!("bytes */{size}")).ok());
        if let (None, Some(size)) = (self.headers.get(header::CONTENT_RANGE), size) {
            self.headers.insert(header::CONTENT_RANGE, size);
        }
    }

    /// Reads a small body to its end, so that the connection can be used again.
    pub(super) async fn drain(&mut self) {
        if self.length().is_some_and(|n| n <= SMALL_BODY) {
            while let Ok(Some(_)) = self.chunk().await {}
        }
    }
}

/// How to react to a silence.
pub(super) fn silent(silence: Silence, what: &str, longest: Duration) -> RequestFailure {
    let timeout = |what: String| Error::new(ErrorKind::Timeout, what);
    match silence {
        Silence::Restored => {
            RequestFailure::retry(Error::new(ErrorKind::Io, "the network was down; the server can be reached again"))
        }
        Silence::Unreachable => RequestFailure::Fatal(
            timeout(format!("{what} for {longest:.0?} (progress timeout), and the server cannot be reached any more"))
                .with_remedy("check the network, or raise the timeout"),
        ),
        Silence::Stalled => {
            let error = timeout(format!("{what} for {longest:.0?} (progress timeout)"));
            RequestFailure::Retry { error, wait: None, stalled: true }
        }
    }
}

/// Whether a connection to the URL's host can be opened, or to the proxy on the way to it.
pub(super) async fn reachable(url: &Url) -> bool {
    match super::proxy::of(url) {
        Ok(Some(proxy)) => silence::answers(&proxy.host, proxy.port).await,
        _ => silence::answers(url.bare_host(), url.port).await,
    }
}
