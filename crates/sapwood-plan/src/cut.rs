//! Scans with a cut: the branches of the cut are read first. Decides which baskets of the other branches are needed,
//! and which are fetched before that is known.
//!
//! The rule. The values of the cut's branches are evaluated step by step, as soon as they have arrived. A basket of
//! another branch is fetched when an entry in it passed, and never when all of its entries are known not to pass.
//! Fetching it before that is known pays only where waiting costs time: over a network, and only while cuts pass. So a
//! scan first requests as many bytes of the others, along with the cut's, as the network would otherwise leave unused
//! while the first values of the cut are in pending. Very far away that is a quarter more than the cut's own branches
//! have: congestion windows are opening all the while there, and the cost of two consecutive requests is round trips,
//! not bytes. Each step whose early baskets were mostly needed multiplies that allowance by four, and one whose baskets
//! were not takes it away. Local files have no latency, so nothing is fetched early there.

use crate::Limits;
use crate::assumptions::{BANDWIDTH, FRESH_CONNECTION};
use std::ops::Range;
use std::time::Duration;

/// From this round-trip time on a fast network carries more in a round trip than most cuts read.
const VERY_FAR: Duration = Duration::from_millis(100);
/// Factor by which the allowance grows after a step that needed what it requested.
const GROWTH: u64 = 4;
/// At most this many bytes are requested early.
const MOST_EARLY: u64 = 32 << 20;

/// A basket of a scan with a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutBasket {
    /// Its entries.
    pub entries: Range<u64>,
    /// Its compressed bytes in the file; zero if they need not be fetched.
    pub bytes: u64,
    /// First and last step that has entries in it.
    pub steps: (usize, usize),
    /// Whether it is read regardless of the cut: a basket of the cut's own branches.
    pub unconditional: bool,
}

/// What is known about a basket that depends on the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Not known; not requested.
    Withheld,
    /// Not known, but requested.
    Prefetched,
    /// An entry in it passed.
    Needed,
    /// None did.
    Skipped,
}

/// Decides which baskets of a scan with a cut are fetched, and when.
///
/// Baskets have the numbers that they have in the list given to [`CutPrefetch::new`]; the caller turns its decisions
/// into [`crate::Event::Withhold`], [`crate::Event::Release`] and [`crate::Event::Skip`].
#[derive(Debug)]
pub struct CutPrefetch {
    baskets: Vec<CutBasket>,
    /// By basket; none for the cut's own.
    needs: Vec<Option<Need>>,
    /// The baskets that depend on the cut, by entry.
    order: Vec<usize>,
    /// All before this place in `order` are no longer withheld.
    next: usize,
    /// The first place in `order` whose basket may still be undecided.
    undecided: usize,
    /// Bytes requested of which it is not known whether they are needed.
    early: u64,
    /// Bytes that may be requested before that is known, now and at the beginning.
    allowance: u64,
    first_allowance: u64,
    /// Steps that have been evaluated.
    evaluated: usize,
}

/// Baskets that a step of the cut decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutDecision {
    /// To be fetched.
    pub release: Vec<usize>,
    /// No longer needed.
    pub skip: Vec<usize>,
}

impl CutPrefetch {
    /// For these baskets, read from a server with these limits (or from a local file).
    pub fn new(baskets: Vec<CutBasket>, limits: &Limits) -> Self {
        let own = baskets.iter().filter(|b| b.unconditional).map(|b| b.bytes).sum();
        Self::with_allowance(baskets, first_allowance(limits, own))
    }

    fn with_allowance(baskets: Vec<CutBasket>, allowance: u64) -> Self {
        let mut order: Vec<usize> = (0..baskets.len()).filter(|&i| !baskets[i].unconditional).collect();
        order.sort_by_key(|&i| (baskets[i].entries.start, i));
        let mut cut = Self {
            needs: baskets.iter().map(|b| (!b.unconditional).then_some(Need::Withheld)).collect(),
            baskets,
            order,
            next: 0,
            undecided: 0,
            early: 0,
            allowance,
            first_allowance: allowance,
            evaluated: 0,
        };
        cut.prefetch();
        cut
    }

    /// Whether a basket depends on the cut.
    pub fn depends(&self, basket: usize) -> bool {
        self.needs.get(basket).is_some_and(Option::is_some)
    }

    /// Whether the basket is known not to be needed.
    pub fn is_skipped(&self, basket: usize) -> bool {
        self.needs.get(basket).is_some_and(|n| *n == Some(Need::Skipped))
    }

    /// The next step to evaluate.
    pub fn next_step(&self) -> usize {
        self.evaluated
    }

    /// The baskets that wait for the cut, and are not fetched until they are released.
    pub fn withheld(&self) -> Vec<usize> {
        self.order[self.next..].iter().copied().filter(|&b| self.needs[b] == Some(Need::Withheld)).collect()
    }

    /// Those that are fetched before anything is known about them, within the allowance.
    fn prefetch(&mut self) -> Vec<usize> {
        let mut out = Vec::new();
        while let Some(&b) = self.order.get(self.next) {
            if self.needs[b] == Some(Need::Withheld) {
                let bytes = self.baskets[b].bytes;
                if self.early + bytes > self.allowance {
                    break;
                }
                self.early += bytes;
                self.needs[b] = Some(Need::Prefetched);
                out.push(b);
            }
            self.next += 1;
        }
        out
    }

