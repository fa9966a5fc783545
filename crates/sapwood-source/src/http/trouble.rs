//! What can go wrong with a request, sorted by what to do about it.

use super::client::Reply;
use crate::open::SourceOptions;
use sapwood_span::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// `Retry-After` is obeyed up to here.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Between two tries to connect, at most: reading goes on soon after the server is back.
const BETWEEN_CONNECTIONS: Duration = Duration::from_secs(1);

pub(crate) enum Trouble {
    /// Asking again will not help.
    Fatal(Error),
    /// The server does not understand this way of asking: ask for single ranges.
    Step(Error),
    /// A shorter line of ranges may do.
    Shorter(Error),
    /// No connection could be opened.
    Unreached(Error),
    /// The answer came from another server, which has the same file: ask again.
    Elsewhere,
    /// Asking again may help.
    Again { error: Error, wait: Option<Duration>, stalled: bool },
}

impl Trouble {
    pub fn again(error: Error) -> Self {
        Self::Again { error, wait: None, stalled: false }
    }

    /// An answer that makes no sense: a reason to ask more simply, if that is possible.
    pub fn nonsense(what: impl Into<String>, multi: bool) -> Self {
        let error = Error::new(ErrorKind::Protocol, what);
        if multi { Self::Step(error) } else { Self::again(error) }
    }

    /// For an answer whose status is neither 200 nor 206.
    pub fn status(reply: &Reply, multi: bool) -> Self {
        let status = reply.status;
        let reason = hyper::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason()).unwrap_or("unknown");
        let what = format!("the server answers {status} ({reason})");
        let plain = |kind| Error::new(kind, what.clone());
        match status {
            401 => Self::Fatal(plain(ErrorKind::Denied).with_remedy(
                "give a user in the URL (https://user:password@...), or a token in BEARER_TOKEN or in the file that \
                 BEARER_TOKEN_FILE names (https only)",
            )),
            407 => Self::Fatal(plain(ErrorKind::Denied).with_remedy(
                "that is a proxy's answer: check http_proxy (with http://user:password@host:port where it wants one), \
                 or name the server in no_proxy",
            )),
            404 | 410 => Self::Fatal(plain(ErrorKind::NotFound).with_remedy("check the path")),
            429 | 502..=504 => {
                let seconds = reply.header("retry-after").and_then(|v| v.trim().parse().ok());
                let wait = seconds.map(|s| Duration::from_secs(s).min(LONGEST_PAUSE).min(reply.longest));
                Self::Again { error: plain(ErrorKind::Io), wait, stalled: false }
            }
            // Some servers trip over several ranges in the oddest ways.
            400..=599 if multi => Self::Step(plain(ErrorKind::Protocol)),
            403 => Self::Fatal(plain(ErrorKind::Denied).with_remedy("the file exists perhaps, but not for this user")),
            500..=599 => Self::again(plain(ErrorKind::Io)),
            _ => Self::Fatal(plain(ErrorKind::Protocol)),
        }
    }
}

/// How often something is tried again.
pub(crate) struct Patience {
    retries: u32,
    left: u32,
    tries: u32,
    first_pause: Duration,
    pause: Duration,
    /// When something last came of it, and how long ago that may be while the server cannot be reached.
    moved: Instant,
    longest: Duration,
}

impl Patience {
    pub fn new(options: &SourceOptions) -> Self {
        let (retries, pause) = (options.retries, options.backoff);
        let longest = options.progress_timeout;
        Self { retries, left: retries, tries: 0, first_pause: pause, pause, moved: Instant::now(), longest }
    }

    /// Something arrived after all: the count begins anew, though not for ever.
    pub fn renew(&mut self) {
        self.moved = Instant::now();
        if self.tries < self.retries.saturating_mul(10) {
            self.left = self.retries;
            self.pause = self.first_pause;
        }
    }

    /// Waits before the next try to reach the server: however often, as long as the progress timeout.
    ///
    /// # Errors
    /// There is none: the error given comes back.
    pub async fn unreached(&mut self, error: Error) -> Result<()> {
        self.tries += 1;
        if self.moved.elapsed() + self.pause >= self.longest {
            return Err(error.with_remedy(format!("given up after {} attempts", self.tries)));
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(BETWEEN_CONNECTIONS);
        Ok(())
    }

    /// Waits before the next try.
    ///
    /// # Errors
    /// There is none: the error given comes back. A stall has taken long enough to count more; one in which nothing at
    /// all has moved is the end.
    pub async fn spend(&mut self, error: Error, wait: Option<Duration>, stalled: bool) -> Result<()> {
        if stalled && self.moved.elapsed() >= self.longest {
            return Err(error);
        }
        let cost = if stalled { self.retries / 2 + 1 } else { 1 };
        self.tries += 1;
        self.left = match self.left.checked_sub(cost) {
            Some(left) => left,
            None if self.tries > 1 => {
                return Err(error.with_remedy(format!("given up after {} attempts", self.tries)));
            }
            None => return Err(error),
        };
        tokio::time::sleep(wait.unwrap_or(self.pause)).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
