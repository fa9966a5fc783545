//! How far the steps of a scan are.

use super::cut::CutProgress;
use crate::entries::touches;
use crate::scan::baskets::ScanBasket;
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// What of a step is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scan) enum Stage {
    /// The branches that its cut needs.
    Cut,
    /// All.
    Whole,
}

/// What the steps lack, and which failed.
pub(super) struct Progress {
    /// Baskets missing, by step.
    missing: Vec<usize>,
    /// By step, the entries of it that are wanted; none if all are, or if the cut has not been evaluated.
    pub selected: Vec<Option<Arc<[Range<u64>]>>>,
    /// What a cut decides.
    pub cut: Option<CutProgress>,
    /// The first step that cannot be completed, and why.
    broken: Option<(usize, Error)>,
}

impl Progress {
    /// `selected`: by step, the wanted entries, where not all are.
    pub(super) fn new(
        baskets: &[ScanBasket],
        selected: Vec<Option<Arc<[Range<u64>]>>>,
        cut: Option<CutProgress>,
    ) -> Self {
        let mut missing = vec![0; selected.len()];
        for b in baskets {
            missing[b.steps.0..=b.steps.1].iter_mut().for_each(|n| *n += 1);
        }
        Self { missing, selected, cut, broken: None }
    }

    /// From this step on nothing can be completed, unless an earlier one has failed already.
    pub(super) fn fail(&mut self, step: usize, why: &Error) {
        if self.broken.as_ref().is_none_or(|(first, _)| step < *first) {
            self.broken = Some((step, why.clone()));
        }
    }

    /// # Errors
    /// Why this step, or one before it, cannot be completed.
    pub(super) fn check(&self, step: usize) -> Result<()> {
        match &self.broken {
            Some((first, e)) if *first <= step => Err(e.clone()),
            _ => Ok(()),
        }
    }

    pub(super) fn is_broken(&self, step: usize) -> bool {
        self.broken.as_ref().is_some_and(|(first, _)| *first <= step)
    }

    /// Baskets that a step lacks.
    pub(super) fn missing(&self, step: usize, stage: Stage) -> usize {
        match (stage, &self.cut) {
            (Stage::Cut, Some(cut)) => cut.missing[step],
            _ => self.missing[step],
        }
    }

    /// Whether a cut has said that nobody needs the basket.
    pub(super) fn is_skipped(&self, basket: usize) -> bool {
        self.cut.as_ref().is_some_and(|c| c.prefetch.is_skipped(basket))
    }

    /// A basket is decoded, or failed.
    pub(super) fn finished(&mut self, basket: usize, b: &ScanBasket) {
        for step in b.steps.0..=b.steps.1 {
            if self.waits_for(step, basket, b) {
                self.missing[step] = self.missing[step].saturating_sub(1);
            }
            if let Some(cut) = self.cut.as_mut().filter(|c| !c.prefetch.depends(basket)) {
                cut.missing[step] = cut.missing[step].saturating_sub(1);
            }
        }
    }

    /// The step does not need so many of the baskets that it lacks.
    pub(super) fn needless(&mut self, step: usize, baskets: usize) {
        self.missing[step] = self.missing[step].saturating_sub(baskets);
    }

    /// Whether the step is complete only with this basket, as far as is known.
    fn waits_for(&self, step: usize, basket: usize, b: &ScanBasket) -> bool {
        match (&self.cut, &self.selected[step]) {
            (Some(cut), Some(selected)) if cut.prefetch.depends(basket) => touches(selected, &b.entries),
            _ => true,
        }
    }
}
