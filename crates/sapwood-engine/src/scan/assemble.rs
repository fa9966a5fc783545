//! From decoded baskets to the columns of a batch.

use super::state::{Shared, State};
use sapwood_column::{Array, Decoded};
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Below this many bytes one thread joins all columns.
const ALONE: usize = 4 << 20;

/// The baskets of one column and which of their entries belong to the batch.
type Pieces = Vec<(Arc<Decoded>, Range<usize>)>;

/// Columns that grow step by step.
pub(super) struct Columns {
    columns: Vec<Array>,
    threads: usize,
}

impl Columns {
    /// Empty columns with room for all entries of these steps.
    pub fn new(shared: &Shared, steps: Range<usize>, threads: usize) -> Self {
        let single = steps.len() == 1;
        let range = &shared.steps[steps];
        let entries: u64 = range.iter().map(|r| r.end - r.start).sum();
        let column = |c: &super::baskets::Column| {
            let mut a = c.layout.column_type().empty();
            if !single {
                let b = &shared.tree.header().branches[c.branch];
                let part = entries as f64 / b.entries.max(1) as f64;
                // what the header claims is believed only as far as the file could hold it
                let claimed = b.total_bytes.min(shared.file.size().saturating_mul(50));
                // the tables of offsets in the baskets are not values
                let claimed =
                    if b.entry_offset_len > 0 { claimed.saturating_sub(b.entries.saturating_mul(4)) } else { claimed };
                a.reserve(entries.min(claimed.max(1 << 20)) as usize, (claimed as f64 * part) as usize);
            }
            a
        };
        Self { columns: shared.columns[..shared.wanted].iter().map(column).collect(), threads }
    }

    /// Appends a step whose baskets are all decoded.
    pub fn append(&mut self, shared: &Shared, step: usize) -> Result<()> {
        let entries = shared.steps[step].clone();
        let mut work = Vec::with_capacity(shared.wanted);
        {
            let mut s = shared.lock();
            for column in 0..shared.wanted {
                if shared.columns[column].counter.is_some() {
                    attach(shared, &mut s, column, step)?;
                }
                work.push(pieces(shared, &mut s, column, step, &entries)?);
            }
            // counters that no later step needs
            for column in shared.wanted..shared.columns.len() {
                for b in shared.columns[column].baskets.clone() {
                    if shared.baskets[b].batches.1 == step {
                        s.slots[b] = None;
                    }
                }
            }
        }
        let bytes: usize = work.iter().flatten().map(|(d, _)| column_of(d).nbytes()).sum();
        // helpers are busy with later steps: only where there are many cores is joining worth more than one
        let threads = if bytes < ALONE { 1 } else { (self.threads / 4).clamp(1, work.len().max(1)) };
        let mut jobs: Vec<(&mut Array, Pieces)> = self.columns.iter_mut().zip(work).collect();
        if threads == 1 {
            let mut spares = Vec::new();
            for (column, (out, p)) in jobs.into_iter().enumerate() {
                join(out, p, |a| spares.push((column, a)))?;
            }
            shared.spare(spares);
            return Ok(());
        }
        let share = jobs.len().div_ceil(threads);
        std::thread::scope(|scope| {
            let mut running = Vec::new();
            while !jobs.is_empty() {
                let part = jobs.split_off(jobs.len().saturating_sub(share));
                running.push(scope.spawn(move || part.into_iter().try_for_each(|(out, p)| join(out, p, drop))));
            }
            running.into_iter().try_for_each(|t| {
                t.join().unwrap_or_else(|_| Err(Error::invalid("a thread that joined columns failed")))
            })
        })
    }

    /// The columns.
    pub fn finish(self) -> Vec<Array> {
        self.columns
    }
}

fn column_of(d: &Decoded) -> &Array {
    match d {
        Decoded::Column(a) | Decoded::Uncounted(a) => a,
    }
}

