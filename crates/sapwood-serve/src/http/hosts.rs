//! Checks the `Host` of a request: a page of another site must not read, through a name that it points here, what is
//! served to this machine only (DNS rebinding).

use hyper::header::{self, HeaderMap};
use hyper::{StatusCode, Uri, Version};
use std::net::{IpAddr, SocketAddr};

/// The host names that a server accepts.
pub(crate) struct Names {
    /// None: every name is accepted.
    allowed: Option<Vec<String>>,
}

impl Names {
    /// A server that only this machine can reach accepts this machine's names, and those given. One that others can
    /// reach accepts every name, unless some are given: then these, its address, and this machine's names.
    pub(crate) fn of(bound: SocketAddr, given: &[String]) -> Self {
        if !bound.ip().is_loopback() && given.is_empty() {
            return Self { allowed: None };
        }
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let bound = match bound.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let given = given.iter().map(|name| name.trim_end_matches('.').to_ascii_lowercase());
        Self { allowed: Some(own.into_iter().chain([bound]).chain(given).collect()) }
    }

    /// Whether a request may be answered: it names one host, and an accepted one.
    ///
    /// # Errors
    /// The status to answer with otherwise.
    pub(crate) fn check(&self, uri: &Uri, version: Version, headers: &HeaderMap) -> Result<(), StatusCode> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, further) = (hosts.next(), hosts.next());
        if further.is_some() || (host.is_none() && version >= Version::HTTP_11) {
            return Err(StatusCode::BAD_REQUEST);
        }
        let Some(allowed) = &self.allowed else { return Ok(()) };
        let named = host.map(|h| h.to_str().unwrap_or("?"));
        // A request with a whole URL names its host there; both must match.
        let all = [named, uri.authority().map(hyper::http::uri::Authority::as_str)]
            .into_iter()
            .flatten()
            .all(|text| allowed.iter().any(|name| *name == bare(text)));
        if all { Ok(()) } else { Err(StatusCode::MISDIRECTED_REQUEST) }
    }
}

/// The name without a port.
fn bare(host: &str) -> String {
    let end = match host.rfind(']') {
        Some(bracket) => bracket + 1,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let fits = port.is_empty() || port.strip_prefix(':').is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()));
    if fits { name.trim_end_matches('.').to_ascii_lowercase() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(bound: &str, given: &[&str], uri: &str, hosts: &[&str]) -> bool {
        let given: Vec<String> = given.iter().map(|&s| s.to_owned()).collect();
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, host.parse().unwrap());
        }
        Names::of(bound.parse().unwrap(), &given).check(&uri.parse().unwrap(), Version::HTTP_11, &headers).is_ok()
    }

    #[test]
    fn only_this_machines_names_on_this_machine() {
        for good in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:80", "[::1]", "localhost."] {
            assert!(accepts("127.0.0.1:80", &[], "/", &[good]), "{good}");
        }
        for bad in ["evil.org", "localhost.evil.org", "127.0.0.1.evil.org", "localhost:80@evil.org", "127.0.0.2", ""] {
            assert!(!accepts("127.0.0.1:80", &[], "/", &[bad]), "{bad}");
        }
        assert!(accepts("127.0.0.9:80", &[], "/", &["127.0.0.9"]), "what is bound");
        assert!(accepts("127.0.0.1:80", &["My.Host"], "/", &["my.host:8000"]), "what is allowed");
        assert!(!accepts("127.0.0.1:80", &[], "/", &["localhost", "evil.org"]), "two of them");
        assert!(!accepts("127.0.0.1:80", &[], "/", &[]), "none");
        assert!(!accepts("127.0.0.1:80", &[], "http://evil.org/", &["localhost"]), "in the request's line");
        assert!(accepts("0.0.0.0:80", &[], "/", &["any.org"]));
        assert!(!accepts("0.0.0.0:80", &["one.org"], "/", &["any.org"]));
    }
}
