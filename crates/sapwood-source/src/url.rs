//! Addresses of files: local or not, and the parts of remote ones.
//!
//! Not the `url` crate: it parses URLs like a browser, so that much that must be kept or refused here becomes another
//! address or another host. It removes tabs and line breaks, treats `\\` as `/`, reads `http://1/` as 0.0.0.1 and
//! non-ASCII hosts as IDNA (with 25 crates of tables), resolves `%2e%2e`, and has no bytes that are not UTF-8. Here a
//! path goes to the server exactly as written: `//`, `..` and `%2F` are names in an object store. XRootD's
//! `root://host//path?opaque` is not one of its kinds of URL at all.

use crate::s3::{S3Options, S3Url};
use crate::xrd::RootUrl;
use sapwood_span::raw_text::{bytes_of, path_of};
use sapwood_span::{Error, ErrorKind, Result, is_remote, percent, redact, redact_parameters, redact_path, scheme};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// What the caller's string names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Local(PathBuf),
    Http(Url),
    Root(RootUrl),
    S3(S3Url),
}

/// An absolute HTTP or HTTPS address, parsed. The fragment is left out: it is not sent.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Url {
    pub https: bool,
    /// Name or address; IPv6 addresses keep their brackets.
    pub host: String,
    pub port: u16,
    /// Path and query as they go into the request line.
    pub target: String,
    /// User and password, decoded.
    pub user: Option<(String, String)>,
}

impl Location {
    /// A path, a `file://` URL, an HTTP(S) URL, an XRootD URL or one of an S3 store.
    ///
    /// # Errors
    /// Another scheme, or an invalid URL.
    pub(crate) fn parse(input: &str) -> Result<Self> {
        let Some((scheme, rest)) = scheme(input) else {
            let trimmed = input.trim_start();
            if trimmed.len() < input.len() && is_remote(trimmed) {
                return Err(Error::invalid("bad URL: it begins with spaces").in_file(redact(trimmed)));
            }
            return Ok(Self::Local(path_of(input).into_owned()));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => file_path(rest).map(Self::Local).ok_or_else(|| {
                Error::invalid("a file:// URL must contain an absolute path on this machine").in_file(input)
            }),
            "http" => Url::parse(false, rest).map(Self::Http),
            "https" => Url::parse(true, rest).map(Self::Http),
            "root" | "xroot" => RootUrl::parse(false, rest).map(Self::Root),
            "roots" | "xroots" => RootUrl::parse(true, rest).map(Self::Root),
            "s3" => S3Url::parse(rest).map(Self::S3),
            other => Err(Error::invalid(format!("unsupported URL scheme {other}://"))
                .in_file(redact(input))
                .with_remedy("use a file path, file://, http://, https://, root://, roots:// or s3://")),
        }
    }
}

/// The path of a file that is named by a path or a `file://` URL; none for what is read over the network.
pub fn local_path(name: &str) -> Option<PathBuf> {
    if let Ok(Location::Local(path)) = Location::parse(name) { Some(path) } else { None }
}

fn file_path(rest: &str) -> Option<PathBuf> {
    let path = rest.strip_prefix("localhost").filter(|p| p.starts_with('/')).unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    Some(PathBuf::from(OsString::from_vec(percent::decode(path))))
}

