//! A client's request: a path, a credential, and the client's address.

use crate::log::shown;
use sapwood_span::percent;
use sapwood_xrd::SecretBytes;
use std::net::IpAddr;

/// The protocol over which a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// HTTP/1.1.
    Http,
    /// XRootD.
    Root,
}

impl Protocol {
    /// `http` or `root`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Root => "root",
        }
    }
}

/// A request for the file or directory at a path. Its `Debug` output shows no credential.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientRequest {
    /// The path, and in [`ServedPath::opaque`] the query string (HTTP) or the opaque information (XRootD), which may
    /// hold a credential such as `authz=...`.
    pub path: ServedPath,
    /// The `Authorization` header; over XRootD the token of the login, in the form of that header: `Bearer TOKEN`.
    pub authorization: Option<SecretBytes>,
    /// The client's address.
    pub client: IpAddr,
    /// The protocol of the request.
    pub protocol: Protocol,
    /// Whether the request came over TLS.
    pub is_secure: bool,
    /// The number of its connection: requests with the same number come from the same program, as a rule.
    pub connection: u64,
}

impl ClientRequest {
    /// A request without a credential apart from the path, in plain text, on connection 0.
    pub fn new(path: ServedPath, client: IpAddr, protocol: Protocol) -> Self {
        Self { path, authorization: None, client, protocol, is_secure: false, connection: 0 }
    }
}

sapwood_span::setters!(ClientRequest { is_secure: bool, connection: u64, authorization: Option<SecretBytes> } into {});

/// A path that leads only downwards.
#[derive(Clone, PartialEq, Eq)]
pub struct ServedPath {
    parts: Vec<Vec<u8>>,
    /// It ends in a slash: only a directory is meant.
    pub is_folder: bool,
    /// The text after the question mark. It may hold credentials.
    pub opaque: Vec<u8>,
}

impl std::fmt::Debug for ServedPath {
    /// Without possible credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", shown(&String::from_utf8_lossy(&self.parts.join(&b'/'))))
    }
}

impl ServedPath {
    /// From the path of an HTTP request and the text after its question mark; none if it could escape the root.
    pub fn of_url(path: &str, query: &str) -> Option<Self> {
        let parts = path.split('/').map(|part| percent::decode_strict(part.as_bytes())).collect::<Option<Vec<_>>>()?;
        Self::of_parts(parts, path.ends_with('/'), query.as_bytes().to_vec())
    }

    /// From the path of an XRootD request, which may end in `?` and opaque information; none if it could escape the
    /// root.
    pub fn of_bytes(path: &[u8]) -> Option<Self> {
        // old clients ended paths in a zero
        let path = path.strip_suffix(b"\0").unwrap_or(path);
        let mut halves = path.splitn(2, |b| *b == b'?');
        let (path, opaque) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
        let parts = path.split(|b| *b == b'/').map(<[u8]>::to_vec).collect();
        Self::of_parts(parts, path.ends_with(b"/"), opaque.to_vec())
    }

    fn of_parts(parts: Vec<Vec<u8>>, is_folder: bool, opaque: Vec<u8>) -> Option<Self> {
        let mut kept = Vec::new();
        for part in parts {
            match part.as_slice() {
                b"" | b"." => {}
                // After decoding, a part must be a plain name: not a parent directory, and without a separator.
                b".." => return None,
                name if name.contains(&b'/') || name.contains(&0) => return None,
                _ => kept.push(part),
            }
        }
        Some(Self { parts: kept, is_folder, opaque })
    }

    /// The names along the path.
    pub fn parts(&self) -> &[Vec<u8>] {
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cannot_climb() {
        for bad in ["/../x", "/a/%2e%2e/x", "/a/..", "/a%2fb", "/%00", "/%zz", "/%2"] {
            assert!(ServedPath::of_url(bad, "").is_none(), "{bad}");
        }
        let good = ServedPath::of_url("//a/./b%20c/", "authz=SECRET").unwrap();
        assert_eq!((good.parts(), good.is_folder), (&[b"a".to_vec(), b"b c".to_vec()][..], true));
        assert_eq!(ServedPath::of_url("/...", "").unwrap().parts().len(), 1);
        for bad in [&b"/../x"[..], b"/a/..", b"..", b"/a\0b", b"/a/../b?x"] {
            assert!(ServedPath::of_bytes(bad).is_none(), "{bad:?}");
        }
        let raw = ServedPath::of_bytes(b"//a/b%20\xff?authz=SECRET").unwrap();
        assert_eq!(raw.parts(), [b"a".to_vec(), b"b%20\xff".to_vec()], "nothing is decoded");
        assert_eq!(raw.opaque, b"authz=SECRET");
        let token = Some("Bearer SECRET".into());
        let asked = ClientRequest::new(raw, IpAddr::from([127, 0, 0, 1]), Protocol::Root).authorization(token);
        assert!(!format!("{good:?}{asked:?}").contains("SECRET"));
    }
}
