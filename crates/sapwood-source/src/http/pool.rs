//! The connections to one server: the idle ones, and the tasks that wait for one.

use super::connect::Sender;
use crate::tcp_info::TcpInfo;
use sapwood_span::{Result, slow_start};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

pub(super) struct Pool {
    /// The process that owns the connections: a forked child must not use its parent's, nor wait for what the parent
    /// began.
    pub(super) process: u32,
    pub(super) permits: Arc<Semaphore>,
    pub(super) idle: Vec<Link>,
    pub(super) opening: usize,
    /// Tasks without a connection. One is being opened for each of them at least, whatever becomes of the busy ones.
    pub(super) waiting: VecDeque<Teller>,
    /// Tasks that wait for a while for one of the busy connections, with what the idle one has carried that they could
    /// have. Nothing is opened for them, so what is opened is for the others: they would wait for busy connections, which
    /// may never come back.
    patient: VecDeque<(u64, Teller)>,
    /// The exchanges of the busy ones.
    exchanges: Vec<Weak<Exchange>>,
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

/// An answer on its way over a connection.
pub(super) struct Exchange {
    /// Bytes that the connection has carried so far, those of the answer among them.
    carried: AtomicU64,
    /// What it will have carried after the answer.
    end: u64,
}

impl Exchange {
    pub(super) fn has_carried(&self, bytes: u64) {
        self.carried.store(bytes, Relaxed);
    }
}

/// A connection, and whether it was used before.
type Waiter = oneshot::Receiver<Result<(Link, bool)>>;
type Teller = oneshot::Sender<Result<(Link, bool)>>;

impl Pool {
    pub(super) fn new(max: usize) -> Self {
        Self {
            process: std::process::id(),
            permits: Arc::new(Semaphore::new(max)),
            idle: Vec::new(),
            opening: 0,
            waiting: VecDeque::new(),
            patient: VecDeque::new(),
            exchanges: Vec::new(),
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

    /// A connection that has carried so much is lent out for an answer of this many bytes.
    pub(super) fn begin(&mut self, carried: u64, bytes: u64) -> Arc<Exchange> {
        let exchange = Arc::new(Exchange { carried: carried.into(), end: carried.saturating_add(bytes) });
        self.exchanges.retain(|e| e.strong_count() > 0);
        self.exchanges.push(Arc::downgrade(&exchange));
        exchange
    }

    /// The next connection that is given back or opened.
    pub(super) fn wait(&mut self) -> Waiter {
        let (tell, receiver) = oneshot::channel();
        self.waiting.retain(|w| !w.is_closed());
        self.waiting.push_back(tell);
        receiver
    }

    /// The next connection that is given back with a much wider window than this idle one, and how long to wait for it, if
    /// one is expected to bring an answer that needs a window of `needed` bytes before the idle one does, from a server so
    /// `far` away.
    pub(super) fn wait_for_wider(&mut self, idle: usize, needed: u64, far: Duration) -> Option<(Duration, Waiter)> {
        let narrow = self.idle[idle].carried;
        if !slow_start::is_too_narrow(narrow, needed) {
            return None;
        }
        self.patient.retain(|(_, w)| !w.is_closed());
        let busy = self.exchanges.iter().filter_map(Weak::upgrade);
        let wider = |e: &Arc<Exchange>| slow_start::is_worth_waiting_for(e.carried.load(Relaxed), e.end, narrow);
        // the first ones go to those that wait already
        busy.filter(wider).nth(self.patient.len())?;
        if self.waited >= far.mul_f64(slow_start::PATIENCE_IN_ALL) {
            self.waited = Duration::ZERO;
            return None;
        }
        let (tell, receiver) = oneshot::channel();
        self.patient.push_back((narrow, tell));
        Some((far.mul_f64(slow_start::PATIENCE), receiver))
    }

    /// Hands a connection to the next task that waits for one like it: `used`, or just opened.
    pub(super) fn hand_over(&mut self, mut link: Link, used: bool) {
        let carried = link.carried;
        let mut next = || {
            let is_for = |(narrow, _): &(u64, Teller)| used && slow_start::is_much_wider(carried, *narrow);
            let patient = self.patient.iter().position(is_for).and_then(|at| self.patient.remove(at));
            patient.map(|(_, w)| w).or_else(|| self.waiting.pop_front())
        };
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

    /// A connection to nobody.
    async fn link() -> Link {
        let (ours, _) = tokio::io::duplex(64);
        let (sender, _) = http1::handshake(TokioIo::new(ours)).await.expect("a connection");
        Link { sender, carried: 0, peer: None, gauge: None }
    }

    #[test]
    fn a_connection_in_slow_start_is_passed_over_for_long_answers() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let far = Duration::from_millis(100);
        let (cold, needed) = (34 << 10, 1400 << 10);
        // an idle connection that has carried so much, a busy one that has and will have, other requests that wait
        let waits = |idle: u64, (carried, end): (u64, u64), others: usize| {
            let mut pool = Pool::new(4);
            pool.idle.push(Link { carried: idle, ..runtime.block_on(link()) });
            let exchange = pool.begin(carried, end - carried);
            let _others: Vec<_> = (0..others).map(|_| pool.wait_for_wider(0, needed, far)).collect();
            let waiter = pool.wait_for_wider(0, needed, far);
            drop(exchange);
            assert!(pool.wait_for_wider(0, needed, far).is_none(), "it has come back");
            waiter.is_some()
        };
        let wide = (2 << 20, 3 << 20);
        assert!(waits(cold, wide, 0));
        assert!(!waits(2 << 20, wide, 0));
        assert!(!waits(cold, (2 * cold, 3 << 20), 0), "not much wider");
        assert!(!waits(cold, wide, 1), "another one gets it");
    }

    #[test]
    fn a_narrow_connection_is_used_after_two_waits() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let far = Duration::from_millis(100);
        let mut pool = Pool::new(4);
        pool.idle.push(runtime.block_on(link()));
        let _busy = pool.begin(2 << 20, 1 << 20);
        let mut waits = 0;
        while let Some((patience, _)) = pool.wait_for_wider(0, 1 << 20, far) {
            pool.waited += patience;
            waits += 1;
        }
        assert_eq!(waits, 2);
        assert!(pool.wait_for_wider(0, 1 << 20, far).is_some(), "and then anew");
    }

    /// It went to the one that waits for a busy connection, because that one had come first. If no busy one came back, the
    /// other waited for ever.
    #[test]
    fn what_is_opened_is_for_tasks_that_have_no_connection() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let wide = || async { Link { carried: 2 << 20, ..link().await } };
            let mut pool = Pool::new(4);
            pool.idle.push(link().await);
            let _busy = [pool.begin(2 << 20, 0), pool.begin(2 << 20, 0)];
            let mut patient = || pool.wait_for_wider(0, 1 << 20, Duration::from_millis(100)).map(|w| w.1);
            let (mut patient, gone) = (patient().unwrap(), patient());
            let (mut first, mut second) = (pool.wait(), pool.wait());
            pool.hand_over(link().await, false);
            assert!(patient.try_recv().is_err());
            assert!(matches!(first.try_recv(), Ok(Ok((_, false)))));
            pool.hand_over(wide().await, true);
            assert!(second.try_recv().is_err());
            assert!(matches!(patient.try_recv(), Ok(Ok((_, true)))));
            // one that has stopped waiting gets nothing
            drop(gone);
            pool.hand_over(wide().await, true);
            assert!(matches!(second.try_recv(), Ok(Ok((_, true)))));
            pool.hand_over(link().await, false);
            assert_eq!(pool.idle.len(), 2);
        });
    }

    /// A short answer was sent meanwhile over one that was as narrow as the idle one: the long one took that, after it had
    /// waited.
    #[test]
    fn a_narrow_connection_that_comes_back_is_not_what_is_waited_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut pool = Pool::new(4);
            pool.idle.push(link().await);
            let _busy = pool.begin(2 << 20, 1 << 20);
            let (_, mut patient) = pool.wait_for_wider(0, 1 << 20, Duration::from_millis(100)).unwrap();
            pool.hand_over(Link { carried: 30 << 10, ..link().await }, true);
            assert!(patient.try_recv().is_err());
            assert_eq!(pool.idle.len(), 2);
            pool.hand_over(Link { carried: 3 << 20, ..link().await }, true);
            assert!(matches!(patient.try_recv(), Ok(Ok((_, true)))));
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
