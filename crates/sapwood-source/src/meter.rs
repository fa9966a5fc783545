//! Estimates of round-trip time and bandwidth from ordinary traffic.

use crate::path_saturation::PathSaturation;
use crate::streams::Streams;
use std::time::{Duration, Instant};

/// Waits remembered: the shortest of them is the estimate.
const WAITS: usize = 16;
/// Rates remembered: the highest of them is the estimate (slow start lowers most of them).
const RATES: usize = 8;
/// Round trips with bytes in flight that are remembered: a loss empties a queue that fills again.
const STOOD: usize = 32;
/// A queue exists where they take longer by this fraction of the idle round trip, within a minimum and a maximum. It is
/// half of what senders use (RFC 9406): where they end their slow start, it is clearly visible.
const LONGER: u32 = 16;
const LONGER_AT_LEAST: Duration = Duration::from_millis(2);
const LONGER_AT_MOST: Duration = Duration::from_millis(8);
/// A path on which packets were lost twice in this time is lossy; on a saturated one the sender loses packets less
/// often.
const LOSSY: Duration = Duration::from_secs(5);
/// A rate is taken over at least this time and this many bytes.
const WINDOW: Duration = Duration::from_millis(20);
const WINDOW_BYTES: u64 = 64 << 10;
/// No window limits a connection to a host that is nearer: what stays the same there is the speed of the machines, and a
/// busy one looks like a limit.
const NO_LIMIT: Duration = Duration::from_millis(2);
/// After a silence of this length nothing is known about the interval.
const SILENCE: Duration = Duration::from_millis(500);

/// Measures one host.
#[derive(Default)]
pub(crate) struct Meter {
    connect: Option<Duration>,
    waits: Ring<Duration, WAITS>,
    rates: Ring<f64, RATES>,
    full: PathSaturation,
    stood: Ring<Duration, STOOD>,
    /// When packets were lost, where the kernel reports it.
    losses: Option<Ring<Instant, 2>>,
    streams: Streams,
    window: Option<Window>,
}

struct Window {
    begin: Instant,
    last: Instant,
    bytes: u64,
}

impl Window {
    fn new(now: Instant) -> Self {
        Self { begin: now, last: now, bytes: 0 }
    }
}

impl Meter {
    /// Opening a TCP connection took this long: one round trip.
    pub(crate) fn connected(&mut self, took: Duration) {
        self.connect = Some(self.connect.map_or(took, |c| c.min(took)));
    }

    /// From sending a request to the first byte of its answer.
    pub(crate) fn waited(&mut self, took: Duration) {
        self.waits.push(took);
    }

