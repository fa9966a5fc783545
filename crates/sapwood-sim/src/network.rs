//! The connections of a link. Bytes are a fluid, but a connection sends no more than its window before the first of them
//! are acknowledged: so a reply that fits into the window takes one round trip, as over TCP.

mod connection;

use crate::Link;
use crate::faults::Fault;
use crate::link::SEGMENT;
use connection::{CLOSE, Connection, Flight, Growth, Mark, ROOM, Reply};
use sapwood_plan::{BasketId, Fetch, FetchId};
use sapwood_span::{Span, slow_start};
use std::collections::{HashMap, VecDeque};

/// Acknowledgements that a window causes in a round trip: each is for an eighth of a round trip's bytes at most.
const STEPS_PER_ROUND_TRIP: f64 = 8.0;

/// An event that reached the client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Delivery {
    /// With the bytes that its client had been sent by then, over all connections.
    Basket(FetchId, BasketId, f64),
    Done {
        fetch: FetchId,
        first_byte: f64,
        total: f64,
        bytes: u64,
    },
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
    /// Bytes sent to each client.
    carried: Vec<f64>,
    /// Requests that wait for a busy connection.
    waiting: VecDeque<Waiting>,
    /// How long those of a client have waited since a narrow connection was last used for a long answer.
    waited: HashMap<usize, f64>,
    /// The server is a proxy, which answers when it is told to: what reached it since it was last looked at.
    asked: Option<Vec<Asked>>,
}

/// A request, and when it reaches the proxy.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) owner: usize,
    pub(crate) fetch: FetchId,
    pub(crate) reached: f64,
    pub(crate) spans: Vec<Span>,
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
    spans: Vec<Span>,
    marks: VecDeque<(f64, Mark)>,
}

impl Request {
    fn bytes(&self) -> u64 {
        self.spans.iter().map(|span| span.len).sum()
    }
}

impl<'a> Network<'a> {
    pub(crate) fn new(link: &'a Link) -> Self {
        let round_trip = link.round_trip.as_secs_f64();
        let (connections, carried, waiting, waited) = Default::default();
        Self { link, round_trip, now: 0.0, connections, sent: 0, carried, waiting, waited, asked: None }
    }

    /// The network between clients and a proxy.
    pub(crate) fn to_proxy(link: &'a Link) -> Self {
        Self { asked: Some(Vec::new()), ..Self::new(link) }
    }

