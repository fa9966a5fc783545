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

    /// Waits until the request has fallen behind those over other connections to this host.
    pub(super) async fn falls_behind(&self, host: impl Fn() -> Arc<Host>) {
        loop {
            tokio::time::sleep(LOOK).await;
            let since = *lock(&self.0);
            if since.is_some_and(|since| since.elapsed() >= silence::SUSPICIOUS && is_overtaken(&host(), since)) {
                return;
            }
        }
    }
}

/// Whether others have brought bytes since, and one of them is free.
fn is_overtaken(host: &Host, since: Instant) -> bool {
    let last = lock(&host.meter).last();
    last.is_some_and(|last| last.saturating_duration_since(since) >= AHEAD) && host.has_idle()
}
