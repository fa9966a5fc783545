//! From decoded baskets to the columns of a batch.

use super::state::{Shared, State};
use sapwood_column::{Array, Decoded, attach_counts};
use sapwood_span::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Below this many bytes one thread joins all columns.
const ALONE: usize = 4 << 20;

/// The baskets of one column and which of their entries belong to the batch.
type Pieces = Vec<(Arc<Decoded>, Range<usize>)>;

/// Joins the baskets of a batch whose baskets are all decoded.
pub(super) fn assemble(shared: &Shared, batch: usize, threads: usize) -> Result<Vec<Array>> {
    let entries = shared.steps[batch].clone();
    let mut work = Vec::with_capacity(shared.wanted);
    {
        let mut s = shared.lock();
        for column in 0..shared.wanted {
            attach(shared, &mut s, column, batch)?;
            work.push(pieces(shared, &mut s, column, batch, &entries)?);
        }
        // counters that no later batch needs
        for column in shared.wanted..shared.columns.len() {
            for b in shared.columns[column].baskets.clone() {
                if shared.baskets[b].batches.1 == batch {
                    s.slots[b] = None;
                }
            }
        }
    }
    let empty = |i: usize| shared.columns[i].layout.column_type().empty();
    let bytes: usize = work.iter().flatten().map(|(d, _)| column_of(d).nbytes()).sum();
    if bytes < ALONE || threads < 2 || work.len() < 2 {
        return work.into_iter().enumerate().map(|(i, p)| join(p, || empty(i))).collect();
    }
    let mut columns: Vec<Option<Result<Array>>> = work.iter().map(|_| None).collect();
    let share = work.len().div_ceil(threads * 4).max(1);
    let mut jobs: Vec<(usize, Vec<Pieces>, &mut [Option<Result<Array>>])> = Vec::new();
    let mut rest = columns.as_mut_slice();
    let mut work = work.into_iter();
    let mut first = 0;
    while !rest.is_empty() {
        let n = share.min(rest.len());
        let (head, tail) = rest.split_at_mut(n);
        jobs.push((first, work.by_ref().take(n).collect(), head));
        rest = tail;
        first += n;
    }
    let jobs = std::sync::Mutex::new(jobs);
    let run = || {
        loop {
            let next = jobs.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
            let Some((first, pieces, out)) = next else { break };
            for (i, (place, p)) in out.iter_mut().zip(pieces).enumerate() {
                *place = Some(join(p, || empty(first + i)));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    columns.into_iter().map(|c| c.unwrap_or_else(|| Err(Error::invalid("a column was not joined")))).collect()
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

/// Gives the baskets whose offsets were left out the lengths that the counter says.
fn attach(shared: &Shared, s: &mut State, column: usize, batch: usize) -> Result<()> {
    for b in shared.columns[column].baskets.clone() {
        let needed = &shared.baskets[b];
        if needed.batches.0 > batch || needed.batches.1 < batch {
            continue;
        }
        let Some(Ok(decoded)) = &s.slots[b] else { continue };
        let Decoded::Uncounted(content) = &**decoded else { continue };
        let named =
            |e: Error| e.in_branch(shared.tree.name_of(shared.columns[column].branch)).in_file(shared.file.url());
        let Some(counter) = shared.columns[column].counter else {
            return Err(named(Error::unsupported("its entries have no offsets and no counter")));
        };
        let content = content.clone();
        let counts = counts(shared, s, counter, &needed.entries)?;
        let counted = attach_counts(content, &counts).map_err(named)?;
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
    join(parts, || shared.columns[counter].layout.column_type().empty())
}

fn join(pieces: Pieces, empty: impl Fn() -> Array) -> Result<Array> {
    match pieces.as_slice() {
        [] => return Ok(empty()),
        [(d, r)] if r.start == 0 && r.end == column_of(d).len() => {
            let one = pieces.into_iter().next().map(|(d, _)| d);
            return Ok(match one.map(Arc::try_unwrap) {
                Some(Ok(Decoded::Column(a) | Decoded::Uncounted(a))) => a,
                Some(Err(shared)) => column_of(&shared).clone(),
                None => empty(),
            });
        }
        _ => {}
    }
    let parts: Vec<(&Array, Range<usize>)> = pieces.iter().map(|(d, r)| (column_of(d), r.clone())).collect();
    Array::concat(&parts)
}