impl Url {
    /// An address after its `scheme://`.
    pub(crate) fn parse(https: bool, rest: &str) -> Result<Self> {
        let refuse = |what: &str| {
            let scheme = if https { "https" } else { "http" };
            Err(Error::invalid(format!("bad URL: {what}")).in_file(redact(&format!("{scheme}://{rest}"))))
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(cut);
        let (user, host_port) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let (host, port) = match host_port.rfind(':') {
            Some(colon) if !host_port[colon..].contains(']') => (&host_port[..colon], Some(&host_port[colon + 1..])),
            _ => (host_port, None),
        };
        let port = match port {
            None | Some("") => {
                if https {
                    443
                } else {
                    80
                }
            }
            // digits only: `parse` alone would take `+80`
            Some(p) => match p.parse() {
                Ok(port) if port != 0 && p.bytes().all(|b| b.is_ascii_digit()) => port,
                _ => return refuse("the port is not a number from 1 to 65535"),
            },
        };
        if !is_host(host) {
            return refuse("missing or invalid host name");
        }
        // Browsers treat it as a slash: what follows would be another host than what precedes it.
        if authority.contains('\\') {
            return refuse("a backslash before the path");
        }
        let slash = if target.starts_with('/') { "" } else { "/" };
        let target = format!("{slash}{}", percent::encode_target(target));
        let user = user.map(|u| {
            let (name, password) = u.split_once(':').unwrap_or((u, ""));
            let text = |s: &str| String::from_utf8_lossy(&percent::decode(s)).into_owned();
            (text(name), text(password))
        });
        Ok(Self { https, host: host.to_ascii_lowercase(), port, target, user })
    }

    /// The target of a `Location` header relative to this; user and password are not inherited.
    ///
    /// # Errors
    /// Another scheme, or an invalid URL.
    pub(crate) fn join(&self, location: &str) -> Result<Self> {
        if let Some((scheme, _)) = scheme(location) {
            return match Location::parse(location) {
                Ok(Location::Http(url)) => Ok(url),
                Err(e) if ["http", "https"].iter().any(|s| scheme.eq_ignore_ascii_case(s)) => {
                    Err(Error::new(ErrorKind::Protocol, format!("the server redirects to a {}", e.what())))
                }
                _ => Err(Error::unsupported(format!("the server redirects to {scheme}://, which cannot be followed"))),
            };
        }
        if let Some(rest) = location.strip_prefix("//") {
            return Self::parse(self.https, rest);
        }
        let path = self.target.split('?').next().unwrap_or("/");
        let target = if location.starts_with('/') {
            location.to_owned()
        } else if location.starts_with('?') {
            format!("{path}{location}")
        } else {
            let folder = &path[..path.rfind('/').map_or(0, |i| i + 1)];
            remove_dots(&format!("{folder}{location}"))
        };
        Self::parse(self.https, &format!("{}:{}{target}", self.host, self.port))
    }

    /// Whether both are on the same server with the same scheme: only then may they share a credential.
    pub(crate) fn same_origin(&self, other: &Self) -> bool {
        self.https == other.https && self.host == other.host && self.port == other.port
    }

    /// Host and port for the `Host` header.
    pub(crate) fn authority(&self) -> String {
        match (self.https, self.port) {
            (false, 80) | (true, 443) => self.host.clone(),
            (_, port) => format!("{}:{port}", self.host),
        }
    }

    /// The host without the brackets of an IPv6 address.
    pub(crate) fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The address as given, including secrets.
    pub(crate) fn with_credentials(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        let user = self.user.as_ref().map_or_else(String::new, |(name, password)| {
            let encode = |s: &str| percent::encode_component(&bytes_of(s));
            let password = if password.is_empty() { String::new() } else { format!(":{}", encode(password)) };
            format!("{}{password}@", encode(name))
        });
        format!("{scheme}://{user}{}{}", self.authority(), self.target)
    }

    /// Scheme, server and path.
    pub(crate) fn without_query(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority(), self.target.split('?').next().unwrap_or_default())
    }

    /// The address for messages: no user, no password, no signatures or tokens.
    pub(crate) fn redacted(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        format!("{scheme}://{}{}{}", self.authority(), redact_path(path), redact_query(query))
    }
}

impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.redacted())
    }
}

/// A query for messages, including the question mark: possible credentials are left out.
pub(crate) fn redact_query(query: &str) -> String {
    let mut out = String::new();
    for (i, pair) in query.split('&').filter(|p| !p.is_empty()).enumerate() {
        out.push(if i == 0 { '?' } else { '&' });
        redact_parameters(pair, &mut out);
    }
    out
}

/// Whether this is a name or an address; brackets are allowed around an IPv6 address only.
fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|a| a.parse::<std::net::Ipv6Addr>().is_ok());
    }
    !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b))
}

/// A path or URL for messages: without user and password, and without possible credentials in its query.
pub fn redacted(url: &str) -> String {
    match Location::parse(url) {
        Ok(Location::Local(_)) => url.to_owned(),
        Ok(Location::Http(url)) => url.redacted(),
        Ok(Location::Root(url)) => url.redacted(),
        Ok(Location::S3(url)) => url.redacted(),
        Err(_) => redact(url.trim_start()),
    }
}

/// A URL in the form used for comparison: without user and fragment, with everything else. Not for messages.
pub fn without_user(url: &str) -> String {
    named(url, &S3Options::default())
}

/// Whether a URL names an object or a prefix in an S3 store.
pub fn is_s3(url: &str) -> bool {
    scheme(url).is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("s3"))
}

/// As [`without_user`], with the address of the S3 store that these options lead to.
pub fn named(url: &str, s3: &S3Options) -> String {
    match Location::parse(url) {
        Ok(Location::Local(_)) => url.to_owned(),
        Ok(Location::Http(url)) => Url { user: None, ..url }.with_credentials(),
        Ok(Location::Root(url)) => RootUrl { user: None, ..url }.with_credentials(),
        Ok(Location::S3(url)) => url.named(s3),
        Err(_) => redact(url.trim_start()),
    }
}

