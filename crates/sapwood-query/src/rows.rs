use crate::block::Pool;
use crate::eval::Evaluator;
use crate::layout::{MISSING, Positions};
use crate::program::{Level, Output, Program};
use crate::query::Passed;
use crate::shape::Kind;
use crate::view::Leaf;
use sapwood_column::{Array, Values};
use sapwood_span::Result;
use sapwood_span::raw_text::text_of;

/// Selected rows, one per entry and instance: what TTree::Scan prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// One flat or text column per expression, one item per row. A plain branch keeps its type.
    pub columns: Vec<Array>,
    /// For each expression, which rows it has a value for; `None` where it has one for all. Where it has none, the
    /// column holds 0 or an empty string.
    pub present: Vec<Option<Vec<bool>>>,
    /// The value of the selection, never 0; 1 without a selection.
    pub weights: Vec<f64>,
    /// Number of the entry in the tree or chain.
    pub entry: Vec<u64>,
    /// Number of the instance in its entry.
    pub index: Vec<u32>,
}

/// One item of a row, for printing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A truth value.
    Bool(bool),
    /// A signed whole number.
    Int(i64),
    /// An unsigned whole number.
    UInt(u64),
    /// A single-precision number: prints as short as it can be told apart.
    F32(f32),
    /// A double-precision number.
    F64(f64),
    /// Bytes of a string; ROOT does not say which encoding.
    Text(&'a [u8]),
}

impl std::fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Bool(x) => write!(f, "{x}"),
            Cell::Int(x) => write!(f, "{x}"),
            Cell::UInt(x) => write!(f, "{x}"),
            Cell::F32(x) => write!(f, "{x}"),
            Cell::F64(x) => write!(f, "{x}"),
            Cell::Text(s) => f.write_str(&text_of(s)),
        }
    }
}

impl Rows {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Whether expression `column` has a value in row `row`.
    pub fn has(&self, column: usize, row: usize) -> bool {
        match self.present.get(column) {
            Some(Some(present)) => present.get(row).copied().unwrap_or(false),
            Some(None) => row < self.len(),
            None => false,
        }
    }

    /// The item of expression `column` in row `row`, or `None` where there is none.
    pub fn cell(&self, column: usize, row: usize) -> Option<Cell<'_>> {
        if !self.has(column, row) {
            return None;
        }
        Some(match self.columns.get(column)? {
            Array::Flat(v) => match v {
                Values::Bool(v) => Cell::Bool(*v.get(row)? != 0),
                Values::I8(v) => Cell::Int(i64::from(*v.get(row)?)),
                Values::I16(v) => Cell::Int(i64::from(*v.get(row)?)),
                Values::I32(v) => Cell::Int(i64::from(*v.get(row)?)),
                Values::I64(v) => Cell::Int(*v.get(row)?),
                Values::U8(v) => Cell::UInt(u64::from(*v.get(row)?)),
                Values::U16(v) => Cell::UInt(u64::from(*v.get(row)?)),
                Values::U32(v) => Cell::UInt(u64::from(*v.get(row)?)),
                Values::U64(v) => Cell::UInt(*v.get(row)?),
                Values::F32(v) => Cell::F32(*v.get(row)?),
                Values::F64(v) => Cell::F64(*v.get(row)?),
            },
            Array::Text { offsets, bytes } => {
                let from = usize::try_from(*offsets.get(row)?).ok()?;
                let to = usize::try_from(*offsets.get(row + 1)?).ok()?;
                Cell::Text(bytes.get(from..to)?)
            }
            _ => return None,
        })
    }

    /// Expression `column` as doubles; empty for strings.
    pub fn values(&self, column: usize) -> Vec<f64> {
        match self.columns.get(column) {
            Some(Array::Flat(v)) => (0..v.len()).filter_map(|i| v.get_f64(i)).collect(),
            _ => Vec::new(),
        }
    }

    /// Appends the rows of the batch behind this one.
    ///
    /// # Errors
    /// `Invalid` when the rows come from another query.
    pub fn append(&mut self, other: &Rows) -> Result<()> {
        if self.columns.len() != other.columns.len() {
            return Err(sapwood_span::Error::invalid("rows of different queries cannot be joined"));
        }
        for (a, b) in self.columns.iter_mut().zip(&other.columns) {
            a.append(b)?;
        }
        let (before, more) = (self.len(), other.len());
        for (a, b) in self.present.iter_mut().zip(&other.present) {
            if a.is_some() || b.is_some() {
                let present = a.get_or_insert_with(|| vec![true; before]);
                match b {
                    Some(b) => present.extend_from_slice(b),
                    None => present.resize(before + more, true),
                }
            }
        }
        self.weights.extend_from_slice(&other.weights);
        self.entry.extend_from_slice(&other.entry);
        self.index.extend_from_slice(&other.index);
        Ok(())
    }
}

