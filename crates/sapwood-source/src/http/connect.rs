//! Opening one connection.

use super::proxy;
use crate::dial;
use crate::tcp_info::TcpInfo;
use crate::url::Url;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use sapwood_span::{Error, ErrorKind, Result};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;

/// Sends requests over one connection.
pub(crate) type Sender = http1::SendRequest<Full<Bytes>>;

/// A connection, and how long its TCP handshake took: one round trip.
pub(crate) struct Connected {
    pub sender: Sender,
    pub round_trip: Duration,
    /// The server's address; none behind a proxy.
    pub peer: Option<IpAddr>,
    pub gauge: Option<TcpInfo>,
}

/// Connects to the URL's host, or to the proxy on the way to it; the connection lives in a task of the current runtime.
///
/// # Errors
/// Name resolution, TCP or TLS fails, a proxy refuses, or all of it takes longer than `time_limit`.
pub(crate) async fn connect(url: Url, tls: Option<Arc<ClientConfig>>, time_limit: Duration) -> Result<Connected> {
    let attempt = async {
        let (stream, round_trip, peer) = match proxy::of(&url)? {
            None => {
                let (stream, round_trip) = dial::tcp(url.bare_host(), url.port).await?;
                let peer = stream.peer_addr().ok().map(|a| a.ip());
                (stream, round_trip, peer)
            }
            Some(proxy) => {
                let remedy =
                    "this is the proxy set in http_proxy or https_proxy; list hosts that do not need it in no_proxy";
                let to_proxy = dial::tcp(&proxy.host, proxy.port).await;
                let (mut stream, mut round_trip) = to_proxy.map_err(|e| e.with_remedy(remedy))?;
                if tls.is_some() {
                    let begin = Instant::now();
                    proxy.tunnel(&mut stream, &url).await?;
                    // its answer came after the origin server's had reached it
                    round_trip += begin.elapsed();
                }
                (stream, round_trip, None)
            }
        };
        let gauge = TcpInfo::of(&stream);
        let sender = match tls {
            Some(config) => speak_http(dial::secure(config, stream, url.bare_host(), url.port).await?).await?,
            None => speak_http(stream).await?,
        };
        Ok(Connected { sender, round_trip, peer, gauge })
    };
    timeout(time_limit, attempt).await.unwrap_or_else(|_| {
        let what = format!("no connection to {} within {:.0?}", url.authority(), time_limit);
        Err(Error::new(ErrorKind::Timeout, what).with_remedy("check the address and the network"))
    })
}

async fn speak_http<S>(stream: S) -> Result<Sender>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // XrdHttp 5.5 recognises headers only in this letter case, whatever the standard says.
    let (sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|e| Error::new(ErrorKind::Io, "cannot start HTTP").with_source(e))?;
    // Failures are reported by the request that runs into them.
    tokio::spawn(connection);
    Ok(sender)
}
