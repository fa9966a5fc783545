//! How fast a session is, and when it holds up the others.

use std::time::{Duration, Instant};

/// Time over which a rate is measured.
const WINDOW: Duration = Duration::from_millis(500);
/// A session that would take less time for what it owes is left alone; or fewer round trips than below.
const SOON: Duration = Duration::from_secs(1);
const SOON_TRIPS: u32 = 10;
/// Round trips until a fresh session is as fast as others: connection, login, and opening windows.
const FRESH_TRIPS: u32 = 4;
/// A session is given up if this factor of time is gained: its window and the bytes in flight are lost.
const GAIN: f64 = 1.5;

/// What arrived in a session lately, while requests were pending.
pub(crate) struct SessionRate {
    begin: Instant,
    bytes: u64,
    last: Option<f64>,
}

impl SessionRate {
    pub(crate) fn new(now: Instant) -> Self {
        Self { begin: now, bytes: 0, last: None }
    }

    /// A request was sent, with none pending before.
    pub(crate) fn rested(&mut self, now: Instant) {
        *self = Self { last: self.last, ..Self::new(now) };
    }

    /// Bytes came.
    pub(crate) fn beat(&mut self, bytes: u64, now: Instant) {
        self.bytes += bytes;
        if let Some(rate) = self.of_window(now) {
            *self = Self { last: Some(rate), ..Self::new(now) };
        }
    }

    /// Bytes per second; none until requests have been pending for long enough.
    pub(crate) fn rate(&self, now: Instant) -> Option<f64> {
        self.of_window(now).or(self.last)
    }

    fn of_window(&self, now: Instant) -> Option<f64> {
        let time = now.saturating_duration_since(self.begin);
        (time >= WINDOW).then(|| self.bytes as f64 / time.as_secs_f64())
    }
}

/// Whether a session that owes this much at this rate holds up idle ones: others would bring what it owes in less than
/// two thirds of its time, over the `free` sessions and a fresh one in its place, in requests of `piece` bytes, at
/// `typical` bytes per second each.
pub(super) fn holds_up(owes: u64, rate: f64, typical: f64, free: usize, piece: u64, far: Duration) -> bool {
    let alone = owes as f64 / rate.max(1.0);
    let sessions = owes.div_ceil(piece.max(1)).min(free as u64 + 1) as f64;
    let shared = (far * FRESH_TRIPS).as_secs_f64() + owes as f64 / (sessions * typical.max(1.0));
    free > 0 && alone > SOON.max(far * SOON_TRIPS).as_secs_f64() && alone > GAIN * shared
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Duration = Duration::from_millis(100);
    const PIECE: u64 = 512 << 10;
    const MB: u64 = 1 << 20;

    #[test]
    fn a_rate_is_that_of_the_time_in_which_something_was_asked() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut pulse = SessionRate::new(begin);
        pulse.beat(100_000, at(100));
        assert_eq!(pulse.rate(at(400)), None);
        pulse.beat(100_000, at(500));
        assert_eq!(pulse.rate(at(600)), Some(400_000.0));
        // it stalls
        assert_eq!(pulse.rate(at(1500)), Some(0.0));
        // no pending requests
        pulse.rested(at(9000));
        assert_eq!(pulse.rate(at(9100)), Some(400_000.0));
    }

    #[test]
    fn a_long_line_behind_a_closed_window_holds_up_idle_sessions() {
        let rate = 600_000.0;
        assert!(holds_up(16 * MB, rate, rate, 7, PIECE, FAR));
        assert!(holds_up(16 * MB, rate, rate, 1, PIECE, FAR));
        assert!(!holds_up(16 * MB, rate, rate, 0, PIECE, FAR), "nobody else would bring it");
        // an open window
        assert!(!holds_up(16 * MB, 12e6, rate, 7, PIECE, FAR));
        assert!(!holds_up(MB / 2, rate, rate, 7, PIECE, FAR), "soon done");
    }

    /// Eight sessions share 58 MB, each getting the next piece when it has finished one. Returns the seconds that all
    /// take: the first session has been asked for `owes` while its window was open. With `looks`, sessions that hold up
    /// others are ended.
    fn shared(owes: u64, rates: [f64; 8], looks: bool) -> f64 {
        const STEP: f64 = 0.25;
        let (mut queue, mut owed, mut rates) = (58 * MB - owes, [0u64; 8], rates);
        owed[0] = owes;
        let mut time = 0.0;
        while queue > 0 || owed.iter().any(|&n| n > 0) {
            for (owed, rate) in owed.iter_mut().zip(rates) {
                let mut can = (rate * STEP) as u64;
                while can > 0 && (*owed > 0 || queue > 0) {
                    if *owed == 0 {
                        *owed = queue.min(PIECE);
                        queue -= *owed;
                    }
                    let brought = can.min(*owed);
                    (can, *owed) = (can - brought, *owed - brought);
                }
            }
            let free = owed.iter().filter(|&&n| n == 0).count();
            let typical = rates[1..].iter().sum::<f64>() / 7.0;
            if looks && queue == 0 && holds_up(owed[0], rates[0], typical, free, PIECE, FAR) {
                queue += std::mem::take(&mut owed[0]);
                // a fresh one in its place
                rates[0] = typical;
            }
            time += STEP;
        }
        time
    }

    #[test]
    fn a_session_whose_window_has_closed_does_not_hold_up_the_others() {
        let rates = [300e3, 600e3, 700e3, 650e3, 600e3, 500e3, 700e3, 600e3];
        let together = 58.0 * MB as f64 / rates.iter().sum::<f64>();
        let (left, relieved) = (shared(20 * MB, rates, false), shared(20 * MB, rates, true));
        assert!(left > 5.0 * together, "{left} {together}");
        assert!(relieved < 1.25 * together, "{relieved} {together}");
    }

    #[test]
    fn sessions_that_are_all_slow_are_not_exchanged_for_each_other() {
        assert!(!holds_up(PIECE, 50_000.0, 50_000.0, 7, PIECE, FAR));
        assert!(holds_up(PIECE, 50_000.0, 600_000.0, 1, PIECE, FAR), "it alone has collapsed");
    }
}
