//! The connections of a link, in fluid approximation.

use crate::Link;
use crate::faults::Fault;
use crate::link::SEGMENT;
use sapwood_plan::{BasketId, Fetch, FetchId};
use std::collections::VecDeque;

/// Tolerance in bytes for rounding.
const CLOSE: f64 = 1e-3;
/// Rates are constant for this fraction of a round trip while windows grow.
const STEPS_PER_ROUND_TRIP: f64 = 8.0;

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
}

#[derive(Debug)]
struct Connection {
    /// The client that has it.
    owner: usize,
    window: f64,
    fresh: bool,
    /// Bytes until the next loss; growth is linear after the first one.
    until_loss: f64,
    lost: bool,
    reply: Option<Reply>,
}

#[derive(Debug)]
struct Reply {
    fetch: FetchId,
    issued: f64,
    ready: f64,
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
        Self { link, round_trip: link.round_trip.as_secs_f64(), now: 0.0, connections: Vec::new() }
    }

    /// Sends a request of a client on its idle connection with the widest window, or on a new one.
    pub(crate) fn send(&mut self, owner: usize, fetch: &Fetch, fault: Option<Fault>) {
        let idle = (0..self.connections.len())
            .filter(|&i| self.connections[i].owner == owner && self.connections[i].reply.is_none())
            .max_by(|&a, &b| self.connections[a].window.total_cmp(&self.connections[b].window));
        let i = idle.unwrap_or_else(|| {
            self.connections.push(self.fresh(owner));
            self.connections.len() - 1
        });
        let connect = if self.connections[i].fresh { f64::from(self.link.connect_round_trips) } else { 0.0 };
        self.connections[i].fresh = false;
        let server =
            self.link.per_request.as_secs_f64() + self.link.per_range.as_secs_f64() * fetch.ranges.len() as f64;
        let ready = self.now + self.round_trip * (connect + 0.5) + server;
        let marks = self.marks(fetch, fault);
        self.connections[i].reply = Some(Reply { fetch: fetch.id, issued: self.now, ready, sent: 0.0, marks });
    }

    /// Closes the connection of a client's fetch.
    pub(crate) fn cancel(&mut self, owner: usize, fetch: FetchId) {
        let fresh = self.fresh(owner);
        let is_it = |c: &Connection| c.owner == owner && c.reply.as_ref().is_some_and(|r| r.fetch == fetch);
        if let Some(c) = self.connections.iter_mut().find(|c| is_it(c)) {
            *c = fresh;
        }
    }

    fn fresh(&self, owner: usize) -> Connection {
        let until_loss = self.link.loss_every.map_or(f64::INFINITY, |n| n.max(1) as f64);
        let window = self.link.initial_window as f64;
        Connection { owner, window, fresh: true, until_loss, lost: false, reply: None }
    }

    fn marks(&self, fetch: &Fetch, fault: Option<Fault>) -> VecDeque<(f64, Mark)> {
        let mut marks = VecDeque::new();
        let mut begin = 0u64;
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
        let mut next: Option<f64> = None;
        for (c, rate) in self.connections.iter().zip(&rates) {
            let Some(reply) = &c.reply else { continue };
            let mut t = reply.ready;
            if reply.ready <= self.now {
                let Some((end, _)) = reply.marks.front() else { continue };
                t = self.now + ((end - reply.sent) / rate).max(0.0);
                let grows = c.window < self.link.largest_window as f64;
                if grows && self.round_trip > 0.0 && *rate >= c.window / self.round_trip * 0.999 {
                    t = t.min(self.now + self.round_trip / STEPS_PER_ROUND_TRIP);
                }
            }
            next = Some(next.map_or(t, |n| n.min(t)));
        }
        next
    }

    /// Advances time to `to`, at most to the next change. What is sent arrives half a round trip later, at the time
    /// given with it, at the client given with it.
    pub(crate) fn advance(&mut self, to: f64, out: &mut Vec<(usize, f64, Delivery)>) {
        let rates = self.rates();
        let step = to - self.now;
        self.now = to;
        for (c, rate) in self.connections.iter_mut().zip(rates) {
            let Some(reply) = &mut c.reply else { continue };
            let bytes = rate * step;
            reply.sent += bytes;
            c.until_loss -= bytes;
            if self.round_trip > 0.0 {
                // Only a used window grows.
                let used = (bytes / step.max(f64::MIN_POSITIVE) * self.round_trip / c.window).min(1.0);
                let turns = step / self.round_trip * used;
                c.window = if c.lost { c.window + SEGMENT * turns } else { c.window * 2f64.powf(turns) };
                if c.until_loss <= 0.0 {
                    c.window = (c.window / 2.0).max(2.0 * SEGMENT);
                    c.lost = true;
                    c.until_loss = self.link.loss_every.map_or(f64::INFINITY, |n| n.max(1) as f64);
                }
                c.window = c.window.min(self.link.largest_window as f64);
            }
            let arrival = to + self.round_trip / 2.0;
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
                        let first_byte = reply.ready + self.round_trip / 2.0 - reply.issued;
                        Delivery::Done { fetch, first_byte, total: arrival - reply.issued, bytes }
                    }
                };
                over = !matches!(mark, Mark::Basket(_));
                broken = matches!(mark, Mark::Break);
                out.push((c.owner, arrival, delivery));
            }
            if over {
                c.reply = None;
                c.fresh = broken;
            }
        }
    }

    /// Bytes per second of each connection: its window per round trip, or a fair share of the bandwidth.
    fn rates(&self) -> Vec<f64> {
        let mut rates = vec![0.0; self.connections.len()];
        let demand = |c: &Connection| if self.round_trip > 0.0 { c.window / self.round_trip } else { f64::INFINITY };
        let sends = |c: &Connection| c.reply.as_ref().is_some_and(|r| r.ready <= self.now);
        let mut active: Vec<usize> = (0..self.connections.len()).filter(|&i| sends(&self.connections[i])).collect();
        active.sort_by(|&a, &b| demand(&self.connections[a]).total_cmp(&demand(&self.connections[b])));
        let mut left = self.link.bandwidth.max(1.0);
        for (served, &i) in active.iter().enumerate() {
            let share = left / (active.len() - served) as f64;
            rates[i] = demand(&self.connections[i]).min(share);
            left -= rates[i];
        }
        rates
    }
}
