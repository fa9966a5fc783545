//! A column as the evaluator walks it: levels of nesting above flat values.

use crate::shape::{Dim, Kind, Shape};
use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};

/// One level of nesting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ViewLevel<'a> {
    Fixed(usize),
    /// Offsets that start at or above 0, never fall, and end within the content.
    Jagged(&'a [i64]),
}

impl ViewLevel<'_> {
    /// First child of `position`, and how many there are.
    #[inline]
    pub(crate) fn children(self, position: usize) -> (usize, usize) {
        match self {
            ViewLevel::Fixed(n) => (position * n, n),
            ViewLevel::Jagged(offsets) => {
                let from = offsets[position] as usize;
                (from, offsets[position + 1] as usize - from)
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaf<'a> {
    Numbers(&'a Values),
    Text {
        offsets: &'a [i64],
        bytes: &'a [u8],
    },
    /// Records: only their number is of use.
    Records,
}

/// A checked column: positions found by walking its levels are always inside.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    pub levels: Vec<ViewLevel<'a>>,
    pub leaf: Leaf<'a>,
    /// Which entries have a value, where not all do.
    pub present: Option<&'a [bool]>,
    /// Which of the values at the leaf are there, where not all are.
    pub has: Option<&'a [bool]>,
}

impl<'a> View<'a> {
    /// Checks that the column has this many entries and this shape, and that its offsets hold.
    pub(crate) fn new(array: &'a Array, entries: usize, shape: &Shape) -> Result<Self> {
        let wrong = |what: &str| Err(Error::invalid(what.to_string()));
        if array.len() != entries {
            return Err(Error::invalid(format!("the column has {} entries, the batch has {entries}", array.len())));
        }
        let mut levels = Vec::with_capacity(shape.dims.len());
        let mut array = array;
        let mut count = entries;
        let leaf = loop {
            let dim = shape.dims.get(levels.len());
            match (array, dim) {
                (Array::Regular { size, content, .. }, Some(Dim::Fixed(n))) if size == n => {
                    let Some(items) = count.checked_mul(*size).filter(|&n| n <= content.len()) else {
                        return wrong("the column ends before its last entry");
                    };
                    levels.push(ViewLevel::Fixed(*size));
                    (array, count) = (content, items);
                }
                (Array::List { offsets, content }, Some(Dim::Jagged)) => {
                    check_offsets(offsets, count, content.len())?;
                    levels.push(ViewLevel::Jagged(offsets));
                    (array, count) = (content, content.len());
                }
                (Array::Flat(v), None) if shape.kind == Kind::Number(v.dtype()) && v.len() >= count => {
                    break Leaf::Numbers(v);
                }
                (Array::Text { offsets, bytes }, None) if shape.kind == Kind::Text => {
                    check_offsets(offsets, count, bytes.len())?;
                    break Leaf::Text { offsets, bytes };
                }
                (Array::Record { len, .. }, None) if shape.kind == Kind::Record && *len >= count => {
                    break Leaf::Records;
                }
                _ => return wrong("the column is not of the type that the query was made for"),
            }
        };
        Ok(Self { levels, leaf, present: None, has: None })
    }

    /// The same where only these entries have a value.
    pub(crate) fn where_present(self, present: Option<&'a [bool]>, entries: usize) -> Result<Self> {
        if present.is_some_and(|p| p.len() != entries) {
            return Err(Error::invalid("it is known of some entries only whether they have a value"));
        }
        Ok(Self { present, ..self })
    }

    /// How many values lie before entry `entry`.
    pub(crate) fn values_before(&self, entry: usize) -> usize {
        self.levels.iter().fold(entry, |position, level| match level {
            ViewLevel::Fixed(n) => position * n,
            ViewLevel::Jagged(offsets) => offsets.get(position).map_or(0, |&o| o as usize),
        })
    }

    /// Instances per entry on average, for choosing blocks.
    pub(crate) fn mean_values(&self, entries: usize) -> usize {
        let first = self.values_before(0);
        (self.values_before(entries) - first).div_ceil(entries.max(1))
    }

    /// The bytes of the string at `position`.
    pub(crate) fn text(&self, position: usize) -> &'a [u8] {
        match self.leaf {
            Leaf::Text { offsets, bytes } => &bytes[offsets[position] as usize..offsets[position + 1] as usize],
            Leaf::Numbers(_) | Leaf::Records => &[],
        }
    }
}

fn check_offsets(offsets: &[i64], count: usize, content: usize) -> Result<()> {
    let enough = offsets.len() > count || (count == 0 && offsets.is_empty());
    let rising = offsets.windows(2).all(|w| w[0] <= w[1]);
    let inside = offsets.first().is_none_or(|&o| o >= 0) && offsets.last().is_none_or(|&o| o as u64 <= content as u64);
    if enough && rising && inside { Ok(()) } else { Err(Error::invalid("the column's offsets do not fit its content")) }
}
