//! HTTP proxies, as set by `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
//!
//! The rules are curl's: lower case first, then upper case (but `HTTP_PROXY` is ignored: a web server sets it from a
//! request's header); `no_proxy` lists hosts, domains (with their subdomains), addresses and networks, `*` is all. This
//! machine itself is always reached directly.
//!
//! Not hyper-util's matcher: in `no_proxy` it knows no ports (`host:8080`), no brackets (`[fe80::1]`) and no
//! `*.domain`, its `*` leaves out addresses, it prefers upper case, and where it cannot use a proxy (another scheme, no
//! address) it connects directly instead of reporting that.

use super::credential::basic;
use crate::url::Url;
use sapwood_span::{Error, ErrorKind, Result};
use std::net::IpAddr;
use std::sync::OnceLock;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Longest answer of a proxy to CONNECT.
const LONGEST_ANSWER: usize = 16 << 10;

/// A proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proxy {
    /// Name or address, without brackets.
    pub host: String,
    pub port: u16,
    /// The `Proxy-Authorization` header.
    pub authorization: Option<String>,
}

/// The proxy settings of the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    http: Option<String>,
    https: Option<String>,
    except: String,
}

impl Settings {
    fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&str]| names.iter().find_map(|n| variable(n).filter(|v| !v.trim().is_empty()));
        Self {
            http: first(&["http_proxy", "all_proxy", "ALL_PROXY"]),
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            except: first(&["no_proxy", "NO_PROXY"]).unwrap_or_default(),
        }
    }

    /// The proxy for a URL.
    ///
    /// # Errors
    /// `Unsupported` for a proxy that is not HTTP, `Invalid` for an invalid address.
    fn of(&self, url: &Url) -> Result<Option<Proxy>> {
        let Some(text) = (if url.https { &self.https } else { &self.http }) else { return Ok(None) };
        if is_here(url.bare_host()) || self.except.split(',').any(|rule| matches(rule.trim(), url)) {
            return Ok(None);
        }
        Proxy::parse(text).map(Some)
    }
}

/// The proxy for a URL according to this process's environment, which is read once.
///
/// # Errors
/// As [`Settings::of`].
pub(crate) fn of(url: &Url) -> Result<Option<Proxy>> {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| Settings::new(|name| std::env::var(name).ok())).of(url)
}

impl Proxy {
    fn parse(text: &str) -> Result<Self> {
        let remedy = "set http_proxy and https_proxy to http://host:port, or add the server to no_proxy";
        let (scheme, rest) = text.trim().split_once("://").unwrap_or(("http", text.trim()));
        if !scheme.eq_ignore_ascii_case("http") {
            let what = format!("{scheme} proxies are not supported, only HTTP proxies");
            return Err(Error::unsupported(what).with_remedy(remedy));
        }
        let url = Url::parse(false, rest)
            .map_err(|e| Error::invalid("the proxy address is invalid").with_source(e).with_remedy(remedy))?;
        let authorization = url.user.as_ref().map(|(user, password)| basic(user, password));
        Ok(Self { host: url.bare_host().to_owned(), port: url.port, authorization })
    }

    /// Its address, for messages.
    pub(crate) fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Requests a tunnel to the URL's host; later bytes go there (RFC 9110, section 9.3.6).
    ///
    /// # Errors
    /// `Denied` when the proxy refuses.
    pub(crate) async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: &mut S, url: &Url) -> Result<()> {
        let target = format!("{}:{}", url.host, url.port);
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(a) = &self.authorization {
            request.push_str(&format!("Proxy-Authorization: {a}\r\n"));
        }
        request.push_str("\r\n");
        let torn = |e| Error::io(format!("the proxy {} closed the connection", self.authority()), e);
        stream.write_all(request.as_bytes()).await.map_err(torn)?;
        let mut answer = Vec::new();
        // byte by byte: what follows the empty line belongs to the server behind the proxy
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() == LONGEST_ANSWER {
                return Err(self.refused("too long a response"));
            }
            answer.push(stream.read_u8().await.map_err(torn)?);
        }
        let first = String::from_utf8_lossy(&answer);
        let first = first.lines().next().unwrap_or_default();
        match first.split(' ').nth(1) {
            Some(status) if first.starts_with("HTTP/1.") && status.len() == 3 && status.starts_with('2') => Ok(()),
            _ => Err(self.refused(first)),
        }
    }

    fn refused(&self, answer: &str) -> Error {
        let answer: String = answer.chars().filter(|c| !c.is_control()).take(120).collect();
        let what = format!("the proxy {} refuses to connect: {answer}", self.authority());
        let remedy =
            "check https_proxy (with http://user:password@host:port if it requires one), or add the server to no_proxy";
        Error::new(ErrorKind::Denied, what).with_remedy(remedy)
    }
}

/// Whether a host is this machine.
fn is_here(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|a| a.is_loopback())
}

