//! Requests that fall behind: their bytes stop, while other connections to the same server bring theirs.
//!
//! Where many connections share a narrow path, all that a sender has sent may be lost, and what it sends again, too. It waits twice as
//! long each time (RFC 6298): half a minute and more after seven losses. A second request over a connection that works does not wait for that.

use super::hosts::Host;
use crate::{lock, silence};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Other connections have brought bytes for at least this long after this one fell silent: a server that pauses as a whole is waited for.
const AHEAD: Duration = Duration::from_millis(500);
/// After this long it is enough that others have brought anything since: what a client wants may be there in less than [`AHEAD`].
const LONG: Duration = Duration::from_secs(10);
/// A busy server may take this many times as long as its last responses took to begin.
const TIMES: u32 = 2;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);

/// Since when the request under way has brought nothing; none before it is sent.
#[derive(Clone, Default)]
pub(super) struct SilentSince(Arc<Mutex<Option<Instant>>>);

impl SilentSince {
    /// It was sent, or bytes have arrived.
    pub(super) fn now(&self) {
        *lock(&self.0) = Some(Instant::now());
    }

    /// Another one will be sent.
    pub(super) fn clear(&self) {
        *lock(&self.0) = None;
    }

    /// Waits until the request has fallen behind those over other connections to this host.
    pub(super) async fn falls_behind(&self, host: impl Fn() -> Arc<Host>) {
        loop {
            tokio::time::sleep(LOOK).await;
            let since = *lock(&self.0);
            if since.is_some_and(|since| is_overtaken(&host(), since, since.elapsed())) {
                return;
            }
        }
    }
}

/// Whether one that has been silent since then has fallen behind, and another connection is free.
fn is_overtaken(host: &Host, since: Instant, silent: Duration) -> bool {
    let (last, wait) = {
        let meter = lock(&host.meter);
        (meter.last(), meter.longest_wait().unwrap_or_default())
    };
    let ahead = last.map_or(Duration::ZERO, |last| last.saturating_duration_since(since));
    is_behind(silent, ahead, wait) && host.has_idle()
}

/// Of one that has been silent for so long, while others have brought bytes up to `ahead` after it fell silent, and responses took up to
/// `wait` to begin.
fn is_behind(silent: Duration, ahead: Duration, wait: Duration) -> bool {
    let after = if ahead >= AHEAD { silence::SUSPICIOUS } else { LONG };
    !ahead.is_zero() && silent >= after.max(wait * TIMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_pause_of_the_whole_server_nor_one_that_is_usual_leaves_a_request_behind() {
        let [none, little, second] = [0, 100, 1000].map(Duration::from_millis);
        assert!(is_behind(2 * second, second, little));
        assert!(!is_behind(second, second, little));
        assert!(!is_behind(60 * second, none, little));
        assert!(!is_behind(9 * second, little, little));
        assert!(is_behind(10 * second, little, little));
        assert!(!is_behind(5 * second, 4 * second, 3 * second));
        assert!(is_behind(6 * second, 4 * second, 3 * second));
    }
}
