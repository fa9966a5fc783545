//! Decoded baskets on their way to the columns of a batch: which are here, and which can be appended.

use super::read_ahead::ReadAhead;
use super::spare_buffers::SpareBuffers;
use crate::scan::plan::ScanPlan;
use sapwood_column::{Array, Decoded};
use sapwood_span::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Consecutive baskets of one column and which of their entries belong to the batch.
pub(in crate::scan) type Pieces = Vec<(Arc<Decoded>, Range<usize>)>;

/// What there is to append to a column.
pub(in crate::scan) struct Next {
    pub pieces: Pieces,
    /// They are all there will be.
    pub alone: bool,
    /// The last one is this basket and reaches into batches to come.
    pub beyond: Option<usize>,
}

/// What is left of baskets that were appended.
#[derive(Default)]
pub(in crate::scan) struct Remainder {
    /// Memory that nobody else holds.
    pub spares: Vec<Array>,
    /// A basket's parts for the batches to come.
    pub parts: Option<(usize, VecDeque<Array>)>,
}

/// Decoded baskets, and the batch that they are appended to.
pub(super) struct Assembly {
    /// By basket.
    pub slots: Vec<Option<Result<Arc<Decoded>>>>,
    /// Memory for baskets to come.
    pub spares: SpareBuffers,
    /// Parts of baskets, by their number, for the batches to come.
    parts: HashMap<usize, VecDeque<Array>>,
    /// The batch that decoded baskets are appended to, while the consumer waits for it.
    open: Option<OpenBatch>,
}

/// The batch that grows.
pub(in crate::scan) struct OpenBatch {
    /// Its entries.
    entries: Range<u64>,
    /// The columns, and how far they are.
    columns: Vec<ColumnProgress>,
}

/// How far a column of the batch is.
struct ColumnProgress {
    /// Entries before this one are in the column, or will be as soon as nobody appends any more.
    joined: u64,
    /// The basket to append next.
    next: usize,
    /// Somebody appends to it.
    busy: bool,
    /// Its only basket becomes the column as it is.
    alone: bool,
}

impl OpenBatch {
    /// A batch of these entries, with nothing in it.
    pub(crate) fn new(plan: &ScanPlan, entries: Range<u64>) -> Self {
        let frontier = |column: usize| {
            let needed = plan.baskets_of(column, &entries);
            ColumnProgress { joined: entries.start, next: needed.start, busy: false, alone: needed.len() <= 1 }
        };
        let columns = (0..plan.wanted).map(frontier).collect();
        Self { entries, columns }
    }

    /// Whether the column's only basket becomes the column as it is: no memory is to be reserved for it.
    pub(crate) fn is_alone(&self, column: usize) -> bool {
        self.columns[column].alone
    }
}

impl Assembly {
    pub(super) fn new(plan: &ScanPlan) -> Self {
        Self {
            slots: plan.baskets.iter().map(|_| None).collect(),
            spares: SpareBuffers::new(&plan.kinds),
            parts: HashMap::new(),
            open: None,
        }
    }

    /// From now on baskets can be appended to this batch.
    pub(super) fn open(&mut self, batch: OpenBatch) {
        self.open = Some(batch);
    }

    /// Nothing is appended to the batch any more.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Somebody appends to a column of the batch.
    pub(super) fn is_joining(&self, column: usize) -> bool {
        self.open.as_ref().and_then(|o| o.columns.get(column)).is_some_and(|f| f.busy)
    }

    /// Whether a column of the batch lacks entries in front of this one.
    pub(super) fn lacks(&self, column: usize, end: u64) -> bool {
        self.open.as_ref().is_some_and(|o| o.columns[column].joined < end.min(o.entries.end))
    }

