//! Reading the branches of a cut first: which baskets of the other branches are needed, and which are asked for before
//! that is known.
//!
//! The rule. What the cut's branches bring is evaluated step by step, as soon as it is here. A basket of another branch
//! is asked for when an entry in it passed, and never when all of its entries are known not to pass. Asking before that
//! is known is worth it only where waiting costs time: on a way with a round trip, and only as long as cuts pass. So a
//! scan begins by asking for as many bytes of the others, along with the cut's, as the way would carry idly while the
//! answer for the cut travels (very far away a quarter more than the cut's own branches have: there windows are opening all the
//! while, and what two requests behind each other take is round trips, not bytes); each step whose baskets were mostly needed multiplies that allowance by four, and one
//! whose baskets were not takes it away. Local files wait for nothing, so nothing is asked for early there.

use super::baskets::Needed;
use crate::entries::EntryList;
use sapwood_plan::Limits;
use std::time::Duration;

/// About what a connection carries in the first two round trips of its life: 10 segments (RFC 6928), then 20.
const SLOW_START_SHARE: u64 = 64 << 10;
/// Assumed until measured: 1 Gbit/s.
const ASSUMED_BANDWIDTH: f64 = 125e6;
/// From this round-trip time on a wide way carries more in a round trip than most cuts have to be read.
const VERY_FAR: Duration = Duration::from_millis(100);
/// Factor by which the allowance grows with a step that needed what it asked for.
const GROWTH: u64 = 4;
/// At most so much is asked for early.
const MOST_EARLY: u64 = 32 << 20;

/// What is known of a basket that depends on the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Not known; not asked for.
    Withheld,
    /// Not known, but asked for.
    Early,
    /// An entry in it passed.
    Needed,
    /// None did.
    Skipped,
}

/// Decides about the baskets of the branches that are not the cut's.
#[derive(Debug)]
pub(super) struct Gate {
    /// By basket; none for the cut's own.
    fates: Vec<Option<Fate>>,
    /// The baskets that depend on the cut, by entry.
    order: Vec<usize>,
    /// All in front of this place in `order` are no longer withheld.
    next: usize,
    /// The first place in `order` whose basket may still be undecided.
    undecided: usize,
    /// Bytes asked for whose fate is not known.
    early: u64,
    /// Bytes that may be asked for before their fate is known, now and at the beginning.
    allowance: u64,
    first_allowance: u64,
    /// Baskets of the cut that are missing, by step.
    pub pending: Vec<usize>,
    /// Steps that have been evaluated.
    pub evaluated: usize,
}

/// Baskets whose fate has changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// To be asked for.
    pub release: Vec<usize>,
    /// No longer needed.
    pub skip: Vec<usize>,
}

impl Gate {
    /// `guides` says by column whose baskets are read unconditionally; `allowance` how many bytes of the others may be
    /// asked for at first.
    pub fn new(baskets: &[Needed], guides: &[bool], steps: usize, allowance: u64) -> Self {
        let guide = |b: &Needed| guides.get(b.column).copied().unwrap_or(true);
        let mut order: Vec<usize> = (0..baskets.len()).filter(|&i| !guide(&baskets[i])).collect();
        order.sort_by_key(|&i| (baskets[i].entries.start, i));
        let mut pending = vec![0; steps];
        for b in baskets.iter().filter(|b| guide(b)) {
            pending[b.batches.0..=b.batches.1].iter_mut().for_each(|n| *n += 1);
        }
        Self {
            fates: baskets.iter().map(|b| (!guide(b)).then_some(Fate::Withheld)).collect(),
            order,
            next: 0,
            undecided: 0,
            early: 0,
            allowance,
            first_allowance: allowance,
            pending,
            evaluated: 0,
        }
    }

    /// Bytes that the way carries while a cut's first values travel, as far as is known; none for local files. `own` is
    /// what the cut's branches have.
    pub fn allowance(local: bool, limits: &Limits, own: u64) -> u64 {
        let round_trip = limits.round_trip.filter(|_| !local).unwrap_or(Duration::ZERO);
        let carried = limits.bandwidth.unwrap_or(ASSUMED_BANDWIDTH) * round_trip.as_secs_f64();
        let idle = limits.max_in_flight as u64 * SLOW_START_SHARE;
        let idle = if round_trip >= VERY_FAR { idle.max(own + own / 4) } else { idle };
        (carried as u64).min(idle).min(MOST_EARLY)
    }

    /// Whether a basket depends on the cut.
    pub fn governs(&self, basket: usize) -> bool {
        self.fates.get(basket).is_some_and(Option::is_some)
    }

    /// Whether nobody needs the basket.
    pub fn skips(&self, basket: usize) -> bool {
        self.fates.get(basket).is_some_and(|f| *f == Some(Fate::Skipped))
    }

    /// The baskets that wait for the cut.
    pub fn withheld(&self) -> Vec<usize> {
        self.order[self.next..].iter().copied().filter(|&b| self.fates[b] == Some(Fate::Withheld)).collect()
    }

    /// Those that are asked for before anything is known of them, as far as the allowance goes.
    pub fn ask_early(&mut self, baskets: &[Needed]) -> Vec<usize> {
        let mut out = Vec::new();
        while let Some(&b) = self.order.get(self.next) {
            if self.fates[b] == Some(Fate::Withheld) {
                let bytes = bytes(&baskets[b]);
                if self.early + bytes > self.allowance {
                    break;
                }
                self.early += bytes;
                self.fates[b] = Some(Fate::Early);
                out.push(b);
            }
            self.next += 1;
        }
        out
    }

