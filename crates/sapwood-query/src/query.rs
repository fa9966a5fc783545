use crate::ast::Expr;
use crate::batch::Batch;
use crate::bind::{Running, bind};
use crate::block::{Block, Pool, fresh};
use crate::collector::{Collector, Passed};
use crate::dense::Dense;
use crate::eval::Evaluator;
use crate::known::both;
use crate::layout::Layout;
use crate::program::{Level, Node, NodeKind, Output, Program};
use crate::rows::Rows;
use crate::shape::{Schema, Shape};
use crate::view::View;
use sapwood_span::{Error, Result};

/// Instances a block aims at: a few registers of this many doubles stay in the nearest caches.
const BLOCK_VALUES: usize = 2048;
/// Entries in a block at most.
const BLOCK_ENTRIES: usize = 2048;

/// Expressions and a selection, bound to the branches of a tree.
///
/// It holds no data: the same query serves any number of batches and workers.
#[derive(Clone)]
pub struct Query {
    program: Program,
    names: Vec<String>,
    texts: Vec<String>,
}

/// The rows of one block that passed the selection.
#[derive(Debug)]
pub struct Selected<'b> {
    /// One slice per expression, all as long as `weights`.
    pub values: &'b [Vec<f64>],
    /// The value of the selection for each row, never 0; 1 without a selection.
    pub weights: &'b [f64],
}

impl Query {
    /// Binds `exprs` and the selection `cut` to a tree; checks names, types and indices.
    ///
    /// # Errors
    /// `NotFound` for a name that the tree lacks (with the names that look alike) or a function that
    /// does not exist; `Invalid` where types or indices do not fit. Both show the place.
    pub fn new<S: Schema + ?Sized>(exprs: &[Expr], cut: Option<&Expr>, schema: &S) -> Result<Self> {
        Self::bound(exprs, cut, schema, Running::Together)
    }

    /// The same for [`Query::rows`] as TTree::Scan prints them: each expression runs by itself.
    ///
    /// An entry has as many rows as its longest expression has instances, and at least one; a shorter one has no value
    /// in the rows behind its last ([`Rows::has`]), and what changes only with the entry is repeated. A selection that
    /// has instances itself makes everything run together, to the shortest.
    ///
    /// # Errors
    /// As [`Query::new`].
    pub fn scan<S: Schema + ?Sized>(exprs: &[Expr], cut: Option<&Expr>, schema: &S) -> Result<Self> {
        Self::bound(exprs, cut, schema, Running::Apart)
    }

    fn bound<S: Schema + ?Sized>(exprs: &[Expr], cut: Option<&Expr>, schema: &S, running: Running) -> Result<Self> {
        let program = bind(exprs, cut, schema, running)?;
        let names = program.columns.iter().map(|(n, _)| n.clone()).collect();
        Ok(Self { program, names, texts: exprs.iter().map(|e| e.text().to_string()).collect() })
    }

    /// The branches it reads, each once: the order of [`Batch::columns`].
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The same with the shape in which each is read: one that is read as strings and as their characters is there twice.
    pub fn columns(&self) -> &[(String, Shape)] {
        &self.program.columns
    }

    /// The text of each expression: column titles.
    pub fn titles(&self) -> &[String] {
        &self.texts
    }

    /// Whether expression `i` gives strings; those are read with [`Query::rows`] only.
    pub fn is_text(&self, i: usize) -> bool {
        matches!(self.program.outputs.get(i), Some((Output::Text(_), _)))
    }

    /// Whether an entry may have several rows: an expression or the selection has instances.
    pub fn has_instances(&self) -> bool {
        let own = std::iter::once(&0).chain(self.program.apart.iter().flatten());
        own.into_iter().any(|&space| self.program.spaces.get(space).is_some_and(|s| s.dims > 0))
    }

