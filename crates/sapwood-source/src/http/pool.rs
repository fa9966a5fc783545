//! The connections to one server: the idle ones, and the tasks that wait for one.

use super::connect::Sender;
use crate::tcp_info::TcpInfo;
use crate::window::WINDOW;
use sapwood_span::Result;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// A connection whose window is this many times narrower than another one's is behind it by two round trips of slow start.
const MUCH_WIDER: u64 = 4;

pub(super) struct Pool {
    /// The process that owns the connections: a forked child must not use its parent's, nor wait for what the parent
    /// began.
    pub(super) process: u32,
    pub(super) permits: Arc<Semaphore>,
    pub(super) idle: Vec<Link>,
    pub(super) opening: usize,
    /// Tasks without a connection. One is being opened for each of them at least, whatever becomes of the busy ones.
    pub(super) waiting: VecDeque<oneshot::Sender<Result<(Link, bool)>>>,
    /// Tasks that wait for a while for one of the busy connections. Nothing is opened for them, so what is opened is for
    /// the others: they would wait for busy connections, which may never come back.
    patient: VecDeque<oneshot::Sender<Result<(Link, bool)>>>,
    /// The most bytes that one of the connections had carried when it was given back.
    pub(super) widest: u64,
    /// How long requests have waited for wider connections since a narrow one was last used for a long answer.
    pub(super) waited: Duration,
}

/// A connection.
pub(crate) struct Link {
    pub sender: Sender,
    /// Bytes of bodies carried so far: they have opened its window.
    pub carried: u64,
    /// The server's address; none behind a proxy.
    pub peer: Option<IpAddr>,
    pub gauge: Option<TcpInfo>,
}

/// A connection, and whether it was used before.
type Waiter = oneshot::Receiver<Result<(Link, bool)>>;

impl Pool {
    pub(super) fn new(max: usize) -> Self {
        Self {
            process: std::process::id(),
            permits: Arc::new(Semaphore::new(max)),
            idle: Vec::new(),
            opening: 0,
            waiting: VecDeque::new(),
            patient: VecDeque::new(),
            widest: 0,
            waited: Duration::ZERO,
        }
    }

    pub(super) fn drop_closed(&mut self) {
        self.idle.retain(|l| !l.sender.is_closed());
    }

    /// The idle connection with the widest window.
    pub(super) fn widest_idle(&mut self) -> Option<usize> {
        self.drop_closed();
        (0..self.idle.len()).max_by_key(|&i| self.idle[i].carried)
    }

    /// Whether a busy connection is expected to bring an answer that needs a window of `needed` bytes before this idle one
    /// does, with at most `max` connections. The caller has one of the permits.
    ///
    /// After two waits of `patience` in all, the idle one is used: its window opens only so, and requests that wait do not
    /// overlap.
    pub(super) fn is_wider_one_busy(&mut self, idle: usize, needed: u64, max: usize, patience: Duration) -> bool {
        let others = max.saturating_sub(self.permits.available_permits() + 1);
        if others == 0 || !is_left_behind(self.idle[idle].carried, self.widest, needed) {
            return false;
        }
        if self.waited >= patience * 2 {
            self.waited = Duration::ZERO;
            return false;
        }
        true
    }

    /// The next connection that is given back or opened.
    pub(super) fn wait(&mut self) -> Waiter {
        queue(&mut self.waiting)
    }

    /// The next connection that is given back.
    pub(super) fn wait_for_busy_one(&mut self) -> Waiter {
        queue(&mut self.patient)
    }

    /// Hands a connection to the next task that waits for one like it: `used`, or just opened.
    pub(super) fn hand_over(&mut self, mut link: Link, used: bool) {
        let mut next = || if used { self.patient.pop_front() } else { None }.or_else(|| self.waiting.pop_front());
        while let Some(waiter) = next() {
            match waiter.send(Ok((link, used))) {
                Ok(()) => return,
                Err(Ok((back, _))) => link = back,
                Err(Err(_)) => return,
            }
        }
        self.idle.push(link);
    }
}

fn queue(tasks: &mut VecDeque<oneshot::Sender<Result<(Link, bool)>>>) -> Waiter {
    let (tell, receiver) = oneshot::channel();
    tasks.retain(|w| !w.is_closed());
    tasks.push_back(tell);
    receiver
}

/// Whether a connection that carried so much is still in slow start for what is needed, and another one is far ahead of it.
fn is_left_behind(carried: u64, widest: u64, needed: u64) -> bool {
    let ahead = carried.max(WINDOW).saturating_mul(MUCH_WIDER);
    needed > ahead && widest > ahead
}

/// The connection, if it comes within this time.
pub(super) async fn within(time: Duration, mut waiter: Waiter) -> Option<(Link, bool)> {
    if let Ok(answer) = tokio::time::timeout(time, &mut waiter).await {
        return answer.ok()?.ok();
    }
    // it may have been handed over since
    waiter.close();
    waiter.try_recv().ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::client::conn::http1;
    use hyper_util::rt::TokioIo;
    use sapwood_span::Error;

    #[test]
    fn a_connection_in_slow_start_is_passed_over_for_long_answers() {
        let (cold, wide, long) = (34 << 10, 2 << 20, 1400 << 10);
        assert!(is_left_behind(cold, wide, long));
        assert!(!is_left_behind(cold, wide, cold));
        assert!(!is_left_behind(cold, 2 * cold, long));
        assert!(!is_left_behind(wide, wide, long));
        // a file is opened over several fresh connections at once
        assert!(!is_left_behind(0, 60 << 10, 34 << 10));
    }

    /// A connection to nobody.
    async fn link() -> Link {
        let (ours, _) = tokio::io::duplex(64);
        let (sender, _) = http1::handshake(TokioIo::new(ours)).await.expect("a connection");
        Link { sender, carried: 0, peer: None, gauge: None }
    }

    /// It went to the one that waits for a busy connection, because that one had come first. If no busy one came back, the
    /// other waited for ever.
    #[test]
    fn what_is_opened_is_for_tasks_that_have_no_connection() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut pool = Pool::new(4);
            let mut patient = pool.wait_for_busy_one();
            let (mut first, mut second) = (pool.wait(), pool.wait());
            pool.hand_over(link().await, false);
            assert!(patient.try_recv().is_err());
            assert!(matches!(first.try_recv(), Ok(Ok((_, false)))));
            pool.hand_over(link().await, true);
            assert!(second.try_recv().is_err());
            assert!(matches!(patient.try_recv(), Ok(Ok((_, true)))));
            // one that has stopped waiting gets nothing
            drop(pool.wait_for_busy_one());
            pool.hand_over(link().await, true);
            assert!(matches!(second.try_recv(), Ok(Ok((_, true)))));
            pool.hand_over(link().await, false);
            assert_eq!(pool.idle.len(), 1);
        });
    }

    #[test]
    fn nothing_that_was_handed_over_is_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let handed_over = runtime.block_on(async {
            let (tell, waiter) = oneshot::channel::<Result<(Link, bool)>>();
            // an answer that is there counts even if the time is up
            assert!(tell.send(Err(Error::invalid("gone"))).is_ok());
            within(Duration::ZERO, waiter).await.is_some()
        });
        assert!(!handed_over);
        runtime.block_on(async {
            let (tell, waiter) = oneshot::channel::<Result<(Link, bool)>>();
            assert!(within(Duration::ZERO, waiter).await.is_none());
            assert!(tell.send(Err(Error::invalid("gone"))).is_err());
        });
    }
}
