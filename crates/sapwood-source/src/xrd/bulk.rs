//! Which session carries large requests.

use super::caller::Caller;
use super::conn::Conn;
use super::failure::Broken;
use super::host::{DEPTH, Host};
use super::plan;
use super::session_rate::holds_up;
use crate::lock;
use crate::silence::SUSPICIOUS;
use std::sync::Arc;
use std::time::Duration;

/// Bytes after which a session's window is assumed to be open.
const PROVEN: u64 = 1 << 20;

impl Host {
    /// A session for bulk: waits until one is free, and opens others as long as more are worth having.
    pub(crate) async fn bulk(self: &Arc<Self>, caller: &Caller, time_limit: Duration) -> Result<Lease, Broken> {
        let wait = caller.counters.wait();
        let mut waited = false;
        loop {
            let freed = Arc::clone(&self.pool().freed);
            let freed = freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            {
                let mut pool = self.pool();
                pool.sift();
                let wanted = self.streams_of(pool.bulk.len());
                let open = pool.conns.len() + pool.dialing;
                // Worth having, they are opened although the existing ones could take more.
                if wanted > 1 && open > 0 && open < self.most_sessions().min(wanted + 1) {
                    self.dial_aside(&mut pool, caller, time_limit);
                }
                let busy = |c: &Arc<Conn>| pool.bulk.get(&c.number).copied().unwrap_or(0);
                // One session stays free for small requests, where there are several.
                let full = pool.conns.len() > 1 && pool.bulk.len() >= wanted.min(pool.conns.len() + pool.dialing - 1);
                // Beside a session with an open window, requests on a fresh one may take long: nothing is queued there.
                let depth = |c: &Arc<Conn>| if c.carried() < PROVEN && pool.bulk.len() > 1 { 1 } else { DEPTH };
                let free = |c: &&Arc<Conn>| busy(c) < depth(c) && !(full && busy(c) == 0);
                // The bytes that a connection has carried have opened its window.
                let best = |c: &&Arc<Conn>| (std::cmp::Reverse(busy(c)), c.carried());
                if let Some(conn) = pool.conns.iter().filter(free).max_by_key(best).cloned() {
                    *pool.bulk.entry(conn.number).or_default() += 1;
                    conn.set_time_limit(caller.options.progress_timeout);
                    if waited && !conn.is_used() {
                        caller.counters.waited(wait, 1);
                    }
                    return Ok(Lease { conn, host: Arc::clone(self) });
                }
                if let Some(failed) = pool.failed.take().filter(|_| pool.conns.is_empty()) {
                    return Err(failed);
                }
                if pool.conns.len() + pool.dialing < self.most_sessions().min(wanted + 1) {
                    self.dial_aside(&mut pool, caller, time_limit);
                }
            }
            let _queued = Queued::new(self);
            freed.await;
            waited = true;
        }
    }

    /// Bytes of one request where several sessions share bulk because the window of each is limited. The first to
    /// finish gets the next request, so that none is left with more than it can bring. None where one session carries
    /// everything.
    pub(crate) fn piece(&self) -> Option<u64> {
        lock(&self.meter).piece().map(|bytes| bytes.min(plan::MAX_REQUEST))
    }

    /// Ends a session that holds up idle ones. Requests cannot be taken back: those sent while its window was open
    /// would come through what a loss has left of it.
    pub(crate) fn relieve(&self, conn: &Arc<Conn>) {
        let (Some(piece), Some(rate)) = (self.piece(), conn.rate()) else { return };
        let (far, last) = {
            let meter = lock(&self.meter);
            (meter.distance().unwrap_or_default(), meter.last())
        };
        // where nothing arrives over any of them, the network is down, and no other would be faster
        if last.is_none_or(|at| at.elapsed() >= SUSPICIOUS) {
            return;
        }
        let mut pool = self.pool();
        if pool.queued > 0 || !conn.is_alive() {
            return;
        }
        // The rate of an idle session says nothing.
        let others = pool.conns.iter().filter(|c| c.number != conn.number && pool.bulk.contains_key(&c.number));
        let (sum, known) = others.filter_map(|c| c.rate()).fold((0.0, 0), |(sum, n), rate| (sum + rate, n + 1));
        let typical = if known == 0 { rate } else { sum / f64::from(known) };
        let free = self.streams_of(pool.bulk.len()).saturating_sub(pool.bulk.len());
        if holds_up(conn.load(), rate, typical, free, piece, far) {
            pool.conns.retain(|c| c.number != conn.number);
            drop(pool);
            conn.give_up();
        }
    }

    fn release(&self, conn: &Conn) {
        let mut pool = self.pool();
        if let Some(count) = pool.bulk.get_mut(&conn.number) {
            *count -= 1;
            if *count == 0 {
                pool.bulk.remove(&conn.number);
            }
        }
        pool.freed.notify_waiters();
    }
}

/// A caller waits for a session.
struct Queued<'a>(&'a Host);

impl<'a> Queued<'a> {
    fn new(host: &'a Host) -> Self {
        host.pool().queued += 1;
        Self(host)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let mut pool = self.0.pool();
        pool.queued = pool.queued.saturating_sub(1);
    }
}

/// A session that carries a caller's bulk.
pub(crate) struct Lease {
    pub conn: Arc<Conn>,
    host: Arc<Host>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.host.release(&self.conn);
    }
}
