//! A client's credential, and how it is passed to an origin of the same or of the other protocol.

use crate::scheme::Scheme;
use base64::prelude::{BASE64_STANDARD, Engine};
use sapwood_serve::{ClientRequest, FilesError, Protocol};
use sapwood_span::{is_secret, percent};

/// A credential that comes separately from the path.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) enum Credential {
    #[default]
    None,
    Bearer(String),
    Basic {
        user: String,
        password: String,
    },
}

/// What is sent to an origin along with a path.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Shown {
    pub credential: Credential,
    /// The text after the question mark. It may hold credentials.
    pub query: String,
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Bearer(_) => "Bearer ***",
            Self::Basic { .. } => "Basic ***",
        })
    }
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.credential)
    }
}

/// Options that XRootD's clients add to a path for the server they are connected to.
const OF_CLIENTS: [&str; 8] = ["xrd.", "xrdcl.", "xrdposix", "oss.", "cms.", "tried", "triedrc", "scitag."];

impl Shown {
    /// What is passed to an origin of a client's credential and query.
    ///
    /// # Errors
    /// `Denied`: credentials of a kind that cannot be passed on.
    pub(crate) fn of(asked: &ClientRequest, scheme: Scheme) -> Result<Self, FilesError> {
        let header = asked.authorization.as_ref().map(|secret| String::from_utf8_lossy(&secret.0).into_owned());
        let mut credential = header.as_deref().map_or(Ok(Credential::None), of_header)?;
        let given = std::str::from_utf8(&asked.path.opaque)
            .map_err(|_| FilesError::Denied("the query is not text".to_owned()))?;
        if scheme == Scheme::S3 {
            // an access key and its secret are the only credential that signs requests
            if matches!(credential, Credential::Bearer(_)) {
                return Err(FilesError::Denied("a token is no credential for an S3 store".to_owned()));
            }
            return Ok(Self { credential, query: String::new() });
        }
        let query = match (asked.protocol, scheme.is_http()) {
            (Protocol::Http, true) => given.to_owned(),
            (Protocol::Root, false) => kept(given, |key| !OF_CLIENTS.iter().any(|own| key.starts_with(own))),
            // a token in the query of one protocol is a header of the other, and the reverse; other options have no
            // equivalent
            (_, true) => {
                if let Some(token) = token(given).filter(|_| credential == Credential::None) {
                    credential = Credential::Bearer(token);
                }
                String::new()
            }
            (_, false) => kept(given, |key| key == "authz"),
        };
        Ok(Self { credential, query })
    }

    /// Whether any of it may be a credential.
    pub(crate) fn is_secret(&self) -> bool {
        self.credential != Credential::None || pairs(&self.query).any(|(key, _)| is_secret(key))
    }

    /// All of it, as a key.
    pub(crate) fn key(&self) -> (String, &str) {
        let credential = match &self.credential {
            Credential::None => String::new(),
            Credential::Bearer(token) => format!("bearer {token}"),
            Credential::Basic { user, password } => format!("basic {} {user}:{password}", user.len()),
        };
        (credential, &self.query)
    }

    /// The token for the `Authorization` header or the login; empty: none is sent, not even the proxy's own.
    pub(crate) fn token(&self) -> String {
        match &self.credential {
            Credential::Bearer(token) => token.clone(),
            _ => String::new(),
        }
    }
}

fn of_header(header: &str) -> Result<Credential, FilesError> {
    let refused = || FilesError::Denied("only Bearer and Basic credentials can be passed on to the origin".to_owned());
    let (kind, rest) = header.trim().split_once(' ').ok_or_else(refused)?;
    let rest = rest.trim();
    if kind.eq_ignore_ascii_case("bearer") && !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(Credential::Bearer(rest.to_owned()));
    }
    if kind.eq_ignore_ascii_case("basic") {
        let decoded = BASE64_STANDARD.decode(rest).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let (user, password) = decoded.as_deref().and_then(|text| text.split_once(':')).ok_or_else(refused)?;
        return Ok(Credential::Basic { user: user.to_owned(), password: password.to_owned() });
    }
    Err(refused())
}

/// The bearer token in a query.
fn token(query: &str) -> Option<String> {
    let (_, value) = pairs(query).find(|(key, _)| matches!(*key, "authz" | "access_token"))?;
    let value = String::from_utf8(percent::decode(value)).ok()?;
    let token = value.strip_prefix("Bearer ").unwrap_or(&value).trim();
    (!token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic())).then(|| token.to_owned())
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

fn kept(query: &str, keep: impl Fn(&str) -> bool) -> String {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let kept: Vec<&str> = pairs.filter(|pair| keep(pair.split('=').next().unwrap_or_default())).collect();
    kept.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_serve::ServedPath;
    use std::net::IpAddr;

    fn shown(protocol: Protocol, opaque: &str, header: Option<&str>, scheme: Scheme) -> Result<Shown, FilesError> {
        let path = match protocol {
            Protocol::Http => ServedPath::of_url("/a", opaque).unwrap(),
            _ => ServedPath::of_bytes(format!("/a?{opaque}").as_bytes()).unwrap(),
        };
        let asked = ClientRequest::new(path, IpAddr::from([127, 0, 0, 1]), protocol);
        Shown::of(&asked.authorization(header.map(Into::into)), scheme)
    }

    fn bearer(token: &str, query: &str) -> Result<Shown, FilesError> {
        Ok(Shown { credential: Credential::Bearer(token.into()), query: query.into() })
    }

    #[test]
    fn credentials_go_along_in_the_origins_language() {
        use Scheme::{Https, Root};
        assert_eq!(shown(Protocol::Http, "x=1", Some("Bearer T"), Https), bearer("T", "x=1"));
        assert_eq!(shown(Protocol::Http, "x=1", Some("bearer  T"), Root), bearer("T", ""));
        let basic = Credential::Basic { user: "test".into(), password: "123\u{a3}".into() };
        assert_eq!(shown(Protocol::Http, "", Some("Basic dGVzdDoxMjPCow=="), Https).unwrap().credential, basic);
        let opaque = "xrd.wantprot=unix&authz=Bearer%20T&xrdcl.requuid=1&svcClass=x";
        assert_eq!(shown(Protocol::Root, opaque, None, Https), bearer("T", ""));
        let passed = shown(Protocol::Root, opaque, None, Root).unwrap();
        assert_eq!(passed.query, "authz=Bearer%20T&svcClass=x");
        assert!(passed.is_secret() && !shown(Protocol::Root, "svcClass=x", None, Root).unwrap().is_secret());
        assert!(!shown(Protocol::Http, "", None, Https).unwrap().is_secret());
    }

    #[test]
    fn what_cannot_be_passed_on_is_refused() {
        for bad in ["Digest x", "Bearer", "Bearer a b", "Basic !!", "Basic dGVzdA==", "x"] {
            assert!(shown(Protocol::Http, "", Some(bad), Scheme::Https).is_err(), "{bad}");
        }
    }
}
