//! Requests whose responses are small, and no parts of files: listings, credentials.

use super::failure::broke_before_response;
use crate::open::SourceOptions;
use crate::trace;
use crate::url::Url;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request};
use sapwood_span::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Longest response.
const LONGEST: usize = 16 << 20;

/// One request.
pub(crate) struct SmallRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Whose connection it may use.
    pub user: Option<String>,
}

/// The response.
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl SmallRequest {
    pub(crate) fn new(method: Method, url: Url) -> Self {
        let mut headers = HeaderMap::new();
        if let Ok(host) = HeaderValue::from_str(&url.authority()) {
            headers.insert(header::HOST, host);
        }
        headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("sapwood/", env!("CARGO_PKG_VERSION"))));
        headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
        Self { method, url, headers, body: Bytes::new(), user: None }
    }

    /// Adds a header, which is never shown.
    ///
    /// # Errors
    /// `Invalid` for characters that a header cannot have.
    pub(crate) fn header(&mut self, name: &'static str, value: &str) -> Result<()> {
        let unfit = |_| Error::invalid(format!("the value of the header {name} has invalid characters"));
        let mut value = HeaderValue::from_str(value).map_err(unfit)?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(())
    }
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends a request and reads the whole response. A connection that was idle and is closed by now is replaced.
///
/// # Errors
/// `Io`, `Timeout`; `Protocol` for a response that is too long.
pub(crate) async fn ask(request: SmallRequest, options: &SourceOptions, handle: &Handle) -> Result<Answer> {
    let url = request.url.clone();
    let exchange = exchange(request, options, handle);
    let limited = timeout(options.progress_timeout, exchange).await;
    limited.unwrap_or_else(|_| {
        let what =
            format!("no response from {} for {:.0?} (progress timeout)", url.authority(), options.progress_timeout);
        Err(Error::new(ErrorKind::Timeout, what).with_remedy("check the network, or raise the timeout"))
    })
}

async fn exchange(request: SmallRequest, options: &SourceOptions, handle: &Handle) -> Result<Answer> {
    let SmallRequest { method, url, headers, body, user } = request;
    let host = options.hosts.get(&url, user.as_deref(), options.ca_dir.as_deref(), options.max_connections)?;
    let opened: super::hosts::Opened = Arc::new(|| {});
    let proxy = if url.https { None } else { super::proxy::of(&url)? };
    let path = if url.target.is_empty() { "/" } else { &url.target };
    let target = if proxy.is_some() { format!("http://{}{path}", url.authority()) } else { path.to_owned() };
    loop {
        let limit = options.connect_timeout.min(options.progress_timeout);
        let mut lent = host.lend(0, handle, || limit, &opened).await?;
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method.clone();
        *request.uri_mut() = target.parse().map_err(|_| Error::invalid("the address is not valid in HTTP"))?;
        *request.headers_mut() = headers.clone();
        if let Some(value) =
            proxy.as_ref().and_then(|p| p.authorization.as_deref()).and_then(|a| HeaderValue::from_str(a).ok())
        {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, value);
        }
        let begin = Instant::now();
        trace::request(|| url.redacted(), "", lent.used);
        let sent = match lent.link.sender.ready().await {
            Ok(()) => lent.link.sender.send_request(request).await,
            Err(error) => Err(error),
        };
        let response = match sent {
            Ok(response) => response,
            Err(error) if lent.used && !error.is_parse() => continue,
            Err(error) => return Err(broke_before_response(error)),
        };
        let (head, mut stream) = response.into_parts();
        trace::answer(|| url.redacted(), head.status.as_u16(), begin.elapsed());
        let mut all = BytesMut::new();
        while let Some(frame) = stream.frame().await {
            let Ok(bytes) = frame.map_err(broke_before_response)?.into_data() else { continue };
            if all.len().saturating_add(bytes.len()) > LONGEST {
                return Err(Error::new(ErrorKind::Protocol, "the response of the server is too long"));
            }
            all.extend_from_slice(&bytes);
        }
        lent.arrived(all.len() as u64);
        host.give_back(lent);
        return Ok(Answer { status: head.status.as_u16(), headers: head.headers, body: all.freeze() });
    }
}
