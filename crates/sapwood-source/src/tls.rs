//! TLS: which certificates are trusted.

use sapwood_span::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Trusts the system's certificates (`SSL_CERT_FILE`, `SSL_CERT_DIR`), those in the folder that
/// `X509_CERT_DIR` names, as grid tools do, and those in `ca_dir`.
///
/// # Errors
/// `ca_dir` cannot be read, or no certificate is found anywhere.
pub(crate) fn configuration(ca_dir: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(dir) = std::env::var_os("X509_CERT_DIR") {
        // Named for other tools, perhaps: not being able to read it is no error of this one.
        let _ = add_folder(&mut roots, Path::new(&dir));
    }
    if let Some(dir) = ca_dir {
        add_folder(&mut roots, dir)
            .map_err(|e| Error::io("cannot read the folder of certificates", e).in_file(dir.display().to_string()))?;
    }
    if roots.is_empty() {
        return Err(Error::invalid("no trusted certificates found on this machine")
            .with_remedy("install ca-certificates, or set SSL_CERT_FILE or X509_CERT_DIR"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::unsupported("TLS cannot be set up").with_source(e))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// Adds the certificates of all files in a folder; files that hold none are passed over (grid
/// folders also hold revocation lists and signing policies).
fn add_folder(roots: &mut RootCertStore, dir: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if let Ok(certs) = CertificateDer::pem_file_iter(&path) {
            roots.add_parsable_certificates(certs.filter_map(Result::ok));
        }
    }
    Ok(())
}
