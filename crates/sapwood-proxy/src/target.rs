//! A remote address in its parts, none of which can be mistaken for another.

use crate::credential::Credential;
use crate::scheme::Scheme;
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result, percent, redact, scheme};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};

/// A file or directory of an origin.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub scheme: Scheme,
    /// In lower case; an IPv6 address without its brackets.
    pub host: String,
    pub port: u16,
    /// The names along the path: bytes, none of them empty, with a slash, or leading upwards.
    pub parts: Vec<Vec<u8>>,
}

impl Target {
    /// An origin's URL: a server and perhaps a directory on it.
    ///
    /// # Errors
    /// Another scheme, credentials, a query, or not a URL.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let wrong = |what: &str| Error::invalid(what).in_file(redact(url));
        let Some((name, rest)) = scheme(url) else {
            return Err(
                wrong("this is not a URL").with_remedy("use an origin such as root://host//path or https://host/path")
            );
        };
        let scheme = Scheme::of(name).ok_or_else(|| wrong("only http, https, root, roots and s3 can be proxied"))?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(wrong("the URL of an origin must not contain credentials: clients send their own"));
        }
        let (host, port) = address(authority).ok_or_else(|| wrong("no valid host and port after the scheme"))?;
        if scheme == Scheme::S3 && port.is_some() {
            return Err(wrong("an s3:// URL begins with a bucket, not with a host and a port")
                .with_remedy("set the address of the store with AWS_ENDPOINT_URL"));
        }
        if path.contains(['?', '#']) {
            return Err(wrong("the URL of an origin must not contain a query or a fragment"));
        }
        let decode = |part: &str| match scheme.uses_http() {
            true => percent::decode_strict(part.as_bytes()),
            false => Some(part.as_bytes().to_vec()),
        };
        let parts = path.split('/').filter(|part| !part.is_empty()).map(decode).collect::<Option<Vec<_>>>();
        let parts = parts.filter(|parts| parts.iter().all(|part| is_name(scheme, part)));
        let parts = parts.ok_or_else(|| wrong("the path contains invalid names"))?;
        Ok(Self { scheme, host, port: port.unwrap_or(scheme.default_port()), parts })
    }

    /// A target named after the proxy's address: `root:`, `host`, `path`...; none where it is not a URL.
    pub(crate) fn forwarded(parts: &[Vec<u8>]) -> Option<Result<Self, &'static str>> {
        let [first, rest @ ..] = parts else { return None };
        let scheme = Scheme::of(std::str::from_utf8(first).ok()?.strip_suffix(':')?)?;
        let Some((authority, path)) = rest.split_first() else { return Some(Err("the address has no host")) };
        // a user before the host, or anything else that is not a host and a port, is refused
        let Some((host, port)) = std::str::from_utf8(authority).ok().and_then(address) else {
            return Some(Err("the address has no valid host and port"));
        };
        if scheme == Scheme::S3 && port.is_some() {
            return Some(Err("a bucket has no port"));
        }
        if !path.iter().all(|part| is_name(scheme, part)) {
            return Some(Err("the path contains invalid names"));
        }
        Some(Ok(Self { scheme, host, port: port.unwrap_or(scheme.default_port()), parts: path.to_vec() }))
    }

    /// A target below it; none for names that the origin's protocol cannot express.
    pub(crate) fn join(&self, below: &[Vec<u8>]) -> Option<Self> {
        if !below.iter().all(|part| is_name(self.scheme, part)) {
            return None;
        }
        let parts = self.parts.iter().chain(below).cloned().collect();
        Some(Self { parts, ..self.clone() })
    }

    /// Scheme, host and port.
    pub(crate) fn server(&self) -> String {
        let bare = Self { parts: Vec::new(), ..self.clone() };
        bare.url().trim_end_matches('/').to_owned()
    }

    /// Whether its server is the one listening here, as far as host names show.
    pub(crate) fn is_at(&self, bound: SocketAddr) -> bool {
        // only the machine that has an address can bind to it
        let is_own = |ip: IpAddr| UdpSocket::bind((ip, 0)).is_ok();
        let is_it = |ip: IpAddr| ip == bound.ip() || (bound.ip().is_unspecified() && is_own(ip));
        self.port == bound.port()
            && (self.host.as_str(), self.port).to_socket_addrs().is_ok_and(|mut all| all.any(|at| is_it(at.ip())))
    }

    /// Its URL, without credentials: for messages, and as the file's name in the store.
    pub(crate) fn url(&self) -> String {
        self.with_user("", false)
    }

    /// The URL for requesting a file or a directory, with the client's credential and query. Never display it.
    pub(crate) fn request_url(&self, credential: &Credential, query: &str, is_folder: bool) -> String {
        let user = match credential {
            Credential::Basic { user, password } if self.scheme.is_http() => {
                let encoded = |text: &str| percent::encode_component(text.as_bytes());
                format!("{}:{}@", encoded(user), encoded(password))
            }
            _ => String::new(),
        };
        let mut url = self.with_user(&user, is_folder);
        let token = match credential {
            // over XRootD a token is part of the path's options
            Credential::Bearer(token) if !self.scheme.uses_http() => {
                format!("authz=Bearer%20{}", percent::encode_component(token.as_bytes()))
            }
            _ => String::new(),
        };
        for (i, part) in [query, &token].into_iter().filter(|part| !part.is_empty()).enumerate() {
            url.push(if i == 0 { '?' } else { '&' });
            url.push_str(part);
        }
        url
    }

    fn with_user(&self, user: &str, is_folder: bool) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let port = if self.port == self.scheme.default_port() { String::new() } else { format!(":{}", self.port) };
        let path: Vec<String> = match self.scheme.uses_http() {
            true => self.parts.iter().map(|part| percent::encode_component(part)).collect(),
            false => self.parts.iter().map(|part| text_of(part)).collect(),
        };
        let root = if self.scheme.uses_http() { "/" } else { "//" };
        let end = if is_folder && !path.is_empty() { "/" } else { "" };
        format!("{}://{user}{host}{port}{root}{}{end}", self.scheme.name(), path.join("/"))
    }
}

