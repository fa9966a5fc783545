//! What the scan's consumer computes, one thing after the other: the cut of a batch, and the batch.

use super::{Item, Scan};
use crate::client::Release;
use crate::cores::Analysis;
use crate::cut::{CutProgress, ids};
use sapwood_plan::{BasketId, Event};

impl Scan<'_> {
    /// Computes this after what is computed already.
    fn analyse(&mut self, what: Analysis) {
        self.analysis.push_back(what);
        if self.analysis.len() == 1 {
            self.compute(what);
        }
    }

    fn compute(&mut self, what: Analysis) {
        let time = match what {
            Analysis::Cut => self.client.cut,
            Analysis::Batch => self.client.think,
        };
        let seconds = time.as_secs_f64();
        if seconds > 0.0 {
            self.cores.analyse(self.now + seconds);
        }
        self.at(self.now + seconds, Item::Analysed);
    }

    /// It is done.
    pub(super) fn analysed(&mut self) {
        let done = self.analysis.pop_front();
        if let Some(&next) = self.analysis.front() {
            self.compute(next);
        }
        match done {
            Some(Analysis::Cut) => {
                let waits = self.waits_for_cut(self.batch);
                self.evaluated(1);
                if waits && !self.waits_for_cut(self.batch) {
                    self.one_less_is_missing();
                }
                self.evaluate();
            }
            Some(Analysis::Batch) => self.want(),
            None => {}
        }
    }

    /// Whether the analysis of a batch waits until its cut has been evaluated, even if all its values are there.
    pub(super) fn waits_for_cut(&self, batch: usize) -> bool {
        !self.client.cut.is_zero() && self.cut.as_ref().is_some_and(|cut| !cut.is_evaluated(batch))
    }

    /// Whether it evaluates a cut, or is going to.
    pub(super) fn evaluates(&self) -> bool {
        self.analysis.contains(&Analysis::Cut)
    }

    /// Evaluates the cut where its values are available: at once, or as part of the analysis if that takes time.
    pub(super) fn evaluate(&mut self) {
        if self.client.cut.is_zero() {
            self.evaluated(usize::MAX);
        } else if !self.evaluates() && self.cut.as_ref().is_some_and(CutProgress::may_evaluate) {
            self.analyse(Analysis::Cut);
        }
    }

    /// The cut has been evaluated, of so many batches at most.
    fn evaluated(&mut self, most: usize) {
        for _ in 0..most {
            let Some(decision) = self.cut.as_mut().and_then(CutProgress::evaluate) else { return };
            for basket in ids(&decision.skip) {
                if self.ready.remove(&(self.baskets[basket.index()].first, basket)) {
                    self.tell(Event::Consumed { basket });
                }
                if !std::mem::replace(&mut self.finished[basket.index()], true) {
                    self.count_down(basket);
                }
            }
            for (list, event) in [(decision.skip, Event::Skip as fn(_) -> _), (decision.release, Event::Release)] {
                if !list.is_empty() {
                    self.tell(event(ids(&list)));
                }
            }
        }
    }

    pub(super) fn complete(&mut self) {
        let Some(&(_, last)) = self.client.batches.get(self.batch) else { return };
        if self.client.release == Release::Batch {
            for i in 0..self.baskets.len() {
                if self.finished[i] && !self.released[i] && self.baskets[i].last <= last {
                    self.released[i] = true;
                    self.tell(Event::Consumed { basket: BasketId(i as u32) });
                }
            }
        }
        self.batch += 1;
        self.analyse(Analysis::Batch);
    }
}
