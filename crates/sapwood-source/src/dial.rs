//! Opening one connection: names, TCP, TLS.

use crate::{tcp_info, window};
use sapwood_span::{Error, ErrorKind, Result};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// The next address of a host is tried beside the first one after this time (RFC 8305).
const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// Connects to whichever of the host's addresses answers first; `host` is without brackets. Also returns how long the
/// TCP handshake took: one round trip.
///
/// # Errors
/// The name cannot be resolved, or no address answers.
pub(crate) async fn tcp(host: &str, port: u16) -> Result<(TcpStream, Duration)> {
    let addresses: Vec<SocketAddr> = lookup_host((host, port))
        .await
        .map_err(|e| Error::io(format!("cannot resolve host {host}"), plain(e)))?
        .collect();
    let (stream, waited) = first_to_answer(&addresses, host, port).await?;
    let round_trip = tcp_info::handshake(&stream).map_or(waited, |took| took.min(waited));
    crate::trace::connected(host, port, round_trip);
    // Requests are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    window::widen(&stream);
    Ok((stream, round_trip))
}

/// The resolver's error without the words that every library puts around it.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    // of glibc, musl and macOS
    let unknown =
        ["Name or service not known", "Name does not resolve", "nodename nor servname provided, or not known"];
    let text = if unknown.contains(&text) { "unknown name" } else { text };
    io::Error::new(error.kind(), text.to_owned())
}

/// Starts TLS on a connection; the certificate must be valid for this host.
///
/// # Errors
/// `Denied` for an unacceptable certificate or parameters, `Io` for a broken connection.
pub(crate) async fn secure(
    config: Arc<ClientConfig>,
    stream: TcpStream,
    host: &str,
    port: u16,
) -> Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|e| Error::invalid("the host name is not valid for a certificate").with_source(e))?;
    TlsConnector::from(config).connect(name, stream).await.map_err(|e| tls_failed(e, host, port))
}

async fn first_to_answer(addresses: &[SocketAddr], host: &str, port: u16) -> Result<(TcpStream, Duration)> {
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
    let what = format!("cannot connect to {}", authority(host, port));
    Err(match failed {
        Some(error) => Error::new(ErrorKind::Io, what).with_source(error),
        None => Error::new(ErrorKind::Io, what),
    })
}

fn tls_failed(error: std::io::Error, host: &str, port: u16) -> Error {
    let what = format!("TLS handshake with {} failed", authority(host, port));
    if let Some((why, remedy)) = crate::tls::explain(&error) {
        let what = format!("{what}: {why}");
        return Error::new(ErrorKind::Denied, what).with_source(error).with_remedy(remedy);
    }
    let remedy = "if a private authority signed the server's certificate, set SSL_CERT_FILE or X509_CERT_DIR";
    // What rustls rejects will be wrong next time as well; a broken connection may not.
    if error.kind() == std::io::ErrorKind::InvalidData {
        Error::new(ErrorKind::Denied, what).with_source(error).with_remedy(remedy)
    } else {
        Error::new(ErrorKind::Io, what).with_source(error)
    }
}

/// Host and port for messages.
pub(crate) fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
