//! The connections of a link. Bytes are a fluid, but a connection sends no more than its window before the first of them
//! are acknowledged: so a reply that fits into the window takes one round trip, as over TCP.

use crate::Link;
use crate::faults::Fault;
use crate::link::SEGMENT;
use sapwood_plan::{BasketId, Fetch, FetchId};
use sapwood_span::slow_start;
use std::collections::{HashMap, VecDeque};

/// Tolerance in bytes for rounding.
const CLOSE: f64 = 1e-3;
/// Acknowledgements that a window causes in a round trip: each is for an eighth of a round trip's bytes at most.
const STEPS_PER_ROUND_TRIP: f64 = 8.0;
/// A window with less room than this is full.
const ROOM: f64 = 1.0;

/// An event that reached the client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Delivery {
    Basket(FetchId, BasketId),
    Done { fetch: FetchId, first_byte: f64, total: f64, bytes: u64 },
    Broken(FetchId),
}

#[derive(Debug)]
pub(crate) struct Network<'a> {
    link: &'a Link,
    round_trip: f64,
    now: f64,
    connections: Vec<Connection>,
    /// Requests sent.
    sent: u64,
    /// Requests that wait for a busy connection.
    waiting: VecDeque<Waiting>,
    /// How long those of a client have waited since a narrow connection was last used for a long answer.
    waited: HashMap<usize, f64>,
}

#[derive(Debug)]
struct Waiting {
    until: f64,
    /// What the idle connection has carried that it could have.
    narrow: u64,
    request: Request,
}

#[derive(Debug)]
struct Request {
    owner: usize,
    fetch: FetchId,
    issued: f64,
    /// The server's time for it.
    server: f64,
    bytes: u64,
    marks: VecDeque<(f64, Mark)>,
}

#[derive(Debug)]
struct Connection {
    /// The client that has it.
    owner: usize,
    window: f64,
    /// Bytes sent over it so far.
    carried: f64,
    fresh: bool,
    /// Bytes until the next loss.
    until_loss: f64,
    growth: Growth,
    /// When the last flight began: bytes carried before, the window, and the seconds for which its first bytes stood in the
    /// queue of the path.
    flight: Flight,
    /// In the order of the requests; the first one is being sent.
    replies: VecDeque<Reply>,
    /// What was sent and is not acknowledged: when it will be, and how many bytes.
    flying: VecDeque<(f64, f64)>,
    in_flight: f64,
    /// Bytes to be acknowledged before the window grows on: the receiver allows no more yet.
    held: f64,
}

/// How the window of a connection opens.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Growth {
    /// By what is acknowledged.
    SlowStart,
    /// By a twentieth in each round trip: the sender has seen a queue, and has ended slow start.
    Careful,
    /// By a segment in each round trip, after a loss.
    Linear,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    begin: f64,
    window: f64,
    delay: f64,
}

#[derive(Debug)]
struct Reply {
    fetch: FetchId,
    /// Its request was sent so many requests after the first one of all.
    number: u64,
    issued: f64,
    ready: f64,
    /// When its first byte was sent.
    began: Option<f64>,
    sent: f64,
    /// What is complete when this many bytes were sent.
    marks: VecDeque<(f64, Mark)>,
}

#[derive(Clone, Copy, Debug)]
enum Mark {
    Basket(BasketId),
    End(u64),
    Break,
}

impl<'a> Network<'a> {
    pub(crate) fn new(link: &'a Link) -> Self {
        let round_trip = link.round_trip.as_secs_f64();
        let (connections, waiting, waited) = Default::default();
        Self { link, round_trip, now: 0.0, connections, sent: 0, waiting, waited }
    }

    /// Sends a request of a client: on the connection with the fewest before it, of those the one with the widest window;
    /// on a new one if all have as many as they may. It may wait for a while for one that is busy.
    pub(crate) fn send(&mut self, owner: usize, fetch: &Fetch, fault: Option<Fault>) {
        if !self.connections.iter().any(|c| c.owner == owner) {
            let open = self.link.open.iter().map(|&window| Connection {
                window: (window as f64).max(SEGMENT),
                carried: window.saturating_sub(self.link.initial_window) as f64,
                fresh: false,
                ..self.fresh(owner)
            });
            let open: Vec<_> = open.collect();
            self.connections.extend(open);
        }
        let server =
            self.link.per_request.as_secs_f64() + self.link.per_range.as_secs_f64() * fetch.ranges.len() as f64;
        let bytes = fetch.ranges.iter().map(|r| r.span.len).sum();
        let marks = self.marks(fetch, fault);
        let request = Request { owner, fetch: fetch.id, issued: self.now, server, bytes, marks };
        let i = self.connection_for(owner);
        match self.wait_for_wider(i, &request) {
            Some(time) => {
                let (until, narrow) = (self.now + time, self.connections[i].carried as u64);
                self.waiting.push_back(Waiting { until, narrow, request });
            }
            None => self.start(i, request, self.now),
        }
    }