fn remove_dots(target: &str) -> String {
    let (path, query) = match target.split_once('?') {
        Some((p, q)) => (p, Some(q)),
        None => (target, None),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let mut out = format!("/{}", parts.join("/"));
    if let Some(query) = query {
        out.push('?');
        out.push_str(query);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(url: &str) -> Url {
        match Location::parse(url) {
            Ok(Location::Http(url)) => url,
            other => panic!("{url}: {other:?}"),
        }
    }

    #[test]
    fn paths_and_files_are_local() {
        assert!(!is_remote("data/a.root") && !is_remote("/a:b") && !is_remote("file:///a") && !is_remote("a b://c"));
        assert!(is_remote("https://h/a") && is_remote("root://h//a"));
        assert_eq!(Location::parse("file:///a%20b").unwrap(), Location::Local("/a b".into()));
        assert_eq!(Location::parse("file://localhost/a").unwrap(), Location::Local("/a".into()));
        assert!(Location::parse("file://elsewhere/a").is_err());
        assert_eq!(local_path("file:///a%20b"), local_path("/a b"));
        assert_eq!(local_path("https://h/a"), None);
    }

    #[test]
    fn other_schemes_are_refused_by_name() {
        assert!(Location::parse("gopher://h/a").unwrap_err().to_string().contains("gopher://"));
    }

    #[test]
    fn parts_of_a_url() {
        let u = http("HTTPS://us%40er:p%3Aw@Example.ORG:8443/a b/ü.root?x=1#frag");
        assert_eq!((u.host.as_str(), u.port, u.https), ("example.org", 8443, true));
        assert_eq!(u.target, "/a%20b/%C3%BC.root?x=1");
        assert_eq!(u.user, Some(("us@er".into(), "p:w".into())));
        assert_eq!(u.authority(), "example.org:8443");
        assert_eq!(http("http://h").target, "/");
        assert_eq!(http("http://h?q").target, "/?q");
        let six = http("http://[::1]:90/a");
        assert_eq!((six.bare_host(), six.port), ("::1", 90));
        assert_eq!(http("http://[::1]/a").port, 80);
        for bad in [
            "http://",
            "http://h:0/",
            "http://h:99999/",
            "http://h:x/",
            "http://h:+80/",
            "http://a b/",
            "http:///x",
            "http://h\r\n/",
            "http://[::1",
            "http://[127.0.0.1x/",
            "http://[h]/",
            "http://::1/",
            "http://h\\@other/",
        ] {
            assert!(Location::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_stay_out_of_messages() {
        let text = http("http://u:p@h/a?authz=T&X-Amz-Signature=S&x=1").redacted();
        assert_eq!(text, "http://h/a?authz=***&X-Amz-Signature=***&x=1");
        for (url, shown) in [
            ("https://u:p@h/a.root?token=T&x=1", "https://h/a.root?token=***&x=1"),
            ("root://u:p@h//a.root?authz=T", "root://h//a.root?authz=***"),
            ("http://u:p@h:70000/a?authz=T", "http://h:70000/a"),
            ("s3://u:p@bucket/a?authz=T", "s3://bucket/a"),
            ("https://h/a/f.root;jwt=T", "https://h/a/f.root;jwt=***"),
            (
                "https://h/a;x=1;Token=T;y/f;%6Awt=T?v=1;sig=T&w",
                "https://h/a;x=1;Token=***;y/f;%6Awt=***?v=1;sig=***&w",
            ),
            ("root://h//a;authz=T/f.root?x=1;authz=T", "root://h//a;authz=***/f.root?x=1;authz=***"),
            ("s3://h/a;authz=T?x", "s3://h/a;authz=***"),
            ("https://h/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlLW9mLWl0/f.root", "https://h/***/f.root"),
            ("http://u:p/w@h/a", "http://h/a"),
            ("http://u:p?w@h/a", "http://h/a"),
            (" http://u:p@h/a?authz=T", "http://h/a"),
            ("/data/u:p@h/a.root?authz", "/data/u:p@h/a.root?authz"),
        ] {
            assert_eq!(redacted(url), shown);
        }
    }

    #[test]
    fn redirects_are_resolved() {
        let base = http("http://u:p@h:81/d/e/f?q=1");
        let to = |l: &str| base.join(l).unwrap().redacted();
        assert_eq!(to("https://o/x"), "https://o/x");
        assert_eq!(to("//o/x"), "http://o/x");
        assert_eq!(to("/x?y"), "http://h:81/x?y");
        assert_eq!(to("../x"), "http://h:81/d/x");
        assert_eq!(to("../../../x"), "http://h:81/x");
        assert_eq!(to("?z"), "http://h:81/d/e/f?z");
        assert_eq!(base.join("/x").unwrap().user, None);
        assert!(base.join("ftp://o/x").is_err());
        assert!(!base.same_origin(&http("https://h:81/")) && base.same_origin(&http("http://H:81/other")));
    }
}