    /// The next baskets of a column that are here, for the caller to append; nobody else appends until the caller says
    /// [`Assembly::joined`].
    pub(super) fn next(&mut self, plan: &ScanPlan, column: usize, ahead: &mut ReadAhead) -> Result<Option<Next>> {
        let Some(open) = &mut self.open else { return Ok(None) };
        let end = open.entries.end;
        let f = &mut open.columns[column];
        if f.busy {
            return Ok(None);
        }
        let last = plan.columns[column].baskets.end;
        let mut next = Next { pieces: Vec::new(), alone: f.alone, beyond: None };
        while f.next < last && f.joined < end {
            let b = &plan.baskets[f.next];
            let piece = match (self.parts.get_mut(&f.next), &mut self.slots[f.next]) {
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
                    ahead.leave(b.steps.0, column_of(d).nbytes() as u64);
                    let piece = (d.clone(), from as usize..to as usize);
                    self.slots[f.next] = None;
                    piece
                }
                // what is before it is appended first
                (None, Some(_)) if !next.pieces.is_empty() => break,
                (None, Some(Ok(_))) => return Err(plan.in_column(column, no_counter())),
                (None, Some(Err(e))) => return Err(e.clone()),
            };
            next.pieces.push(piece);
            f.joined = end.min(b.entries.end);
            if b.entries.end <= end {
                self.parts.remove(&f.next);
                f.next += 1;
            }
        }
        f.busy = !next.pieces.is_empty();
        Ok(f.busy.then_some(next))
    }

    /// The thread that appended to the column is done with these baskets.
    pub(super) fn joined(&mut self, plan: &ScanPlan, column: usize, left: Remainder) {
        for array in left.spares {
            self.spares.keep(plan.kinds[column], array);
        }
        self.parts.extend(left.parts);
        if let Some(f) = self.open.as_mut().and_then(|o| o.columns.get_mut(column)) {
            f.busy = false;
        }
    }

    /// Gives the baskets whose offsets were left out the lengths that the counter says.
    pub(super) fn attach(&mut self, plan: &ScanPlan, column: usize, step: usize) -> Result<()> {
        let Some(counter) = plan.columns[column].counter else { return Ok(()) };
        for b in plan.columns[column].baskets.clone() {
            let basket = &plan.baskets[b];
            if basket.steps.0 > step || basket.steps.1 < step {
                continue;
            }
            let Some(Ok(decoded)) = &self.slots[b] else { continue };
            let Decoded::Uncounted(content) = &**decoded else { continue };
            let content = content.clone();
            let counts = self.counts(plan, counter, &basket.entries)?;
            let counted =
                plan.columns[column].layout.attach(content, &counts).map_err(|e| plan.in_column(column, e))?;
            self.slots[b] = Some(Ok(Arc::new(Decoded::Column(counted))));
        }
        Ok(())
    }

    /// The counter's values for these entries.
    fn counts(&self, plan: &ScanPlan, counter: usize, entries: &Range<u64>) -> Result<Array> {
        let mut out = plan.columns[counter].layout.column_type().empty();
        for b in plan.columns[counter].baskets.clone() {
            let basket = &plan.baskets[b].entries;
            if basket.start >= entries.end || basket.end <= entries.start {
                continue;
            }
            match &self.slots[b] {
                Some(Ok(d)) => {
                    let start = entries.start.max(basket.start) - basket.start;
                    let stop = entries.end.min(basket.end) - basket.start;
                    out.append_range(column_of(d), start as usize..stop as usize)?;
                }
                Some(Err(e)) => return Err(e.clone()),
                None => return Err(Error::invalid("a counter's basket is missing").in_file(&*plan.url)),
            }
        }
        Ok(out)
    }

    /// Drops the counters' baskets that no step behind this one needs.
    pub(super) fn drop_counters(&mut self, plan: &ScanPlan, step: usize) {
        for column in &plan.columns[plan.wanted..] {
            for b in column.baskets.clone().filter(|&b| plan.baskets[b].steps.1 == step) {
                self.slots[b] = None;
            }
        }
    }
}

/// The values of a decoded basket.
pub(in crate::scan) fn column_of(d: &Decoded) -> &Array {
    match d {
        Decoded::Column(a) | Decoded::Uncounted(a) => a,
    }
}

/// Why a basket that was never divided cannot be used.
pub(super) fn no_counter() -> Error {
    Error::unsupported("its entries have no offsets and no counter")
}
