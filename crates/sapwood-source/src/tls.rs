//! TLS: which certificates are trusted.

use sapwood_span::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

/// Trusts the system's certificates (`SSL_CERT_FILE`, `SSL_CERT_DIR`), those in the directory that `X509_CERT_DIR` names,
/// as grid tools do, and those in `ca_dir`.
///
/// # Errors
/// `ca_dir` cannot be read, or no certificate is found anywhere.
pub(crate) fn configuration(ca_dir: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let mut roots = Trusted { store: RootCertStore::empty(), certificates: Vec::new() };
    roots.add(rustls_native_certs::load_native_certs().certs);
    if let Some(dir) = std::env::var_os("X509_CERT_DIR") {
        // It may be meant for other tools: failing to read it is not an error here.
        let _ = add_folder(&mut roots, Path::new(&dir));
    }
    if let Some(dir) = ca_dir {
        add_folder(&mut roots, dir).map_err(|e| {
            Error::io("cannot read the directory of certificates", e).in_file(dir.display().to_string())
        })?;
    }
    if roots.store.is_empty() {
        return Err(Error::invalid("no trusted certificates found on this machine")
            .with_remedy("install ca-certificates, or set SSL_CERT_FILE or X509_CERT_DIR"));
    }
    let provider = Arc::new(ring::default_provider());
    let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots.store), Arc::clone(&provider))
        .build()
        .map_err(|e| Error::unsupported("TLS cannot be set up").with_source(e))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::unsupported("TLS cannot be set up").with_source(e))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier { usual, trusted: roots.certificates }));
    Ok(Arc::new(config.with_no_client_auth()))
}

/// What is wrong with a server or its certificate and how to fix it, for a handshake that failed because of it.
pub(crate) fn explain(error: &std::io::Error) -> Option<(&'static str, &'static str)> {
    use CertificateError as E;
    let why = match error.get_ref()?.downcast_ref()? {
        rustls::Error::InvalidCertificate(why) => why,
        rustls::Error::InvalidMessage(_) => {
            return Some((
                "the answer is not TLS",
                "use http:// or root:// if the server does not use TLS on this port",
            ));
        }
        _ => return None,
    };
    let remedy = "if you trust the server, set SSL_CERT_FILE to a file with its certificate or its \
                  authority's, or X509_CERT_DIR to a directory of such files";
    Some(match why {
        // what the verifier below accepts only where it is trusted
        E::Other(_) => ("its certificate is not made for a server, and is not itself trusted here", remedy),
        // where an authority of the same name is trusted, it did not sign this one
        E::UnknownIssuer | E::BadSignature => {
            ("its certificate is not signed by an authority that is trusted here", remedy)
        }
        E::Expired | E::ExpiredContext { .. } => {
            ("its certificate has expired", "the server needs a new one; check the clock of this machine, too")
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            ("its certificate is not valid yet", "check the clock of this machine")
        }
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            ("its certificate was made for other names", "use a name that the certificate lists (subjectAltName)")
        }
        _ => return None,
    })
}

/// Certificates that are trusted.
struct Trusted {
    /// As authorities.
    store: RootCertStore,
    /// Compared directly with the certificate that a server presents.
    certificates: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn add(&mut self, certificates: Vec<CertificateDer<'static>>) {
        self.store.add_parsable_certificates(certificates.iter().cloned());
        self.certificates.extend(certificates);
    }
}

/// The usual rules, but a server may present a trusted certificate itself even where it is marked as an authority: most
/// self-signed certificates are made so (`openssl req -x509`), and the user has named it.
#[derive(Debug)]
struct Verifier {
    usual: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let verified = self.usual.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        // rustls has no name for an authority in place of a server's certificate; it has checked the dates before that
        let Err(rustls::Error::InvalidCertificate(CertificateError::Other(_))) = verified else { return verified };
        if !self.trusted.iter().any(|t| t == end_entity) {
            return verified;
        }
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Adds the certificates of all files in a directory; files without any are skipped (grid directories also hold revocation
/// lists and signing policies).
fn add_folder(roots: &mut Trusted, dir: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if let Ok(certs) = CertificateDer::pem_file_iter(&path) {
            roots.add(certs.filter_map(Result::ok).collect());
        }
    }
    Ok(())
}
