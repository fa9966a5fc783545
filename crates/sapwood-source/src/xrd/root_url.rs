//! `root://` URLs, and how redirects change them.

use crate::redirect::{keeps_root_secret, same_domain};
use crate::url::redact_query;
use sapwood_span::raw_text::is_raw;
use sapwood_span::{Error, ErrorKind, Result, is_secret, redact, redact_path};
use sapwood_xrd::code;
use sapwood_xrd::reply::Redirect;
use std::fmt;

/// An absolute `root://` or `roots://` address, parsed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RootUrl {
    /// Encrypted, whether or not the server wants it.
    pub tls: bool,
    /// Name or address, without brackets.
    pub host: String,
    pub port: u16,
    /// Begins with a slash; sent unchanged.
    pub path: String,
    /// The part after the question mark.
    pub query: String,
    /// User name for the login.
    pub user: Option<String>,
}

impl RootUrl {
    /// `rest` is what follows `root://`.
    ///
    /// # Errors
    /// No host, an invalid port, control characters.
    pub(crate) fn parse(tls: bool, rest: &str) -> Result<Self> {
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (user.split(':').next().filter(|u| !u.is_empty()), address),
            None => (None, authority),
        };
        let refuse = |what: &str| {
            let scheme = if tls { "roots" } else { "root" };
            Err(Error::invalid(format!("bad URL: {what}")).in_file(redact(&format!("{scheme}://{rest}"))))
        };
        let Some((host, port)) = address_of(address) else {
            return refuse("no valid host and port after the scheme");
        };
        if rest.bytes().any(|b| b.is_ascii_control()) {
            return refuse("control characters");
        }
        if is_raw(rest) {
            return refuse("bytes that are not UTF-8");
        }
        // Two slashes begin an absolute path; servers know no other.
        let path = path.strip_prefix('/').filter(|p| p.starts_with('/')).unwrap_or(path);
        let path = if path.is_empty() { "/" } else { path }.to_owned();
        Ok(Self {
            tls,
            host,
            port: port.unwrap_or(code::PORT),
            path,
            query: query.trim_matches('&').to_owned(),
            user: user.map(str::to_owned),
        })
    }

    /// Scheme, host and port for messages.
    pub(crate) fn server(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let port = if self.port == code::PORT { String::new() } else { format!(":{}", self.port) };
        format!("{}://{host}{port}", if self.tls { "roots" } else { "root" })
    }

    /// The address for messages: no user, no tokens.
    pub(crate) fn redacted(&self) -> String {
        format!("{}/{}{}", self.server(), redact_path(&self.path), redact_query(&self.query))
    }

    /// The address as given, including secrets.
    pub(crate) fn with_credentials(&self) -> String {
        let user = self.user.as_ref().map_or_else(String::new, |u| format!("{u}@"));
        let server = self.server().replacen("://", &format!("://{user}"), 1);
        let question = if self.query.is_empty() { "" } else { "?" };
        format!("{server}/{}{question}{}", self.path, self.query)
    }

    /// Whether the path's options hold a secret.
    pub(crate) fn has_secret(&self) -> bool {
        pairs(&self.query).any(|(key, _)| is_secret(key)) || redact_path(&self.path) != self.path
    }

    /// Whether the login token for this server may be sent to another: to the same host, or to one of the same domain. A
    /// federation that redirects elsewhere grants its own.
    pub(crate) fn trusts(&self, host: &str) -> bool {
        same_domain(&self.host, host)
    }

    /// The target of a redirect: the file's own path and options are kept, secrets only for hosts that this one trusts;
    /// what the redirect adds is sent to its target.
    ///
    /// # Errors
    /// Another protocol, an invalid host.
    pub(crate) fn follow(&self, to: &Redirect) -> Result<Self> {
        let protocol = |what: String| Error::new(ErrorKind::Protocol, what);
        let mut target = if to.port < 0 {
            let (scheme, rest) = to.host.split_once("://").unwrap_or(("", to.host.as_str()));
            let tls = match scheme {
                "root" | "xroot" => self.tls,
                "roots" | "xroots" => true,
                other => return Err(protocol(format!("the server redirects to {other}://, which is not followed"))),
            };
            let bare = |_| protocol("the server redirects to an invalid address".to_owned());
            Self::parse(tls, rest).map_err(bare)?
        } else {
            let bare = protocol("the server redirects to an invalid host and port".to_owned());
            let host = to.host.trim_start_matches('[').trim_end_matches(']');
            let port = if to.port == 0 { code::PORT } else { u16::try_from(to.port).unwrap_or(0) };
            if port == 0 || !host_fits(host) {
                return Err(bare);
            }
            Self { host: host.to_ascii_lowercase(), port, path: "/".to_owned(), query: String::new(), ..self.clone() }
        };
        if target.path == "/" {
            target.path.clone_from(&self.path);
        }
        target.user.clone_from(&self.user);
        let trusted = keeps_root_secret((&self.host, self.tls), (&target.host, target.tls));
        let given = [target.query.as_str(), to.opaque.as_str()];
        let has = |key: &str| given.iter().any(|q| pairs(q).any(|(k, _)| k == key));
        let own = pairs(&self.query).filter(|(k, _)| !has(k) && (trusted || !is_secret(k)));
        let own: Vec<String> = own.map(|(k, v)| if v.is_empty() { k.to_owned() } else { format!("{k}={v}") }).collect();
        let all = [own.join("&").as_str(), given[0], given[1]].map(|q| q.trim_matches('&').to_owned());
        target.query = all.into_iter().filter(|q| !q.is_empty()).collect::<Vec<_>>().join("&");
        Ok(target)
    }

    /// Path and options as they are sent, with additional options.
    pub(crate) fn opaque(&self, more: &str) -> String {
        let query = [self.query.as_str(), more].into_iter().filter(|q| !q.is_empty()).collect::<Vec<_>>().join("&");
        if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) }
    }
}

