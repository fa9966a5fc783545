use sapwood_plan::{Basket, BasketId, CutBasket, CutDecision, CutPrefetch, Event, Limits};
use std::ops::Range;

/// A condition on entries, evaluated as soon as the branches that it needs are decompressed: of the other branches only
/// passing entries are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cut {
    /// The branches it needs.
    pub branches: Vec<u32>,
    /// The entries that pass, ascending.
    pub passed: Vec<Range<u64>>,
    /// Limits of the server as the client knew them when the scan began, where its requests are planned with others.
    pub limits: Option<Limits>,
}

/// The progress of a cut through the batches of a client, which are its steps.
#[derive(Debug)]
pub(crate) struct CutProgress<'a> {
    cut: &'a Cut,
    batches: &'a [(u64, u64)],
    prefetch: CutPrefetch,
    /// First and last batch with entries of a basket.
    steps: Vec<(usize, usize)>,
    /// Baskets of the cut's branches that are not decompressed, by step.
    missing: Vec<usize>,
}

impl<'a> CutProgress<'a> {
    /// The batches must ascend without a gap.
    pub(crate) fn new(cut: &'a Cut, baskets: &[Basket], batches: &'a [(u64, u64)], limits: &Limits) -> Self {
        let last = batches.len().saturating_sub(1);
        let steps: Vec<(usize, usize)> = (baskets.iter())
            .map(|b| {
                let from = batches.partition_point(|&(_, end)| end <= b.first).min(last);
                let to = batches.partition_point(|&(start, _)| start < b.last).saturating_sub(1).max(from);
                (from, to)
            })
            .collect();
        let needs = |b: &Basket| cut.branches.contains(&b.branch);
        let mut missing = vec![0; batches.len()];
        for (_, &(from, to)) in baskets.iter().zip(&steps).filter(|(b, _)| needs(b)) {
            missing[from..=to].iter_mut().for_each(|n| *n += 1);
        }
        let list = baskets.iter().zip(&steps).map(|(b, &steps)| CutBasket {
            entries: b.first..b.last,
            bytes: b.span.len,
            steps,
            unconditional: needs(b),
        });
        let limits = cut.limits.as_ref().unwrap_or(limits);
        Self { cut, batches, prefetch: CutPrefetch::new(list.collect(), limits), steps, missing }
    }

    /// The event for the planner before any entries are requested.
    pub(crate) fn withhold(&self) -> Event {
        Event::Withhold(ids(&self.prefetch.withheld()))
    }

    pub(crate) fn is_skipped(&self, basket: BasketId) -> bool {
        self.prefetch.is_skipped(basket.index())
    }

    /// A basket is decompressed, or given up.
    pub(crate) fn finished(&mut self, basket: BasketId) {
        if !self.prefetch.depends(basket.index()) {
            let (from, to) = self.steps[basket.index()];
            self.missing[from..=to].iter_mut().for_each(|n| *n -= 1);
        }
    }

    /// Whether this step was evaluated.
    pub(crate) fn is_evaluated(&self, step: usize) -> bool {
        step < self.prefetch.next_step()
    }

    /// Whether the baskets are ready that the next step needs.
    pub(crate) fn may_evaluate(&self) -> bool {
        self.missing.get(self.prefetch.next_step()) == Some(&0)
    }

    /// Evaluates the next step, if its baskets are ready.
    pub(crate) fn evaluate(&mut self) -> Option<CutDecision> {
        if !self.may_evaluate() {
            return None;
        }
        let (start, end) = *self.batches.get(self.prefetch.next_step())?;
        let within = |r: &Range<u64>| r.start.max(start)..r.end.min(end);
        let passed = |r: &Range<u64>| {
            let r = within(r);
            self.cut.passed.iter().any(|p| p.start.max(r.start) < p.end.min(r.end))
        };
        Some(self.prefetch.evaluated(passed))
    }
}

/// As planner ids: in the simulator, baskets have the same numbers everywhere.
pub(crate) fn ids(baskets: &[usize]) -> Vec<BasketId> {
    baskets.iter().filter_map(|&b| u32::try_from(b).ok()).map(BasketId).collect()
}