    /// Whether expression `i` has one value for an entry, which is repeated in its rows.
    pub fn is_repeated(&self, i: usize) -> bool {
        let space = self.program.apart.as_ref().map_or(0, |spaces| spaces.get(i).copied().unwrap_or(0));
        let has_instances = self.program.spaces.get(space).is_some_and(|s| s.dims > 0);
        self.program.outputs.get(i).is_some_and(|(_, node)| !has_instances || node.level != Level::Row)
    }

    /// Whether an automatic histogram of expression `i` has bins a whole number wide: branches of whole numbers and what
    /// counts, as in ROOT.
    pub fn is_integer(&self, i: usize) -> bool {
        matches!(self.program.outputs.get(i), Some((Output::Computed | Output::Plain(_), n)) if n.integer)
    }

    /// Calls `f` with the selected rows of the batch, block by block, in order: the way to fill
    /// histograms without holding all values.
    ///
    /// # Errors
    /// `Invalid` when a column does not have the entries or the type that the query was made for, or
    /// an expression gives strings; what `f` returns.
    pub fn visit(&self, batch: &Batch<'_>, mut f: impl FnMut(&Selected<'_>) -> Result<()>) -> Result<()> {
        if self.program.apart.is_some() {
            return Err(Error::invalid("a query made for a scan has rows, not values for a histogram"));
        }
        if let Some(i) = (0..self.texts.len()).find(|&i| self.is_text(i)) {
            return Err(Error::invalid(format!("{} is a string, not a number", self.texts[i]))
                .with_remedy("scan it, or compare it with == in the selection"));
        }
        if batch.weight == 0.0 && self.program.cut.is_some() {
            // as in ROOT, where the selection and the weight are one number
            return Ok(());
        }
        let mut values = vec![Vec::new(); self.program.outputs.len()];
        let mut weights = Vec::new();
        self.blocks(batch, |evaluator, pool| {
            let Some(passed) = select_rows(evaluator, Blanks::Dropped, &mut weights, pool) else { return Ok(()) };
            for ((_, node), out) in self.program.outputs.iter().zip(&mut values) {
                let block = evaluator.run(node, 0, Level::Row, pool);
                take(block, evaluator.layouts[0].rows(), &passed, out, pool);
            }
            if let Passed::Some(rows) = passed {
                pool.push(rows);
            }
            if batch.weight != 1.0 {
                weights.iter_mut().for_each(|w| *w *= batch.weight);
            }
            f(&Selected { values: &values, weights: &weights })
        })
    }

    /// The selected rows of the batch with their entry and instance: TTree::Scan's rows. Plain
    /// branches keep their own type (64-bit integers stay exact), strings are strings, and what is
    /// computed is `float64`.
    ///
    /// # Errors
    /// `Invalid` when a column does not have the entries or the type that the query was made for.
    pub fn rows(&self, batch: &Batch<'_>) -> Result<Rows> {
        let mut collector = Collector::new(&self.program);
        let mut weights = Vec::new();
        let blanks = self.blanks();
        self.blocks(batch, |evaluator, pool| {
            if let Some(spaces) = &self.program.apart {
                collector.add_apart(evaluator, spaces, pool);
            } else if let Some(passed) = select_rows(evaluator, blanks, &mut weights, pool) {
                collector.add(evaluator, &passed, &weights, pool);
            }
            Ok(())
        })?;
        Ok(collector.finish())
    }

    /// For each entry of the batch whether a row of it passes the selection: the entries of [`rows`](Self::rows), without
    /// computing them.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn passing(&self, batch: &Batch<'_>) -> Result<Vec<bool>> {
        let mut passing = vec![false; batch.entries];
        if self.program.apart.is_some() {
            let rows = self.rows(batch)?;
            let mut entries = rows.entry.iter().peekable();
            for (i, passes) in passing.iter_mut().enumerate() {
                while entries.next_if(|e| **e == batch.first_entry + batch.behind(i)).is_some() {
                    *passes = true;
                }
            }
            return Ok(passing);
        }
        let mut weights = Vec::new();
        self.blocks(batch, |evaluator, pool| {
            let Some(passed) = select_rows(evaluator, self.blanks(), &mut weights, pool) else { return Ok(()) };
            let entries = evaluator.layouts[0].starts.windows(2).zip(&mut passing[evaluator.range.clone()]);
            match passed {
                Passed::All => entries.for_each(|(rows, passes)| *passes = rows[0] < rows[1]),
                Passed::Some(cut) => {
                    entries.for_each(|(rows, passes)| *passes = cut[rows[0]..rows[1]].iter().any(|c| *c != 0.0));
                    pool.push(cut);
                }
            }
            Ok(())
        })?;
        Ok(passing)
    }

    /// Rows in which an output has no value: kept where the rows say so.
    fn blanks(&self) -> Blanks {
        if self.program.has_blanks { Blanks::Kept } else { Blanks::Dropped }
    }

    fn blocks(&self, batch: &Batch<'_>, mut f: impl FnMut(&Evaluator<'_, '_>, &mut Pool) -> Result<()>) -> Result<()> {
        if batch.columns.len() != self.names.len() {
            return Err(Error::invalid(format!(
                "the query reads {} columns, the batch has {}",
                self.names.len(),
                batch.columns.len()
            )));
        }
        let mut dense = Vec::with_capacity(self.names.len());
        for ((name, shape), array) in self.program.columns.iter().zip(&batch.columns) {
            let optional = (!shape.options.is_empty()).then(|| Dense::new(array, batch.entries, shape));
            dense.push(optional.transpose().map_err(|e| e.in_branch(name))?);
        }
        let mut views = Vec::with_capacity(self.names.len());
        for (i, ((name, shape), array)) in self.program.columns.iter().zip(&batch.columns).enumerate() {
            let present = batch.present.get(i).copied().flatten();
            let dense = dense.get(i).and_then(Option::as_ref);
            let array = dense.map_or(*array, |d| &d.array);
            let view = View::new(array, batch.entries, shape).and_then(|v| v.where_present(present, batch.entries));
            let view = view.map_err(|e| e.in_branch(name))?;
            views.push(View { has: dense.and_then(|d| d.has.as_deref()), ..view });
        }
        if batch.apart.is_some_and(|a| a.len() != batch.entries) {
            return Err(Error::invalid("a batch says of some of its entries only which they are"));
        }
        let widest = views.iter().map(|v| v.mean_values(batch.entries)).max().unwrap_or(1);
        let step = (BLOCK_VALUES / widest.max(1)).clamp(1, BLOCK_ENTRIES);
        let mut pool = Pool::new();
        let mut from = 0;
        while from < batch.entries {
            let range = from..batch.entries.min(from + step);
            from = range.end;
            let layouts: Vec<Layout> =
                self.program.spaces.iter().map(|s| Layout::new(s, &views, range.clone())).collect();
            if self.program.apart.is_none() && layouts[0].rows() == 0 {
                continue;
            }
            let evaluator = Evaluator { program: &self.program, batch, views: &views, range, layouts: &layouts };
            f(&evaluator, &mut pool)?;
        }
        Ok(())
    }
}

