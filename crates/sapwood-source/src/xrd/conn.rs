//! One session with a server, as seen by those that send requests over it.

use super::caller::Caller;
use super::failure::Broken;
use super::sockets::{self, Endpoint};
use super::state::{Core, MOST_WAITS, Pending, State, Take, Wire};
use crate::counters::Counters;
use crate::lock;
use sapwood_span::{Error, ErrorKind, Span};
use sapwood_xrd::{Event, Id, LinkId, Outcome, Request, SecretBytes, Session};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The protocol numbers data links in one byte and servers accept no more than this.
const MOST_DATA_LINKS: usize = 15;

/// A session. Dropping the last reference ends it.
pub(crate) struct Conn {
    pub core: Arc<Core>,
    /// Distinguishes sessions.
    pub number: u64,
    way: Endpoint,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Conn {
    pub(crate) fn new(core: Arc<Core>, way: Endpoint) -> Arc<Self> {
        Arc::new(Self { core, number: NUMBER.fetch_add(1, Relaxed), way })
    }

    /// The address of the server.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.way.address
    }

    pub(crate) fn is_alive(&self) -> bool {
        lock(&self.core.state).dead.is_none()
    }

    /// Whether it ended in silence.
    pub(crate) fn fell_silent(&self) -> bool {
        lock(&self.core.state).dead.as_ref().is_some_and(|why| why.away || why.stalled)
    }

