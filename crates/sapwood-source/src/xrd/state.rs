//! A session's state: the protocol, pending requests, and when each last made progress.

use super::failure::Broken;
use super::session_rate::SessionRate;
use crate::counters::{Counters, Wait};
use crate::lock;
use crate::meter::Meter;
use bytes::Bytes;
use sapwood_span::{Error, ErrorKind};
use sapwood_xrd::{Event, Id, LinkId, Outcome, Pipelining, Refusal, Session};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;

/// Up to this many unwanted bytes are received; beyond that, a session with no other request is ended.
const UNWANTED: u64 = 256 << 10;
/// Servers may make a file wait this many progress timeouts altogether, from the first wait until bytes of it arrive.
pub(super) const MOST_WAITS: u32 = 5;

/// Takes bytes of the file as they arrive.
pub(crate) type Take = Arc<dyn Fn(u64, Bytes) + Send + Sync>;

pub(crate) struct Core {
    pub state: Mutex<State>,
    pub begin: Instant,
    pub meter: Arc<Mutex<Meter>>,
    /// There is something to watch.
    pub busy: Notify,
    /// Bytes received, and sent over the control link.
    pub(super) carried: AtomicU64,
    pub sent: AtomicU64,
}

pub(crate) struct State {
    pub session: Session,
    /// The progress timeout of the last caller.
    pub time_limit: Duration,
    pub(super) eager: Pipelining,
    pub links: Vec<Wire>,
    pub(super) pending: HashMap<Id, Pending>,
    pub dead: Option<Broken>,
    /// Server answers that setting up had to wait for, so far.
    pub turns: u64,
    /// The first caller has waited for all of them.
    pub unclaimed: bool,
    pub(super) used: bool,
    /// Events for the code that sets up data links.
    pub notes: Vec<Event>,
    /// The authentication method that was accepted; set after the login.
    pub accepted: Option<Option<String>>,
    pub tasks: Vec<AbortHandle>,
    /// What arrived on all links lately.
    pub pulse: SessionRate,
    /// The oldest request, and since when it is the oldest.
    pub(super) oldest: Option<(Id, Instant)>,
}

/// A link's socket, as seen by the session.
pub(crate) struct Wire {
    /// There is something to send.
    pub wake: Arc<Notify>,
    /// When requests over it last made progress, or when waiting for that began.
    pub moved: Instant,
    /// The session's progress counter at that time.
    pub(super) progress: u64,
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self { wake: Arc::default(), moved: Instant::now(), progress: 0 }
    }
}

pub(super) struct Pending {
    pub(super) take: Option<Take>,
    pub(super) tell: oneshot::Sender<Result<Outcome, Broken>>,
    pub(super) asked: Instant,
    /// When bytes of it last arrived.
    pub(super) moved: Instant,
    /// The link was idle: the time to the first byte says something about the network.
    pub(super) alone: bool,
    pub(super) answered: bool,
    pub(super) wait: Wait,
    pub(super) turns: u64,
    pub(super) counters: Arc<Counters>,
    /// How long a server may make it wait altogether; and until when, once it does.
    pub(super) most: Duration,
    pub(super) limit: Option<Instant>,
}

