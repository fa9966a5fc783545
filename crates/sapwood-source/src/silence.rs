//! Silence: is the server slow, or the network down?
//!
//! A task that waits in silence opens a second connection from time to time. If that works at once, the network is up
//! and the server gets its time, up to the progress timeout. If it fails and then works again, the network was down:
//! TCP's own retransmissions may be many seconds apart by then, so the request is sent again at once.

use crate::dial;
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Silence after which the network is probed.
pub(crate) const SUSPICIOUS: Duration = Duration::from_secs(2);
/// A connection that takes longer counts as failed.
pub(crate) const PROBE: Duration = Duration::from_secs(2);
/// Between two probes while the network is down.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// Between two probes while it is up and the server is only slow.
pub(crate) const CALM: Duration = Duration::from_secs(10);

/// Why waiting was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Nothing came for the whole time, though the server could be reached.
    Stalled,
    /// Nothing came for the whole time, and the server could not be reached any more.
    Unreachable,
    /// The network was down and is back.
    Restored,
}

/// Awaits this, at most `longest`; `reach` tests whether a connection can be opened.
pub(crate) async fn broken_by<T, R: Future<Output = bool>>(
    what: impl Future<Output = T>,
    longest: Duration,
    reach: impl Fn() -> R,
) -> Result<T, Silence> {
    tokio::pin!(what);
    let begin = Instant::now();
    let (mut away, mut wait) = (false, SUSPICIOUS);
    loop {
        let left = longest.saturating_sub(begin.elapsed());
        if let Ok(came) = timeout(wait.min(left), &mut what).await {
            return Ok(came);
        }
        let left = longest.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Err(if away { Silence::Unreachable } else { Silence::Stalled });
        }
        let probe = timeout(PROBE.min(left), reach());
        let reached = tokio::select! {
            biased;
            came = &mut what => return Ok(came),
            reached = probe => reached.unwrap_or(false),
        };
        match (reached, away) {
            (true, true) => return Err(Silence::Restored),
            (true, false) => wait = CALM,
            (false, _) => (away, wait) = (true, PAUSE),
        }
    }
}

/// Whether a TCP connection can be opened.
pub(crate) async fn answers(host: &str, port: u16) -> bool {
    dial::tcp(host, port).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    fn run<T>(test: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test)
    }

    #[test]
    fn what_comes_in_time_is_handed_on() {
        let came = run(broken_by(ready(7), Duration::from_secs(60), || ready(true)));
        assert_eq!(came, Ok(7));
    }

    #[test]
    fn a_network_that_comes_back_is_noticed() {
        let tries = AtomicU32::new(0);
        let reach = || ready(tries.fetch_add(1, Relaxed) > 0);
        assert_eq!(run(broken_by(pending::<()>(), Duration::from_secs(60), reach)), Err(Silence::Restored));
        assert_eq!(tries.load(Relaxed), 2);
    }

    #[test]
    fn the_progress_timeout_ends_it_with_what_is_known() {
        let longest = SUSPICIOUS + Duration::from_millis(200);
        assert_eq!(run(broken_by(pending::<()>(), longest, || ready(true))), Err(Silence::Stalled));
        assert_eq!(run(broken_by(pending::<()>(), longest, || ready(false))), Err(Silence::Unreachable));
    }
}
