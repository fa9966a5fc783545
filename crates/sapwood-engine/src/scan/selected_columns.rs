//! The columns of batches that hold chosen entries only: joined by the consumer, step by step, for what a cut leaves of a
//! step is known only when the step is wanted.

use super::driver::Driver;
use super::evaluated::Evaluated;
use sapwood_column::Array;
use sapwood_span::Result;

/// Columns that grow step by step.
pub(super) struct SelectedColumns(Vec<Array>);

impl SelectedColumns {
    /// The first `wanted` columns, empty.
    pub(super) fn new(driver: &Driver, wanted: usize) -> Self {
        Self(driver.plan.columns[..wanted].iter().map(|c| c.layout.column_type().empty()).collect())
    }

    /// Appends a step whose baskets are all decoded; what its cut needed is in `evaluated`.
    pub(super) fn append(&mut self, driver: &Driver, step: usize, mut evaluated: Option<Evaluated>) -> Result<()> {
        for (column, out) in self.0.iter_mut().enumerate() {
            match &mut evaluated {
                Some(e) if e.has(column) => e.append_to(column, out)?,
                _ => driver.join_step(column, step, out)?,
            }
        }
        driver.step_joined(step);
        Ok(())
    }

    /// The columns.
    pub(super) fn finish(self) -> Vec<Array> {
        self.0
    }
}

/// The columns of a step that its cut needs, joined, in this order.
pub(super) fn join_columns(driver: &Driver, step: usize, columns: &[usize]) -> Result<Vec<Array>> {
    let joined = columns.iter().map(|&column| {
        let mut out = driver.plan.columns[column].layout.column_type().empty();
        driver.join_step(column, step, &mut out)?;
        Ok(out)
    });
    joined.collect()
}