impl fmt::Debug for RootUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|p| !p.is_empty()).map(|p| p.split_once('=').unwrap_or((p, "")))
}

/// Host and port of `host`, `host:port`, `[v6]`, `[v6]:port`.
fn address_of(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => {
            let (host, port) = inner.split_once(']')?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => text.split_once(':').map_or((text, None), |(h, p)| (h, Some(p))),
    };
    let port = match port {
        None | Some("") => None,
        // digits only: `parse` alone would take `+80`
        Some(p) if !p.bytes().all(|b| b.is_ascii_digit()) => return None,
        Some(p) => Some(p.parse().ok().filter(|p| *p != 0)?),
    };
    host_fits(host).then(|| (host.to_ascii_lowercase(), port))
}

fn host_fits(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:%".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(rest: &str) -> RootUrl {
        RootUrl::parse(false, rest).unwrap()
    }

    fn to(host: &str, port: i32, opaque: &str) -> Redirect {
        Redirect { host: host.into(), port, opaque: opaque.into(), token: String::new() }
    }

    #[test]
    fn parts_of_a_url() {
        let u = url("u:p@H.Example.org:1095//store/a b.root?x=1&authz=T");
        assert_eq!((u.host.as_str(), u.port, u.path.as_str()), ("h.example.org", 1095, "/store/a b.root"));
        assert_eq!(u.user.as_deref(), Some("u"));
        assert_eq!(u.redacted(), "root://h.example.org:1095//store/a b.root?x=1&authz=***");
        assert!(u.has_secret() && !url("h//a?x=1").has_secret());
        assert_eq!(u.opaque("tried=a"), "/store/a b.root?x=1&authz=T&tried=a");
        assert_eq!((url("h/a").path, url("h").path, url("h//").path), ("/a".into(), "/".into(), "/".into()));
        let six = url("[::1]:90//a");
        assert_eq!((six.host.as_str(), six.port, six.server().as_str()), ("::1", 90, "root://[::1]:90"));
        for bad in ["", "/x", "h:0//x", "h:x//x", "[::1//x", "h h//x", "h//a\nb", "::1//x"] {
            assert!(RootUrl::parse(false, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn tokens_stay_with_hosts_of_the_same_domain() {
        let u = url("door.site.org//f?authz=T&svc=1");
        assert_eq!(u.follow(&to("pool3.site.org", 1095, "&k=v")).unwrap().query, "authz=T&svc=1&k=v");
        for foreign in ["pool.elsewhere.org", "org", "10.0.0.1", "evil-site.org", "door.site.org.evil.com"] {
            assert_eq!(u.follow(&to(foreign, 1095, "")).unwrap().query, "svc=1", "{foreign}");
        }
        assert_eq!(u.follow(&to("elsewhere.org", 1, "authz=G")).unwrap().query, "svc=1&authz=G", "granted");
        let bare = url("door//f?authz=T");
        assert!(bare.trusts("DOOR") && !bare.trusts("pool"));
        assert!(!url("10.0.0.1//f").trusts("11.0.0.1") && !url("a.org//f").trusts("b.org"));
    }

    #[test]
    fn redirects_by_url_and_never_in_the_clear() {
        let u = RootUrl::parse(true, "door.site.org//f?authz=T").unwrap();
        let there = u.follow(&to("root://pool.site.org:7//other?q=1", -1, "")).unwrap();
        assert_eq!((there.path.as_str(), there.port, there.tls), ("/other", 7, true));
        assert_eq!(there.query, "authz=T&q=1");
        assert_eq!(u.follow(&to("[::1]", 7, "")).unwrap().host, "::1");
        for (host, port) in [("http://h//f", -1), ("h h", 1), ("h", 70000), ("", 1)] {
            assert!(u.follow(&to(host, port, "")).is_err(), "{host}");
        }
    }
}