    fn connection_for(&mut self, owner: usize) -> usize {
        let queue = self.link.queue.max(1);
        let fitting = (0..self.connections.len())
            .filter(|&i| self.connections[i].owner == owner && self.connections[i].replies.len() < queue)
            .min_by(|&a, &b| {
                let [a, b] = [&self.connections[a], &self.connections[b]];
                a.replies.len().cmp(&b.replies.len()).then(b.window.total_cmp(&a.window))
            });
        fitting.unwrap_or_else(|| {
            self.connections.push(self.fresh(owner));
            self.connections.len() - 1
        })
    }

    /// How long the request waits for a connection that is wider than this one, as Sapwood's client decides it (where
    /// requests do not follow each other without a pause).
    fn wait_for_wider(&mut self, i: usize, request: &Request) -> Option<f64> {
        let narrow = self.connections[i].carried as u64;
        let needed = request.bytes.min((self.link.bandwidth * self.round_trip) as u64);
        if self.link.queue > 1 || self.connections[i].fresh || !slow_start::is_too_narrow(narrow, needed) {
            return None;
        }
        let taken = self.waiting.iter().filter(|w| w.request.owner == request.owner).count();
        let wider = |c: &&Connection| {
            let end = c.carried + c.left();
            c.owner == request.owner
                && !c.replies.is_empty()
                && slow_start::is_worth_waiting_for(c.carried as u64, end as u64, narrow)
        };
        self.connections.iter().filter(wider).nth(taken)?;
        let patience = self.round_trip * f64::from(slow_start::ROUND_TRIPS);
        let waited = self.waited.entry(request.owner).or_default();
        if *waited >= patience * 2.0 {
            *waited = 0.0;
            return None;
        }
        Some(patience + self.round_trip / 2.0)
    }

    /// The client sends a request over this connection at a time.
    fn start(&mut self, i: usize, request: Request, time: f64) {
        let Request { owner, fetch, issued, server, marks, .. } = request;
        *self.waited.entry(owner).or_default() += time - issued;
        let c = &mut self.connections[i];
        let connect = if c.fresh { f64::from(self.link.connect_round_trips) } else { 0.0 };
        c.fresh = false;
        let ready = time + self.round_trip * (connect + 0.5) + server;
        let number = self.sent;
        self.sent += 1;
        c.replies.push_back(Reply { fetch, number, issued, ready, began: None, sent: 0.0, marks });
    }

    /// Gives up the reply to a client's fetch. Its connection is closed, if no other reply is expected over it.
    pub(crate) fn cancel(&mut self, owner: usize, fetch: FetchId) {
        self.waiting.retain(|w| w.request.owner != owner || w.request.fetch != fetch);
        let fresh = self.fresh(owner);
        let is_it = |c: &Connection| c.owner == owner && c.replies.iter().any(|r| r.fetch == fetch);
        if let Some(c) = self.connections.iter_mut().find(|c| is_it(c)) {
            if c.replies.len() == 1 {
                *c = fresh;
            } else {
                c.replies.retain(|r| r.fetch != fetch);
            }
        }
    }

    fn fresh(&self, owner: usize) -> Connection {
        let until_loss = self.link.loss_every.map_or(f64::INFINITY, |n| n.max(1) as f64);
        Connection {
            owner,
            window: (self.link.initial_window as f64).max(SEGMENT),
            carried: 0.0,
            fresh: true,
            until_loss,
            growth: Growth::SlowStart,
            flight: Flight::default(),
            replies: VecDeque::new(),
            flying: VecDeque::new(),
            in_flight: 0.0,
            held: 0.0,
        }
    }

    fn marks(&self, fetch: &Fetch, fault: Option<Fault>) -> VecDeque<(f64, Mark)> {
        let mut marks = VecDeque::new();
        let mut begin = self.link.request_header;
        let mut i = 0;
        let mut ends: Vec<(u64, usize, BasketId)> = Vec::new();
        for range in &fetch.ranges {
            begin += self.link.range_header;
            for part in &range.parts {
                ends.push((begin + part.offset + part.len, i, part.basket));
                i += 1;
            }
            begin += range.span.len;
        }
        ends.sort_by_key(|&(end, i, _)| (end, i));
        for (end, i, basket) in ends {
            match fault {
                Some(Fault::Breaks(at)) if i == at => {
                    marks.push_back((end as f64, Mark::Break));
                    return marks;
                }
                Some(Fault::Lacks(at)) if i == at => {}
                _ => marks.push_back((end as f64, Mark::Basket(basket))),
            }
        }
        marks.push_back((begin as f64, Mark::End(begin)));
        marks
    }

