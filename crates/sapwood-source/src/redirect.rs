//! Redirects: where they may lead, and whether the token or password goes along.
//!
//! All rules are here; both protocols use them:
//! - [`check_name`], [`check_peer`]: a redirect must not lead closer to this machine than the server that sent it.
//! - [`keeps_http_credential`]: over HTTP, a credential is sent only to the origin (scheme, host, port) that it is for.
//! - [`same_domain`]: over XRootD, the login token also goes to hosts of the same domain. Logins send it over TLS only.
//! - [`keeps_root_secret`]: secrets in the options of a `root://` URL go to hosts of the same domain, but not from TLS to
//!   plain text.

use crate::lock;
use crate::open::RedirectFilter;
use crate::url::Url;
use sapwood_span::{Error, ErrorKind, Result, Setting};
use std::net::IpAddr;
use std::sync::Mutex;

/// From where an address can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// This machine only.
    Machine,
    /// The network segment of this machine, on which clouds also serve their machines' credentials.
    Link,
    /// Everything else. Private networks are not a separate scope: redirectors of sites, which have public addresses,
    /// send clients inside to storage with private ones, and servers there answer everyone on that network.
    Network,
}

impl Scope {
    pub(crate) fn of(address: IpAddr) -> Self {
        let link = match address.to_canonical() {
            a if a.is_loopback() || a.is_unspecified() => return Self::Machine,
            IpAddr::V4(a) => a.is_link_local(),
            IpAddr::V6(a) => a.is_unicast_link_local(),
        };
        if link { Self::Link } else { Self::Network }
    }

    /// The scope of a host name without a lookup; brackets and all.
    fn of_name(host: &str) -> Option<Self> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        if name == "localhost" || name.ends_with(".localhost") {
            return Some(Self::Machine);
        }
        // an IPv6 address may name a network interface
        host.split('%').next()?.parse().ok().map(Self::of)
    }

    /// The scope of the server at the other end of a connection; an unknown address counts as elsewhere.
    pub(crate) fn of_peer(address: Option<IpAddr>) -> Self {
        address.map_or(Self::Network, Self::of)
    }
}

/// The address at which a server was last seen.
#[derive(Default)]
pub(crate) struct Peer(Mutex<Option<IpAddr>>);

impl Peer {
    pub(crate) fn set(&self, address: Option<IpAddr>) {
        *lock(&self.0) = address;
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::of_peer(*lock(&self.0))
    }
}

/// Refuses a redirect by its target name, before the host is looked up.
///
/// # Errors
/// `Denied` for addresses that are nearer than the server that names them.
pub(crate) fn check_name(from: Scope, host: &str) -> Result<()> {
    Scope::of_name(host).map_or(Ok(()), |to| check(from, to, host))
}

/// Refuses a redirect by the address that was connected to.
///
/// # Errors
/// As [`check_name`].
pub(crate) fn check_peer(from: Scope, peer: Option<IpAddr>, host: &str) -> Result<()> {
    peer.map_or(Ok(()), |peer| check(from, Scope::of(peer), host))
}

/// A remote server must not cause requests to hosts that only this machine, or its neighbours, can reach.
fn check(from: Scope, to: Scope, host: &str) -> Result<()> {
    let what = match to {
        Scope::Network => return Ok(()),
        _ if from <= to => return Ok(()),
        Scope::Machine => "this machine",
        Scope::Link => "a link-local address",
    };
    Err(refused(format!("the server redirects to {what} ({host})")))
}

/// Refuses a redirect that the caller does not want followed.
///
/// # Errors
/// `Denied`.
pub(crate) fn allowed(filter: Option<&RedirectFilter>, url: &str) -> Result<()> {
    if filter.is_none_or(|allows| allows(url)) {
        return Ok(());
    }
    let what = format!("the server redirects to {url}, which is not allowed");
    Err(Error::new(ErrorKind::Denied, what).with_setting(Setting::RedirectFilter))
}