    /// Whether no request is pending.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.core.state).pending.is_empty()
    }

    /// A caller with this progress timeout is about to send a request.
    pub(crate) fn set_time_limit(&self, longest: Duration) {
        lock(&self.core.state).time_limit = longest;
    }

    /// Bytes received over it so far.
    pub(crate) fn carried(&self) -> u64 {
        self.core.carried.load(Relaxed)
    }

    /// Bytes sent over its control link so far.
    pub(crate) fn sent(&self) -> u64 {
        self.core.sent.load(Relaxed)
    }

    /// Whether anything was requested over it.
    pub(crate) fn is_used(&self) -> bool {
        lock(&self.core.state).used
    }

    /// Bytes requested and not yet received, over the control link: what a small request would wait for.
    pub(crate) fn load(&self) -> u64 {
        lock(&self.core.state).session.load(0)
    }

    /// Whether its control link has brought nothing for this long, of what was requested.
    pub(crate) fn is_silent(&self, time: Duration) -> bool {
        let state = lock(&self.core.state);
        state.session.load(0) > 0 && state.links.first().is_some_and(|link| link.moved.elapsed() > time)
    }

    /// Bytes per second lately; none until requests have been pending for long enough.
    pub(crate) fn rate(&self) -> Option<f64> {
        lock(&self.core.state).pulse.rate(Instant::now())
    }

    /// Ends it: other sessions will fetch what it still owes.
    pub(crate) fn give_up(&self) {
        self.core.die(&mut lock(&self.core.state), Broken::given_up());
    }

    /// Data links that it has, or is about to have.
    pub(crate) fn data_links(&self) -> usize {
        lock(&self.core.state).links.len() - 1
    }

    /// A data link for bulk: the one with the least in flight. None is ready at first; while all are busy another one
    /// is opened in the background, if more are allowed.
    pub(crate) fn data_link(&self, more: bool, time_limit: Duration, caller: &Caller) -> Option<LinkId> {
        let mut state = lock(&self.core.state);
        let refused = |e: &Event| matches!(e, Event::Refused(_));
        let best = Some(state.session.data_link()).filter(|link| *link > 0);
        let idle = best.is_some_and(|link| state.session.load(link) == 0);
        if !idle
            && more
            && state.links.len() <= MOST_DATA_LINKS
            && state.dead.is_none()
            && !state.notes.iter().any(refused)
            && let Some(link) = state.session.bind()
        {
            state.links.push(Wire::new());
            let task = sockets::data_link(Arc::downgrade(&self.core), link, self.way.clone(), time_limit);
            let task = caller.handle().spawn(task).abort_handle();
            Counters::add(&caller.counters.connections, 1);
            state.tasks.push(task);
        }
        best
    }

    /// Reads over a data link.
    pub(crate) fn read_over(
        &self,
        link: LinkId,
        handle: sapwood_xrd::Handle,
        at: Span,
        pages: bool,
        take: Take,
        counters: &Arc<Counters>,
    ) -> Answer {
        let len = u32::try_from(at.len).unwrap_or(u32::MAX >> 1);
        self.with(counters, |session| vec![(session.read(link, handle, at.start, len, pages), Some(take))]).remove(0)
    }

    /// Whether the server has set this flag.
    pub(crate) fn has_flag(&self, flag: u32) -> bool {
        lock(&self.core.state).session.flags() & flag != 0
    }

    /// Sends a request.
    pub(crate) fn ask(&self, request: &Request, take: Option<Take>, counters: &Arc<Counters>) -> Answer {
        self.with(counters, |session| vec![(session.request(request), take)]).remove(0)
    }

    /// Sends all of these in one flight.
    pub(crate) fn ask_all(&self, asks: Vec<(Request, Option<Take>)>, counters: &Arc<Counters>) -> Vec<Answer> {
        self.with(counters, |session| asks.into_iter().map(|(r, take)| (session.request(&r), take)).collect())
    }

    /// Opens a file and reads from it in the same flight: answers to the open first, then to the reads. `beside` is
    /// sent along.
    pub(crate) fn open(
        &self,
        path: &str,
        options: u16,
        reads: Vec<(Request, Take)>,
        beside: Option<&Request>,
        counters: &Arc<Counters>,
    ) -> Vec<Answer> {
        self.with(counters, |session| {
            let (open, guess) = session.open(SecretBytes::from(path), options);
            let mut out = vec![(open, None)];
            out.extend(reads.into_iter().map(|(r, take)| (session.ahead(open, guess, r), Some(take))));
            out.extend(beside.map(|request| (session.request(request), None)));
            out
        })
    }

    /// Closes a file; the answer is not waited for.
    pub(crate) fn close(&self, handle: sapwood_xrd::Handle) {
        let mut state = lock(&self.core.state);
        if state.dead.is_none() {
            let id = state.session.close(handle);
            state.session.forget(id);
            self.core.wake(&state);
        }
    }

    /// Sends requests with the session locked.
    pub(crate) fn with(
        &self,
        counters: &Arc<Counters>,
        asks: impl FnOnce(&mut Session) -> Vec<(Id, Option<Take>)>,
    ) -> Vec<Answer> {
        let now = Instant::now();
        let mut state = lock(&self.core.state);
        let State { session, links, .. } = &mut *state;
        for (link, wire) in links.iter_mut().enumerate() {
            if !session.is_waiting(link) {
                wire.moved = now;
            }
        }
        state.used = true;
        let alone = state.pending.is_empty();
        if alone {
            state.pulse.rested(now);
        }
        let turns = if std::mem::take(&mut state.unclaimed) { 0 } else { state.turns };
        let asked = asks(&mut state.session);
        let mut out = Vec::with_capacity(asked.len());
        for (id, take) in asked {
            let (tell, answer) = oneshot::channel();
            match &state.dead {
                Some(dead) => {
                    let _ = tell.send(Err(dead.clone()));
                }
                None => {
                    let pending = Pending {
                        take,
                        tell,
                        asked: now,
                        moved: now,
                        alone,
                        answered: false,
                        wait: counters.wait(),
                        turns,
                        counters: Arc::clone(counters),
                        most: state.time_limit.saturating_mul(MOST_WAITS),
                        limit: None,
                    };
                    state.pending.insert(id, pending);
                }
            }
            out.push(Answer { answer, id, core: Arc::clone(&self.core) });
        }
        self.core.wake(&state);
        self.core.busy.notify_one();
        out
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        let mut state = lock(&self.core.state);
        let error = Error::new(ErrorKind::Interrupted, "the session is over");
        self.core.die(&mut state, Broken::new(error));
    }
}

/// A pending answer. If dropped before it arrives, it is no longer wanted.
pub(crate) struct Answer {
    answer: oneshot::Receiver<Result<Outcome, Broken>>,
    id: Id,
    core: Arc<Core>,
}

impl Answer {
    /// Waits for it.
    pub(crate) async fn get(mut self) -> Result<Outcome, Broken> {
        let gone = || Err(Broken::new(Error::new(ErrorKind::Interrupted, "the session is over")));
        (&mut self.answer).await.unwrap_or_else(|_| gone())
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.core.forget(self.id);
    }
}
