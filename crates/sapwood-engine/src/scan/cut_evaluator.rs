//! Scans with a cut: it is evaluated step by step, and what that says of the other branches goes to the planner.

use super::driver::Driver;
use super::evaluated::Evaluated;
use super::selected_columns::join_columns;
use super::state::{ScanState, Stage};
use crate::batch::Batch;
use crate::entries::EntryList;
use crate::options::CutTest;
use sapwood_span::{Error, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Evaluates a cut, step by step, as soon as its columns are here.
pub(super) struct CutEvaluator {
    test: CutTest,
    /// The columns it needs, in the order in which it wants them.
    columns: Vec<usize>,
    /// What was evaluated and not joined yet, in order.
    ahead: VecDeque<Evaluated>,
    /// Bytes of columns in it.
    bytes: u64,
}

impl CutEvaluator {
    pub(super) fn new(test: CutTest, columns: Vec<usize>) -> Self {
        Self { test, columns, ahead: VecDeque::new(), bytes: 0 }
    }

    /// Whether the step to be joined next is evaluated.
    pub(super) fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// The step to be joined next.
    pub(super) fn take(&mut self) -> Option<Evaluated> {
        let step = self.ahead.pop_front()?;
        self.bytes -= step.bytes();
        Some(step)
    }

    /// Evaluates the next step if what it needs is here; with `bounded`, only if not much is evaluated already.
    pub(super) fn advance(&mut self, driver: &Arc<Driver>, bounded: bool) -> Result<bool> {
        let Some((step, most)) = driver.ask(ScanState::next_cut) else { return Ok(false) };
        if bounded && (self.bytes >= most || driver.is_ready(step, Stage::Cut).is_err()) {
            return Ok(false);
        }
        let entries = driver.plan.steps[step].clone();
        let columns = join_columns(driver, step, &self.columns)?;
        let all = driver.selected(step);
        let selected = all.as_ref().map(|runs| EntryList::from_ranges(runs.to_vec()));
        let all: Vec<Range<u64>> = all.map_or_else(|| vec![entries.clone()], |runs| runs.to_vec());
        let rows: u64 = all.iter().map(|r| r.end - r.start).sum();
        let batch = Batch { entries, columns, selected, friends: Vec::new() };
        let passed = (self.test)(&batch).map_err(|e| e.in_file(&*driver.plan.url))?;
        if passed.len() as u64 != rows {
            return Err(Error::invalid(format!("a cut has {} values for {rows} entries", passed.len())));
        }
        driver.cut_evaluated(step, &EntryList::from_rows(&all, &passed));
        let evaluated = Evaluated {
            columns: self.columns.iter().copied().zip(batch.columns).collect(),
            rows: (!passed.iter().all(|&p| p)).then(|| runs_of(&passed)),
        };
        self.bytes += evaluated.bytes();
        self.ahead.push_back(evaluated);
        Ok(true)
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
