//! From decoded baskets to the columns of a batch.
//!
//! Whoever has decoded a basket appends it to its column at once, when everything before it is there: the values move
//! while they are in the processor's cache, and their memory serves the next basket. What came out of order waits in
//! its slot for whoever appends the basket before it. A basket that reaches into batches to come is cut into their parts
//! at once, so that its memory, too, serves the next one. Baskets that only a counter can divide are left to the consumer.

use super::state::{Shared, State};
use sapwood_column::{Array, Decoded};
use sapwood_span::defect::inject;
use sapwood_span::{Error, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// Consecutive baskets of one column and which of their entries belong to the batch.
type Pieces = Vec<(Arc<Decoded>, Range<usize>)>;

/// What there is to append to a column.
struct Next {
    pieces: Pieces,
    /// They are all there will be.
    alone: bool,
    /// The last one is this basket and reaches into batches to come.
    beyond: Option<usize>,
}

/// What is left of baskets that were appended.
#[derive(Default)]
struct Left {
    /// Memory that nobody else holds.
    spares: Vec<Array>,
    /// A basket's parts for the batches to come.
    parts: Option<(usize, VecDeque<Array>)>,
}

/// The batch that grows.
pub(super) struct Open {
    /// Its entries.
    entries: Range<u64>,
    /// The columns, and how far they are.
    columns: Vec<Frontier>,
}

/// How far a column of the batch is.
struct Frontier {
    /// Entries before this one are in the column, or will be as soon as nobody appends any more.
    joined: u64,
    /// The basket to append next.
    next: usize,
    /// Somebody appends to it.
    busy: bool,
    /// Its only basket becomes the column as it is.
    alone: bool,
}

impl Shared {
    /// From now on baskets of these entries are appended to columns with room for all of them.
    pub fn open(&self, entries: Range<u64>) {
        let mut columns = Vec::with_capacity(self.wanted);
        for (i, c) in self.columns[..self.wanted].iter().enumerate() {
            let baskets = &self.baskets[c.baskets.clone()];
            let from = baskets.partition_point(|b| b.entries.end <= entries.start);
            let to = baskets.partition_point(|b| b.entries.start < entries.end);
            let mut array = c.layout.column_type().empty();
            let alone = to <= from + 1;
            if !alone {
                let b = &self.tree.header().branches[c.branch];
                let count = entries.end - entries.start;
                let part = count as f64 / b.entries.max(1) as f64;
                // what the header claims is believed only as far as the file could hold it
                let claimed = b.total_bytes.min(self.file.size().saturating_mul(50));
                // the tables of offsets in the baskets are not values
                let claimed =
                    if b.entry_offset_len > 0 { claimed.saturating_sub(b.entries.saturating_mul(4)) } else { claimed };
                array.reserve(count.min(claimed.max(1 << 20)) as usize, (claimed as f64 * part) as usize);
            }
            *self.growing[i].lock().unwrap_or_else(PoisonError::into_inner) = array;
            columns.push(Frontier { joined: entries.start, next: c.baskets.start + from, busy: false, alone });
        }
        self.lock().open = Some(Open { entries, columns });
    }

    /// Takes the columns of the batch, all of whose steps were completed.
    pub fn close(&self) -> Vec<Array> {
        self.lock().open = None;
        let empty = |i: usize| self.columns[i].layout.column_type().empty();
        let take = |(i, c): (usize, &std::sync::Mutex<Array>)| {
            std::mem::replace(&mut *c.lock().unwrap_or_else(PoisonError::into_inner), empty(i))
        };
        self.growing.iter().enumerate().map(take).collect()
    }

    /// Appends what can be appended to these columns; what is wrong with them is left for the consumer to find.
    pub fn join_ready(&self, columns: impl Iterator<Item = usize>) {
        for column in columns {
            if column >= self.wanted || self.columns[column].counter.is_some() {
                continue;
            }
            loop {
                let mut s = self.lock();
                let Ok(Some(next)) = take(self, &mut s, column) else { break };
                drop(s);
                let result = self.append(column, next);
                let mut s = self.lock();
                match result {
                    Ok(left) => s.joined(self, column, left),
                    Err(e) => {
                        s.joined(self, column, Left::default());
                        s.fail(0, &named(self, column, e));
                    }
                }
                drop(s);
                self.ready.notify_all();
            }
        }
    }

    /// Completes the columns up to the end of a step whose baskets are all decoded.
    pub fn complete(&self, step: usize) -> Result<()> {
        for column in 0..self.wanted {
            let mut s = self.lock();
            if self.columns[column].counter.is_some() {
                attach(self, &mut s, column, step)?;
            }
            loop {
                while s.is_joining(column) {
                    s = self.ready.wait(s).unwrap_or_else(PoisonError::into_inner);
                }
                let Some(next) = take(self, &mut s, column)? else { break };
                drop(s);
                let result = self.append(column, next);
                s = self.lock();
                s.joined(self, column, result.map_err(|e| named(self, column, e))?);
            }
            if s.open.as_ref().is_some_and(|o| o.columns[column].joined < self.steps[step].end.min(o.entries.end)) {
                return Err(named(self, column, Error::invalid("a basket was delivered twice")));
            }
        }
        let mut s = self.lock();
        // counters that no later step needs
        for column in self.wanted..self.columns.len() {
            for b in self.columns[column].baskets.clone() {
                if self.baskets[b].batches.1 == step {
                    s.slots[b] = None;
                }
            }
        }
        match &s.broken {
            Some((first, e)) if *first <= step => Err(e.duplicate()),
            _ => Ok(()),
        }
    }

    /// Appends baskets to a column of the batch, and cuts off what belongs to batches to come.
    fn append(&self, column: usize, next: Next) -> Result<Left> {
        inject::here_with("join", self.file.url());
        let mut left = Left::default();
        if let Some(basket) = next.beyond
            && let Some((decoded, range)) = next.pieces.last()
        {
            let entries = &self.baskets[basket].entries;
            let mut parts = VecDeque::new();
            let mut from = range.end;
            for end in &self.ends[self.ends.partition_point(|&end| end <= entries.start + from as u64)..] {
                let to = ((*end).min(entries.end) - entries.start) as usize;
                parts.push_back(column_of(decoded).slice(from, to));
                from = to;
                if *end >= entries.end {
                    break;
                }
            }
            left.parts = Some((basket, parts));
        }
        let mut out = self.growing[column].lock().unwrap_or_else(PoisonError::into_inner);
        left.spares = join(&mut out, next.pieces, next.alone)?;
        Ok(left)
    }
}

impl State {
    /// Whoever appended to the column is through with these baskets.
    fn joined(&mut self, shared: &Shared, column: usize, left: Left) {
        for array in left.spares {
            self.spares.keep(shared.kinds[column], array);
        }
        self.parts.extend(left.parts);
        if let Some(f) = self.open.as_mut().and_then(|o| o.columns.get_mut(column)) {
            f.busy = false;
        }
    }

    /// Nobody appends to the batch any more: what it holds is not used.
    pub fn released(&mut self) {
        self.open = None;
    }

    fn is_joining(&self, column: usize) -> bool {
        self.open.as_ref().and_then(|o| o.columns.get(column)).is_some_and(|f| f.busy)
    }
}

pub(super) fn column_of(d: &Decoded) -> &Array {
    match d {
        Decoded::Column(a) | Decoded::Uncounted(a) => a,
    }
}

/// The next baskets of a column that are there, for the caller to append; nobody else appends until the caller says
/// [`State::joined`].
fn take(shared: &Shared, s: &mut State, column: usize) -> Result<Option<Next>> {
    let Some(open) = &mut s.open else { return Ok(None) };
    let end = open.entries.end;
    let f = &mut open.columns[column];
    if f.busy {
        return Ok(None);
    }
    let last = shared.columns[column].baskets.end;
    let mut next = Next { pieces: Vec::new(), alone: f.alone, beyond: None };
    while f.next < last && f.joined < end {
        let b = &shared.baskets[f.next];
        let piece = match (s.parts.get_mut(&f.next), &mut s.slots[f.next]) {
            (Some(parts), _) => {
                let Some(part) = parts.pop_front() else { break };
                let len = part.len();
                (Arc::new(Decoded::Column(part)), 0..len)
            }
            (None, None) => break,
            (None, Some(Ok(d))) if matches!(**d, Decoded::Column(_)) => {
                let (from, to) = (f.joined - b.entries.start, end.min(b.entries.end) - b.entries.start);
                if b.entries.end > end {
                    next.beyond = Some(f.next);
                }
                s.ahead.leave(b.batches.0, column_of(d).nbytes() as u64);
                let piece = (d.clone(), from as usize..to as usize);
                s.slots[f.next] = None;
                piece
            }
            // what is before it is appended first
            (None, Some(_)) if !next.pieces.is_empty() => break,
            (None, Some(Ok(_))) => {
                return Err(named(shared, column, Error::unsupported("its entries have no offsets and no counter")));
            }
            (None, Some(Err(e))) => return Err(e.duplicate()),
        };
        next.pieces.push(piece);
        f.joined = end.min(b.entries.end);
        if b.entries.end <= end {
            s.parts.remove(&f.next);
            f.next += 1;
        }
    }
    f.busy = !next.pieces.is_empty();
    Ok(f.busy.then_some(next))
}

pub(super) fn named(shared: &Shared, column: usize, e: Error) -> Error {
    e.in_branch(shared.tree.name_of(shared.columns[column].branch)).in_file(shared.file.url())
}

/// Gives the baskets whose offsets were left out the lengths that the counter says.
pub(super) fn attach(shared: &Shared, s: &mut State, column: usize, batch: usize) -> Result<()> {
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
    let mut parts: Pieces = Vec::new();
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
    join(&mut out, parts, false)?;
    Ok(out)
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