    /// What was asked of the proxy since the last time.
    pub(crate) fn asked(&mut self) -> Vec<Asked> {
        self.asked.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The proxy has what a client asked for, from a time on: so many ranges, and so many bytes of all; or all of it.
    /// Returns whether the client still expects it.
    pub(crate) fn answer(&mut self, owner: usize, fetch: FetchId, time: f64, part: Option<(u64, u64)>) -> bool {
        let Link { request_header, range_header, .. } = self.link;
        let here = part.map(|(ranges, bytes)| (request_header + range_header * ranges + bytes) as f64);
        let mut of_client = self.connections.iter_mut().filter(|c| c.owner == owner).flat_map(|c| &mut c.replies);
        let Some(reply) = of_client.find(|reply| reply.fetch == fetch) else { return false };
        reply.ready = reply.ready.min(time);
        reply.here = here.unwrap_or(f64::INFINITY);
        true
    }

    /// Bytes sent to a client so far.
    pub(crate) fn carried(&self, owner: usize) -> f64 {
        self.carried.get(owner).copied().unwrap_or(0.0)
    }

    /// How many connections there are.
    pub(crate) fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Sends a request of a client: on the connection with the fewest before it, of those the one with the widest window;
    /// on a new one if all have as many as they may. It may wait for a while for one that is busy.
    pub(crate) fn send(&mut self, owner: usize, fetch: &Fetch, fault: Option<Fault>) {
        if self.carried.len() <= owner {
            self.carried.resize(owner + 1, 0.0);
        }
        if !self.connections.iter().any(|c| c.owner == owner) {
            let open = self.link.open.iter().map(|&window| Connection {
                window: (window as f64).max(SEGMENT),
                carried: window.saturating_sub(self.link.initial_window) as f64,
                fresh: false,
                ..Connection::new(owner, self.link)
            });
            self.connections.extend(open);
        }
        let server =
            self.link.per_request.as_secs_f64() + self.link.per_range.as_secs_f64() * fetch.ranges.len() as f64;
        let spans = fetch.ranges.iter().map(|r| r.span).collect();
        let marks = self.marks(fetch, fault);
        let request = Request { owner, fetch: fetch.id, issued: self.now, server, spans, marks };
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
            self.connections.push(Connection::new(owner, self.link));
            self.connections.len() - 1
        })
    }

    /// How long the request waits for a connection that is wider than this one, as Sapwood's client decides it (where
    /// requests do not follow each other without a pause).
    fn wait_for_wider(&mut self, i: usize, request: &Request) -> Option<f64> {
        let narrow = self.connections[i].carried as u64;
        let needed = request.bytes().min((self.link.bandwidth * self.round_trip) as u64);
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
        let waited = self.waited.entry(request.owner).or_default();
        if *waited >= self.round_trip * slow_start::PATIENCE_IN_ALL {
            *waited = 0.0;
            return None;
        }
        Some(self.round_trip * slow_start::PATIENCE)
    }

    /// The client sends a request over this connection at a time.
    fn start(&mut self, i: usize, request: Request, time: f64) {
        let Request { owner, fetch, issued, server, spans, marks } = request;
        *self.waited.entry(owner).or_default() += time - issued;
        let c = &mut self.connections[i];
        let connect = if c.fresh { f64::from(self.link.connect_round_trips) } else { 0.0 };
        c.fresh = false;
        let reached = time + self.round_trip * (connect + 0.5) + server;
        let ready = match &mut self.asked {
            Some(asked) => {
                asked.push(Asked { owner, fetch, reached, spans });
                f64::INFINITY
            }
            None => reached,
        };
        let number = self.sent;
        self.sent += 1;
        c.replies.push_back(Reply { fetch, number, issued, ready, here: f64::INFINITY, began: None, sent: 0.0, marks });
    }

    /// Gives up the reply to a client's fetch. Its connection is closed, if no other reply is expected over it.
    pub(crate) fn cancel(&mut self, owner: usize, fetch: FetchId) {
        self.waiting.retain(|w| w.request.owner != owner || w.request.fetch != fetch);
        let fresh = Connection::new(owner, self.link);
        let is_it = |c: &Connection| c.owner == owner && c.replies.iter().any(|r| r.fetch == fetch);
        if let Some(c) = self.connections.iter_mut().find(|c| is_it(c)) {
            if c.replies.len() == 1 {
                *c = fresh;
            } else {
                c.replies.retain(|r| r.fetch != fetch);
            }
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
            let Some(reply) = c.replies.front().filter(|reply| reply.ready.is_finite()) else { continue };
            let mut t = reply.ready;
            if reply.ready <= self.now {
                let Some((end, _)) = reply.marks.front().filter(|_| !reply.waits()) else { continue };
                let end = end.min(reply.here);
                let room = self.room(c);
                if room < ROOM {
                    t = c.flying.front().map_or(self.now, |f| f.0);
                } else {
                    // after days the last part of a byte takes less than the resolution of time: it needs a step, too
                    t = (self.now + (end - reply.sent).min(room) / rate).max(self.now.next_up());
                    if room.is_finite() {
                        t = t.min(self.now + self.round_trip / STEPS_PER_ROUND_TRIP);
                    }
                    if c.until_loss.is_finite() {
                        t = t.min((self.now + c.until_loss.max(0.0) / rate).max(self.now.next_up()));
                    }
                }
            }
            next = Some(next.map_or(t, |n| n.min(t)));
        }
        next
    }

    /// For each connection, the bytes of others that stand in the queue of the path before the first ones of its flight:
    /// those of replies that were requested earlier.
    fn ahead(&self) -> Vec<f64> {
        let mut ahead = vec![0.0; self.connections.len()];
        let number = |c: &Connection| c.replies.front().filter(|r| r.is_sent(self.now)).map(|r| r.number);
        let mut sending: Vec<(u64, usize)> =
            self.connections.iter().enumerate().filter_map(|(i, c)| Some((number(c)?, i))).collect();
        sending.sort_unstable();
        let mut bytes = 0.0;
        for (_, i) in sending {
            ahead[i] = bytes;
            bytes += self.connections[i].in_queue();
        }
        ahead
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
        let ahead = if self.link.hystart { self.ahead() } else { Vec::new() };
        let mut free = Vec::new();
        for (c, rate) in self.connections.iter().zip(&rates) {
            self.carried[c.owner] += rate * step;
        }
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
                c.flight = Flight { carried: c.carried - bytes, window: c.window, delay };
            }
            reply.sent += bytes;
            c.until_loss -= bytes;
            if c.until_loss <= 0.0 {
                c.window = (c.window / 2.0).max(2.0 * SEGMENT);
                c.growth = Growth::Linear;
                c.until_loss = self.link.until_loss();
            }
            let (mut over, mut broken) = (false, false);
            while let Some(&(end, mark)) = reply.marks.front() {
                if reply.ready > to || reply.sent + CLOSE < end {
                    break;
                }
                reply.marks.pop_front();
                let fetch = reply.fetch;
                let delivery = match mark {
                    Mark::Basket(basket) => Delivery::Basket(fetch, basket, self.carried[c.owner]),
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
            c.replies.front().is_some_and(|r| r.is_sent(self.now)) && (self.round_trip <= 0.0 || self.room(c) >= ROOM)
        };
        let active: Vec<bool> = self.connections.iter().map(sends).collect();
        let share = self.link.bandwidth.max(1.0) / active.iter().filter(|&&a| a).count().max(1) as f64;
        active.into_iter().map(|active| if active { share } else { 0.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_plan::{Part, Range};
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
