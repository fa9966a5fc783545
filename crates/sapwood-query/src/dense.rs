//! Columns with optional values as the evaluator walks them: every value has a place, and beside the values stands which
//! of them are there.
//!
//! A scan gives optional values as lists of one item or none. Walked as lists they would be squeezed together, and would be
//! paired with the wrong items of other columns.

use crate::layout::MISSING;
use crate::rows::copy_at;
use crate::shape::{Dim, Shape};
use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};

/// A column in which missing values have a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dense {
    /// Nested as the shape says, with 0 or an empty string where a value is missing.
    pub array: Array,
    /// Which of the innermost values are there; `None`: all.
    pub has: Option<Vec<bool>>,
}

impl Dense {
    /// Gives the values of `array` places; `shape` says where in it the options are.
    ///
    /// # Errors
    /// `Invalid` where the column is not of this shape, or its offsets do not hold.
    pub(crate) fn new(array: &Array, entries: usize, shape: &Shape) -> Result<Self> {
        if array.len() != entries {
            return Err(Error::invalid(format!("the column has {} entries, the batch has {entries}", array.len())));
        }
        let mut has = Vec::new();
        let array = place(array, (0..entries).collect(), shape, (0, 0), &mut has)?;
        Ok(Self { array, has: has.contains(&false).then_some(has) })
    }
}

fn misfit() -> Error {
    Error::invalid("the column is not of the type that the query was made for")
}

/// The items of list `i`.
fn items(offsets: &[i64], i: usize, content: usize) -> Result<(usize, usize)> {
    let at = |i: usize| offsets.get(i).and_then(|&o| usize::try_from(o).ok()).filter(|&o| o <= content);
    let ends = at(i).zip(at(i.saturating_add(1))).filter(|(from, to)| from <= to);
    ends.ok_or_else(|| Error::invalid("the column's offsets do not fit its content"))
}

/// The values at these positions, some of which may be [`MISSING`]. `at`: how many dimensions and options are above.
fn place(
    mut array: &Array,
    mut positions: Vec<usize>,
    shape: &Shape,
    (dim, mut option): (usize, usize),
    has: &mut Vec<bool>,
) -> Result<Array> {
    while shape.options.get(option) == Some(&dim) {
        let Array::List { offsets, content } = array else { return Err(misfit()) };
        for position in positions.iter_mut().filter(|p| **p != MISSING) {
            *position = match items(offsets, *position, content.len())? {
                (from, to) if from == to => MISSING,
                (from, to) if to - from == 1 => from,
                _ => return Err(Error::invalid("an optional value has several values")),
            };
        }
        (array, option) = (content, option + 1);
    }
    let below = (dim + 1, option);
    Ok(match (array, shape.dims.get(dim)) {
        (Array::Regular { size, content, .. }, Some(Dim::Fixed(n))) if size == n => {
            let count = positions.len().checked_mul(*n).ok_or_else(misfit)?;
            let mut inner = Vec::with_capacity(count.min(content.len()));
            for &position in &positions {
                let from = position.checked_mul(*n).ok_or_else(misfit)?;
                let to = from.checked_add(*n).filter(|&to| to <= content.len()).ok_or_else(misfit)?;
                inner.extend(from..to);
            }
            let content = place(content, inner, shape, below, has)?;
            Array::Regular { size: *size, len: positions.len(), content: Box::new(content) }
        }
        (Array::Regular { size, content, .. }, Some(Dim::Jagged)) => {
            let span = |position: usize| {
                let from = position.checked_mul(*size).ok_or_else(misfit)?;
                let to = from.checked_add(*size).filter(|&to| to <= content.len()).ok_or_else(misfit)?;
                Ok((from, to))
            };
            list(&positions, span, |inner| place(content, inner, shape, below, has))?
        }
        (Array::List { offsets, content }, Some(Dim::Jagged)) => {
            let span = |position: usize| items(offsets, position, content.len());
            list(&positions, span, |inner| place(content, inner, shape, below, has))?
        }
        (leaf, None) => {
            has.extend(positions.iter().map(|&p| p != MISSING));
            values(leaf, &positions)?
        }
        _ => return Err(misfit()),
    })
}

/// Lists of the items at these positions; a missing one is empty.
fn list(
    positions: &[usize],
    span: impl Fn(usize) -> Result<(usize, usize)>,
    place: impl FnOnce(Vec<usize>) -> Result<Array>,
) -> Result<Array> {
    let (mut offsets, mut inner) = (Vec::with_capacity(positions.len() + 1), Vec::new());
    offsets.push(0);
    for &position in positions {
        if position != MISSING {
            let (from, to) = span(position)?;
            inner.extend(from..to);
        }
        offsets.push(inner.len() as i64);
    }
    Ok(Array::List { offsets, content: Box::new(place(inner)?) })
}