/// Gathers the rows of one block after another.
pub(crate) struct Collector {
    rows: Rows,
}

impl Collector {
    pub(crate) fn new(program: &Program) -> Self {
        let columns = (0..program.outputs.len()).map(|k| empty_column(program, k)).collect();
        let present = vec![None; program.outputs.len()];
        Self { rows: Rows { columns, present, weights: Vec::new(), entry: Vec::new(), index: Vec::new() } }
    }

    pub(crate) fn add(&mut self, e: &Evaluator<'_, '_>, passed: &Passed, weights: &[f64], pool: &mut Pool) {
        let layout = &e.layouts[0];
        let kept: Vec<usize> = (0..layout.rows()).filter(|&r| passed.contains(r)).collect();
        self.rows.weights.extend_from_slice(weights);
        for (i, w) in layout.starts.windows(2).enumerate() {
            for row in (w[0]..w[1]).filter(|&r| passed.contains(r)) {
                self.rows.entry.push(e.batch.first_entry + e.batch.behind(e.range.start + i));
                self.rows.index.push(u32::try_from(row - w[0]).unwrap_or(u32::MAX));
            }
        }
        for ((output, node), column) in e.program.outputs.iter().zip(&mut self.rows.columns) {
            match (output, column) {
                (Output::Computed, Array::Flat(Values::F64(out))) => {
                    let block = e.run(node, 0, Level::Row, pool);
                    out.extend(kept.iter().map(|&r| block.at(r)));
                    block.recycle(pool);
                }
                (Output::Plain(access), Array::Flat(out)) => plain(e, *access, &kept, out),
                (Output::Text(node), Array::Text { offsets, bytes }) => {
                    let strings = e.strings(node, 0, Level::Row, pool);
                    for &r in &kept {
                        bytes.extend_from_slice(strings.at(r).unwrap_or_default());
                        offsets.push(bytes.len() as i64);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds a block whose expressions run apart.
    pub(crate) fn add_apart(&mut self, e: &Evaluator<'_, '_>, spaces: &[usize], pool: &mut Pool) {
        crate::apart::add(&mut self.rows, e, spaces, pool);
    }

    pub(crate) fn finish(self) -> Rows {
        self.rows
    }
}

fn empty_column(program: &Program, k: usize) -> Array {
    let space = program.apart.as_ref().map_or(0, |spaces| spaces[k]);
    match &program.outputs[k].0 {
        Output::Text(_) => Array::Text { offsets: vec![0], bytes: Vec::new() },
        Output::Computed => Array::Flat(Values::F64(Vec::new())),
        Output::Plain(access) => {
            let column = program.spaces[space].accesses[*access].column;
            match program.columns[column].1.kind {
                Kind::Number(dtype) => Array::Flat(Values::with_capacity(dtype, 0)),
                Kind::Text => Array::Text { offsets: vec![0], bytes: Vec::new() },
            }
        }
    }
}

/// The values of a plain branch, in its own type.
fn plain(e: &Evaluator<'_, '_>, access: usize, kept: &[usize], out: &mut Values) {
    let a = &e.program.spaces[0].accesses[access];
    let Leaf::Numbers(values) = e.views[a.column].leaf else { return };
    let layout = &e.layouts[0];
    // The entry of each row, where the branch changes only with the entry.
    let entry_of: Option<Vec<usize>> = (a.level == Level::Entry).then(|| {
        let rows = layout.starts.windows(2).enumerate();
        rows.flat_map(|(i, w)| std::iter::repeat_n(i, w[1] - w[0])).collect()
    });
    let position = |row: usize| {
        let i = entry_of.as_ref().map_or(row, |e| e[row]);
        position_of(&layout.positions[access], i)
    };
    copy_at(values, kept.iter().map(|&r| position(r)), out);
}

/// Where item `i` of an access lies.
pub(crate) fn position_of(positions: &Positions, i: usize) -> usize {
    match positions {
        Positions::Run(from) => from + i,
        Positions::Each(each) => each[i],
        Positions::Computed => MISSING,
    }
}

/// Appends the values at these positions, 0 for those that are [`MISSING`].
pub(crate) fn copy_at(values: &Values, positions: impl Iterator<Item = usize>, out: &mut Values) {
    macro_rules! copy {
        ($($t:ident),*) => { match (values, out) {
            $((Values::$t(v), Values::$t(out)) => out.extend(positions.map(|p| v.get(p).copied().unwrap_or_default())),)*
            _ => {}
        } };
    }
    copy!(Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64);
}
