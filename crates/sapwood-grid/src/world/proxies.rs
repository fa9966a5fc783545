//! What proxies do before they read: a file is opened where it is read from, unless it was a moment ago.

use super::World;
use crate::clock::{Time, from_seconds};
use crate::keys::Map;

/// How long the answer of a file's server holds for those who open the file later (`sapwood proxy --fresh`).
const FRESH: f64 = 5.0;
/// Round trips of opening: connecting, and the file's beginning.
const TRIPS: f64 = 2.0;
/// From so many files on, those whose answers are too old are forgotten. Few, so that they stay in the processor's cache.
const MANY: usize = 64;

/// When a proxy heard last that a file is unchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct Confirmed {
    last: Map<u64, Time>,
    /// Files after which old ones are looked for.
    most: usize,
}

impl Confirmed {
    /// Whether the file must be asked for now; its answer counts from then on.
    fn asks(&mut self, now: Time, file: u64) -> bool {
        let fresh = from_seconds(FRESH);
        let is_fresh = |then: &Time| now.saturating_sub(*then) < fresh;
        if self.last.get(&file).is_some_and(is_fresh) {
            return false;
        }
        if self.last.len() >= self.most.max(MANY) {
            self.last.retain(|_, then| is_fresh(then));
            self.most = 2 * self.last.len();
        }
        self.last.insert(file, now);
        true
    }
}

impl World<'_> {
    /// Seconds until proxies, one of which reads through the next, have opened a file that a job opens now. None where no link leads
    /// to it.
    pub(super) fn opened_by_proxies(&mut self, file: u64, source: u32, chain: &[u32]) -> Option<f64> {
        let mut waits = 0.0;
        for (i, &proxy) in chain.iter().enumerate() {
            let now = self.now;
            if !self.sites.get_mut(proxy as usize)?.confirmed.asks(now, file) {
                break;
            }
            let next = chain.get(i + 1).copied().unwrap_or(source);
            self.network.look_around(proxy);
            waits += TRIPS * self.network.distance(proxy, next)?;
        }
        Some(waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_for_a_while_and_files_are_forgotten() {
        let second = from_seconds(1.0);
        let mut known = Confirmed::default();
        assert!(known.asks(0, 1) && !known.asks(4 * second, 1) && known.asks(5 * second, 1));
        assert!(!known.asks(9 * second, 1));
        for file in 0..100 * MANY as u64 {
            assert!(known.asks((10 + file) * second, 1000 + file));
        }
        assert!(known.last.len() <= MANY, "{}", known.last.len());
    }
}
