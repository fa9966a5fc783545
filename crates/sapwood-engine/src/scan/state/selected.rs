//! Which baskets a step of chosen entries is made of.

use super::ScanState;
use super::assembly::{column_of, no_counter};
use crate::entries::touches;
use sapwood_column::{Array, Decoded};
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// A basket and which of its entries belong to a step.
pub(in crate::scan) struct StepPiece {
    pub decoded: Arc<Decoded>,
    range: Range<usize>,
    /// Of the range only these, where not all are wanted: runs of entries of the tree, and the basket's first entry.
    selected: Option<(Arc<[Range<u64>]>, u64)>,
}

impl StepPiece {
    /// Appends its entries to the column.
    pub(crate) fn append_to(&self, out: &mut Array) -> Result<()> {
        let column = column_of(&self.decoded);
        let Some((runs, first)) = &self.selected else { return out.append_range(column, self.range.clone()) };
        let (start, end) = (first + self.range.start as u64, first + self.range.end as u64);
        let from = runs.partition_point(|r| r.end <= start);
        for run in runs[from..].iter().take_while(|r| r.start < end) {
            let (a, b) = (run.start.max(start) - first, run.end.min(end) - first);
            out.append_range(column, a as usize..b as usize)?;
        }
        Ok(())
    }
}

impl ScanState {
    /// What of a column's baskets belongs to a step, all of which are here; those that no later step needs are taken out.
    pub(crate) fn step_pieces(&mut self, column: usize, step: usize) -> Result<Vec<StepPiece>> {
        let plan = &*self.plan;
        self.assembly.attach(plan, column, step)?;
        let entries = &plan.steps[step];
        let selected = self.progress.selected[step].clone();
        let all = plan.columns[column].baskets.clone();
        let baskets = &plan.baskets[all.clone()];
        let from = baskets.partition_point(|b| b.steps.1 < step);
        let mut out = Vec::new();
        for (i, b) in baskets.iter().enumerate().skip(from).take_while(|(_, b)| b.steps.0 <= step) {
            let slot = &mut self.assembly.slots[all.start + i];
            // a cut may have made it needless, or needed by another step only
            let wanted = b.entries.start < entries.end
                && entries.start < b.entries.end
                && selected.as_ref().is_none_or(|runs| touches(runs, &b.entries));
            if wanted {
                let decoded = match slot {
                    Some(Ok(d)) if matches!(**d, Decoded::Uncounted(_)) => {
                        return Err(plan.in_column(column, no_counter()));
                    }
                    Some(Ok(d)) => d.clone(),
                    Some(Err(e)) => return Err(e.clone()),
                    None => return Err(plan.in_column(column, Error::invalid("a basket was delivered twice"))),
                };
                let start = entries.start.max(b.entries.start) - b.entries.start;
                let stop = entries.end.min(b.entries.end) - b.entries.start;
                let selected = selected.clone().map(|runs| (runs, b.entries.start));
                out.push(StepPiece { decoded, range: start as usize..stop as usize, selected });
            }
            if b.steps.1 == step {
                *slot = None;
            }
        }
        Ok(out)
    }

    /// Memory of baskets of a column that nobody holds any more.
    pub(crate) fn keep_spares(&mut self, column: usize, spares: Vec<Array>) {
        for array in spares {
            self.assembly.spares.keep(self.plan.kinds[column], array);
        }
    }

    /// A step is complete: drops the counters' baskets that no later one needs.
    pub(crate) fn drop_counters(&mut self, step: usize) {
        self.assembly.drop_counters(&self.plan, step);
    }
}
