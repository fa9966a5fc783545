//! Finds one file's server along redirects, and goes back after failures.

use super::caller::Caller;
use super::conn::Conn;
use super::host::{Host, Key};
use super::identity::identity;
use super::root_url::RootUrl;
use super::state::MOST_WAITS;
use crate::backoff::Backoff;
use crate::counters::Counters;
use crate::lock;
use crate::open::SourceOptions;
use crate::redirect::{Scope, allowed, check_name, check_peer};
use sapwood_span::{Error, ErrorKind, Result};
use sapwood_xrd::auth::Identity;
use sapwood_xrd::reply::Redirect;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Redirects from a name to its file, including those after failures.
pub(super) const MOST_REDIRECTS: usize = 16;
/// Where there may be another replica, or after a loss, a connection that takes longer counts as failed.
const SHORT: Duration = Duration::from_secs(2);
/// Silences of a server, each half of the progress timeout, with little data in between.
const MOST_STALLS: u32 = 4;
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Where a file is read, after redirects.
#[derive(Clone)]
pub(crate) struct ServerUrl {
    pub url: RootUrl,
    pub host: Arc<Host>,
    /// Scope of the server that redirected here.
    from: Option<Scope>,
}

impl ServerUrl {
    /// Refuses a session to an address that the redirecting server could not have reached itself.
    ///
    /// # Errors
    /// `Denied`, if the redirect leads to this machine or its link from elsewhere.
    pub(super) fn check(&self, conn: &Conn) -> Result<()> {
        self.from.map_or(Ok(()), |from| check_peer(from, conn.peer(), &self.url.host))
    }
}

pub(crate) struct Client {
    pub name: String,
    pub caller: Caller,
    pub origin: RootUrl,
    identity: Identity,
    route: Mutex<Route>,
}

struct Route {
    server: ServerUrl,
    /// Redirect targets that failed, each with the reason in the protocol's word.
    tried: Vec<(String, &'static str)>,
    redirects: usize,
}

impl Route {
    fn count(&mut self, from: &ServerUrl) -> Result<()> {
        self.redirects += 1;
        if self.redirects > MOST_REDIRECTS {
            let what = format!("more than {MOST_REDIRECTS} redirects, the last one from {}", from.url.server());
            return Err(Error::new(ErrorKind::Protocol, what));
        }
        Ok(())
    }
}

impl Client {
    pub(super) fn new(url: RootUrl, options: SourceOptions, handle: Handle) -> Self {
        let identity = identity(&options, url.user.as_deref());
        let cautious = url.has_secret();
        let caller = Caller::new(options, handle, cautious);
        let host = host(&url, &url, &identity, &caller.options, String::new());
        let route = Route { server: ServerUrl { url: url.clone(), host, from: None }, tried: Vec::new(), redirects: 0 };
        Self { name: url.redacted(), caller, identity, origin: url, route: Mutex::new(route) }
    }

    pub(super) fn counters(&self) -> &Arc<Counters> {
        &self.caller.counters
    }

    /// Where the file is read now.
    pub(super) fn server(&self) -> ServerUrl {
        lock(&self.route).server.clone()
    }

    /// Path and options for opening the file where it is read now.
    pub(super) fn path(&self) -> String {
        let route = lock(&self.route);
        if route.tried.is_empty() || route.server.url != self.origin {
            return route.server.url.opaque("");
        }
        let join = |words: Vec<&str>| words.join(",");
        let hosts = join(route.tried.iter().map(|(host, _)| host.as_str()).collect());
        let reasons = join(route.tried.iter().map(|(_, why)| *why).collect());
        route.server.url.opaque(&format!("tried={hosts}&triedrc={reasons}"))
    }

    /// Whether a redirect led to this server: the server that gave it may know another one.
    pub(super) fn is_redirected(&self, server: &ServerUrl) -> bool {
        server.url.server() != self.origin.server()
    }

    /// How long connecting may take.
    pub(super) fn connect_timeout(&self, server: &ServerUrl) -> Duration {
        let options = &self.caller.options;
        let longest = options.connect_timeout.min(options.progress_timeout);
        if self.is_redirected(server) { longest.min(SHORT * 2) } else { longest }
    }

    /// Follows a redirect, unless another task already did.
    ///
    /// # Errors
    /// Too many of them, or an invalid one.
    pub(super) fn follow(&self, from: &ServerUrl, to: &Redirect) -> Result<()> {
        let mut route = lock(&self.route);
        if route.server.url != from.url {
            return Ok(());
        }
        route.count(from)?;
        let url = from.url.follow(to)?;
        allowed(self.caller.options.redirects.as_ref(), &url.redacted())?;
        let from = (!self.caller.options.insecure_redirects).then(|| from.host.scope());
        if let Some(from) = from {
            check_name(from, &url.host)?;
        }
        let token = if to.token.is_empty() { String::new() } else { to.token.clone() };
        let host = host(&self.origin, &url, &self.identity, &self.caller.options, token);
        Counters::add(&self.counters().redirects, 1);
        crate::trace::redirect(|| route.server.url.redacted(), || url.redacted());
        route.server = ServerUrl { url, host, from };
        Ok(())
    }

