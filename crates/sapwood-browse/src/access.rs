//! Who may ask: requests with the secret in their path, for this address, from the page itself.

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use sapwood::{Error, Result};
use std::io::Read;

/// Random bytes of a secret.
const SECRET_BYTES: usize = 24;

/// The secret of an address, and the names that the address has.
pub(crate) struct Access {
    secret: String,
    hosts: Vec<String>,
}

impl Access {
    /// A new secret for a server at this port of the loopback address.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn new(port: u16) -> Result<Self> {
        let mut random = [0; SECRET_BYTES];
        let mut source = std::fs::File::open("/dev/urandom").map_err(|e| Error::io("cannot read random numbers", e))?;
        source.read_exact(&mut random).map_err(|e| Error::io("cannot read random numbers", e))?;
        let secret = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).to_vec();
        Ok(Self { secret, hosts })
    }

    /// The secret.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// What a path names behind the secret; none without it.
    pub(crate) fn behind_secret<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix('/')?;
        let (given, behind) = rest.split_once('/')?;
        same(given.as_bytes(), self.secret.as_bytes()).then_some(behind)
    }

    /// Why a request is refused: its Host is another one (a name that a stranger's server has made to mean this
    /// machine), or a page of another site sent it.
    pub(crate) fn refusal(&self, headers: &HeaderMap) -> Option<&'static str> {
        let text = |name: HeaderName| headers.get(name).map(HeaderValue::as_bytes);
        // of two, a proxy on the way may have looked at the other one
        if [HOST, ORIGIN].iter().any(|name| headers.get_all(name).iter().count() > 1) {
            return Some("the request has several names of its server or of its page");
        }
        let own = |host: &[u8]| self.hosts.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(host));
        if !text(HOST).is_some_and(own) {
            return Some("the request has the Host name of another server");
        }
        if let Some(origin) = text(ORIGIN)
            && !origin.strip_prefix(b"http://").is_some_and(own)
        {
            return Some("the request comes from a page of another site");
        }
        // an address that is typed, or a notebook that shows the page in a frame, asks for the page alone
        match text(HeaderName::from_static("sec-fetch-site")) {
            None | Some(b"same-origin" | b"none") => None,
            Some(_) if text(HeaderName::from_static("sec-fetch-mode")) == Some(b"navigate") => None,
            Some(_) => Some("the request comes from a page of another site"),
        }
    }
}

/// Compares without telling by the time where two texts differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (x, y)| differ | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn only_the_page_itself_may_ask() {
        let access = Access::new(8000).unwrap();
        let refused = |pairs: &[(&'static str, &'static str)]| access.refusal(&headers(pairs)).is_some();
        let host = ("host", "127.0.0.1:8000");
        assert!(!refused(&[host]));
        assert!(!refused(&[("host", "LOCALHOST:8000"), ("origin", "http://localhost:8000")]));
        assert!(!refused(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(!refused(&[host, ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")]));
        assert!(!refused(&[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]));
        assert!(refused(&[]));
        assert!(refused(&[host, ("host", "evil.example:8000")]));
        assert!(refused(&[host, ("origin", "http://127.0.0.1:8000"), ("origin", "http://evil.example")]));
        assert!(refused(&[("host", "127.0.0.1")]));
        assert!(refused(&[("host", "evil.example:8000")]));
        assert!(refused(&[host, ("origin", "http://evil.example")]));
        assert!(refused(&[host, ("origin", "null")]));
        assert!(refused(&[host, ("origin", "https://127.0.0.1:8000")]));
        assert!(refused(&[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")]));
        assert!(refused(&[host, ("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")]));
    }

    #[test]
    fn the_secret_is_in_the_path() {
        let access = Access::new(8000).unwrap();
        let secret = access.secret().to_owned();
        assert_eq!(secret.len(), 2 * SECRET_BYTES);
        assert_ne!(secret, Access::new(8000).unwrap().secret());
        assert_eq!(access.behind_secret(&format!("/{secret}/api/ls")), Some("api/ls"));
        assert_eq!(access.behind_secret(&format!("/{secret}/")), Some(""));
        for path in [format!("/{secret}"), format!("/{}/x", &secret[1..]), "/".into(), "//x".into(), "/api/ls".into()] {
            assert_eq!(access.behind_secret(&path), None, "{path}");
        }
    }
}
