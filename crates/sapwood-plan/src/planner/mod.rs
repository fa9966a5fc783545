mod choose;
mod outcome;
mod withheld;

use crate::order::Order;
use crate::positions::Positions;
use crate::request_size::{Backlog, Cache, RequestSizing};
use crate::{Action, Basket, BasketId, CacheSize, Event, FetchId, Limits, Log, PlanStats, Request};
use sapwood_span::{Result, Span};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// When the budget is full of what the consumer waits for, and nothing moved for this long, the consumer evidently
/// cannot continue without the rest: the budget is overdrawn.
const STALL: Duration = Duration::from_millis(250);

/// Decides which bytes of a file to request next: the tree cache.
///
/// Its guarantees, whatever the order of events:
/// - Every basket arrives once or is given up once. Nothing that arrived is requested again; what did not arrive is
///   requested again only after its fetch failed, left it out, or was cancelled.
/// - A request stays within [`Limits`], except that a single basket larger than a whole request is requested alone.
///   Bytes after the last basket of a range, or before its first, are never requested.
/// - Bytes in pending or held stay within the budget ([`Request::hold`], or [`CacheSize::Bytes`] and one request more).
///   Only when the consumer waits for entries of which nothing is in pending or held, one request for them may overdraw
///   it; or after a quarter of a second in which nothing moved.
/// - What the consumer waits for comes first, then what follows it in the order of entries. A fetch from before a jump
///   of the consumer is cancelled if no other slot is free.
/// - The same events at the same times give the same actions.
///
/// The consumer reports [`Event::Consumed`] for each basket as soon as its compressed bytes can be dropped (after
/// decompressing it), without waiting for other baskets.
#[derive(Debug)]
pub struct Planner {
    baskets: Vec<Basket>,
    order: Order,
    limits: Limits,
    off: bool,
    cache: Cache,

    states: Vec<State>,
    failures: Vec<u8>,
    starts: Vec<bool>,
    queued: Positions,
    queued_bytes: u64,
    queued_ranges: u64,
    withheld_bytes: u64,
    /// Whether a cut has decided about baskets.
    decided: bool,
    withheld_ranges: u64,
    unfinished: usize,

    awaited: Positions,
    awaited_list: Vec<u32>,
    /// How many of the awaited are queued, in pending, and arrived.
    awaited_queued: usize,
    awaited_in_flight: usize,
    awaited_here: usize,
    /// Where reading ahead continues.
    cursor: u32,
    /// How often the consumer jumped; fetches remember when they were made.
    epoch: u64,
    /// With the cache off: what is awaited, in the order of the entry loop.
    demand: VecDeque<u32>,

    pending_fetches: BTreeMap<FetchId, PendingFetch>,
    flying_bytes: u64,
    /// Bytes and ranges of the fetches in pending, as requested.
    flying_asked: u64,
    flying_ranges: u64,
    held_here: u64,
    next_fetch: u64,
    /// Requests since the last jump, for local files since the beginning. A consumer that jumps once may jump again: so
    /// reading ahead grows from request to request.
    ramp: Option<u32>,
    pace: RequestSizing,
    last_moved: Duration,

    failures_in_a_row: u32,
    /// Fetches from this one on were made after the latest failure.
    after_failure: u64,
    pause_until: Option<Duration>,

    outbox: VecDeque<Action>,
    stopped: bool,
    stats: PlanStats,
    log: Option<Log>,
}

/// Where a basket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not to be requested until it is released.
    Withheld,
    Queued,
    InFlight(FetchId),
    Available,
    Consumed,
    GivenUp,
}

#[derive(Debug)]
struct PendingFetch {
    positions: Vec<u32>,
    /// Bytes that did not arrive yet, gaps included.
    outstanding: u64,
    asked: u64,
    ranges: u64,
    epoch: u64,
}