    /// Reports that the next step is evaluated: `passed` says whether an entry of the step in this range did.
    pub fn evaluated(&mut self, passed: impl Fn(&Range<u64>) -> bool) -> CutDecision {
        let step = self.evaluated;
        self.evaluated += 1;
        let mut decision = CutDecision::default();
        let (mut needed, mut in_vain) = (0, 0);
        for place in self.undecided..self.order.len() {
            let b = self.order[place];
            let basket = &self.baskets[b];
            if basket.steps.0 > step {
                break;
            }
            let before = match self.needs[b] {
                Some(need @ (Need::Withheld | Need::Prefetched)) => need,
                _ => continue,
            };
            let now = if passed(&basket.entries) {
                Need::Needed
            } else if basket.steps.1 <= step {
                Need::Skipped
            } else {
                continue;
            };
            if before == Need::Prefetched {
                self.early = self.early.saturating_sub(basket.bytes);
            }
            self.needs[b] = Some(now);
            if now == Need::Needed {
                needed += basket.bytes;
                if before == Need::Withheld {
                    decision.release.push(b);
                }
            } else {
                in_vain += basket.bytes;
                decision.skip.push(b);
            }
        }
        let open = |&b: &usize| matches!(self.needs[b], Some(Need::Withheld | Need::Prefetched));
        self.undecided += self.order[self.undecided..].iter().take_while(|b| !open(b)).count();
        if needed + in_vain > 0 {
            // worth it as long as three of four bytes would have been requested anyway
            let worth = needed >= 3 * in_vain;
            let grown = self.allowance.max(self.first_allowance).saturating_mul(GROWTH).min(MOST_EARLY);
            self.allowance = match (worth, self.first_allowance) {
                (true, 1..) => grown,
                _ => 0,
            };
        }
        decision.release.extend(self.prefetch());
        decision
    }
}

/// Bytes that the network carries while a cut's first values are in pending, as far as known; none for local files.
/// `own` is the size of the cut's branches.
fn first_allowance(limits: &Limits, own: u64) -> u64 {
    let round_trip = limits.round_trip.unwrap_or(Duration::ZERO);
    let carried = limits.bandwidth.unwrap_or(BANDWIDTH) * round_trip.as_secs_f64();
    let idle = limits.max_in_flight as u64 * FRESH_CONNECTION;
    let idle = if round_trip >= VERY_FAR { idle.max(own + own / 4) } else { idle };
    (carried as u64).min(idle).min(MOST_EARLY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cut's branch and another, with baskets of 100 entries and bytes each, one a step.
    fn baskets(n: usize) -> Vec<CutBasket> {
        let basket = |i: usize| CutBasket {
            entries: (i % n) as u64 * 100..(i % n) as u64 * 100 + 100,
            bytes: 100,
            steps: (i % n, i % n),
            unconditional: i < n,
        };
        (0..2 * n).map(basket).collect()
    }

    /// Whether an entry of `passed` is in a range.
    fn some_of(passed: Range<u64>) -> impl Fn(&Range<u64>) -> bool {
        move |r| passed.start < r.end && r.start < passed.end
    }

    const NOTHING: Range<u64> = 0..0;

    #[test]
    fn without_allowance_only_what_passed_is_asked_for() {
        let mut cut = CutPrefetch::new(baskets(3), &Limits::local(2));
        assert_eq!(cut.withheld(), [3, 4, 5]);
        assert_eq!(cut.evaluated(some_of(NOTHING)), CutDecision { release: vec![], skip: vec![3] });
        assert_eq!(cut.evaluated(some_of(150..151)), CutDecision { release: vec![4], skip: vec![] });
        assert_eq!(cut.next_step(), 2);
        assert_eq!(cut.evaluated(some_of(200..300)), CutDecision { release: vec![5], skip: vec![] });
        assert!(cut.is_skipped(3) && !cut.is_skipped(4) && !cut.is_skipped(0));
        assert!(cut.depends(4) && !cut.depends(0));
    }

    #[test]
    fn cuts_that_pass_earn_more_and_others_lose_it() {
        let mut cut = CutPrefetch::with_allowance(baskets(20), 200);
        assert_eq!(cut.withheld(), (22..40).collect::<Vec<_>>());
        // 100 bytes stay early: 800 may be
        assert_eq!(cut.evaluated(some_of(0..100)).release, [22, 23, 24, 25, 26, 27, 28]);
        // nothing passed: nothing more is requested early, what was is skipped once that is known
        assert_eq!(cut.evaluated(some_of(NOTHING)), CutDecision { release: vec![], skip: vec![21] });
        assert_eq!(cut.evaluated(some_of(NOTHING)), CutDecision { release: vec![], skip: vec![22] });
        // it is earned again
        assert_eq!(cut.evaluated(some_of(300..301)).release, [29, 30, 31]);
    }

    #[test]
    fn a_basket_of_several_steps_is_skipped_by_the_last() {
        let mut baskets = baskets(2);
        baskets[2].entries = 0..200;
        baskets[2].steps = (0, 1);
        baskets.pop();
        let mut cut = CutPrefetch::new(baskets, &Limits::local(2));
        assert_eq!(cut.evaluated(some_of(NOTHING)), CutDecision::default());
        assert_eq!(cut.evaluated(some_of(NOTHING)), CutDecision { release: vec![], skip: vec![2] });
    }

    #[test]
    fn the_first_allowance_is_what_the_network_carries() {
        let ms = Duration::from_millis;
        assert_eq!(first_allowance(&Limits::local(8), 9 << 20), 0);
        let far = Limits { max_in_flight: 16, ..Limits::http(ms(20)) };
        assert_eq!(first_allowance(&far, 9 << 20), 16 * FRESH_CONNECTION);
        assert_eq!(first_allowance(&Limits::http(ms(240)), 8 << 20), 10 << 20);
        let slow = Limits { bandwidth: Some(1e6), ..Limits::http(ms(240)) };
        assert_eq!(first_allowance(&slow, 9 << 20), 240_000);
    }
}
