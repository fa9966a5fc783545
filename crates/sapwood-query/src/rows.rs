//! Selected rows.

use crate::layout::{MISSING, Positions};
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
    /// A single-precision number: prints with the fewest digits that identify it.
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

/// Position of item `i` of an access.
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

/// Keeps which rows have a value, from the first one that has none on; there are `before` others.
pub(crate) fn note_blanks(present: &mut Option<Vec<bool>>, before: usize, new: impl Iterator<Item = bool> + Clone) {
    match present {
        Some(present) => present.extend(new),
        None if new.clone().all(|has| has) => {}
        None => *present = Some(std::iter::repeat_n(true, before).chain(new).collect()),
    }
}