impl Planner {
    /// A planner for these baskets: exactly those the scan needs, in any order.
    ///
    /// Fails with [`sapwood_span::ErrorKind::Invalid`] if a basket is empty or holds no entries, if
    /// two baskets of a branch share an entry, or if cluster boundaries are not in ascending order.
    pub fn new(baskets: Vec<Basket>, request: Request) -> Result<Self> {
        let hold = if request.hold == 0 { Request::DEFAULT_HOLD } else { request.hold };
        let wanted = baskets.iter().map(|b| b.span.len).sum();
        let (off, cache) = match request.cache {
            CacheSize::Off | CacheSize::Bytes(0) => (true, Cache { hold, fills: false, long: false }),
            CacheSize::Auto => (false, Cache { hold, fills: false, long: wanted > hold }),
            CacheSize::Bytes(n) => (false, Cache { hold: hold.min(n), fills: wanted > hold.min(n), long: false }),
        };
        // From far away the first request is as large as the others: its contents arrive basket by basket.
        let ramp = (!request.limits.is_far()).then_some(0);
        let order = Order::new(&baskets, off, request.clusters)?;
        let n = baskets.len();
        let stats = PlanStats {
            baskets: n as u64,
            wanted_bytes: wanted,
            unzipped_bytes: baskets.iter().map(|b| b.unzipped).sum(),
            ..PlanStats::default()
        };
        let mut planner = Self {
            order,
            limits: request.limits,
            off,
            cache,
            states: vec![State::Queued; n],
            failures: vec![0; n],
            starts: Vec::new(),
            queued: Positions::full(n),
            queued_bytes: stats.wanted_bytes,
            queued_ranges: 0,
            withheld_bytes: 0,
            decided: false,
            withheld_ranges: 0,
            unfinished: n,
            awaited: Positions::empty(n),
            awaited_list: Vec::new(),
            awaited_queued: 0,
            awaited_in_flight: 0,
            awaited_here: 0,
            cursor: 0,
            epoch: 0,
            demand: VecDeque::new(),
            pending_fetches: BTreeMap::new(),
            flying_bytes: 0,
            flying_asked: 0,
            flying_ranges: 0,
            held_here: 0,
            next_fetch: 0,
            ramp,
            pace: RequestSizing::default(),
            last_moved: Duration::ZERO,
            failures_in_a_row: 0,
            after_failure: 0,
            pause_until: None,
            outbox: VecDeque::new(),
            stopped: false,
            stats,
            log: None,
            baskets,
        };
        planner.estimate_ranges();
        Ok(planner)
    }

    /// Reports what happened. `now` counts from the start of the scan and never runs backwards.
    pub fn handle(&mut self, now: Duration, event: Event) {
        if let Some(log) = &mut self.log {
            log.event(now, &event);
        }
        match event {
            Event::Want { first, last } => self.want(now, first, last),
            Event::Arrived { fetch, basket } => self.arrived(now, fetch, basket),
            Event::Done { fetch, first_byte, total, bytes } => {
                if let Some(pending) = self.land(now, fetch) {
                    self.pace.done(now, first_byte, total, bytes);
                    self.ask_again(now, fetch, &pending, true);
                }
            }
            Event::Failed { fetch, retry } => {
                if let Some(pending) = self.land(now, fetch) {
                    self.stats.failures += 1;
                    self.ask_again(now, fetch, &pending, retry);
                }
            }
            Event::Consumed { basket } => {
                if let Some(p) = self.position(basket)
                    && self.states[p as usize] == State::Available
                {
                    self.last_moved = now;
                    self.set(p, State::Consumed);
                }
            }
            Event::Limits(limits) => {
                self.limits = limits;
                self.estimate_ranges();
            }
            Event::Withhold(list) => self.withhold(&list),
            Event::Release(list) => self.release(&list),
            Event::Skip(list) => self.skip(&list),
            Event::Budget(bytes) => self.cache.hold = if bytes == 0 { Request::DEFAULT_HOLD } else { bytes },
            Event::Stop => self.stop(),
        }
    }

    /// The next action; call it until it returns `None`, after every event and at the deadline. A call that returns
    /// `None` changes nothing.
    pub fn poll(&mut self, now: Duration) -> Option<Action> {
        let action = match self.outbox.pop_front() {
            Some(action) => Some(action),
            None => self.choose(now),
        };
        if let (Some(log), Some(action)) = (&mut self.log, &action) {
            log.action(now, action);
        }
        action
    }

    /// When to poll again even if nothing happens.
    pub fn deadline(&self) -> Option<Duration> {
        if self.stopped || self.queued_bytes == 0 {
            return None;
        }
        if self.pause_until.is_some() {
            return self.pause_until;
        }
        (!self.off && self.has_slot() && self.awaited_here > 0 && self.starving()).then(|| self.last_moved + STALL)
    }

    /// Whether every basket was consumed or given up, or the scan was stopped, and all actions were polled.
    pub fn is_done(&self) -> bool {
        (self.stopped || self.unfinished == 0) && self.outbox.is_empty()
    }

    /// Whether nothing is left to request: everything is in pending or has arrived.
    pub fn has_asked_all(&self) -> bool {
        self.queued_bytes == 0
    }

    /// What was done and measured so far.
    pub fn stats(&self) -> PlanStats {
        PlanStats {
            held_bytes: self.held(),
            round_trip: self.pace.round_trip(&self.limits),
            bandwidth: self.pace.bandwidth(&self.limits),
            ..self.stats.clone()
        }
    }

    /// The baskets, as given to [`Planner::new`].
    pub fn baskets(&self) -> &[Basket] {
        &self.baskets
    }

    /// Starts (or stops) recording events and actions.
    pub fn record(&mut self, on: bool) {
        self.log = on.then(Log::default);
    }

