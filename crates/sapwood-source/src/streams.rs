//! How many connections bulk is worth sharing among.
//!
//! One connection whose window has opened carries more than many fresh ones, and each costs a login and an open. So there
//! is one at first. What it brings doubles from round trip to round trip, until the way is full, or until a loss or the
//! receiver's buffer holds the window down. From outside both look the same: round trips that bring about the same. Then
//! twice as many are tried, and again as long as that brings more. A way that is seen to be full carries no more over two:
//! there nothing is tried, for the second one, in the shadow of the first, would take long over what it was asked for.

use std::time::{Duration, Instant};

/// A window that is opening brings four times as much in the next two round trips. Less than this is no growth.
const OPENING: f64 = 1.5;
/// More connections are worth having if they bring so much more.
const WORTH: f64 = 1.2;
/// Round trips over which a rate is taken: over a single one, bursts would count once or twice.
const ROUND_TRIPS: u32 = 2;
/// And no shorter time.
const SHORTEST: Duration = Duration::from_millis(20);
/// Less than this in a turn, with nothing under way, is no bulk.
const BULK: u64 = 1 << 20;
/// Turns that connections which were just added have to open their windows.
const WARMING: u32 = 3;

/// The number of connections, and what is seen of them.
pub(crate) struct Streams {
    count: usize,
    /// What fewer of them brought, in bytes per second.
    best: f64,
    settled: bool,
    /// What they bring, now that it does not grow any more.
    level: Option<f64>,
    turn: Option<Turn>,
}

/// Some round trips.
struct Turn {
    begin: Instant,
    last: Instant,
    bytes: u64,
    /// What the one before brought, in bytes per second.
    before: Option<f64>,
    /// Turns until what is seen counts.
    warming: u32,
}

impl Default for Streams {
    fn default() -> Self {
        Self { count: 1, best: 0.0, settled: false, level: None, turn: None }
    }
}

impl Streams {
    /// Bytes arrived over any of them, from a host so far away.
    pub fn arrived(&mut self, bytes: u64, now: Instant, round_trip: Duration) {
        let long = (round_trip * ROUND_TRIPS).max(SHORTEST);
        let warming = if self.count > 1 { WARMING } else { 0 };
        let Some(turn) = self.turn.as_mut().filter(|t| now.saturating_duration_since(t.last) < long) else {
            self.turn = Some(Turn { begin: now, last: now, bytes: 0, before: None, warming });
            return;
        };
        turn.last = now;
        turn.bytes += bytes;
        let time = now.saturating_duration_since(turn.begin);
        if time < long {
            return;
        }
        let rate = turn.bytes as f64 / time.as_secs_f64();
        let level = turn.warming == 0 && turn.before.is_some_and(|before| rate < before * OPENING);
        self.level = level.then_some(rate);
        let warming = turn.warming.saturating_sub(1);
        *turn = Turn { begin: now, last: now, bytes: 0, before: Some(rate), warming };
    }

    /// How many to use now, `most` at most, when so many are in use; `full` tells whether the way was seen to be full.
    pub fn count(&mut self, busy: usize, most: usize, full: bool) -> usize {
        // What opening a file brought, reply by reply, says nothing of windows.
        if busy == 0 && self.turn.as_ref().is_some_and(|t| t.bytes < BULK) {
            (self.turn, self.level) = (None, None);
        }
        if !self.settled
            && (self.count > 1 || !full)
            && busy >= self.count
            && let Some(rate) = self.level.take()
        {
            if rate > self.best * WORTH {
                self.best = rate;
                // A full way carries no more over further ones.
                self.settled = full || self.count >= most;
                self.count *= if full { 1 } else { 2 };
            } else {
                self.settled = true;
                self.count /= 2;
            }
            self.turn = None;
        }
        self.count = self.count.clamp(1, most.max(1));
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Duration = Duration::from_millis(100);

    /// So many bytes in each round trip, in one burst; gives how many connections are used in the end.
    fn bring(s: &mut Streams, clock: &mut Instant, trips: u32, bytes: impl Fn(u32, usize) -> u64) -> usize {
        for trip in 0..trips {
            let count = s.count(usize::MAX, 15, false);
            let each = bytes(trip, count) / 10;
            (0..10).for_each(|ms| s.arrived(each, *clock + Duration::from_millis(ms), FAR));
            *clock += FAR;
        }
        s.count(usize::MAX, 15, false)
    }

    #[test]
    fn one_is_enough_while_its_window_opens() {
        let (mut s, mut clock) = (Streams::default(), Instant::now());
        assert_eq!(bring(&mut s, &mut clock, 10, |trip, _| 15_000 << trip), 1);
    }

    #[test]
    fn a_full_way_is_tried_with_two_once() {
        let (mut s, mut clock) = (Streams::default(), Instant::now());
        assert_eq!(bring(&mut s, &mut clock, 6, |_, _| 100_000), 2);
        assert_eq!(bring(&mut s, &mut clock, 100, |_, _| 100_000), 1);
    }

    #[test]
    fn a_way_known_to_be_full_is_not_tried_with_two() {
        let (mut s, mut clock) = (Streams::default(), Instant::now());
        for _ in 0..20 {
            s.arrived(100_000, clock, FAR);
            clock += FAR;
            assert_eq!(s.count(1, 15, true), 1);
        }
        assert_eq!(s.count(1, 15, false), 2);
    }

    #[test]
    fn windows_held_down_are_multiplied() {
        let (mut s, mut clock) = (Streams::default(), Instant::now());
        assert_eq!(bring(&mut s, &mut clock, 100, |_, count| 50_000 * count as u64), 15);
    }

    #[test]
    fn replies_while_a_file_is_opened_are_no_bulk() {
        let (mut s, mut clock) = (Streams::default(), Instant::now());
        for _ in 0..20 {
            s.arrived(60_000, clock, FAR);
            clock += FAR;
            assert_eq!(s.count(0, 15, false), 1);
        }
    }

    #[test]
    fn of_a_way_that_has_become_full_no_more_is_tried() {
        let (mut s, mut clock) = (Streams::default(), Instant::now());
        assert_eq!(bring(&mut s, &mut clock, 6, |_, _| 100_000), 2);
        // the two bring more, and fill the way
        for _ in 0..40 {
            s.arrived(200_000, clock, FAR);
            clock += FAR;
            assert_eq!(s.count(2, 15, true), 2);
        }
    }

    #[test]
    fn nothing_is_concluded_before_all_are_in_use() {
        let (mut s, mut clock) = (Streams::default(), Instant::now());
        bring(&mut s, &mut clock, 6, |_, _| 100_000);
        for _ in 0..20 {
            s.arrived(100_000, clock, FAR);
            clock += FAR;
            assert_eq!(s.count(1, 15, false), 2);
        }
    }
}