    /// When the rates change next, or a mark is reached.
    pub(crate) fn next_change(&self) -> Option<f64> {
        let rates = self.rates();
        let mut next = self.waiting.iter().map(|w| w.until).reduce(f64::min);
        for (c, rate) in self.connections.iter().zip(&rates) {
            let Some(reply) = c.replies.front() else { continue };
            let mut t = reply.ready;
            if reply.ready <= self.now {
                let Some((end, _)) = reply.marks.front() else { continue };
                let room = self.room(c);
                if room < ROOM {
                    t = c.flying.front().map_or(self.now, |f| f.0);
                } else {
                    // after days the last part of a byte takes less than the resolution of time: it needs a step, too
                    t = (self.now + (end - reply.sent).min(room) / rate).max(self.now.next_up());
                    if room.is_finite() {
                        t = t.min(self.now + self.round_trip / STEPS_PER_ROUND_TRIP);
                    }
                }
            }
            next = Some(next.map_or(t, |n| n.min(t)));
        }
        next
    }

    /// Bytes of other connections that stand in the queue before the first ones of this connection's flight: those of
    /// replies that were requested earlier. A first flight is sent at once. Of a later one, as the acknowledgements come in, half
    /// has left the queue by then: as much is left as the window was before.
    fn ahead_of(&self, i: usize) -> f64 {
        let number = |c: &Connection| c.replies.front().filter(|r| r.ready <= self.now).map(|r| r.number);
        let Some(own) = self.connections.get(i).and_then(number) else { return 0.0 };
        let is_earlier = |c: &&Connection| number(c).is_some_and(|n| n < own);
        let sent_at_once = |c: &Connection| c.replies.front().is_some_and(|r| r.began.is_none());
        let window = |c: &Connection| if sent_at_once(c) { c.window } else { c.flight.window };
        self.connections.iter().filter(is_earlier).map(|c| c.left().min(window(c))).sum()
    }

    /// Bytes that a connection may send now: no limit where its window is wider than the path.
    fn room(&self, c: &Connection) -> f64 {
        if c.window < self.link.bandwidth * self.round_trip { c.window - c.in_flight } else { f64::INFINITY }
    }

    /// Advances time to `to`, at most to the next change. What is sent arrives half a round trip later, at the time
    /// given with it, at the client given with it.
    pub(crate) fn advance(&mut self, to: f64, out: &mut Vec<(usize, f64, Delivery)>) {
        let rates = self.rates();
        let step = to - self.now;
        let limited: Vec<bool> = self.connections.iter().map(|c| self.room(c).is_finite()).collect();
        let arrival = to + self.round_trip / 2.0;
        let ahead: Vec<f64> = match self.link.hystart {
            true => (0..self.connections.len()).map(|i| self.ahead_of(i)).collect(),
            false => Vec::new(),
        };
        let mut free = Vec::new();
        for (i, ((c, rate), limited)) in self.connections.iter_mut().zip(rates).zip(limited).enumerate() {
            let bytes = rate * step;
            c.carried += bytes;
            if bytes > 0.0 && self.round_trip > 0.0 {
                if limited {
                    c.flying.push_back((to + self.round_trip, bytes));
                    c.in_flight += bytes;
                } else {
                    c.acknowledged(bytes, self.link);
                }
            }
            while let Some(&(_, bytes)) = c.flying.front().filter(|f| f.0 <= to) {
                c.flying.pop_front();
                c.in_flight = if c.flying.is_empty() { 0.0 } else { c.in_flight - bytes };
                c.acknowledged(bytes, self.link);
            }
            let delay = ahead.get(i).map_or(0.0, |bytes| bytes / self.link.bandwidth);
            c.note_flight(delay, self.round_trip);
            let Some(reply) = c.replies.front_mut() else { continue };
            if reply.ready <= self.now && reply.began.is_none() {
                reply.began = Some(self.now);
                c.flight = Flight { begin: c.carried - bytes, window: c.window, delay };
            }
            reply.sent += bytes;
            c.until_loss -= bytes;
            if c.until_loss <= 0.0 && self.round_trip > 0.0 {
                c.window = (c.window / 2.0).max(2.0 * SEGMENT);
                c.growth = Growth::Linear;
                c.until_loss = self.link.loss_every.map_or(f64::INFINITY, |n| n.max(1) as f64);
            }
            let (mut over, mut broken) = (false, false);
            while let Some(&(end, mark)) = reply.marks.front() {
                if reply.ready > to || reply.sent + CLOSE < end {
                    break;
                }
                reply.marks.pop_front();
                let fetch = reply.fetch;
                let delivery = match mark {
                    Mark::Basket(basket) => Delivery::Basket(fetch, basket),
                    Mark::Break => Delivery::Broken(fetch),
                    Mark::End(bytes) => {
                        let began = reply.began.unwrap_or(to);
                        let first_byte = began + self.round_trip / 2.0 - reply.issued;
                        Delivery::Done { fetch, first_byte, total: arrival - reply.issued, bytes }
                    }
                };
                over = !matches!(mark, Mark::Basket(_));
                broken = matches!(mark, Mark::Break);
                out.push((c.owner, arrival, delivery));
            }
            if over {
                c.replies.pop_front();
                c.fresh = broken;
                if !broken && !self.waiting.is_empty() {
                    free.push(i);
                }
            }
        }
        self.now = to;
        for i in free {
            let c = &self.connections[i];
            let is_for = |w: &Waiting| {
                w.request.owner == c.owner
                    && arrival <= w.until
                    && slow_start::is_much_wider(c.carried as u64, w.narrow)
            };
            if let Some(w) = self.waiting.iter().position(is_for).and_then(|at| self.waiting.remove(at)) {
                self.start(i, w.request, arrival);
            }
        }
        while let Some(w) = self.waiting.iter().position(|w| w.until <= to).and_then(|at| self.waiting.remove(at)) {
            let i = self.connection_for(w.request.owner);
            self.start(i, w.request, to);
        }
    }

