//! Scans with a cut: its branches are evaluated step by step, and what that says of the others goes to the planner.

use super::decode::Task;
use super::picked::join_columns;
use super::state::{Shared, planned_ids};
use crate::batch::Batch;
use crate::entries::EntryList;
use crate::options::CutTest;
use sapwood_column::Array;
use sapwood_plan::Event;
use sapwood_span::{Error, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A step whose cut is evaluated.
pub(super) struct Evaluated {
    /// The columns that the cut needed, with all their rows; by number of the column.
    pub columns: Vec<(usize, Array)>,
    /// The rows that passed, as runs; none when all did.
    pub rows: Option<Vec<Range<usize>>>,
}

/// A cut on its way through the steps.
pub(super) struct Selecting {
    test: CutTest,
    /// The columns it needs, in the order in which it wants them.
    columns: Vec<usize>,
    /// What was evaluated and not joined yet, in order.
    ahead: VecDeque<Evaluated>,
    /// Bytes of columns in it.
    bytes: u64,
}

impl Selecting {
    pub fn new(test: CutTest, columns: Vec<usize>) -> Self {
        Self { test, columns, ahead: VecDeque::new(), bytes: 0 }
    }

    /// Whether the step to be joined next is evaluated.
    pub fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// The step to be joined next.
    pub fn take(&mut self) -> Option<Evaluated> {
        let step = self.ahead.pop_front()?;
        self.bytes -= step.bytes();
        Some(step)
    }

    /// Evaluates the next step if what it needs is here; with `bounded`, only if not much is evaluated already.
    pub fn advance(&mut self, shared: &Arc<Shared>, bounded: bool) -> Result<bool> {
        let (step, most) = {
            let s = shared.lock();
            let Some(cut) = &s.cut else { return Ok(false) };
            let step = cut.prefetch.next_step();
            match cut.missing.get(step) {
                Some(0) => (step, s.ahead.most()),
                _ => return Ok(false),
            }
        };
        if bounded && (self.bytes >= most || shared.is_broken(step)) {
            return Ok(false);
        }
        let entries = shared.steps[step].clone();
        let columns = join_columns(shared, step, &self.columns)?;
        let all = shared.picked_of(step);
        let selected = all.as_ref().map(|runs| EntryList::from_ranges(runs.to_vec()));
        let all: Vec<Range<u64>> = all.map_or_else(|| vec![entries.clone()], |runs| runs.to_vec());
        let rows: u64 = all.iter().map(|r| r.end - r.start).sum();
        let batch = Batch { entries, columns, selected };
        let passed = (self.test)(&batch).map_err(|e| e.in_file(shared.file.url()))?;
        if passed.len() as u64 != rows {
            return Err(Error::invalid(format!("a cut has {} values for {rows} entries", passed.len())));
        }
        shared.settle(step, &EntryList::from_rows(&all, &passed));
        let evaluated = Evaluated {
            columns: self.columns.iter().copied().zip(batch.columns).collect(),
            rows: (!passed.iter().all(|&p| p)).then(|| runs_of(&passed)),
        };
        self.bytes += evaluated.bytes();
        self.ahead.push_back(evaluated);
        Ok(true)
    }
}

impl Evaluated {
    /// Whether the column is one of the cut's.
    pub fn has(&self, column: usize) -> bool {
        self.columns.iter().any(|(c, _)| *c == column)
    }

    /// Appends the rows that passed to a column, if it is one of the cut's; it can be asked for once.
    pub fn append_to(&mut self, column: usize, out: &mut Array) -> Result<()> {
        let Some(at) = self.columns.iter().position(|(c, _)| *c == column) else { return Ok(()) };
        let (_, values) = self.columns.swap_remove(at);
        match &self.rows {
            Some(rows) => rows.iter().try_for_each(|r| out.append_range(&values, r.clone())),
            None if out.is_empty() => {
                *out = values;
                Ok(())
            }
            None => out.append(&values),
        }
    }

    fn bytes(&self) -> u64 {
        self.columns.iter().map(|(_, a)| a.nbytes() as u64).sum()
    }
}

/// Runs of rows that are chosen.
fn runs_of(chosen: &[bool]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for row in (0..chosen.len()).filter(|&row| chosen[row]) {
        match out.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => out.push(row..row + 1),
        }
    }
    out
}

impl Shared {
    /// The entries of a step that are wanted, where not all are.
    pub fn picked_of(&self, step: usize) -> Option<Arc<[Range<u64>]>> {
        self.lock().picked[step].clone()
    }

    /// Another budget of compressed bytes.
    pub fn set_budget(self: &Arc<Self>, bytes: u64) {
        let mut s = self.lock();
        let now = self.elapsed();
        s.planner.handle(now, Event::Budget(bytes));
        self.pump(&mut s);
    }

    /// Whether a basket of this step, or of one before, has failed.
    fn is_broken(&self, step: usize) -> bool {
        self.is_ready(step, super::state::Stage::Cut).is_err()
    }

    /// These entries of a step have passed: tells the planner which baskets that makes needed or not.
    fn settle(self: &Arc<Self>, step: usize, passed: &EntryList) {
        let mut s = self.lock();
        let s = &mut *s;
        let Some(cut) = &mut s.cut else { return };
        for column in &self.columns {
            let own = &self.baskets[column.baskets.clone()];
            let from = own.partition_point(|b| b.batches.1 < step);
            for (i, b) in own.iter().enumerate().skip(from).take_while(|(_, b)| b.batches.0 <= step) {
                let basket = column.baskets.start + i;
                if cut.prefetch.depends(basket) && s.slots[basket].is_none() && !passed.touches(&b.entries) {
                    s.pending[step] = s.pending[step].saturating_sub(1);
                }
            }
        }
        let whole = passed.runs() == std::slice::from_ref(&self.steps[step]);
        s.picked[step] = (!whole).then(|| passed.runs().into());
        let decision = cut.prefetch.evaluated(|entries| passed.touches(entries));
        let now = self.elapsed();
        for &b in &decision.skip {
            let needed = &self.baskets[b];
            s.report.bytes_wanted = s.report.bytes_wanted.saturating_sub(needed.span.map_or(0, |span| span.len));
            s.slots[b] = None;
            if let Some(Task { planned: Some(basket), .. }) = s.decodes.remove(&(needed.batches.0, b)) {
                s.planner.handle(now, Event::Consumed { basket });
            }
        }
        for (list, event) in [(&decision.skip, Event::Skip as fn(_) -> _), (&decision.release, Event::Release)] {
            let ids = planned_ids(&self.planned, list);
            if !ids.is_empty() {
                s.planner.handle(now, event(ids));
            }
        }
        self.pump(s);
    }
}