impl Core {
    pub(crate) fn new(
        session: Session,
        eager: Pipelining,
        time_limit: Duration,
        meter: Arc<Mutex<Meter>>,
    ) -> Arc<Self> {
        let state = State {
            session,
            time_limit,
            eager,
            links: vec![Wire::new()],
            pending: HashMap::new(),
            dead: None,
            turns: 0,
            unclaimed: false,
            used: false,
            notes: Vec::new(),
            accepted: None,
            tasks: Vec::new(),
            pulse: SessionRate::new(Instant::now()),
            oldest: None,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            begin: Instant::now(),
            meter,
            busy: Notify::new(),
            carried: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        })
    }

    /// Sends pending output.
    pub(crate) fn wake(&self, state: &State) {
        for link in &state.links {
            link.wake.notify_one();
        }
    }

    /// Bytes arrived over a link.
    pub(crate) fn received(self: &Arc<Self>, link: LinkId, bytes: Bytes) {
        let now = Instant::now();
        let len = bytes.len() as u64;
        let mut calls: Vec<(Take, u64, Bytes)> = Vec::new();
        let mut advanced = false;
        {
            let mut state = lock(&self.state);
            if let Err(nonsense) = state.session.received(link, bytes, now - self.begin) {
                let what = format!("the server's response is invalid: {nonsense}");
                self.die(&mut state, Broken::new(Error::new(ErrorKind::Protocol, what)));
                return;
            }
            let State { session, links, .. } = &mut *state;
            for (link, wire) in links.iter_mut().enumerate() {
                let progress = session.progress(link);
                if wire.progress != progress {
                    (wire.progress, wire.moved, advanced) = (progress, now, true);
                }
            }
            // A message that answers nothing says nothing about the path either.
            if advanced {
                state.pulse.beat(len, now);
            }
            while let Some(event) = state.session.event() {
                self.event(&mut state, event, now, &mut calls);
            }
            self.wake(&state);
        }
        self.carried.fetch_add(len, Relaxed);
        if advanced {
            lock(&self.meter).arrived(len, now);
        }
        for (take, offset, bytes) in calls {
            take(offset, bytes);
        }
    }

    fn event(&self, state: &mut State, event: Event, now: Instant, calls: &mut Vec<(Take, u64, Bytes)>) {
        match event {
            Event::Bytes(id, offset, bytes) => {
                if let Some(pending) = state.pending.get_mut(&id) {
                    pending.first(state.turns, now, &self.meter);
                    pending.moved = now;
                    pending.counters.moved();
                    if let Some(take) = &pending.take {
                        calls.push((Arc::clone(take), offset, bytes));
                    }
                }
            }
            Event::Done(id, outcome) => {
                if let Some(mut pending) = state.pending.remove(&id) {
                    pending.first(state.turns, now, &self.meter);
                    if pending.take.is_some() && !calls.is_empty() {
                        // The bytes are passed on first: after the lock is released.
                        let tell = Mutex::new(Some((pending.tell, outcome)));
                        let last: Take = Arc::new(move |_, _| {
                            if let Some((tell, outcome)) = lock(&tell).take() {
                                let _ = tell.send(Ok(outcome));
                            }
                        });
                        calls.push((last, 0, Bytes::new()));
                    } else {
                        let _ = pending.tell.send(Ok(outcome));
                    }
                }
            }
            Event::Waiting(id, seconds, why) => self.made_to_wait(state, id, seconds, &why, now),
            Event::Ready(0, way) => {
                if state.eager == Pipelining::None {
                    state.turns += 1 + u64::from(way.is_some());
                }
                state.accepted = Some(way);
            }
            Event::StartTls(0) => state.turns += 1,
            Event::StartTls(_) => {}
            Event::Refused(Refusal::Failed(link, failure)) if link > 0 => {
                state.notes.push(Event::Refused(Refusal::Failed(link, failure)));
            }
            Event::Refused(refusal) => self.die(state, Broken::refused(refusal)),
            other @ Event::Ready(..) => state.notes.push(other),
        }
    }

    fn made_to_wait(&self, state: &mut State, id: Id, seconds: u32, why: &str, now: Instant) {
        let Some(pending) = state.pending.get_mut(&id) else { return };
        let begin = pending.counters.delayed_since(now);
        let limit = *pending.limit.get_or_insert(begin + pending.most);
        self.busy.notify_one();
        if now + Duration::from_secs(u64::from(seconds)) > limit {
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            self.abandon(state, id, &format!("the server requests a wait of {seconds} s{why}"));
        }
    }

    /// Ends one request that the server does not answer.
    fn abandon(&self, state: &mut State, id: Id, what: &str) {
        state.session.forget(id);
        if let Some(pending) = state.pending.remove(&id) {
            let what = format!("{what}; the limit is {:.0?}", pending.most);
            let remedy = "the file may be on tape: request staging, try again later, or set a longer timeout (servers may request up to five times the timeout)";
            let error = Error::new(ErrorKind::Timeout, what).with_remedy(remedy);
            let _ = pending.tell.send(Err(Broken::new(error).finally()));
        }
    }

    /// Gives up requests that were made to wait too long; returns when to check next.
    pub(crate) fn expire(&self, state: &mut State, now: Instant) -> Option<Instant> {
        let late: Vec<Id> =
            state.pending.iter().filter(|(_, p)| p.limit.is_some_and(|l| l <= now)).map(|(id, _)| *id).collect();
        for id in late {
            self.abandon(state, id, "the server does not answer");
        }
        state.pending.values().filter_map(|p| p.limit).min()
    }

    /// Abandons a request without progress after half of the session's time limit, although later ones are answered;
    /// returns when to check next.
    pub(crate) fn starve(&self, state: &mut State, now: Instant) -> Option<Instant> {
        loop {
            // A request that the server makes wait has a limit of its own.
            let waiting = state.pending.iter().filter(|(_, p)| p.limit.is_none());
            let (&id, pending) = waiting.min_by_key(|(id, _)| **id)?;
            let since = match state.oldest {
                Some((oldest, since)) if oldest == id => since,
                _ => {
                    state.oldest = Some((id, now));
                    now
                }
            };
            let limit = since.max(pending.moved) + state.time_limit / 2;
            if now < limit {
                return Some(limit);
            }
            state.session.forget(id);
            if let Some(pending) = state.pending.remove(&id) {
                let what = format!("one request got no response for {:.0?} (progress timeout)", state.time_limit);
                let _ = pending.tell.send(Err(Broken::stalled(Error::new(ErrorKind::Timeout, what))));
            }
        }
    }

    /// The session is over: fails all pending requests.
    pub(crate) fn die(&self, state: &mut State, why: Broken) {
        if state.dead.is_none() {
            for (_, pending) in state.pending.drain() {
                let _ = pending.tell.send(Err(why.clone()));
            }
            state.dead = Some(why);
            for task in state.tasks.drain(..) {
                task.abort();
            }
        }
        self.busy.notify_one();
        self.wake(state);
    }

    pub(super) fn forget(&self, id: Id) {
        let mut state = lock(&self.state);
        if state.pending.remove(&id).is_none() {
            return;
        }
        state.session.forget(id);
        let left: u64 = (0..state.links.len()).map(|link| state.session.load(link)).sum();
        if state.pending.is_empty() && left > UNWANTED {
            let error = Error::new(ErrorKind::Interrupted, "reading was stopped");
            self.die(&mut state, Broken::new(error));
        }
    }
}

impl Pending {
    /// The first sign of an answer.
    fn first(&mut self, turns: u64, now: Instant, meter: &Mutex<Meter>) {
        if !self.answered {
            self.answered = true;
            let more = turns.saturating_sub(self.turns);
            self.counters.waited(std::mem::take(&mut self.wait), 1 + more);
            if self.alone && more == 0 && self.limit.is_none() {
                lock(meter).waited(now - self.asked);
            }
        }
    }
}
