//! TLS: the server's certificate, and connections that are encrypted or not.

use crate::connections::Watched;
use crate::stamp::Stamp;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// How often, at most, the files are checked.
const LOOK: Duration = Duration::from_secs(1);

/// The server's certificate. The files are read again when they change; while they do not match, the last ones that did
/// are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// A PEM file: the server's certificate, followed by the chain to its authority.
    pub certificate: PathBuf,
    /// A PEM file: the certificate's private key, not encrypted.
    pub key: PathBuf,
}

/// Starts TLS on connections.
pub(crate) struct Acceptor {
    files: Tls,
    current: Mutex<Current>,
}

struct Current {
    config: Arc<ServerConfig>,
    /// Stamps of the files when they were last checked.
    files: [Option<Stamp>; 2],
    looked: Instant,
}

impl Acceptor {
    /// # Errors
    /// A file cannot be read, holds no certificate or key, or the two do not match.
    pub(crate) fn new(files: Tls) -> Result<Self> {
        let stamps = stamps(&files);
        let current = Current { config: load(&files)?, files: stamps, looked: Instant::now() };
        Ok(Self { files, current: Mutex::new(current) })
    }

    fn config(&self) -> Arc<ServerConfig> {
        let mut current = lock(&self.current);
        if current.looked.elapsed() >= LOOK {
            current.looked = Instant::now();
            let now = stamps(&self.files);
            if now != current.files
                && let Ok(config) = load(&self.files)
            {
                (current.config, current.files) = (config, now);
            }
        }
        Arc::clone(&current.config)
    }

    /// Starts TLS on a connection.
    pub(crate) async fn accept(&self, stream: Watched) -> io::Result<Stream> {
        let stream = TlsAcceptor::from(self.config()).accept(stream).await?;
        Ok(Stream::Tls(Box::new(stream)))
    }
}

fn stamps(files: &Tls) -> [Option<Stamp>; 2] {
    [&files.certificate, &files.key].map(|path| std::fs::metadata(path).ok().map(|meta| Stamp::of(&meta)))
}

fn load(files: &Tls) -> Result<Arc<ServerConfig>> {
    let name = |path: &Path| path.display().to_string();
    let wrong = |e, what: &str, path: &Path| {
        Error::invalid(format!("{what} cannot be used for TLS")).with_source(e).in_file(name(path))
    };
    let certificates: Vec<_> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|e| wrong(e, "the certificate", &files.certificate))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|e| wrong(e, "the private key", &files.key))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::unsupported("TLS cannot be set up").with_source(e))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|e| {
            Error::invalid("the certificate and the private key cannot be used together for TLS")
                .with_source(e)
                .in_file(name(&files.certificate))
        })?;
    // XRootD's clients name no protocol.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A connection.
pub(crate) enum Stream {
    Plain(Watched),
    Tls(Box<TlsStream<Watched>>),
}

impl Stream {
    pub(crate) fn is_secure(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

macro_rules! each {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Stream::Plain(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Tls(stream) => {
                let $stream = Pin::new(&mut **stream);
                $call
            }
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_shutdown(context))
    }
}
