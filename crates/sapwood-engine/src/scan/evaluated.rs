//! A step whose cut is evaluated.

use sapwood_column::Array;
use sapwood_span::Result;
use std::ops::Range;

/// What the evaluation of a step's cut leaves for the joining of its columns.
pub(super) struct Evaluated {
    /// The columns that the cut needed, with all their rows; by number of the column.
    pub columns: Vec<(usize, Array)>,
    /// The rows that passed, as runs; none when all did.
    pub rows: Option<Vec<Range<usize>>>,
}

impl Evaluated {
    /// Whether the column is one of the cut's.
    pub(super) fn has(&self, column: usize) -> bool {
        self.columns.iter().any(|(c, _)| *c == column)
    }

    /// Appends the rows that passed to a column, if it is one of the cut's; it can be asked for once.
    pub(super) fn append_to(&mut self, column: usize, out: &mut Array) -> Result<()> {
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

    /// Bytes of its columns.
    pub(super) fn bytes(&self) -> u64 {
        self.columns.iter().map(|(_, a)| a.nbytes() as u64).sum()
    }
}
