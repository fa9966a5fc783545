//! Which origins clients may name after the proxy's address.

use crate::scheme::Scheme;
use crate::target::{Target, address};
use sapwood_span::{Error, Result};
use std::str::FromStr;

/// A rule such as `root://*.example.org/store/`: a scheme, a pattern for the host, a port, and names that the path
/// begins with.
///
/// - The scheme must be the same; `xroot` is `root`.
/// - `*.example.org` is every host below `example.org`, at any depth, and not `example.org` itself. Any other `*`
///   stands for letters, digits and dashes of one part of the name (`se*.example.org`); `*` alone is every host.
/// - Without a port it is the scheme's default; `:*` is every port.
/// - The path is compared name by name: `/store` covers `/store/a`, not `/store2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowRule {
    scheme: Scheme,
    host: HostPattern,
    /// None: every port.
    port: Option<u16>,
    path: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Any,
    /// This name, or this IPv6 address.
    Exactly(String),
    /// Labels from the last to the first; whether more may come before them.
    Labels {
        reversed: Vec<String>,
        below: bool,
    },
}

impl FromStr for AllowRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::invalid(format!("the pattern {text:?} {what}"))
                .with_remedy("write it as root://*.example.org/ or https://host/path/")
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("has no scheme"))?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, every_port) = match authority.strip_suffix(":*") {
            Some(host) => (host, true),
            None => (authority, false),
        };
        // with each star replaced by a letter, it must be the URL of an origin
        let stand_in = Target::parse(&format!("{scheme}://{}{path}", host.replace('*', "x")))
            .map_err(|e| wrong(&format!("is invalid: {}", e.what())))?;
        if path.contains('*') {
            return Err(wrong("has an asterisk in its path"));
        }
        let name = match host.strip_prefix('[') {
            Some(inner) => inner.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        let name = name.to_ascii_lowercase();
        let host = if name == "*" {
            HostPattern::Any
        } else if name.contains('*') {
            let (below, labels) = name.strip_prefix("*.").map_or((false, name.as_str()), |labels| (true, labels));
            HostPattern::Labels { reversed: labels.rsplit('.').map(str::to_owned).collect(), below }
        } else {
            HostPattern::Exactly(name)
        };
        let port = (!every_port).then_some(stand_in.port);
        Ok(Self { scheme: stand_in.scheme, host, port, path: stand_in.parts })
    }
}

impl AllowRule {
    /// Whether a client may name this.
    pub(crate) fn permits(&self, target: &Target) -> bool {
        self.scheme == target.scheme
            && self.port.is_none_or(|port| port == target.port)
            && self.host.fits(&target.host)
            && target.parts.starts_with(&self.path)
    }

    /// Whether a server may redirect to this URL. `url` has no credentials.
    pub(crate) fn permits_url(&self, url: &str) -> bool {
        // neither a query nor redacted parts of the path change the target
        let bare = url.split(['?', '#']).next().unwrap_or_default();
        Target::parse(bare).is_ok_and(|target| self.permits(&target))
    }
}

impl HostPattern {
    fn fits(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(name) => name == host.strip_suffix('.').unwrap_or(host),
            // the parts of an address are not labels
            Self::Labels { .. } if host.parse::<std::net::IpAddr>().is_ok() || address(host).is_none() => false,
            Self::Labels { reversed, below } => {
                let mut labels = host.rsplit('.');
                let fits = reversed.iter().all(|pattern| labels.next().is_some_and(|label| matches(pattern, label)));
                let more = labels.next().is_some();
                fits && more == *below
            }
        }
    }
}

/// Whether a label matches a pattern, in which each star stands for any characters.
fn matches(pattern: &str, label: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == label };
    let Some(rest) = label.strip_prefix(before) else { return false };
    (0..=rest.len()).any(|skipped| rest.get(skipped..).is_some_and(|rest| matches(after, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(rule: &str, url: &str) -> bool {
        rule.parse::<AllowRule>().unwrap().permits(&Target::parse(url).unwrap())
    }

    #[test]
    fn hosts_are_compared_part_by_part() {
        for (rule, url) in [
            ("root://*.example.org/", "root://se1.example.org//a"),
            ("root://*.example.org/", "root://a.b.EXAMPLE.org//a"),
            ("xroot://*.example.org", "root://se1.example.org//a"),
            ("root://se*.example.org/", "root://se12.example.org//a"),
            ("https://*/", "https://anything.net/x"),
            ("https://host.org/", "https://host.org/x"),
            ("http://[::1]:8080/", "http://[::1]:8080/x"),
        ] {
            assert!(permits(rule, url), "{rule} {url}");
        }
        for (rule, url) in [
            ("root://*.example.org/", "root://example.org//a"),
            ("root://*.example.org/", "root://evilexample.org//a"),
            ("root://*.example.org/", "root://se1.example.org.evil.net//a"),
            ("root://*.example.org/", "https://se1.example.org/a"),
            ("root://*.example.org/", "roots://se1.example.org//a"),
            ("root://se*.example.org/", "root://se.x.example.org//a"),
            ("root://se*.example.org/", "root://x.se1.example.org//a"),
            ("root://se*.example.org/", "root://xse1.example.org//a"),
            ("https://host.org/", "https://x.host.org/x"),
            ("http://1*.0.0.1/", "http://127.0.0.1/x"),
            ("http://*.0.0.1/", "http://127.0.0.1/x"),
        ] {
            assert!(!permits(rule, url), "{rule} {url}");
        }
    }

    #[test]
    fn ports_and_paths_are_part_of_a_rule() {
        assert!(permits("root://h:1095//store/", "root://h:1095//store/a"));
        assert!(!permits("root://h//store/", "root://h:1095//store/a"), "its own port only");
        assert!(!permits("root://h:1095/", "root://h//a"));
        assert!(permits("root://h:*/", "root://h:1095//a") && permits("root://*:*/", "root://h:1//a"));
        assert!(permits("https://h/store", "https://h/store/a") && permits("https://h/store", "https://h/store"));
        assert!(!permits("https://h/store", "https://h/store2/a") && !permits("https://h/store/", "https://h/"));
        assert!(permits("https://h/a%20b", "https://h/a b/c"));
    }

    #[test]
    fn redirects_are_held_against_the_same_rules() {
        let rule: AllowRule = "https://*.example.org/".parse().unwrap();
        assert!(rule.permits_url("https://d1.example.org/a?sig=***"));
        for bad in
            ["https://evil.net/?x=d1.example.org/", "http://d1.example.org/a", "https://d1.example.org:8443/a", "x"]
        {
            assert!(!rule.permits_url(bad), "{bad}");
        }
    }

    #[test]
    fn patterns_that_are_none_are_refused() {
        for bad in
            ["", "*", "example.org", "root://", "root://u@h/", "root://h/a*", "ftp://h/", "http://h/?x", "http://h:x/"]
        {
            assert!(bad.parse::<AllowRule>().is_err(), "{bad}");
        }
    }
}