    /// The target of a redirect has failed: goes back to the first server, and reports the failure to it. Returns
    /// whether the failure is new. Counts as a redirect, too.
    ///
    /// # Errors
    /// Too many of them.
    pub(super) fn go_back(&self, from: &ServerUrl, why: &'static str) -> Result<bool> {
        let mut route = lock(&self.route);
        if route.server.url == from.url {
            route.count(from)?;
            let host = host(&self.origin, &self.origin, &self.identity, &self.caller.options, String::new());
            crate::trace::go_back(|| self.origin.redacted());
            route.server = ServerUrl { url: self.origin.clone(), host, from: None };
        }
        let name = from.url.host.clone();
        let news = !route.tried.iter().any(|(host, _)| *host == name);
        if news {
            route.tried.push((name, why));
        }
        Ok(news)
    }

    /// All servers may be tried again.
    pub(super) fn begin_anew(&self) {
        let mut route = lock(&self.route);
        route.tried.clear();
        route.redirects = 0;
    }

    /// The file has been opened: the redirects worked.
    pub(super) fn arrived(&self) {
        lock(&self.route).redirects = 0;
    }
}

fn host(
    origin: &RootUrl,
    url: &RootUrl,
    identity: &Identity,
    options: &SourceOptions,
    login_token: String,
) -> Arc<Host> {
    let mut identity = identity.clone();
    if !origin.trusts(&url.host) {
        identity.token = None;
    }
    let key = Key {
        host: url.host.clone(),
        port: url.port,
        tls: url.tls,
        user: identity.user.clone(),
        token: identity.token.as_ref().map(|t| t.0.clone()),
        login_token,
        ca_dir: options.ca_dir.clone(),
    };
    options.hosts.xrootd().get(key, identity, options.max_connections)
}

/// How long to keep trying.
pub(crate) struct RetryBudget {
    /// When there was last progress.
    moved: Instant,
    longest: Duration,
    /// Tries left, where their number is limited and not the time.
    left: Option<u32>,
    backoff: Backoff,
}

impl RetryBudget {
    /// For something that has never worked: a fixed number of tries.
    pub(super) fn fresh(options: &SourceOptions) -> Self {
        Self { left: Some(options.retries), ..Self::proven(options, Instant::now()) }
    }

    /// For something that has worked: as long as the progress timeout, counted from when bytes last arrived.
    pub(super) fn proven(options: &SourceOptions, moved: Instant) -> Self {
        Self { moved, longest: options.progress_timeout, left: None, backoff: Backoff::new(options) }
    }

    /// Whether it has never worked.
    pub(super) fn is_fresh(&self) -> bool {
        self.left.is_some()
    }

    /// Whether nothing has arrived for longer than silence and requested waits together may last: no time for another
    /// server or another try.
    pub(super) fn is_over(&self) -> bool {
        self.moved.elapsed() > self.longest.saturating_mul(1 + MOST_WAITS)
    }

    /// The error where that is so.
    pub(super) fn too_long(&self) -> Error {
        let all = self.longest.saturating_mul(1 + MOST_WAITS);
        Error::new(ErrorKind::Timeout, format!("no data for {all:.0?} from any server"))
            .with_remedy("try again later, or set a longer timeout (this error comes after six timeouts)")
    }

    /// Whether a session that fell silent is the last one: nothing has arrived for the whole progress timeout, or too
    /// little between too many silences.
    pub(super) fn is_silent(&self, stalls: &mut u32) -> bool {
        *stalls += 1;
        *stalls >= MOST_STALLS || self.moved.elapsed() >= self.longest
    }

    /// Something arrived, most recently at this time, which may be long ago.
    pub(super) fn renew(&mut self, at: Instant) {
        self.moved = self.moved.max(at);
        self.backoff.reset();
    }

    /// How long a connection may take now.
    pub(super) fn connect_timeout(&self, usual: Duration) -> Duration {
        match self.left {
            Some(_) => usual,
            None if self.backoff.attempts() > 0 => usual.min(SHORT),
            None => usual.min(self.longest.saturating_sub(self.moved.elapsed()).max(SHORT)),
        }
    }

    /// Waits before the next try.
    ///
    /// # Errors
    /// No tries or no time left: returns the given error.
    pub(super) async fn spend(&mut self, error: Error) -> Result<()> {
        self.backoff.failed();
        let over = match &mut self.left {
            Some(left) => left.checked_sub(1).map(|n| *left = n).is_none(),
            None => self.moved.elapsed() + self.backoff.pause() >= self.longest,
        };
        if over {
            return Err(self.backoff.give_up(error));
        }
        crate::trace::retry(&error, self.backoff.pause());
        self.backoff.wait(Duration::ZERO, LONGEST_PAUSE).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_long_ago_and_is_told_now_is_no_new_beginning() {
        let options = SourceOptions { progress_timeout: Duration::from_secs(60), ..SourceOptions::default() };
        let Some(long_ago) = Instant::now().checked_sub(Duration::from_secs(50)) else { return };
        let usual = Duration::from_secs(30);
        let mut budget = RetryBudget::proven(&options, long_ago);
        budget.renew(long_ago + Duration::from_secs(5));
        let left = budget.connect_timeout(usual);
        assert!(left > Duration::from_secs(10) && left <= Duration::from_secs(15), "{left:?}");
        budget.renew(long_ago);
        assert!(budget.connect_timeout(usual) > Duration::from_secs(10), "it does not go back");
        budget.renew(Instant::now());
        assert_eq!(budget.connect_timeout(usual), usual);
        assert_eq!(RetryBudget::fresh(&options).connect_timeout(usual), usual);
    }
}
