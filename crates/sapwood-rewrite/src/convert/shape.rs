//! How a column that was read becomes one that can be written: the same values in another shape.

use sapwood_column::Array;
use sapwood_span::{Error, Result};

/// What changes in a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Nothing.
    Keep,
    /// The items of lists and fixed arrays.
    Items(Box<Shape>),
    /// Fixed arrays become lists, and their items change.
    AsLists(Box<Shape>),
    /// Fixed arrays of fixed arrays become ones of all their items.
    Flattened,
    /// The members of records, and their names.
    Members(Vec<(String, Shape)>),
}

impl Shape {
    /// The items of lists and fixed arrays; nothing where these stay.
    pub(super) fn of_items(self) -> Self {
        if self == Shape::Keep { Shape::Keep } else { Shape::Items(Box::new(self)) }
    }

    /// The column in its new shape.
    ///
    /// # Errors
    /// `Invalid` where the column is not what the shape was made for.
    pub(super) fn apply(&self, array: Array) -> Result<Array> {
        Ok(match (self, array) {
            (Shape::Keep, array) => array,
            (Shape::Items(inner), Array::List { offsets, content }) => {
                Array::List { offsets, content: Box::new(inner.apply(*content)?) }
            }
            (Shape::Items(inner), Array::Regular { size, len, content }) => {
                Array::Regular { size, len, content: Box::new(inner.apply(*content)?) }
            }
            (Shape::AsLists(inner), Array::Regular { size, len, content }) => {
                let offsets = (0..=len).map(|i| (i * size) as i64).collect();
                Array::List { offsets, content: Box::new(inner.apply(*content)?) }
            }
            (Shape::Flattened, Array::Regular { mut size, len, mut content }) => {
                while let Array::Regular { size: inner, content: items, .. } = *content {
                    size = size.checked_mul(inner).ok_or_else(|| Error::corrupt("more items than there can be"))?;
                    content = items;
                }
                Array::Regular { size, len, content }
            }
            (Shape::Members(members), Array::Record { len, fields }) if members.len() == fields.len() => {
                let member = |((name, shape), (_, array)): (&(String, Shape), (String, Array))| {
                    Ok((name.clone(), shape.apply(array)?))
                };
                Array::Record { len, fields: members.iter().zip(fields).map(member).collect::<Result<_>>()? }
            }
            _ => return Err(Error::invalid("a column has another type than its branch")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_column::Values;

    #[test]
    fn arrays_of_arrays_become_flat() {
        let numbers = Array::Flat(Values::I32((0..12).collect()));
        let inner = Array::Regular { size: 3, len: 4, content: Box::new(numbers.clone()) };
        let array = Array::Regular { size: 2, len: 2, content: Box::new(inner) };
        let flat = Array::Regular { size: 6, len: 2, content: Box::new(numbers) };
        assert_eq!(Shape::Flattened.apply(array).unwrap(), flat);
    }

    #[test]
    fn fixed_arrays_become_lists() {
        let numbers = Array::Flat(Values::I32(vec![1, 2, 3, 4, 5, 6]));
        let array = Array::Regular { size: 3, len: 2, content: Box::new(numbers.clone()) };
        let lists = Array::List { offsets: vec![0, 3, 6], content: Box::new(numbers.clone()) };
        assert_eq!(Shape::AsLists(Box::new(Shape::Keep)).apply(array).unwrap(), lists);
        assert!(Shape::AsLists(Box::new(Shape::Keep)).apply(numbers).is_err());
    }
}