    /// What was recorded since [`Planner::record`] or the last call.
    pub fn take_log(&mut self) -> Log {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn want(&mut self, now: Duration, first: u64, last: u64) {
        self.last_moved = now;
        for &p in &self.awaited_list {
            self.awaited.remove(p);
        }
        (self.awaited_queued, self.awaited_in_flight, self.awaited_here) = (0, 0, 0);
        let mut list = std::mem::take(&mut self.awaited_list);
        list.clear();
        self.order.overlapping(&self.baskets, first, last, &mut list);
        list.retain(|&p| !matches!(self.states[p as usize], State::Consumed | State::GivenUp));
        for &p in &list {
            self.awaited.insert(p);
            match self.states[p as usize] {
                State::Queued => self.awaited_queued += 1,
                State::InFlight(_) => self.awaited_in_flight += 1,
                State::Available => self.awaited_here += 1,
                State::Withheld | State::Consumed | State::GivenUp => {}
            }
        }
        self.awaited_list = list;
        if self.off {
            let key = |p: u32| (self.basket(p).first.max(first), self.basket(p).branch);
            let mut demand: Vec<u32> = self.awaited_list.clone();
            demand.sort_by_key(|&p| key(p));
            self.demand = demand.into();
        }
        let cursor = self.order.position_of_entry(first);
        // A jump skips something that was next to be read ahead, or goes back.
        let skipped = self.queued.next_without(&self.awaited, self.cursor).is_some_and(|p| p < cursor);
        if (skipped || cursor < self.cursor) && self.awaited_queued > 0 {
            self.stats.jumps += 1;
            self.epoch += 1;
            self.ramp = Some(0);
        }
        self.cursor = cursor;
    }

    /// Moves a basket to another state, and updates the sums.
    fn set(&mut self, p: u32, state: State) {
        let i = p as usize;
        let len = self.basket(p).span.len;
        let awaited = usize::from(self.awaited.contains(p));
        match self.states[i] {
            State::Queued => {
                self.queued.remove(p);
                self.awaited_queued -= awaited;
                self.queued_bytes -= len;
                self.queued_ranges -= u64::from(self.starts[i]);
            }
            State::InFlight(_) => self.awaited_in_flight -= awaited,
            State::Available => {
                self.held_here -= len;
                self.awaited_here -= awaited;
            }
            State::Withheld => {
                self.withheld_bytes -= len;
                self.withheld_ranges -= u64::from(self.starts[i]);
            }
            State::Consumed | State::GivenUp => return,
        }
        match state {
            State::Queued => {
                self.queued.insert(p);
                self.awaited_queued += awaited;
                self.queued_bytes += len;
                self.queued_ranges += u64::from(self.starts[i]);
            }
            State::InFlight(_) => self.awaited_in_flight += awaited,
            State::Available => {
                self.held_here += len;
                self.awaited_here += awaited;
            }
            State::Withheld => {
                self.withheld_bytes += len;
                self.withheld_ranges += u64::from(self.starts[i]);
            }
            State::Consumed | State::GivenUp => self.unfinished -= 1,
        }
        self.states[i] = state;
    }

    fn estimate_ranges(&mut self) {
        self.starts = self.order.range_starts(&self.baskets, &self.limits);
        let count = |state| {
            let counts = |&p: &usize| self.starts[p] && self.states[p] == state;
            (0..self.baskets.len()).filter(counts).count() as u64
        };
        (self.queued_ranges, self.withheld_ranges) = (count(State::Queued), count(State::Withheld));
    }

    fn basket(&self, position: u32) -> &Basket {
        &self.baskets[self.order.ids[position as usize] as usize]
    }

    fn span(&self, position: u32) -> Span {
        self.basket(position).span
    }

    fn position(&self, basket: BasketId) -> Option<u32> {
        self.order.positions.get(basket.index()).copied()
    }

    /// Whether the consumer waits for baskets of which none is in pending.
    fn starving(&self) -> bool {
        self.awaited_queued > 0 && self.awaited_in_flight == 0
    }

    fn has_slot(&self) -> bool {
        self.pending_fetches.len() < self.limits.max_in_flight.max(1)
    }

    fn held(&self) -> u64 {
        self.flying_bytes + self.held_here
    }

    fn note_held(&mut self) {
        self.stats.max_held_bytes = self.stats.max_held_bytes.max(self.held());
    }

    fn backlog(&self) -> Backlog {
        // What arrived of a fetch takes its part of the ranges with it.
        let flying = self.flying_ranges as f64 * self.flying_bytes as f64 / self.flying_asked.max(1) as f64;
        // what is withheld may be needed: requests must not become smaller because it comes later
        Backlog {
            bytes: self.queued_bytes + self.withheld_bytes + self.flying_bytes,
            ranges: self.queued_ranges + self.withheld_ranges + flying.ceil() as u64,
        }
    }
}