    /// The longest of the last waits for a first byte.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        self.waits.iter().max().copied()
    }

    /// Bytes of a body arrived, on any connection.
    pub(crate) fn arrived(&mut self, bytes: u64, now: Instant) {
        if let Some(round_trip) = self.round_trip() {
            self.full.arrived(bytes, now, round_trip);
        }
        if let Some(far) = self.distance() {
            self.streams.arrived(bytes, now, far);
        }
        match &mut self.window {
            Some(w) if now.saturating_duration_since(w.last) < SILENCE => {
                w.last = now;
                w.bytes += bytes;
                let time = now.saturating_duration_since(w.begin);
                if time >= WINDOW && w.bytes >= WINDOW_BYTES {
                    self.rates.push(w.bytes as f64 / time.as_secs_f64());
                    self.window = Some(Window::new(now));
                }
            }
            // The first bytes have been in flight for an unknown time: they only start the clock.
            _ => self.window = Some(Window::new(now)),
        }
    }

    /// When bytes last came.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.window.as_ref().map(|w| w.last)
    }

    /// A round-trip time while bytes arrived: it includes any queue on the path.
    pub(crate) fn stood(&mut self, round_trip: Duration) {
        self.stood.push(round_trip);
    }

    /// Whether there was a queue on the path lately: then it carries no more.
    fn queues(&self) -> bool {
        let longer = |far: Duration| (far / LONGER).clamp(LONGER_AT_LEAST, LONGER_AT_MOST);
        let stands = |far: Duration| self.stood.iter().any(|t| *t > far + longer(far));
        self.distance().is_some_and(stands)
    }

    /// Whether bytes lately arrived in order over a connection, as far as the kernel counts.
    pub(crate) fn ordered(&mut self, ordered: bool, now: Instant) {
        let far = self.distance().unwrap_or_default();
        let losses = self.losses.get_or_insert_default();
        // packets behind a lost one arrive out of order for a round trip or more: that is one loss
        if !ordered && losses.iter().all(|at| now.saturating_duration_since(*at) > far * 2) {
            losses.push(now);
        }
    }

    /// Whether windows are steady without a loss: they are about as wide as the path, or the server limits them.
    fn is_clean(&self) -> bool {
        let lately = |at: &&Instant| at.elapsed() < LOSSY;
        self.losses.as_ref().is_some_and(|losses| losses.iter().filter(lately).count() < 2) && !self.streams.is_stuck()
    }

    /// What the path itself carries, in bytes per second, if it was seen to be saturated.
    pub(crate) fn narrow(&self) -> Option<f64> {
        self.full.rate()
    }

    /// Connections that fill a path of this length; more would only displace each other's bytes in its queue, and
    /// urgent bytes would share the path with later ones. Unlimited where it was not seen to be saturated.
    pub(crate) fn fill(&self, far: Duration) -> usize {
        /// Bytes that a connection brings in a round trip after its first five, about.
        const OPEN_WINDOW: f64 = (256 << 10) as f64;
        /// Connections allowed even on a narrow path: one in slow start after a loss must not leave it idle.
        const FEWEST: usize = 4;
        let carried = |rate: f64| ((rate * far.as_secs_f64() / OPEN_WINDOW) as usize).max(FEWEST);
        self.narrow().map_or(usize::MAX, carried)
    }

    /// Connections worth using for bulk transfers, at most `most`, when `busy` are in use.
    pub(crate) fn streams(&mut self, busy: usize, most: usize) -> usize {
        if self.distance().is_some_and(|far| far < NO_LIMIT) {
            return 1;
        }
        // Arrival times only show that a window is steady. If a loss made it so, it was wider before.
        let steady = self.full.rate().is_some_and(|rate| !self.streams.brought_more(rate));
        let full = steady || self.queues() || self.is_clean();
        self.streams.count(busy, most, full)
    }

    /// Bytes of a request over one of several connections with limited windows: what it brings in some round trips.
    /// None where one connection is enough.
    pub(crate) fn piece(&self) -> Option<u64> {
        /// Enough for the next request to arrive in time.
        const ROUND_TRIPS: f64 = 4.0;
        const SMALLEST: u64 = 512 << 10;
        let far = self.distance().filter(|far| *far >= NO_LIMIT)?.as_secs_f64();
        self.streams.each().map(|rate| ((rate * far * ROUND_TRIPS) as u64).max(SMALLEST))
    }

    /// The window that a connection needs for an answer of this many bytes: no more than fills the path.
    pub(crate) fn window_for(&self, bytes: u64) -> u64 {
        let far = self.distance().unwrap_or_default();
        let carried = self.narrow().map_or(u64::MAX, |rate| (rate * far.as_secs_f64()) as u64);
        bytes.min(carried)
    }

    /// Minimum time a request waits: includes what a server, or a proxy in front of it, adds.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.waits.iter().min().or(self.connect.as_ref()).copied()
    }

    /// Upper limit of the distance to the host: the shortest of all measured times. A server that is slow to answer is
    /// not far.
    pub(crate) fn distance(&self) -> Option<Duration> {
        self.waits.iter().chain(self.connect.as_ref()).min().copied()
    }

    /// Bytes per second of all connections together.
    pub(crate) fn bandwidth(&self) -> Option<f64> {
        self.rates.iter().copied().reduce(f64::max)
    }
}

/// The last `N` values.
struct Ring<T, const N: usize> {
    values: Vec<T>,
    next: usize,
}

impl<T, const N: usize> Default for Ring<T, N> {
    fn default() -> Self {
        Self { values: Vec::new(), next: 0 }
    }
}

impl<T, const N: usize> Ring<T, N> {
    fn push(&mut self, value: T) {
        match self.values.get_mut(self.next) {
            Some(old) => *old = value,
            None => self.values.push(value),
        }
        self.next = (self.next + 1) % N;
    }

