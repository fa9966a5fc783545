//! One connection: its window, and the replies that come over it.

use crate::Link;
use crate::link::SEGMENT;
use sapwood_plan::{BasketId, FetchId};
use std::collections::VecDeque;

/// Tolerance in bytes for rounding.
pub(super) const CLOSE: f64 = 1e-3;
/// A window with less room than this is full.
pub(super) const ROOM: f64 = 1.0;

#[derive(Debug)]
pub(super) struct Connection {
    /// The client that has it.
    pub(super) owner: usize,
    pub(super) window: f64,
    /// Bytes sent over it so far.
    pub(super) carried: f64,
    pub(super) fresh: bool,
    /// Bytes until the next loss.
    pub(super) until_loss: f64,
    pub(super) growth: Growth,
    pub(super) flight: Flight,
    /// In the order of the requests; the first one is being sent.
    pub(super) replies: VecDeque<Reply>,
    /// What was sent and is not acknowledged: when it will be, and how many bytes.
    pub(super) flying: VecDeque<(f64, f64)>,
    pub(super) in_flight: f64,
    /// Bytes to be acknowledged before the window grows on: the receiver allows no more yet.
    pub(super) held: f64,
}

/// How the window of a connection opens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Growth {
    /// By what is acknowledged.
    SlowStart,
    /// By a twentieth in each round trip: the sender has seen a queue, and has ended slow start.
    Careful,
    /// By a segment in each round trip, after a loss.
    Linear,
}

/// The last flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    /// Bytes carried before it, and the window when it began.
    pub(super) carried: f64,
    pub(super) window: f64,
    /// The seconds for which its first bytes stood in the queue of the path.
    pub(super) delay: f64,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) fetch: FetchId,
    /// Its request was sent so many requests after the first one of all.
    pub(super) number: u64,
    pub(super) issued: f64,
    pub(super) ready: f64,
    /// Bytes of it that the server has: a proxy may wait for the others.
    pub(super) here: f64,
    /// When its first byte was sent.
    pub(super) began: Option<f64>,
    pub(super) sent: f64,
    /// What is complete when this many bytes were sent.
    pub(super) marks: VecDeque<(f64, Mark)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Basket(BasketId),
    End(u64),
    Break,
}

impl Reply {
    /// Whether all that the server has of it is sent.
    pub(super) fn waits(&self) -> bool {
        self.sent + CLOSE >= self.here
    }

    /// Whether there are bytes to send at this time.
    pub(super) fn is_sent(&self, now: f64) -> bool {
        self.ready <= now && !self.waits()
    }
}

impl Connection {
    pub(super) fn new(owner: usize, link: &Link) -> Self {
        Self {
            owner,
            window: (link.initial_window as f64).max(SEGMENT),
            carried: 0.0,
            fresh: true,
            until_loss: link.until_loss(),
            growth: Growth::SlowStart,
            flight: Flight::default(),
            replies: VecDeque::new(),
            flying: VecDeque::new(),
            in_flight: 0.0,
            held: 0.0,
        }
    }

    /// Bytes of the first reply that are not sent.
    pub(super) fn left(&self) -> f64 {
        let end = |r: &Reply| r.marks.back().map_or(0.0, |m| m.0) - r.sent;
        self.replies.front().map_or(0.0, end).max(0.0)
    }

    /// Of the first reply, bytes in the queue of the path when another connection begins a flight. A first flight is sent
    /// at once. Of a later one, as the acknowledgements come in, half has left the queue by then: as much is left as the
    /// window was before.
    pub(super) fn in_queue(&self) -> f64 {
        let is_first = self.replies.front().is_some_and(|r| r.began.is_none());
        self.left().min(if is_first { self.window } else { self.flight.window })
    }

    /// When the first bytes of a flight are acknowledged, the sender knows how long they stood in a queue; another flight
    /// begins, of which the first bytes find a queue of so many seconds.
    pub(super) fn note_flight(&mut self, delay: f64, round_trip: f64) {
        /// Seconds by which a round trip may be longer without a queue, at least and at most; the part of a round trip
        /// between them; the least window in segments.
        const LONGER: [f64; 2] = [0.004, 0.016];
        const PART: f64 = 8.0;
        const WIDE: f64 = 16.0;
        if self.carried - self.in_flight <= self.flight.carried + ROOM {
            return;
        }
        let [least, most] = LONGER;
        let is_queue = self.flight.delay > (round_trip / PART).clamp(least, most);
        if is_queue && self.window >= WIDE * SEGMENT && self.growth == Growth::SlowStart {
            self.growth = Growth::Careful;
        }
        self.flight = Flight { carried: self.carried, window: self.window, delay };
    }

    /// Bytes were acknowledged: the window grows.
    pub(super) fn acknowledged(&mut self, bytes: f64, link: &Link) {
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
