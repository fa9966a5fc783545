//! Failures of a request, sorted by the reaction to them.

use super::stalled::SilentSince;
use crate::backoff::Backoff;
use crate::open::SourceOptions;
use hyper::header::HeaderValue;
use sapwood_span::{Error, ErrorKind, Result};
use std::time::{Duration, Instant, SystemTime};

/// Longest pause between two tries where the server does not say how long to wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A longer wait requested by a server counts as this.
const FOREVER: Duration = Duration::from_secs(366 * 24 * 3600);

/// What is left of a time limit that has expired.
pub(super) const LEAST: Duration = Duration::from_millis(1);

/// Longest pause between two connection attempts: reading resumes soon after the server is back.
const BETWEEN_CONNECTIONS: Duration = Duration::from_secs(1);

/// The error of a connection that broke.
pub(super) fn broke_before_response(error: hyper::Error) -> Error {
    let broke = Error::new(ErrorKind::Io, "the connection broke before the response");
    // that a channel within the client is closed, or what it carried canceled, tells its user nothing
    if error.is_closed() || error.is_canceled() { broke } else { broke.with_source(error) }
}

pub(crate) enum RequestFailure {
    /// A retry will not help.
    Fatal(Error),
    /// The server does not support this kind of request: request single ranges.
    Fallback(Error),
    /// The server was silent when asked for several ranges: request single ones in the time that is left.
    Timeout { error: Error, since: Instant },
    /// Fewer ranges in one request may work.
    FewerRanges(Error),
    /// No connection could be opened.
    Unreached(Error),
    /// The response came from another server with the same file: ask again.
    OtherServer,
    /// A retry may help.
    Retry { error: Error, wait: Option<Duration>, stalled: bool },
}

impl RequestFailure {
    pub(super) fn retry(error: Error) -> Self {
        Self::Retry { error, wait: None, stalled: false }
    }

    /// A response that makes no sense: a reason for a simpler request, if that is possible.
    pub(super) fn nonsense(what: impl Into<String>, multi: bool) -> Self {
        let error = Error::new(ErrorKind::Protocol, what);
        if multi { Self::Fallback(error) } else { Self::retry(error) }
    }

    /// For a response whose status is neither 200 nor 206, to a request that was sent with this credential.
    /// `retry_after` is the value of that header.
    pub(super) fn status(
        status: u16,
        retry_after: Option<&str>,
        multi: bool,
        credential: Option<&HeaderValue>,
    ) -> Self {
        let reason = hyper::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason()).unwrap_or("unknown");
        let what = format!("the server responded with {status} ({reason})");
        let plain = |kind| Error::new(kind, what.clone());
        match status {
            401 => Self::Fatal(plain(ErrorKind::Denied).with_remedy(match credential {
                None => {
                    "specify a user in the URL (https://user:password@...), or a token in BEARER_TOKEN or in the file of \
                     BEARER_TOKEN_FILE (https only)"
                }
                Some(sent) if sent.as_bytes().starts_with(b"Basic ") => {
                    "the user and the password that were sent are not accepted: check them"
                }
                Some(_) => {
                    "the token that was sent is not accepted: it may have expired, or be meant for another server or path"
                }
            })),
            407 => Self::Fatal(plain(ErrorKind::Denied).with_remedy(
                "this is a proxy's response: check http_proxy (with http://user:password@host:port if it requires one), \
                 or add the server to no_proxy",
            )),
            404 | 410 => Self::Fatal(Error::no_such_file(what).with_remedy("check the path")),
            429 | 502..=504 => {
                let wait = retry_after.and_then(requested_wait);
                Self::Retry { error: plain(ErrorKind::Io), wait, stalled: false }
            }
            // Some servers fail on several ranges with unrelated statuses.
            400..=599 if multi => Self::Fallback(plain(ErrorKind::Protocol)),
            403 => {
                Self::Fatal(plain(ErrorKind::Denied).with_remedy("the file may exist, but this user may not read it"))
            }
            500..=599 => Self::retry(plain(ErrorKind::Io)),
            _ => Self::Fatal(plain(ErrorKind::Protocol)),
        }
    }
}

/// How often a request is sent again, and how long silence may last.
pub(crate) struct RetryBudget {
    retries: u32,
    left: u32,
    backoff: Backoff,
    /// When there was last progress, and how long ago that may be.
    moved: Instant,
    longest: Duration,
    /// When a byte last arrived, whether or not it was a missing one.
    heard: Instant,
    /// Nothing has been requested yet: the time waited was no server's silence.
    fresh: bool,
    silent_since: SilentSince,
}

impl RetryBudget {
    pub(super) fn new(options: &SourceOptions) -> Self {
        Self::since(options, None)
    }

    /// For a server that has been silent since then, if it was.
    pub(super) fn since(options: &SourceOptions, silent: Option<Instant>) -> Self {
        let (retries, now) = (options.retries, Instant::now());
        Self {
            retries,
            left: retries,
            backoff: Backoff::new(options),
            moved: silent.unwrap_or(now),
            longest: options.progress_timeout,
            heard: now,
            fresh: silent.is_none(),
            silent_since: SilentSince::default(),
        }
    }

