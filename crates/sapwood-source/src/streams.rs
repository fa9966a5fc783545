//! How many connections to use for bulk transfers.
//!
//! One connection with an open window carries more than many fresh ones, and each costs a login and an open. So there
//! is one at first. Its rate doubles from round trip to round trip, until the path is saturated, or until a loss or the
//! receiver's buffer limits the window. From outside both look the same: round trips that bring about the same. Then
//! twice as many are tried, and again as long as that brings more. Losses close windows one after the other: where two
//! bring less than one did at first, that says nothing yet, and the current rate becomes the new reference. A saturated
//! path carries no more over two: there nothing is tried, because the second one, starved by the first, would take long
//! over its requests.

use std::time::{Duration, Instant};

/// A window that is opening brings four times as much in the next two round trips. Less than this is no growth.
const OPENING: f64 = 1.5;
/// More connections are worth having if they bring this much more.
const WORTH: f64 = 1.2;
/// The settled number of connections once had a rate higher by this factor: losses have closed windows since.
const DECAYED: f64 = 1.5;
/// Round trips over which a rate is measured: over a single one, bursts would count once or twice.
const ROUND_TRIPS: u32 = 2;
/// And at least this time.
const SHORTEST: Duration = Duration::from_millis(20);
/// Less than this in a turn, with nothing in flight, is not bulk.
const BULK: u64 = 1 << 20;
/// Turns without growth after which the server is assumed to limit its connections.
const STUCK: u32 = 50;
/// Turns that new connections have to open their windows.
const WARMING: u32 = 3;

/// The number of connections, and what was observed of them.
pub(crate) struct Streams {
    count: usize,
    /// The rate of fewer of them, in bytes per second; once settled, that of this many.
    best: f64,
    settled: bool,
    /// The highest rate of all of them.
    peak: f64,
    /// Their rate, now that it does not grow any more; and for how many turns it did not.
    level: Option<f64>,
    level_turns: u32,
    turn: Option<Turn>,
}

/// Some round trips.
struct Turn {
    begin: Instant,
    last: Instant,
    bytes: u64,
    /// The rate of the previous one, in bytes per second.
    before: Option<f64>,
    /// Turns until observations count.
    warming: u32,
}

impl Default for Streams {
    fn default() -> Self {
        Self { count: 1, best: 0.0, settled: false, peak: 0.0, level: None, level_turns: 0, turn: None }
    }
}