    fn iter(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_of_the_last_waits() {
        let mut m = Meter::default();
        assert_eq!(m.round_trip(), None);
        m.connected(Duration::from_millis(7));
        assert_eq!(m.round_trip(), Some(Duration::from_millis(7)));
        m.waited(Duration::from_millis(3));
        for _ in 0..WAITS - 1 {
            m.waited(Duration::from_millis(9));
        }
        assert_eq!(m.round_trip(), Some(Duration::from_millis(3)));
        m.waited(Duration::from_millis(8));
        assert_eq!(m.round_trip(), Some(Duration::from_millis(8)));
    }

    #[test]
    fn a_way_whose_queue_stands_is_full() {
        let ms = Duration::from_millis;
        let mut m = Meter::default();
        m.stood(ms(200));
        assert!(!m.queues(), "nothing is known without the distance");
        m.connected(ms(100));
        assert!(m.queues());
        (0..STOOD).for_each(|_| m.stood(ms(105)));
        assert!(!m.queues());
        // a window that a loss has closed brings the same in every round trip, too
        let begin = Instant::now();
        for n in 0..2000 {
            m.arrived(if n < 500 { 12_000 } else { 6000 }, begin + ms(n));
        }
        assert!(m.narrow().is_some());
        m.streams(1, 15);
        assert_eq!(m.streams(1, 15), 2);
        // as on a busy machine: the same in every two round trips, with pauses
        let mut m = Meter::default();
        m.connected(ms(100));
        let begin = Instant::now();
        let bring = |m: &mut Meter, from: u64| {
            for n in from..from + 40 {
                m.arrived(400_000, begin + ms(50 * n));
                m.streams(1, 15);
            }
            m.streams(1, 15)
        };
        m.stood(ms(130));
        assert_eq!(bring(&mut m, 0), 1);
        (0..STOOD).for_each(|_| m.stood(ms(101)));
        assert_eq!(bring(&mut m, 40), 2, "a window that is held down");
    }

    #[test]
    fn a_steady_window_without_losses_is_left_alone() {
        let ms = Duration::from_millis;
        let mut m = Meter::default();
        m.connected(ms(100));
        let (begin, now) = (Instant::now(), Instant::now());
        let bring = |m: &mut Meter, from: u64| {
            for n in from..from + 40 {
                m.arrived(400_000, begin + ms(50 * n));
                m.streams(1, 15);
            }
            m.streams(1, 15)
        };
        m.ordered(true, now);
        assert_eq!(bring(&mut m, 0), 1);
        // packets of one round trip
        m.ordered(false, now);
        m.ordered(false, now + ms(150));
        assert_eq!(bring(&mut m, 40), 1);
        m.ordered(false, now + ms(300));
        assert_eq!(bring(&mut m, 80), 2, "a way that loses packets");
        let mut m = Meter::default();
        m.connected(ms(100));
        m.ordered(true, now);
        let counts: Vec<usize> = (0..6).map(|n| bring(&mut m, 40 * n)).collect();
        assert_eq!((counts[0], counts[5]), (1, 2), "a server that holds back: {counts:?}");
    }

    #[test]
    fn a_near_host_is_not_taken_for_one_that_limits_its_connections() {
        let us = Duration::from_micros;
        // bytes come evenly, as from a busy machine
        let counts = |connected: Duration| {
            let mut m = Meter::default();
            m.connected(connected);
            let begin = Instant::now();
            for n in 0..400 {
                m.arrived(400_000, begin + us(5000 * n));
                m.streams(1, 15);
            }
            (m.streams(1, 15), m.piece().is_some())
        };
        assert_eq!(counts(us(200)), (1, false));
        assert_eq!(counts(us(4000)), (2, true));
    }

    #[test]
    fn highest_of_the_last_rates_without_silences() {
        let mut m = Meter::default();
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        m.arrived(1 << 30, at(0));
        assert_eq!(m.bandwidth(), None);
        m.arrived(100_000, at(100));
        assert_eq!(m.bandwidth(), Some(1e6));
        m.arrived(1 << 30, at(9000));
        m.arrived(50_000, at(9010));
        m.arrived(50_000, at(9050));
        assert_eq!(m.bandwidth(), Some(2e6));
    }
}