/// A redirect that is not followed unless the user allows it.
pub(crate) fn refused(what: String) -> Error {
    Error::new(ErrorKind::Denied, what)
        .with_remedy("allow insecure redirects to follow it")
        .with_setting(Setting::InsecureRedirects)
}

/// Whether an HTTP credential for one URL is sent to another: only to the same origin.
pub(crate) fn keeps_http_credential(own: &Url, target: &Url) -> bool {
    target.same_origin(own)
}

/// Whether secrets in a `root://` URL are sent to the target of a redirect: only within a domain, since doors and disk
/// servers of a site have different names, and not where TLS ends. Each side is a host, and whether it uses TLS.
pub(crate) fn keeps_root_secret((own, own_tls): (&str, bool), (target, target_tls): (&str, bool)) -> bool {
    same_domain(own, target) && (target_tls || !own_tls)
}

/// Whether a credential for one host may be sent to the other: the same host, or one of the same registrable domain,
/// according to the public suffix list (`co.uk` is nobody's).
pub(crate) fn same_domain(one: &str, other: &str) -> bool {
    let bare = |host: &str| host.trim_end_matches('.').to_ascii_lowercase();
    let (one, other) = (bare(one), bare(other));
    let domain = |host: &str| {
        let address = host.contains(':') || host.split('.').all(|l| l.bytes().all(|b| b.is_ascii_digit()));
        if address { None } else { psl::domain_str(host).map(str::to_owned) }
    };
    one == other || domain(&one).is_some_and(|d| domain(&other) == Some(d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes() {
        for (host, scope) in [
            ("localhost", Some(Scope::Machine)),
            ("LocalHost.", Some(Scope::Machine)),
            ("x.localhost", Some(Scope::Machine)),
            ("127.1.2.3", Some(Scope::Machine)),
            ("0.0.0.0", Some(Scope::Machine)),
            ("[::1]", Some(Scope::Machine)),
            ("::ffff:127.0.0.1", Some(Scope::Machine)),
            ("169.254.169.254", Some(Scope::Link)),
            ("[fe80::1%eth0]", Some(Scope::Link)),
            ("10.0.0.1", Some(Scope::Network)),
            ("fd00::1", Some(Scope::Network)),
            ("8.8.8.8", Some(Scope::Network)),
            ("example.org", None),
        ] {
            assert_eq!(Scope::of_name(host), scope, "{host}");
        }
    }

    #[test]
    fn redirects_lead_to_nothing_nearer() {
        let all = [Scope::Machine, Scope::Link, Scope::Network];
        for (i, &from) in all.iter().enumerate() {
            for (j, &to) in all.iter().enumerate() {
                let good = j >= i || to == Scope::Network;
                assert_eq!(check(from, to, "h").is_ok(), good, "{from:?} {to:?}");
            }
        }
        assert!(check_name(Scope::Network, "127.0.0.1").unwrap_err().to_string().contains("allow insecure redirects"));
    }

    #[test]
    fn domains_are_those_of_the_public_suffix_list() {
        for (one, other, same) in [
            ("door.site.org", "pool3.site.org", true),
            ("door.a.site.org", "pool.b.site.org", true),
            ("door.site.org", "site.org.", true),
            ("a.co.uk", "b.co.uk", false),
            ("x.a.co.uk", "y.a.co.uk", true),
            ("a.github.io", "b.github.io", false),
            ("eos.cern.ch", "ccprod.cern.ch", true),
            ("a.org", "b.org", false),
            ("door", "pool", false),
            ("DOOR", "door", true),
            ("10.0.0.1", "11.0.0.1", false),
            ("1.2.3.4", "9.9.3.4", false),
            ("door.site.org", "evil-site.org", false),
            ("door.site.org", "door.site.org.evil.com", false),
        ] {
            assert_eq!(same_domain(one, other), same, "{one} {other}");
        }
    }
}