/// What becomes of rows in which an output has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blanks {
    Kept,
    Dropped,
}

/// Evaluates the selection; `None` where no row passes. `weights` holds those of the rows that do.
fn select_rows(e: &Evaluator<'_, '_>, blanks: Blanks, weights: &mut Vec<f64>, pool: &mut Pool) -> Option<Passed> {
    weights.clear();
    let rows = e.layouts[0].rows();
    let (cut, logical) = match &e.program.cut {
        Some(cut) => (e.run(cut, 0, Level::Row, pool), is_logical(cut)),
        None => (Block::Scalar(1.0), true),
    };
    let cut = match chosen_rows(e) {
        Some(chosen) => only(cut, &chosen, pool),
        None => cut,
    };
    let mut known = e.program.cut.as_ref().and_then(|cut| e.known(cut, 0, Level::Row, pool));
    if blanks == Blanks::Dropped {
        for (output, node) in &e.program.outputs {
            known = both(known, e.known_output((output, node), 0, Level::Row, pool));
        }
    }
    let cut = match known {
        Some(known) => only(cut, &known, pool),
        None => cut,
    };
    match cut {
        Block::Scalar(0.0) => None,
        Block::Scalar(w) => {
            weights.resize(rows, w);
            Some(Passed::All)
        }
        Block::Column(cut) => {
            if logical {
                weights.resize(count_passed(&cut), 1.0);
            } else {
                weights.extend_from_slice(&cut);
                compress(weights, &cut);
            }
            if weights.is_empty() {
                pool.push(cut);
                return None;
            }
            if weights.len() == rows {
                pool.push(cut);
                return Some(Passed::All);
            }
            Some(Passed::Some(cut))
        }
    }
}