impl Streams {
    /// Bytes arrived over any of them, from a host this far away.
    pub(crate) fn arrived(&mut self, bytes: u64, now: Instant, round_trip: Duration) {
        let long = (round_trip * ROUND_TRIPS).max(SHORTEST);
        let warming = if self.count > 1 { WARMING } else { 0 };
        // Between two requests over one connection nothing arrives for a round trip: that says nothing about its
        // window, whose bursts are closer together.
        let pause = round_trip.max(SHORTEST);
        let Some(turn) = self.turn.as_mut().filter(|t| now.saturating_duration_since(t.last) < pause) else {
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
        self.peak = self.peak.max(rate);
        let level = turn.warming == 0 && turn.before.is_some_and(|before| rate < before * OPENING);
        self.level = level.then_some(rate);
        self.level_turns = if level { self.level_turns.saturating_add(1) } else { 0 };
        let warming = turn.warming.saturating_sub(1);
        *turn = Turn { begin: now, last: now, bytes: 0, before: Some(rate), warming };
    }

    /// Whether the rate has not grown for so long that something limits it.
    pub(crate) fn is_stuck(&self) -> bool {
        self.level_turns >= STUCK
    }

    /// Whether their rate was once higher than this.
    pub(crate) fn brought_more(&self, rate: f64) -> bool {
        self.peak > rate * WORTH
    }

    /// The rate of each of several connections, in bytes per second, as far as known; none where one is enough.
    pub(crate) fn each(&self) -> Option<f64> {
        let seen = if self.settled { self.count } else { self.count / 2 };
        (self.count > 1).then(|| self.best / seen.max(1) as f64)
    }

    /// How many to use now, at most `most`, when `busy` are in use; `full` tells whether the path was seen to be
    /// saturated.
    pub(crate) fn count(&mut self, busy: usize, most: usize, full: bool) -> usize {
        // Bytes from opening a file, reply by reply, say nothing about windows.
        if busy == 0 && self.turn.as_ref().is_some_and(|t| t.bytes < BULK) {
            (self.turn, self.level) = (None, None);
        }
        if (self.count > 1 || !full)
            && busy >= self.count
            && let Some(rate) = self.level.take()
        {
            self.judge(rate, most, full);
        }
        self.count = self.count.clamp(1, most.max(1));
        self.count
    }

    /// All of them together bring this rate, and have for some time.
    fn judge(&mut self, rate: f64, most: usize, full: bool) {
        if self.settled && !full && rate * DECAYED < self.best {
            (self.best, self.settled) = (0.0, false);
        }
        if self.settled {
            return;
        }
        if rate > self.best * WORTH {
            self.best = rate;
            // A saturated path carries no more over further ones.
            self.settled = full || self.count >= most;
            self.count *= if self.settled { 1 } else { 2 };
        } else if !full && rate * DECAYED < self.best {
            // not caused by the others, as there is no queue: what fewer of them would bring now is unknown
            self.best = rate;
            self.settled = self.count >= most;
            self.count *= if self.settled { 1 } else { 2 };
        } else {
            self.settled = true;
            self.count /= 2;
        }
        self.turn = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Duration = Duration::from_millis(100);
    const MOST: usize = 15;

    /// A path, and its users.
    struct Run {
        streams: Streams,
        clock: Instant,
        /// How many connections are in use, if not as many as are worth having.
        busy: Option<usize>,
        full: bool,
    }

    impl Run {
        fn new() -> Self {
            Self { streams: Streams::default(), clock: Instant::now(), busy: None, full: false }
        }

        fn count(&mut self) -> usize {
            self.streams.count(self.busy.unwrap_or(usize::MAX), MOST, self.full)
        }

        /// This many bytes in each round trip (by its number, and that of connections), in one burst; returns how many
        /// connections were worth having after each.
        fn bring(&mut self, trips: u32, bytes: impl Fn(u32, u64) -> u64) -> Vec<usize> {
            let one = |trip| {
                let each = bytes(trip, self.count() as u64) / 10;
                (0..10).for_each(|ms| self.streams.arrived(each, self.clock + Duration::from_millis(ms), FAR));
                self.clock += FAR;
                self.count()
            };
            (0..trips).map(one).collect()
        }
    }

    #[test]
    fn one_is_enough_while_its_window_opens() {
        assert_eq!(Run::new().bring(10, |trip, _| 15_000 << trip), [1; 10]);
    }

    #[test]
    fn a_full_way_is_tried_with_two_once() {
        let mut run = Run::new();
        assert_eq!(run.bring(6, |_, _| 100_000).last(), Some(&2));
        assert_eq!(run.bring(100, |_, _| 100_000)[20..], [1; 80]);
        assert_eq!(run.streams.each(), None);
    }

    #[test]
    fn a_way_known_to_be_full_is_not_tried_with_two() {
        let mut run = Run { full: true, ..Run::new() };
        assert_eq!(run.bring(20, |_, _| 100_000), [1; 20]);
        run.full = false;
        assert_eq!(run.count(), 2);
    }

    #[test]
    fn windows_held_down_are_multiplied() {
        let mut run = Run::new();
        assert_eq!(run.bring(100, |_, count| 50_000 * count).last(), Some(&MOST));
        let each = run.streams.each().unwrap();
        assert!((450_000.0..550_000.0).contains(&each), "{each}");
    }

    #[test]
    fn what_one_brought_before_losses_closed_its_window_does_not_count() {
        let mut run = Run::new();
        assert_eq!(run.bring(6, |_, _| 400_000).last(), Some(&2));
        // two now bring less than one did
        let counts = run.bring(100, |_, count| 65_000 * count);
        assert!(counts.is_sorted() && counts.last() == Some(&MOST), "{counts:?}");
    }

    #[test]
    fn a_pause_between_requests_is_no_loss() {
        let mut run = Run::new();
        assert_eq!(run.bring(6, |_, _| 1_000_000).last(), Some(&2));
        run.bring(20, |_, _| 1_000_000);
        // a request over one connection takes as long as it brings, and a round trip more
        for request in 1..40 {
            run.clock += FAR;
            assert_eq!(run.bring(request % 7, |_, _| 1_000_000).last().unwrap_or(&1), &1, "request {request}");
        }
    }

    #[test]
    fn replies_while_a_file_is_opened_are_no_bulk() {
        let mut run = Run { busy: Some(0), ..Run::new() };
        assert_eq!(run.bring(20, |_, _| 60_000), [1; 20]);
    }

    #[test]
    fn of_a_way_that_has_become_full_no_more_is_tried() {
        let mut run = Run::new();
        assert_eq!(run.bring(6, |_, _| 100_000).last(), Some(&2));
        // the two bring more, and saturate the path
        run.full = true;
        assert_eq!(run.bring(40, |_, _| 200_000), [2; 40]);
    }

    #[test]
    fn nothing_is_concluded_before_all_are_in_use() {
        let mut run = Run::new();
        assert_eq!(run.bring(6, |_, _| 100_000).last(), Some(&2));
        run.busy = Some(1);
        assert_eq!(run.bring(20, |_, _| 100_000), [2; 20]);
    }
}
