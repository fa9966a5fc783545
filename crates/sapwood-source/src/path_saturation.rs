//! Whether the path to a host is saturated, judged by how its bytes arrive.

use std::time::{Duration, Instant};

/// Consecutive round trips that must bring about the same, without a pause.
const ROUND_TRIPS: u32 = 2;

/// How much more a round trip may bring than the one before: a window that is opening doubles.
const GROWTH: f64 = 1.3;

/// A saturated path brings the same in every round trip, without a pause. A window that is still opening brings bursts,
/// and twice as much each time; even where many connections alternate so that there is no pause.
#[derive(Default)]
pub(crate) struct PathSaturation {
    turn: Option<Turn>,
    /// Bytes per second that the path itself carries.
    rate: Option<f64>,
    /// How many round trips in a row have brought more, pauses between them aside.
    faster: u32,
}

/// The current round trip.
struct Turn {
    begin: Instant,
    last: Instant,
    bytes: u64,
    /// The rate of the previous one, in bytes per second.
    before: Option<f64>,
    /// How many have had the same rate.
    alike: u32,
}

impl Turn {
    fn new(now: Instant) -> Self {
        Self { begin: now, last: now, bytes: 0, before: None, alike: 0 }
    }
}

impl PathSaturation {
    /// Bytes arrived, over a path with this round-trip time.
    pub(crate) fn arrived(&mut self, bytes: u64, now: Instant, round_trip: Duration) {
        let Some(turn) = self.turn.as_mut().filter(|t| now.saturating_duration_since(t.last) < round_trip / 3) else {
            self.turn = Some(Turn::new(now));
            return;
        };
        turn.last = now;
        turn.bytes += bytes;
        let time = now.saturating_duration_since(turn.begin);
        if time < round_trip || time.is_zero() {
            return;
        }
        let rate = turn.bytes as f64 / time.as_secs_f64();
        let alike = match turn.before {
            Some(before) if rate < before * GROWTH && rate > before / GROWTH => turn.alike + 1,
            _ => 0,
        };
        *turn = Turn { before: Some(rate), alike, ..Turn::new(now) };
        // One alone may have brought what the round trip before had not: bytes that were late.
        self.faster = if self.rate.is_some_and(|known| rate > GROWTH * known) { self.faster + 1 } else { 0 };
        if alike >= ROUND_TRIPS {
            self.rate = Some(rate);
        } else if self.faster > 1 {
            self.rate = None;
        }
    }

    /// What the path itself carries, in bytes per second, if it was seen to be saturated.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Duration = Duration::from_millis(72);

    fn arrive(f: &mut PathSaturation, begin: Instant, from: u64, to: u64, each: u64) {
        (from..to).for_each(|ms| f.arrived(each, begin + Duration::from_millis(ms), FAR));
    }

    #[test]
    fn a_way_is_full_when_all_round_trips_bring_the_same() {
        let (mut f, begin) = (PathSaturation::default(), Instant::now());
        arrive(&mut f, begin, 0, 200, 1000);
        assert_eq!(f.rate(), None);
        arrive(&mut f, begin, 200, 400, 1000);
        assert!(f.rate().is_some_and(|r| (r / 1e6 - 1.0).abs() < 0.05), "{:?}", f.rate());
        // what was late comes together with what follows
        arrive(&mut f, begin, 400, 430, 2500);
        arrive(&mut f, begin, 430, 560, 1000);
        assert!(f.rate().is_some_and(|r| (r / 1e6 - 1.0).abs() < 0.05), "{:?}", f.rate());
        // it carries more after all
        arrive(&mut f, begin, 560, 780, 16_000);
        assert_eq!(f.rate(), None);
    }

    #[test]
    fn an_opening_window_is_no_full_way() {
        let (mut f, begin) = (PathSaturation::default(), Instant::now());
        // bursts, a round trip apart
        for turn in 0..8 {
            arrive(&mut f, begin, 72 * turn, 72 * turn + 5, 3000 << turn);
        }
        assert_eq!(f.rate(), None);
        // many connections in sequence, all opening
        let mut f = PathSaturation::default();
        for turn in 0..8 {
            arrive(&mut f, begin, 1000 + 73 * turn, 1000 + 73 * (turn + 1), 100 << turn);
        }
        assert_eq!(f.rate(), None);
    }
}
