//! From decoded baskets to the columns of a batch.
//!
//! The thread that has decoded a basket appends it to its column at once, when everything before it is there: the values move
//! while they are in the processor's cache, and their memory serves the next basket. What came out of order waits for
//! the thread that appends the basket before it. A basket that reaches into batches to come is cut into their parts at once, so
//! that its memory, too, serves the next one. Baskets that only a counter can divide are left to the consumer.

use super::Driver;
use crate::scan::state::{Next, OpenBatch, Pieces, Remainder, column_of};
use sapwood_column::{Array, Decoded};
use sapwood_span::defect::inject;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

impl Driver {
    /// From now on baskets of these entries are appended to columns with room for all of them.
    pub(crate) fn open_batch(&self, entries: Range<u64>) {
        let batch = OpenBatch::new(&self.plan, entries.clone());
        for (i, c) in self.plan.columns[..self.plan.wanted].iter().enumerate() {
            let mut array = c.layout.column_type().empty();
            if !batch.is_alone(i) {
                let b = &self.tree.header().branches[c.branch];
                let count = entries.end - entries.start;
                let part = count as f64 / b.entries.max(1) as f64;
                // what the header claims is believed only as far as the file could hold it
                let claimed = b.total_bytes.min(self.tree.file().size().saturating_mul(50));
                // the tables of offsets in the baskets are not values
                let claimed =
                    if b.entry_offset_len > 0 { claimed.saturating_sub(b.entries.saturating_mul(4)) } else { claimed };
                array.reserve(count.min(claimed.max(1 << 20)) as usize, (claimed as f64 * part) as usize);
            }
            *lock(&self.growing[i]) = array;
        }
        self.lock().state.open_batch(batch);
    }

    /// Takes the columns of the batch, all of whose steps were completed.
    pub(crate) fn close_batch(&self) -> Vec<Array> {
        self.lock().state.close_batch();
        let empty = |i: usize| self.plan.columns[i].layout.column_type().empty();
        let take = |(i, c): (usize, &Mutex<Array>)| std::mem::replace(&mut *lock(c), empty(i));
        self.growing.iter().enumerate().map(take).collect()
    }

    /// Appends what can be appended to these columns; what is wrong with them is left for the consumer to find.
    pub(super) fn join_ready(&self, columns: impl Iterator<Item = usize>) {
        for column in columns {
            if column >= self.plan.wanted || self.plan.columns[column].counter.is_some() {
                continue;
            }
            loop {
                let mut s = self.lock();
                let Ok(Some(next)) = s.state.next_pieces(column) else { break };
                drop(s);
                let result = self.append(column, next);
                let mut s = self.lock();
                match result {
                    Ok(left) => s.state.joined(column, left),
                    Err(e) => s.state.join_failed(column, &self.plan.in_column(column, e)),
                }
                drop(s);
                self.ready.notify_all();
            }
        }
    }

    /// Completes the columns up to the end of a step whose baskets are all decoded.
    pub(crate) fn complete(&self, step: usize) -> Result<()> {
        for column in 0..self.plan.wanted {
            let mut s = self.lock();
            s.state.attach(column, step)?;
            loop {
                while s.state.is_joining(column) {
                    s = self.ready.wait(s).unwrap_or_else(PoisonError::into_inner);
                }
                let Some(next) = s.state.next_pieces(column)? else { break };
                drop(s);
                let result = self.append(column, next);
                s = self.lock();
                s.state.joined(column, result.map_err(|e| self.plan.in_column(column, e))?);
            }
            if s.state.lacks(column, step) {
                return Err(self.plan.in_column(column, Error::invalid("a basket was delivered twice")));
            }
        }
        let mut s = self.lock();
        s.state.drop_counters(step);
        s.state.check(step)
    }

    /// Appends baskets to a column of the batch, and cuts off what belongs to batches to come.
    fn append(&self, column: usize, next: Next) -> Result<Remainder> {
        inject::here_with("join", &self.plan.url);
        let mut left = Remainder::default();
        if let Some(basket) = next.beyond
            && let Some((decoded, range)) = next.pieces.last()
        {
            let entries = &self.plan.baskets[basket].entries;
            let ends = &self.plan.batch_ends;
            let mut parts = VecDeque::new();
            let mut from = range.end;
            for end in &ends[ends.partition_point(|&end| end <= entries.start + from as u64)..] {
                let to = ((*end).min(entries.end) - entries.start) as usize;
                parts.push_back(column_of(decoded).slice(from, to));
                from = to;
                if *end >= entries.end {
                    break;
                }
            }
            left.parts = Some((basket, parts));
        }
        let mut out = lock(&self.growing[column]);
        left.spares = join(&mut out, next.pieces, next.alone)?;
        Ok(left)
    }

    /// Appends what of a column's baskets belongs to a step of chosen entries.
    pub(crate) fn join_step(&self, column: usize, step: usize, out: &mut Array) -> Result<()> {
        let pieces = self.lock().state.step_pieces(column, step)?;
        let mut spares = Vec::new();
        for piece in pieces {
            piece.append_to(out).map_err(|e| self.plan.in_column(column, e))?;
            if let Ok(Decoded::Column(a)) = Arc::try_unwrap(piece.decoded) {
                spares.push(a);
            }
        }
        self.lock().state.keep_spares(column, spares);
        Ok(())
    }

    /// A step of chosen entries is complete.
    pub(crate) fn step_joined(&self, step: usize) {
        self.lock().state.drop_counters(step);
    }
}

/// Appends baskets to a column and gives back those that nobody else holds; where a whole one is alone, it becomes the
/// column.
fn join(out: &mut Array, mut pieces: Pieces, alone: bool) -> Result<Vec<Array>> {
    let mut over = Vec::new();
    if alone
        && pieces.first().is_some_and(|(d, r)| r.start == 0 && r.end == column_of(d).len())
        && let Some((d, _)) = pieces.pop()
    {
        *out = match Arc::try_unwrap(d) {
            Ok(Decoded::Column(a) | Decoded::Uncounted(a)) => a,
            Err(d) => column_of(&d).clone(),
        };
        return Ok(over);
    }
    for (d, r) in pieces {
        out.append_range(column_of(&d), r)?;
        if let Ok(Decoded::Column(a)) = Arc::try_unwrap(d) {
            over.push(a);
        }
    }
    Ok(over)
}
