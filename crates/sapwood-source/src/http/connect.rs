//! Opening one connection.

use crate::url::Url;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use sapwood_span::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// The next address of a host is tried beside the first one after this time (RFC 8305).
const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// Sends requests over one connection.
pub(crate) type Sender = http1::SendRequest<Empty<Bytes>>;

/// A connection, and how long its TCP handshake took: one round trip.
pub(crate) struct Connected {
    pub sender: Sender,
    pub round_trip: Duration,
}

/// Connects to the URL's host; the connection lives in a task of the current runtime.
///
/// # Errors
/// Name resolution, TCP or TLS fails, or all of it takes longer than `patience`.
pub(crate) async fn connect(url: Url, tls: Option<Arc<ClientConfig>>, patience: Duration) -> Result<Connected> {
    let attempt = async {
        let addresses: Vec<SocketAddr> = lookup_host((url.bare_host(), url.port))
            .await
            .map_err(|e| Error::io(format!("cannot find the host {}", url.host), e))?
            .collect();
        let (stream, round_trip) = first_to_answer(&addresses, &url).await?;
        // Requests are small and must not wait for each other.
        let _ = stream.set_nodelay(true);
        let sender = match tls {
            Some(config) => {
                let name = ServerName::try_from(url.bare_host().to_owned())
                    .map_err(|e| Error::invalid("the host name does not fit a certificate").with_source(e))?;
                let stream = TlsConnector::from(config).connect(name, stream).await.map_err(|e| tls_failed(e, &url))?;
                speak_http(stream).await?
            }
            None => speak_http(stream).await?,
        };
        Ok(Connected { sender, round_trip })
    };
    timeout(patience, attempt).await.unwrap_or_else(|_| {
        let what = format!("no connection to {} within {:.0?}", url.authority(), patience);
        Err(Error::new(ErrorKind::Timeout, what).with_remedy("check the address and the network"))
    })
}

async fn first_to_answer(addresses: &[SocketAddr], url: &Url) -> Result<(TcpStream, Duration)> {
    let mut tries = JoinSet::new();
    let mut rest = addresses.iter().copied();
    let mut failed = None;
    loop {
        let another = rest.next();
        if let Some(address) = another {
            tries.spawn(async move {
                let begin = Instant::now();
                TcpStream::connect(address).await.map(|stream| (stream, begin.elapsed()))
            });
        }
        let ended = match another {
            Some(_) => timeout(NEXT_ADDRESS, tries.join_next()).await.unwrap_or(None),
            None => tries.join_next().await,
        };
        match ended {
            Some(Ok(Ok(connected))) => return Ok(connected),
            Some(Ok(Err(error))) => failed = Some(error),
            Some(Err(_)) => {}
            None if another.is_none() => break,
            None => {}
        }
    }
    let what = format!("cannot connect to {}", url.authority());
    Err(match failed {
        Some(error) => Error::new(ErrorKind::Io, what).with_source(error),
        None => Error::new(ErrorKind::Io, what),
    })
}

fn tls_failed(error: std::io::Error, url: &Url) -> Error {
    let what = format!("TLS handshake with {} failed", url.authority());
    let remedy = "if the server's certificate comes from a private authority, set SSL_CERT_FILE or X509_CERT_DIR";
    // What rustls found wrong will be wrong the next time as well; a torn connection may not.
    if error.kind() == std::io::ErrorKind::InvalidData {
        Error::new(ErrorKind::Denied, what).with_source(error).with_remedy(remedy)
    } else {
        Error::new(ErrorKind::Io, what).with_source(error)
    }
}

async fn speak_http<S>(stream: S) -> Result<Sender>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // XrdHttp 5.5 knows its headers in this case only, whatever the standard says.
    let (sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|e| Error::new(ErrorKind::Io, "cannot start HTTP").with_source(e))?;
    // Its failure is reported by the request that it hits.
    tokio::spawn(connection);
    Ok(sender)
}