    /// Bytes per second of each connection: those that may send share the bandwidth equally.
    fn rates(&self) -> Vec<f64> {
        let sends = |c: &Connection| {
            c.replies.front().is_some_and(|r| r.ready <= self.now) && (self.round_trip <= 0.0 || self.room(c) >= ROOM)
        };
        let active: Vec<bool> = self.connections.iter().map(sends).collect();
        let share = self.link.bandwidth.max(1.0) / active.iter().filter(|&&a| a).count().max(1) as f64;
        active.into_iter().map(|active| if active { share } else { 0.0 }).collect()
    }
}

impl Connection {
    /// Bytes of the first reply that are not sent.
    fn left(&self) -> f64 {
        let end = |r: &Reply| r.marks.back().map_or(0.0, |m| m.0) - r.sent;
        self.replies.front().map_or(0.0, end).max(0.0)
    }

    /// When the first bytes of a flight are acknowledged, the sender knows how long they stood in a queue; another flight
    /// begins, of which the first bytes find a queue of so many seconds.
    fn note_flight(&mut self, delay: f64, round_trip: f64) {
        /// Seconds by which a round trip may be longer without a queue, at least and at most; the part of a round trip
        /// between them; the least window in segments.
        const LONGER: [f64; 2] = [0.004, 0.016];
        const PART: f64 = 8.0;
        const WIDE: f64 = 16.0;
        if self.carried - self.in_flight <= self.flight.begin + ROOM {
            return;
        }
        let [least, most] = LONGER;
        let is_queue = self.flight.delay > (round_trip / PART).clamp(least, most);
        if is_queue && self.window >= WIDE * SEGMENT && self.growth == Growth::SlowStart {
            self.growth = Growth::Careful;
        }
        self.flight = Flight { begin: self.carried, window: self.window, delay };
    }

    /// Bytes were acknowledged: the window grows.
    fn acknowledged(&mut self, bytes: f64, link: &Link) {
        let free = bytes - bytes.min(self.held);
        self.held -= bytes - free;
        let limit = link.receive_window as f64;
        if self.window < limit && self.window + free > limit {
            let beyond = self.window + free - limit;
            (self.window, self.held) = (limit, (limit - beyond).max(0.0));
            return;
        }
        let more = match self.growth {
            Growth::SlowStart => free,
            Growth::Careful => free / 20.0,
            Growth::Linear => SEGMENT * free / self.window,
        };
        self.window = (self.window + more).min((link.largest_window as f64).max(self.window));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_plan::{Part, Range};
    use sapwood_span::Span;
    use std::time::Duration;

    #[test]
    fn what_is_left_of_a_reply_after_days_needs_a_step() {
        let link = Link { range_header: 0, ..Link::new(Duration::from_millis(1), 1.25e9) };
        let mut network = Network::new(&link);
        let span = Span::new(0, 1000);
        let parts = vec![Part { basket: BasketId(0), offset: 0, len: 1000 }];
        let fetch = Fetch { id: FetchId(0), ranges: vec![Range { span, parts }], urgent: false };
        network.now = 200_000.0;
        network.send(0, &fetch, None);
        let mut out = Vec::new();
        // a part of a byte for which time has no resolution
        network.now += 1.0;
        network.connections[0].replies[0].sent = 1000.0 - 5.0 * CLOSE;
        let to = network.next_change().unwrap();
        assert!(to > network.now);
        network.advance(to, &mut out);
        assert_eq!(out.len(), 2, "{out:?}");
    }
}
