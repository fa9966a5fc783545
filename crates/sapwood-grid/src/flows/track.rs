//! When a class of flows had received how much, since it was first slower than it may be.

use crate::clock::{SECOND, Time};

/// So many points at most: then every second one is forgotten, so that the oldest are the farthest apart.
const MOST: usize = 64;

/// Times, and bytes that a flow which was there from the beginning had received then. Between two of them the rate was always the same, or
/// nearly.
#[derive(Clone, Debug, Default)]
pub(super) struct Track(Vec<(Time, f64)>);

impl Track {
    /// The rate changes now.
    pub(super) fn note(&mut self, now: Time, served: f64) {
        if self.0.last().is_some_and(|last| *last == (now, served)) {
            return;
        }
        if self.0.len() >= MOST {
            let mut odd = false;
            self.0.retain(|_| {
                odd = !odd;
                odd
            });
        }
        self.0.push((now, served));
    }

    /// Where flows stood still, or got no more than this: how much they had received, and until when that was all.
    pub(super) fn stalls(&self, most: f64) -> impl Iterator<Item = (f64, Time)> {
        self.0.windows(2).filter(move |w| w[1].1 - w[0].1 < most).map(|w| (w[1].1, w[1].0))
    }

    /// For how many seconds a flow has had so many bytes. `cap` is the rate before the first point.
    pub(super) fn since(&self, now: (Time, f64), served: f64, cap: f64) -> f64 {
        let ago = |time: Time| (now.0.saturating_sub(time)) as f64 / SECOND;
        let next = self.0.partition_point(|point| point.1 < served);
        let after = self.0.get(next).copied().unwrap_or(now);
        let Some(before) = next.checked_sub(1).and_then(|before| self.0.get(before)) else {
            return ago(after.0) + (after.1 - served).max(0.0) / cap;
        };
        let part = (after.1 - served) / (after.1 - before.1).max(f64::MIN_POSITIVE);
        ago(after.0) + part.clamp(0.0, 1.0) * (ago(before.0) - ago(after.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_when_bytes_came() {
        let second = 1_000_000_000;
        let mut track = Track::default();
        // 10 bytes per second until second 4, nothing until 9, then 20 per second
        track.note(4 * second, 40.0);
        track.note(9 * second, 40.0);
        let now = (11 * second, 80.0);
        for (served, since) in [(20.0, 9.0), (40.0, 7.0), (60.0, 1.0), (80.0, 0.0)] {
            assert_eq!(track.since(now, served, 10.0), since, "{served}");
        }
        assert!((track.since(now, 40.001, 10.0) - 2.0).abs() < 1e-3);
        assert_eq!(track.stalls(1.0).collect::<Vec<_>>(), [(40.0, 9 * second)]);
    }

    #[test]
    fn many_changes_are_known_nearly() {
        let mut track = Track::default();
        for i in 0..100_000u64 {
            track.note(i * 1_000_000, i as f64 * 10.0);
        }
        assert!(track.0.len() <= MOST);
        let now = (100_000_000_000, 1e6);
        for served in [0.0, 1e3, 777_777.0, 999_990.0] {
            let since = track.since(now, served, 1.0);
            assert!((since - (100.0 - served / 1e4)).abs() < 1e-6, "{served}: {since}");
        }
    }
}