/// Whether one entry of `no_proxy` matches a URL's host.
fn matches(rule: &str, url: &Url) -> bool {
    let host = url.bare_host().trim_end_matches('.').to_ascii_lowercase();
    if rule == "*" {
        return true;
    }
    if let Some((network, bits)) = rule.split_once('/') {
        return bits.parse().is_ok_and(|bits| in_network(&host, network, bits));
    }
    let (name, port) = match rule.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
        _ => (rule, None),
    };
    if port.is_some_and(|p| p.parse() != Ok(url.port)) {
        return false;
    }
    let name = name.trim_start_matches('[').trim_end_matches(']').trim_start_matches("*.");
    let name = name.trim_matches('.').to_ascii_lowercase();
    if name.is_empty() {
        return false;
    }
    if let (Ok(a), Ok(b)) = (host.parse::<IpAddr>(), name.parse::<IpAddr>()) {
        return a == b;
    }
    host == name
        || host.strip_suffix(&name).is_some_and(|front| front.ends_with('.') && host.parse::<IpAddr>().is_err())
}

fn in_network(host: &str, network: &str, bits: u32) -> bool {
    let prefix = |value: u128, width: u32| (bits <= width).then(|| value.checked_shr(width - bits).unwrap_or(0));
    match (host.parse(), network.parse()) {
        (Ok(IpAddr::V4(a)), Ok(IpAddr::V4(b))) => {
            let (a, b) = (u128::from(u32::from(a)), u128::from(u32::from(b)));
            prefix(a, 32).is_some() && prefix(a, 32) == prefix(b, 32)
        }
        (Ok(IpAddr::V6(a)), Ok(IpAddr::V6(b))) => {
            prefix(a.into(), 128).is_some() && prefix(a.into(), 128) == prefix(b.into(), 128)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        let (scheme, rest) = text.split_once("://").unwrap();
        Url::parse(scheme == "https", rest).unwrap()
    }

    fn settings(variables: &[(&str, &str)]) -> Settings {
        Settings::new(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    fn proxy(settings: &Settings, text: &str) -> Option<String> {
        settings.of(&url(text)).unwrap().map(|p| p.authority())
    }

    #[test]
    fn variables_by_kind_of_url() {
        let s = settings(&[("http_proxy", "http://a:3128/"), ("HTTPS_PROXY", "b:8080")]);
        assert_eq!(proxy(&s, "http://far/x").as_deref(), Some("a:3128"));
        assert_eq!(proxy(&s, "https://far/x").as_deref(), Some("b:8080"));
        let s = settings(&[("HTTP_PROXY", "http://evil:1"), ("all_proxy", "http://[::1]:1")]);
        assert_eq!(proxy(&s, "http://far/x").as_deref(), Some("[::1]:1"));
        assert_eq!(proxy(&settings(&[("https_proxy", " ")]), "https://far/x"), None);
        for here in ["http://localhost/x", "http://127.0.0.5:80/x", "http://[::1]/x"] {
            assert_eq!(proxy(&s, here), None);
        }
        let user = settings(&[("https_proxy", "http://me:p%40ss@p:1")]);
        let found = user.of(&url("https://far/x")).unwrap().unwrap();
        assert_eq!(found.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        let socks = settings(&[("https_proxy", "socks5://p:1")]).of(&url("https://far/x")).unwrap_err();
        assert!(socks.to_string().contains("socks5"), "{socks}");
    }

    #[test]
    fn exceptions() {
        let s = settings(&[
            ("http_proxy", "http://p:1"),
            ("no_proxy", "example.org, .cern.ch,host:8080,10.0.0.0/8,192.168.1.7,[fe80::1],fd00::/8,*.wild.net"),
        ]);
        for direct in [
            "http://example.org/x",
            "http://a.example.org:81/x",
            "http://CERN.ch/x",
            "http://eos.cern.ch/x",
            "http://host:8080/x",
            "http://10.1.2.3/x",
            "http://192.168.1.7/x",
            "http://[fe80::1]/x",
            "http://[fd12::1]/x",
            "http://a.wild.net/x",
        ] {
            assert_eq!(proxy(&s, direct), None, "{direct}");
        }
        for far in ["http://badexample.org/x", "http://host/x", "http://11.1.2.3/x", "http://[fe80::2]/x"] {
            assert_eq!(proxy(&s, far).as_deref(), Some("p:1"), "{far}");
        }
        assert_eq!(proxy(&settings(&[("http_proxy", "p:1"), ("NO_PROXY", "*")]), "http://far/x"), None);
    }

    #[test]
    fn tunnels_are_asked_for() {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(ask_for_tunnels());
    }

    async fn ask_for_tunnels() {
        let proxy = Proxy { host: "p".into(), port: 1, authorization: Some("Basic eDp5".into()) };
        let url = url("https://far:8443/x");
        for (answer, good) in [
            ("HTTP/1.1 200 Connection established\r\nVia: p\r\n\r\nrest", true),
            ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", false),
            ("SSH-2.0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\n", false),
        ] {
            let (mut ours, mut theirs) = tokio::io::duplex(4096);
            theirs.write_all(answer.as_bytes()).await.unwrap();
            theirs.shutdown().await.unwrap();
            let done = proxy.tunnel(&mut ours, &url).await;
            assert_eq!(done.is_ok(), good, "{answer}");
            if answer.contains("407") {
                assert!(done.unwrap_err().to_string().contains("407 Proxy Authentication Required"));
            }
            drop(ours);
            let mut asked = String::new();
            theirs.read_to_string(&mut asked).await.unwrap();
            assert_eq!(asked, "CONNECT far:8443 HTTP/1.1\r\nHost: far:8443\r\nProxy-Authorization: Basic eDp5\r\n\r\n");
        }
    }
}