fn pieces(shared: &Shared, s: &mut State, column: usize, batch: usize, entries: &Range<u64>) -> Result<Pieces> {
    let all = shared.columns[column].baskets.clone();
    let baskets = &shared.baskets[all.clone()];
    let from = baskets.partition_point(|b| b.entries.end <= entries.start);
    let mut out = Vec::new();
    for (i, b) in baskets.iter().enumerate().skip(from) {
        if b.entries.start >= entries.end {
            break;
        }
        let slot = &mut s.slots[all.start + i];
        let decoded = match slot {
            Some(Ok(d)) if matches!(**d, Decoded::Uncounted(_)) => {
                return Err(named(shared, column, Error::unsupported("its entries have no offsets and no counter")));
            }
            Some(Ok(d)) => d.clone(),
            Some(Err(e)) => return Err(e.duplicate()),
            None => return Err(Error::invalid("a basket was delivered twice").in_file(shared.file.url())),
        };
        if b.batches.1 == batch {
            *slot = None;
        }
        let start = entries.start.max(b.entries.start) - b.entries.start;
        let stop = entries.end.min(b.entries.end) - b.entries.start;
        out.push((decoded, start as usize..stop as usize));
    }
    Ok(out)
}

fn named(shared: &Shared, column: usize, e: Error) -> Error {
    e.in_branch(shared.tree.name_of(shared.columns[column].branch)).in_file(shared.file.url())
}

/// Gives the baskets whose offsets were left out the lengths that the counter says.
fn attach(shared: &Shared, s: &mut State, column: usize, batch: usize) -> Result<()> {
    for b in shared.columns[column].baskets.clone() {
        let needed = &shared.baskets[b];
        if needed.batches.0 > batch || needed.batches.1 < batch {
            continue;
        }
        let Some(Ok(decoded)) = &s.slots[b] else { continue };
        let Decoded::Uncounted(content) = &**decoded else { continue };
        let Some(counter) = shared.columns[column].counter else { continue };
        let content = content.clone();
        let counts = counts(shared, s, counter, &needed.entries)?;
        let counted = shared.columns[column].layout.attach(content, &counts).map_err(|e| named(shared, column, e))?;
        s.slots[b] = Some(Ok(Arc::new(Decoded::Column(counted))));
    }
    Ok(())
}

/// The counter's values for these entries.
fn counts(shared: &Shared, s: &State, counter: usize, entries: &Range<u64>) -> Result<Array> {
    let all = shared.columns[counter].baskets.clone();
    let mut parts: Vec<(Arc<Decoded>, Range<usize>)> = Vec::new();
    for b in all {
        let needed = &shared.baskets[b];
        if needed.entries.start >= entries.end || needed.entries.end <= entries.start {
            continue;
        }
        match &s.slots[b] {
            Some(Ok(d)) => {
                let start = entries.start.max(needed.entries.start) - needed.entries.start;
                let stop = entries.end.min(needed.entries.end) - needed.entries.start;
                parts.push((d.clone(), start as usize..stop as usize));
            }
            Some(Err(e)) => return Err(e.duplicate()),
            None => return Err(Error::invalid("a counter's basket is missing").in_file(shared.file.url())),
        }
    }
    let mut out = shared.columns[counter].layout.column_type().empty();
    join(&mut out, parts, drop)?;
    Ok(out)
}

/// Appends baskets to a column and gives their memory to `spare`; the only basket of an empty column becomes the
/// column.
fn join(out: &mut Array, mut pieces: Pieces, mut spare: impl FnMut(Array)) -> Result<()> {
    if let [(d, r)] = pieces.as_slice()
        && out.is_empty()
        && r.start == 0
        && r.end == column_of(d).len()
        && r.end > 0
    {
        if let Some((d, _)) = pieces.pop() {
            match Arc::try_unwrap(d) {
                Ok(Decoded::Column(a) | Decoded::Uncounted(a)) => *out = a,
                Err(d) => *out = column_of(&d).clone(),
            }
        }
        return Ok(());
    }
    for (d, r) in pieces {
        out.append_range(column_of(&d), r)?;
        if let Ok(Decoded::Column(a)) = Arc::try_unwrap(d) {
            spare(a);
        }
    }
    Ok(())
}
