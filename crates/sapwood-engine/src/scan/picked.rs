//! The columns of batches that hold chosen entries only: joined by the consumer, step by step, for what a cut leaves of a
//! step is known only when the step is wanted.

use super::assemble::{attach, column_of, named};
use super::select::Evaluated;
use super::state::{Shared, State};
use crate::entries::touches;
use sapwood_column::{Array, Decoded};
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// A basket and which of its entries belong to the step.
struct Piece {
    decoded: Arc<Decoded>,
    range: Range<usize>,
    /// Of the range only these, where not all are wanted: runs of entries of the tree, and the basket's first entry.
    picked: Option<(Arc<[Range<u64>]>, u64)>,
}

impl Piece {
    /// Appends its entries to the column.
    fn append_to(&self, out: &mut Array) -> Result<()> {
        let column = column_of(&self.decoded);
        let Some((runs, first)) = &self.picked else { return out.append_range(column, self.range.clone()) };
        let (start, end) = (first + self.range.start as u64, first + self.range.end as u64);
        let from = runs.partition_point(|r| r.end <= start);
        for run in runs[from..].iter().take_while(|r| r.start < end) {
            let (a, b) = (run.start.max(start) - first, run.end.min(end) - first);
            out.append_range(column, a as usize..b as usize)?;
        }
        Ok(())
    }
}

/// Columns that grow step by step.
pub(super) struct Columns(Vec<Array>);

impl Columns {
    /// The first `wanted` columns, empty.
    pub fn new(shared: &Shared, wanted: usize) -> Self {
        Self(shared.columns[..wanted].iter().map(|c| c.layout.column_type().empty()).collect())
    }

    /// Appends a step whose baskets are all decoded; what its cut needed is in `evaluated`.
    pub fn append(&mut self, shared: &Shared, step: usize, mut evaluated: Option<Evaluated>) -> Result<()> {
        for (column, out) in self.0.iter_mut().enumerate() {
            match &mut evaluated {
                Some(e) if e.has(column) => e.append_to(column, out)?,
                _ => join(shared, column, step, out)?,
            }
        }
        let mut s = shared.lock();
        // counters that no later step needs
        for column in &shared.columns[shared.wanted..] {
            for b in column.baskets.clone().filter(|&b| shared.baskets[b].batches.1 == step) {
                s.slots[b] = None;
            }
        }
        Ok(())
    }

    /// The columns.
    pub fn finish(self) -> Vec<Array> {
        self.0
    }
}

/// The columns of a step that its cut needs, joined, in this order.
pub(super) fn join_columns(shared: &Shared, step: usize, columns: &[usize]) -> Result<Vec<Array>> {
    let joined = columns.iter().map(|&column| {
        let mut out = shared.columns[column].layout.column_type().empty();
        join(shared, column, step, &mut out)?;
        Ok(out)
    });
    joined.collect()
}

/// Appends what of a column's baskets belongs to a step.
fn join(shared: &Shared, column: usize, step: usize, out: &mut Array) -> Result<()> {
    let pieces = pieces(shared, &mut shared.lock(), column, step)?;
    let mut spares = Vec::new();
    for piece in pieces {
        piece.append_to(out).map_err(|e| named(shared, column, e))?;
        if let Ok(Decoded::Column(a)) = Arc::try_unwrap(piece.decoded) {
            spares.push(a);
        }
    }
    let mut s = shared.lock();
    for array in spares {
        s.spares.keep(shared.kinds[column], array);
    }
    Ok(())
}

/// What of a column's baskets belongs to a step; those that no later step needs are taken out.
fn pieces(shared: &Shared, s: &mut State, column: usize, step: usize) -> Result<Vec<Piece>> {
    if shared.columns[column].counter.is_some() {
        attach(shared, s, column, step)?;
    }
    let entries = &shared.steps[step];
    let picked = s.picked[step].clone();
    let all = shared.columns[column].baskets.clone();
    let baskets = &shared.baskets[all.clone()];
    let from = baskets.partition_point(|b| b.batches.1 < step);
    let mut out = Vec::new();
    for (i, b) in baskets.iter().enumerate().skip(from).take_while(|(_, b)| b.batches.0 <= step) {
        let slot = &mut s.slots[all.start + i];
        // a cut may have made it needless, or needed by another step only
        let wanted = b.entries.start < entries.end
            && entries.start < b.entries.end
            && picked.as_ref().is_none_or(|runs| touches(runs, &b.entries));
        if wanted {
            let decoded = match slot {
                Some(Ok(d)) if matches!(**d, Decoded::Uncounted(_)) => {
                    return Err(named(
                        shared,
                        column,
                        Error::unsupported("its entries have no offsets and no counter"),
                    ));
                }
                Some(Ok(d)) => d.clone(),
                Some(Err(e)) => return Err(e.duplicate()),
                None => return Err(named(shared, column, Error::invalid("a basket was delivered twice"))),
            };
            let start = entries.start.max(b.entries.start) - b.entries.start;
            let stop = entries.end.min(b.entries.end) - b.entries.start;
            let picked = picked.clone().map(|runs| (runs, b.entries.start));
            out.push(Piece { decoded, range: start as usize..stop as usize, picked });
        }
        if b.batches.1 == step {
            *slot = None;
        }
    }
    Ok(out)
}
