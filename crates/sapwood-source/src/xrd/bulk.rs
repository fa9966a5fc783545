//! Which session carries large requests.

use super::conn::Conn;
use super::host::{Caller, DEPTH, Host};
use super::trouble::Broken;
use std::sync::Arc;
use std::time::Duration;

/// Bytes after which a session's window is taken to be open.
const PROVEN: u64 = 1 << 20;

impl Host {
    /// A session for bulk: waits until one is free, and opens others as long as more are worth having.
    pub async fn bulk(self: &Arc<Self>, caller: &Caller, patience: Duration) -> Result<Lease, Broken> {
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
                // Worth having, they are opened although those there are could take more.
                if wanted > 1 && open > 0 && open < self.most_sessions().min(wanted + 1) {
                    self.dial_aside(&mut pool, caller, patience);
                }
                let busy = |c: &Arc<Conn>| pool.bulk.get(&c.number).copied().unwrap_or(0);
                // One session stays free for small requests, where there are several.
                let full = pool.conns.len() > 1 && pool.bulk.len() >= wanted.min(pool.conns.len() + pool.dialing - 1);
                // Beside one that has opened its window, what a fresh one is asked for may take long: nothing queues there.
                let depth = |c: &Arc<Conn>| if c.carried() < PROVEN && pool.bulk.len() > 1 { 1 } else { DEPTH };
                let free = |c: &&Arc<Conn>| busy(c) < depth(c) && !(full && busy(c) == 0);
                // What a connection has carried has opened its window.
                let best = |c: &&Arc<Conn>| (std::cmp::Reverse(busy(c)), c.carried());
                if let Some(conn) = pool.conns.iter().filter(free).max_by_key(best).cloned() {
                    *pool.bulk.entry(conn.number).or_default() += 1;
                    conn.be_patient(caller.options.progress_timeout);
                    if waited && !conn.is_used() {
                        caller.counters.waited(wait, 1);
                    }
                    return Ok(Lease { conn, host: Arc::clone(self) });
                }
                if let Some(failed) = pool.failed.take().filter(|_| pool.conns.is_empty()) {
                    return Err(failed);
                }
                if pool.conns.len() + pool.dialing < self.most_sessions().min(wanted + 1) {
                    self.dial_aside(&mut pool, caller, patience);
                }
            }
            freed.await;
            waited = true;
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

/// A session that carries somebody's bulk.
pub(crate) struct Lease {
    pub conn: Arc<Conn>,
    host: Arc<Host>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.host.release(&self.conn);
    }
}