    /// The next step is evaluated: `passed` are the entries of it that did.
    pub fn evaluated(&mut self, baskets: &[Needed], passed: &EntryList) -> Verdict {
        let step = self.evaluated;
        self.evaluated += 1;
        let mut verdict = Verdict::default();
        let (mut needed, mut in_vain) = (0, 0);
        for place in self.undecided..self.order.len() {
            let b = self.order[place];
            let basket = &baskets[b];
            if basket.batches.0 > step {
                break;
            }
            let before = match self.fates[b] {
                Some(fate @ (Fate::Withheld | Fate::Early)) => fate,
                _ => continue,
            };
            let now = if passed.touches(&basket.entries) {
                Fate::Needed
            } else if basket.batches.1 <= step {
                Fate::Skipped
            } else {
                continue;
            };
            if before == Fate::Early {
                self.early = self.early.saturating_sub(bytes(basket));
            }
            self.fates[b] = Some(now);
            if now == Fate::Needed {
                needed += bytes(basket);
                if before == Fate::Withheld {
                    verdict.release.push(b);
                }
            } else {
                in_vain += bytes(basket);
                verdict.skip.push(b);
            }
        }
        let open = |&b: &usize| matches!(self.fates[b], Some(Fate::Withheld | Fate::Early));
        self.undecided += self.order[self.undecided..].iter().take_while(|b| !open(b)).count();
        if needed + in_vain > 0 {
            // worth it as long as three of four bytes would have been asked for anyway
            let worth = needed >= 3 * in_vain;
            let grown = self.allowance.max(self.first_allowance).saturating_mul(GROWTH).min(MOST_EARLY);
            self.allowance = match (worth, self.first_allowance) {
                (true, 1..) => grown,
                _ => 0,
            };
        }
        verdict.release.extend(self.ask_early(baskets));
        verdict
    }
}

fn bytes(basket: &Needed) -> u64 {
    basket.span.map_or(0, |s| s.len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_span::Span;

    /// A cut's branch and another, with baskets of 100 entries and bytes each, one a step.
    fn baskets(n: usize) -> Vec<Needed> {
        let basket = |i: usize| Needed {
            column: i / n,
            number: i % n,
            entries: (i % n) as u64 * 100..(i % n) as u64 * 100 + 100,
            span: Some(Span::new(i as u64 * 100, 100)),
            embedded: 0,
            unzipped: 100,
            batches: (i % n, i % n),
        };
        (0..2 * n).map(basket).collect()
    }

    #[test]
    fn without_allowance_only_what_passed_is_asked_for() {
        let baskets = baskets(3);
        let mut gate = Gate::new(&baskets, &[true, false], 3, 0);
        assert_eq!(gate.pending, [1, 1, 1]);
        assert!(gate.ask_early(&baskets).is_empty());
        assert_eq!(gate.withheld(), [3, 4, 5]);
        assert_eq!(gate.evaluated(&baskets, &EntryList::default()), Verdict { release: vec![], skip: vec![3] });
        assert_eq!(gate.evaluated(&baskets, &EntryList::from(150..151)), Verdict { release: vec![4], skip: vec![] });
        assert_eq!(gate.evaluated(&baskets, &EntryList::from(200..300)), Verdict { release: vec![5], skip: vec![] });
        assert!(gate.skips(3) && !gate.skips(4) && !gate.skips(0));
        assert!(gate.governs(4) && !gate.governs(0));
    }

    #[test]
    fn cuts_that_pass_earn_more_and_others_lose_it() {
        let baskets = baskets(20);
        let mut gate = Gate::new(&baskets, &[true, false], 20, 200);
        assert_eq!(gate.ask_early(&baskets), [20, 21]);
        // 100 bytes stay early: 800 may be
        let passed = gate.evaluated(&baskets, &EntryList::from(0..100));
        assert_eq!(passed.release, [22, 23, 24, 25, 26, 27, 28]);
        // nothing passed: nothing more is asked for early, what was is skipped as it is known
        assert_eq!(gate.evaluated(&baskets, &EntryList::default()), Verdict { release: vec![], skip: vec![21] });
        assert_eq!(gate.evaluated(&baskets, &EntryList::default()), Verdict { release: vec![], skip: vec![22] });
        // it is earned again
        assert_eq!(gate.evaluated(&baskets, &EntryList::from(300..301)).release, [29, 30, 31]);
    }

    #[test]
    fn a_basket_of_several_steps_is_skipped_by_the_last() {
        let mut baskets = baskets(2);
        baskets[2].entries = 0..200;
        baskets[2].batches = (0, 1);
        baskets.pop();
        let mut gate = Gate::new(&baskets, &[true, false], 2, 0);
        assert_eq!(gate.evaluated(&baskets, &EntryList::default()), Verdict::default());
        assert_eq!(gate.evaluated(&baskets, &EntryList::default()), Verdict { release: vec![], skip: vec![2] });
    }

    #[test]
    fn the_first_allowance_is_what_the_way_carries() {
        let ms = Duration::from_millis;
        assert_eq!(Gate::allowance(true, &Limits::http(ms(20)), 9 << 20), 0);
        assert_eq!(Gate::allowance(false, &Limits::http(ms(20)), 9 << 20), 16 * SLOW_START_SHARE);
        assert_eq!(Gate::allowance(false, &Limits::http(ms(240)), 8 << 20), 10 << 20);
        let slow = Limits { bandwidth: Some(1e6), ..Limits::http(ms(240)) };
        assert_eq!(Gate::allowance(false, &slow, 9 << 20), 240_000);
    }
}
