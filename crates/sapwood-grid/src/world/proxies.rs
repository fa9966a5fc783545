//! What proxies do before they read: a file is opened where it is read from, unless it was a moment ago.

use super::World;
use crate::clock::{Time, from_seconds};
use std::collections::BTreeMap;
use std::ops::Range;

/// How long the answer of a file's server holds for those who open the file later (`sapwood proxy --fresh`).
const FRESH: f64 = 5.0;
/// Round trips of opening: connecting, and the file's beginning.
const TRIPS: f64 = 2.0;
/// From so many ranges on, those whose answers are too old are forgotten. Few, so that they stay in the processor's cache.
const MANY: usize = 16;

/// When a proxy heard last that a file is unchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct Confirmed {
    /// The last files that were asked for, consecutive and at the same time: the first, and the one behind the last.
    latest: Range<u64>,
    then: Time,
    /// Those before, by the first: the one behind the last, and when. No file is in two of these ranges, or in the latest, too.
    before: BTreeMap<u64, (u64, Time)>,
    /// Ranges after which old ones are looked for.
    most: usize,
}

impl Confirmed {
    /// Whether the file must be asked for now; its answer counts from then on.
    fn asks(&mut self, now: Time, file: u64) -> bool {
        let fresh = from_seconds(FRESH);
        let is_fresh = |then: Time| now.saturating_sub(then) < fresh;
        if !is_fresh(self.then) {
            // then all are too old
            if !self.before.is_empty() {
                self.before.clear();
            }
        } else {
            if self.latest.contains(&file) {
                return false;
            }
            if let Some((&first, &(end, then))) = self.before.range(..=file).next_back()
                && file < end
            {
                if is_fresh(then) {
                    return false;
                }
                // too old for all of its files
                self.before.remove(&first);
            }
            if file == self.latest.end && now == self.then {
                self.latest.end = file + 1;
                return true;
            }
            if self.before.len() >= self.most.max(MANY) {
                self.before.retain(|_, (_, then)| is_fresh(*then));
                self.most = 2 * self.before.len();
            }
            if !self.latest.is_empty() {
                self.before.insert(self.latest.start, (self.latest.end, self.then));
            }
        }
        (self.latest, self.then) = (file..file + 1, now);
        true
    }
}

impl World<'_> {
    /// Seconds until proxies, one of which reads through the next, have opened files that a job opens now; these are added to `opened`. None
    /// where no link leads to them.
    pub(super) fn open_by_proxies(
        &mut self,
        files: &[u64],
        source: u32,
        chain: &[u32],
        opened: &mut f64,
    ) -> Option<()> {
        let Some(&nearest) = chain.first().filter(|_| !files.is_empty()) else { return Some(()) };
        let second = chain.get(1).copied().unwrap_or(source);
        self.network.look_around(nearest);
        let trip = self.network.distance(nearest, second);
        for &file in files {
            let mut waits = 0.0;
            for (i, &proxy) in chain.iter().enumerate() {
                let now = self.now;
                if !self.sites.get_mut(proxy as usize)?.confirmed.asks(now, file) {
                    break;
                }
                let distance = if i == 0 {
                    trip
                } else {
                    self.network.look_around(proxy);
                    self.network.distance(proxy, chain.get(i + 1).copied().unwrap_or(source))
                };
                waits += TRIPS * distance?;
            }
            *opened += waits;
        }
        Some(())
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
        assert!(known.before.len() <= MANY, "{}", known.before.len());
        for file in 0..100 * MANY as u64 {
            assert!(known.asks(10_000 * second + file * second / 2, 2 * file));
        }
        assert!(known.before.len() <= 2 * MANY, "{}", known.before.len());
    }

    proptest::proptest! {
        #[test]
        fn ranges_of_files_are_files_one_by_one(steps in proptest::collection::vec((0u64..30, 1u64..9, 0u64..4), 1..80)) {
            let (mut known, mut plain) = (Confirmed::default(), std::collections::HashMap::new());
            let mut now = 0;
            for (first, files, wait) in steps {
                now += from_seconds(wait as f64);
                for file in first..first + files {
                    let asks = plain.get(&file).is_none_or(|then| now - then >= from_seconds(FRESH));
                    if asks {
                        plain.insert(file, now);
                    }
                    proptest::prop_assert_eq!(known.asks(now, file), asks);
                }
            }
        }
    }
}