/// For each row whether its instance is chosen, where the batch says it; of entries that have one row each all are, as in
/// ROOT.
fn chosen_rows(e: &Evaluator<'_, '_>) -> Option<Vec<bool>> {
    let instances = e.batch.instances.filter(|_| e.program.spaces.first().is_some_and(|s| s.dims > 0))?;
    let layout = &e.layouts[0];
    let mut chosen = Vec::with_capacity(layout.rows());
    for (i, w) in layout.starts.windows(2).enumerate() {
        let numbers = instances.of(e.batch.first_entry + e.batch.behind(e.range.start + i));
        let is_chosen =
            |row: usize| numbers.is_none_or(|n| u32::try_from(row).is_ok_and(|r| n.binary_search(&r).is_ok()));
        chosen.extend((0..w[1] - w[0]).map(is_chosen));
    }
    Some(chosen)
}

/// A selection that is 0 where a row is not chosen.
fn only(cut: Block, chosen: &[bool], pool: &mut Pool) -> Block {
    let mut each = fresh(pool);
    each.extend(chosen.iter().enumerate().map(|(row, chosen)| if *chosen { cut.at(row) } else { 0.0 }));
    cut.recycle(pool);
    Block::Column(each)
}

/// Whether a selection is always 0 or 1.
fn is_logical(cut: &Node) -> bool {
    match &cut.kind {
        NodeKind::Binary(op, ..) => op.is_logical(),
        NodeKind::Not(_) => true,
        NodeKind::Exact(inner) => is_logical(inner),
        _ => false,
    }
}

/// Keeps the values where `cut` is not 0. Written without a branch: selections are unpredictable.
fn compress(values: &mut Vec<f64>, cut: &[f64]) {
    let mut n = 0;
    for (i, c) in cut.iter().enumerate().take(values.len()) {
        values[n] = values[i];
        n += usize::from(*c != 0.0);
    }
    values.truncate(n);
}

/// How many rows passed. Counted in lanes, where a sum of doubles would wait for each addition.
fn count_passed(cut: &[f64]) -> usize {
    cut.iter().map(|c| u64::from(*c != 0.0)).sum::<u64>() as usize
}

/// The values of the rows that passed.
fn take(block: Block, rows: usize, passed: &Passed, out: &mut Vec<f64>, pool: &mut Pool) {
    match (block, passed) {
        (Block::Column(v), Passed::All) => pool.push(std::mem::replace(out, v)),
        (Block::Column(mut v), Passed::Some(cut)) => {
            compress(&mut v, cut);
            pool.push(std::mem::replace(out, v));
        }
        (Block::Scalar(x), passed) => {
            let n = match passed {
                Passed::All => rows,
                Passed::Some(cut) => count_passed(cut),
            };
            let mut v = fresh(pool);
            v.resize(n, x);
            pool.push(std::mem::replace(out, v));
        }
    }
}
