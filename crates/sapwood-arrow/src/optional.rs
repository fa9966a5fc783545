//! Optional values: columns have them as lists of one item or none, Arrow has a place for each and says which are there.

use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};

/// Which entries have a value, and the values with a place for each entry: 0, or an empty list, where there is none.
///
/// # Errors
/// The offsets do not fit the content, or a list has several items.
pub(crate) fn placed(offsets: &[i64], content: Array) -> Result<(Vec<bool>, Array)> {
    let first = check(offsets, &content)?;
    let present: Vec<bool> = offsets.windows(2).map(|pair| pair[1] > pair[0]).collect();
    let array = spread(content, first, &present)?;
    Ok((present, array))
}

/// Where the first item is.
///
/// # Errors
/// As [`placed`].
pub(crate) fn check(offsets: &[i64], content: &Array) -> Result<usize> {
    let misfit = || Error::invalid("the offsets of optional values do not fit their content");
    if offsets.windows(2).any(|pair| pair[0].checked_add(1).is_none_or(|next| pair[1] < pair[0] || pair[1] > next)) {
        return Err(misfit());
    }
    let within = |offset: Option<&i64>| usize::try_from(offset.copied().unwrap_or(0)).ok();
    match (within(offsets.first()), within(offsets.last())) {
        (Some(first), Some(last)) if last <= content.len() => Ok(first),
        _ => Err(misfit()),
    }
}

/// The entries of an array from `first` on at the places that are present.
fn spread(array: Array, first: usize, present: &[bool]) -> Result<Array> {
    if first == 0 && array.len() == present.len() && present.iter().all(|&p| p) {
        return Ok(array);
    }
    Ok(match array {
        Array::Flat(values) => Array::Flat(numbers(&values, first, present)),
        Array::Text { offsets, bytes } => Array::Text { offsets: ends(&offsets, first, present)?, bytes },
        Array::List { offsets, content } => Array::List { offsets: ends(&offsets, first, present)?, content },
        Array::Regular { size, content, .. } => {
            let inner: Vec<bool> = present.iter().flat_map(|&p| std::iter::repeat_n(p, size)).collect();
            let content = Box::new(spread(*content, first.saturating_mul(size), &inner)?);
            Array::Regular { size, len: present.len(), content }
        }
        Array::Record { fields, .. } => {
            let field = |(name, array)| Ok((name, spread(array, first, present)?));
            Array::Record { len: present.len(), fields: fields.into_iter().map(field).collect::<Result<_>>()? }
        }
    })
}

fn numbers(values: &Values, first: usize, present: &[bool]) -> Values {
    fn at<T: Copy + Default>(values: &[T], first: usize, present: &[bool]) -> Vec<T> {
        let mut left = values.iter().skip(first).copied();
        present.iter().map(|&p| if p { left.next().unwrap_or_default() } else { T::default() }).collect()
    }
    macro_rules! of_each {
        ($($kind:ident)*) => {
            match values { $(Values::$kind(v) => Values::$kind(at(v, first, present)),)* }
        };
    }
    of_each!(Bool I8 U8 I16 U16 I32 U32 I64 U64 F32 F64)
}

/// Offsets in which a missing list begins and ends where the list before it ends.
fn ends(offsets: &[i64], first: usize, present: &[bool]) -> Result<Vec<i64>> {
    let mut left = offsets.iter().skip(first).copied();
    let mut last = left.next().unwrap_or(0);
    let mut out = Vec::with_capacity(present.len() + 1);
    out.push(last);
    for &p in present {
        if p {
            last = left.next().ok_or_else(|| Error::invalid("the column ends before its last optional value"))?;
        }
        out.push(last);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i32s(values: &[i32]) -> Array {
        Array::Flat(Values::I32(values.to_vec()))
    }

    #[test]
    fn each_entry_has_a_place() {
        let (present, array) = placed(&[0, 1, 1, 2], i32s(&[5, 7])).unwrap();
        assert_eq!((present, array), (vec![true, false, true], i32s(&[5, 0, 7])));
        // a part of a column, whose offsets do not begin at 0
        let (_, array) = placed(&[1, 1, 2], i32s(&[5, 7])).unwrap();
        assert_eq!(array, i32s(&[0, 7]));
        let (present, array) = placed(&[], i32s(&[])).unwrap();
        assert_eq!((present, array), (vec![], i32s(&[])));
    }

    #[test]
    fn what_is_within_has_places_too() {
        let list = Array::List { offsets: vec![0, 2, 3], content: Box::new(i32s(&[1, 2, 3])) };
        let (_, array) = placed(&[0, 0, 1, 1, 2], list).unwrap();
        assert_eq!(array, Array::List { offsets: vec![0, 0, 2, 2, 3], content: Box::new(i32s(&[1, 2, 3])) });
        let text = Array::Text { offsets: vec![0, 1, 3], bytes: b"abc".to_vec() };
        let pairs = Array::Regular { size: 2, len: 2, content: Box::new(i32s(&[1, 2, 3, 4])) };
        let named = |n: &str, a| (n.to_owned(), a);
        let record = Array::Record { len: 2, fields: vec![named("t", text), named("p", pairs)] };
        let (_, array) = placed(&[0, 1, 1, 2], record).unwrap();
        let Array::Record { len: 3, fields } = array else { panic!("no three records") };
        assert_eq!(fields[0].1, Array::Text { offsets: vec![0, 1, 1, 3], bytes: b"abc".to_vec() });
        let pairs = Array::Regular { size: 2, len: 3, content: Box::new(i32s(&[1, 2, 0, 0, 3, 4])) };
        assert_eq!(fields[1].1, pairs);
    }

    #[test]
    fn offsets_that_do_not_fit_are_refused() {
        for offsets in [&[0, 2][..], &[0, 1, 0], &[0, 1, 2, 3], &[-1, 0], &[i64::MAX, i64::MIN]] {
            assert!(placed(offsets, i32s(&[5, 7])).is_err(), "{offsets:?}");
        }
    }
}