/// A plain name that the protocol can express.
fn is_name(scheme: Scheme, part: &[u8]) -> bool {
    let plain = !matches!(part, b"" | b"." | b"..") && !part.iter().any(|b| matches!(b, 0 | b'/'));
    // over XRootD a question mark ends the path, and nothing is encoded
    plain
        && (scheme.uses_http() || (std::str::from_utf8(part).is_ok() && !part.iter().any(|b| *b == b'?' || *b < b' ')))
}

/// Host and port of `host`, `host:port`, `[v6]`, `[v6]:port`; ASCII digits and letters only.
pub(crate) fn address(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => {
            let (host, port) = inner.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => {
            let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
            let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
            if !host.bytes().all(fits) || host.split('.').any(str::is_empty) {
                return None;
            }
            (host, port)
        }
    };
    let port = match port {
        None => None,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => Some(digits.parse().ok().filter(|p| *p != 0)?),
        Some(_) => return None,
    };
    Some((host.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn origins_are_taken_apart() {
        let url = |text: &str| Target::parse(text).map(|t| t.url());
        assert_eq!(url("root://Host.org//store/a").unwrap(), "root://host.org//store/a");
        assert_eq!(url("root://host:1094").unwrap(), "root://host//");
        assert_eq!(url("xroot://host:1095/a").unwrap(), "root://host:1095//a");
        assert_eq!(url("HTTPS://host:443/a%20b/").unwrap(), "https://host/a%20b");
        assert_eq!(url("s3://my.bucket/a b/c").unwrap(), "s3://my.bucket/a%20b/c");
        assert_eq!(url("s3://bucket").unwrap(), "s3://bucket/");
        assert_eq!(url("http://[::1]:8080/a").unwrap(), "http://[::1]:8080/a");
        for bad in [
            "/data",
            "ftp://host/a",
            "http://u:p@host/",
            "http://host/a?x",
            "http://host/a#x",
            "http://host/a/../b",
            "http://host/%2e%2e/b",
            "http:///a",
            "http://host:x/",
            "s3://bucket:80/a",
            "s3://KEY:SECRET@bucket/a",
            "s3://bucket/a?endpoint=http://elsewhere",
            "http://host:0/",
            "http://h..x/",
            "root://host//a\nb",
        ] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_client_names_is_a_server_and_plain_names() {
        let named = |names: &[&str]| Target::forwarded(&parts(names)).map(|t| t.map(|t| t.url()));
        assert_eq!(named(&["root:", "Host", "a", "b"]), Some(Ok("root://host//a/b".to_owned())));
        assert_eq!(named(&["https:", "host:8443", "a b"]), Some(Ok("https://host:8443/a%20b".to_owned())));
        assert_eq!(named(&["data", "a"]), None);
        assert_eq!(named(&["file:", "etc", "passwd"]), None);
        for bad in [
            &["root:", "user@host", "a"][..],
            &["root:"],
            &["http:", "host:80:80", "a"],
            &["http:", "host:+80", "a"],
            &["http:", "ho st", "a"],
            &["http:", "h\u{f6}st", "a"],
            &["http:", "[::1", "a"],
            &["http:", "[::1]x", "a"],
            &["http:", ".host", "a"],
            &["root:", "host", "a?authz=x"],
            &["s3:", "bucket:80", "a"],
        ] {
            assert!(matches!(named(bad), Some(Err(_))), "{bad:?}");
        }
    }

    #[test]
    fn credentials_go_where_the_protocol_wants_them() {
        let http = Target::parse("https://host/a").unwrap();
        let basic = Credential::Basic { user: "u@x".into(), password: "p:/?".into() };
        assert_eq!(http.request_url(&basic, "x=1", false), "https://u%40x:p%3A%2F%3F@host/a?x=1");
        let root = Target::parse("root://host//a").unwrap();
        let bearer = Credential::Bearer("T.1".into());
        assert_eq!(root.request_url(&bearer, "x=1", false), "root://host//a?x=1&authz=Bearer%20T.1");
        assert_eq!(http.request_url(&bearer, "", true), "https://host/a/");
    }
}