    /// When there was last progress.
    pub(super) fn moved(&self) -> Instant {
        self.moved
    }

    /// Its turn has come: a connection may be opened, or a request sent. Returns how long that may take.
    pub(super) fn begin(&mut self) -> Duration {
        if self.fresh {
            self.moved = Instant::now();
        }
        self.longest.saturating_sub(self.moved.elapsed()).max(LEAST)
    }

    /// How long the response to a request may take. One for several ranges gets half of the time: some servers hang on
    /// them, and there must be time for a simpler request.
    pub(super) fn asked(&mut self, several: bool) -> Duration {
        let left = self.begin();
        self.fresh = false;
        self.silent_since.now();
        if several { left.min(self.longest / 2) } else { left }
    }

    /// Whether there is time for another kind of request.
    pub(super) fn is_left(&self) -> bool {
        self.moved.elapsed() < self.longest
    }

    /// Bytes have arrived.
    pub(super) fn heard(&mut self) {
        self.heard = Instant::now();
        self.silent_since.now();
    }

    /// Since when the request under way has brought nothing.
    pub(super) fn silent_since(&self) -> SilentSince {
        self.silent_since.clone()
    }

    /// The failed try was not silent: its bytes count as progress.
    pub(super) fn catch_up(&mut self) {
        self.moved = self.moved.max(self.heard);
    }

    /// Something arrived after all: the count starts again, though not forever.
    pub(super) fn renew(&mut self) {
        self.catch_up();
        if self.backoff.attempts() < self.retries.saturating_mul(10) {
            self.left = self.retries;
            self.backoff.reset();
        }
    }

    /// Waits before the next try to reach the server: any number of tries, for as long as the progress timeout.
    ///
    /// # Errors
    /// No time left: returns the given error.
    pub(super) async fn unreached(&mut self, error: Error) -> Result<()> {
        self.backoff.failed();
        self.fresh = false;
        if self.moved.elapsed() + self.backoff.pause() >= self.longest {
            return Err(self.backoff.give_up(error));
        }
        crate::trace::retry(&error, self.backoff.pause());
        self.backoff.wait(Duration::ZERO, BETWEEN_CONNECTIONS).await;
        Ok(())
    }

    /// Waits before the next try, for as long as the server asks if it does.
    ///
    /// # Errors
    /// No tries or no time left: returns the given error. A stall has taken long enough to count more; one in which
    /// nothing at all has moved ends it.
    pub(super) async fn spend(&mut self, error: Error, wait: Option<Duration>, stalled: bool) -> Result<()> {
        self.fresh = false;
        let silent = self.moved.elapsed();
        if stalled && silent >= self.longest {
            return Err(error);
        }
        let at_least = wait.unwrap_or_default();
        let pause = at_least.max(self.backoff.pause());
        if let Some(wait) = wait
            && silent.saturating_add(wait) >= self.longest
        {
            let what = format!("{} and requests a wait of {}", error.what(), seconds(wait));
            let longest = self.longest;
            let remedy = format!("try again later, or set a longer timeout (it is {longest:.0?})");
            return Err(Error::new(ErrorKind::Io, what).with_remedy(remedy));
        }
        let cost = if stalled { self.retries / 2 + 1 } else { 1 };
        self.backoff.failed();
        self.left = match self.left.checked_sub(cost) {
            Some(left) if silent + pause < self.longest => left,
            _ => return Err(self.backoff.give_up(error)),
        };
        crate::trace::retry(&error, self.backoff.pause().max(at_least));
        self.backoff.wait(at_least, LONGEST_PAUSE).await;
        Ok(())
    }
}

fn seconds(wait: Duration) -> String {
    if wait >= FOREVER { "more than a year".to_owned() } else { format!("{} s", wait.as_secs()) }
}

/// How long a `Retry-After` header asks to wait: a number of seconds, or a date.
fn requested_wait(text: &str) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)).min(FOREVER));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default().min(FOREVER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(requested_wait(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(requested_wait("99999999999999999999999"), Some(FOREVER));
        assert_eq!(requested_wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(requested_wait("Fri, 31 Dec 9999 23:59:59 GMT"), Some(FOREVER));
        for bad in ["", "-1", "+1", "1.5", "soon"] {
            assert_eq!(requested_wait(bad), None, "{bad}");
        }
    }

    #[test]
    fn half_of_the_silence_is_left_for_asking_more_simply() {
        let longest = Duration::from_secs(60);
        let options = SourceOptions { progress_timeout: longest, ..SourceOptions::default() };
        assert!(RetryBudget::new(&options).asked(false) > longest / 2);
        assert_eq!(RetryBudget::new(&options).asked(true), longest / 2);
        let Some(long_ago) = Instant::now().checked_sub(longest / 2) else { return };
        let left = RetryBudget::since(&options, Some(long_ago)).asked(false);
        assert!(left <= longest / 2, "{left:?}");
    }
}
