//! How far a scan is with its cut.

use crate::scan::baskets::ScanBasket;
use sapwood_plan::{CutBasket, CutPrefetch, Limits};

/// A cut on its way through the steps.
pub(super) struct CutProgress {
    /// Which baskets of the other branches are needed, as far as is known.
    pub prefetch: CutPrefetch,
    /// Baskets of the cut's branches that are not decoded, by step.
    pub missing: Vec<usize>,
}

impl CutProgress {
    /// `of_cut` says by column which branches the cut needs.
    pub(super) fn new(baskets: &[ScanBasket], of_cut: &[bool], steps: usize, limits: &Limits) -> Self {
        let unconditional = |b: &ScanBasket| of_cut.get(b.column).copied().unwrap_or(true);
        let mut missing = vec![0; steps];
        for b in baskets.iter().filter(|b| unconditional(b)) {
            missing[b.steps.0..=b.steps.1].iter_mut().for_each(|n| *n += 1);
        }
        let list = baskets.iter().map(|b| CutBasket {
            entries: b.entries.clone(),
            bytes: b.bytes(),
            steps: b.steps,
            unconditional: unconditional(b),
        });
        Self { prefetch: CutPrefetch::new(list.collect(), limits), missing }
    }
}