fn values(leaf: &Array, positions: &[usize]) -> Result<Array> {
    if positions.iter().any(|&p| p != MISSING && p >= leaf.len()) {
        return Err(Error::invalid("the column ends before its last entry"));
    }
    Ok(match leaf {
        Array::Flat(v) => {
            let mut out = Values::with_capacity(v.dtype(), positions.len());
            copy_at(v, positions.iter().copied(), &mut out);
            Array::Flat(out)
        }
        Array::Text { offsets, bytes } => {
            let (mut ends, mut text) = (Vec::with_capacity(positions.len() + 1), Vec::new());
            ends.push(0);
            for &position in positions {
                if position != MISSING {
                    let (from, to) = items(offsets, position, bytes.len())?;
                    text.extend_from_slice(&bytes[from..to]);
                }
                ends.push(text.len() as i64);
            }
            Array::Text { offsets: ends, bytes: text }
        }
        Array::Record { .. } => Array::Record { len: positions.len(), fields: Vec::new() },
        Array::Regular { .. } | Array::List { .. } => return Err(misfit()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Kind;
    use sapwood_column::DType;

    fn option(offsets: &[i64], content: Array) -> Array {
        Array::List { offsets: offsets.to_vec(), content: Box::new(content) }
    }

    fn numbers(values: &[i32]) -> Array {
        Array::Flat(Values::I32(values.to_vec()))
    }

    fn shape(dims: Vec<Dim>, options: &[usize]) -> Shape {
        Shape { dims, kind: Kind::Number(DType::I32), options: options.to_vec() }
    }

    #[test]
    fn missing_values_keep_their_place() {
        let column = option(&[0, 1, 1, 2], numbers(&[7, 8]));
        let dense = Dense::new(&column, 3, &shape(vec![], &[0])).unwrap();
        assert_eq!(dense, Dense { array: numbers(&[7, 0, 8]), has: Some(vec![true, false, true]) });
        let all = Dense::new(&option(&[0, 1, 2], numbers(&[7, 8])), 2, &shape(vec![], &[0])).unwrap();
        assert_eq!(all, Dense { array: numbers(&[7, 8]), has: None });
        let in_lists = option(&[0, 3, 3], option(&[0, 0, 1, 2], numbers(&[1, 2])));
        let dense = Dense::new(&in_lists, 2, &shape(vec![Dim::Jagged], &[1])).unwrap();
        assert_eq!(dense.array, option(&[0, 3, 3], numbers(&[0, 1, 2])));
        assert_eq!(dense.has, Some(vec![false, true, true]));
    }

    #[test]
    fn a_missing_list_or_array_is_empty() {
        let lists = option(&[0, 1, 1, 2], option(&[0, 2, 3], numbers(&[1, 2, 3])));
        let dense = Dense::new(&lists, 3, &shape(vec![Dim::Jagged], &[0])).unwrap();
        assert_eq!(dense, Dense { array: option(&[0, 2, 2, 3], numbers(&[1, 2, 3])), has: None });
        let array = Array::Regular { size: 2, len: 1, content: Box::new(numbers(&[5, 6])) };
        let dense = Dense::new(&option(&[0, 0, 1], array), 2, &shape(vec![Dim::Jagged], &[0])).unwrap();
        assert_eq!(dense.array, option(&[0, 0, 2], numbers(&[5, 6])));
    }

    #[test]
    fn options_of_options_are_one() {
        let column = option(&[0, 1, 2, 2], option(&[0, 1, 1], numbers(&[4])));
        let dense = Dense::new(&column, 3, &shape(vec![], &[0, 0])).unwrap();
        assert_eq!(dense, Dense { array: numbers(&[4, 0, 0]), has: Some(vec![true, false, false]) });
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let one = shape(vec![], &[0]);
        assert!(Dense::new(&option(&[0, 2], numbers(&[1, 2])), 1, &one).is_err());
        assert!(Dense::new(&option(&[0, 1], numbers(&[])), 1, &one).is_err());
        assert!(Dense::new(&option(&[0], numbers(&[1])), 1, &one).is_err());
        assert!(Dense::new(&option(&[1, 0, 0], numbers(&[1])), 2, &one).is_err());
        assert!(Dense::new(&option(&[-1, 0], numbers(&[1])), 1, &one).is_err());
        assert!(Dense::new(&option(&[0, i64::MAX], numbers(&[1])), 1, &one).is_err());
        assert!(Dense::new(&numbers(&[1]), 1, &one).is_err());
        assert!(Dense::new(&option(&[0, 1], numbers(&[1])), 1, &shape(vec![Dim::Fixed(1)], &[1])).is_err());
    }
}
