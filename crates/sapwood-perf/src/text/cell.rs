//! One entry of a column as text or JSON.

use super::json::string;
use sapwood_column::{Array, Values, with_values};
use sapwood_span::raw_text::text_of;
use std::fmt::Write;

/// Appends entry `i` of a column as JSON: numbers, strings, arrays, and objects for records. What JSON cannot say
/// (infinities, not-a-number, an entry that is not there) is `null`; bytes that are no UTF-8 are kept, see
/// [`sapwood_span::raw_text`].
pub fn json(out: &mut String, array: &Array, i: usize) {
    match array {
        Array::Flat(values) => number(out, values, i),
        Array::Regular { size, content, .. } => list(out, content, i * size..(i + 1) * size),
        Array::List { offsets, content } => list(out, content, range(offsets, i)),
        Array::Text { offsets, bytes } => {
            out.push_str(&string(&text_of(bytes.get(range(offsets, i)).unwrap_or_default())))
        }
        Array::Record { fields, .. } => {
            for (n, (name, column)) in fields.iter().enumerate() {
                out.push(if n == 0 { '{' } else { ',' });
                out.push_str(&string(name));
                out.push(':');
                json(out, column, i);
            }
            out.push_str(if fields.is_empty() { "{}" } else { "}" });
        }
    }
}

/// Entry `i` for a table or a CSV file: as JSON, but strings as they are, and `nan` and `inf` by their names where
/// they stand alone.
pub fn plain(out: &mut String, array: &Array, i: usize) {
    match array {
        Array::Text { offsets, bytes } => {
            out.push_str(&text_of(bytes.get(range(offsets, i)).unwrap_or_default()));
        }
        Array::Flat(values) => match values {
            Values::F32(v) => v.get(i).into_iter().for_each(|x| float(out, f64::from(*x), &format!("{x:?}"))),
            Values::F64(v) => v.get(i).into_iter().for_each(|x| float(out, *x, &format!("{x:?}"))),
            _ => number(out, values, i),
        },
        _ => json(out, array, i),
    }
}

/// Whether a column's entries are single numbers: what a table aligns on the right.
pub fn is_number(array: &Array) -> bool {
    matches!(array, Array::Flat(_))
}

fn number(out: &mut String, values: &Values, i: usize) {
    // the shortest text that gives the same number again; an exponent where it is shorter
    let done = match values {
        Values::Bool(v) => v.get(i).map(|&x| out.push_str(if x != 0 { "true" } else { "false" })),
        Values::F32(v) => v.get(i).filter(|x| x.is_finite()).and_then(|x| write!(out, "{x:?}").ok()),
        Values::F64(v) => v.get(i).filter(|x| x.is_finite()).and_then(|x| write!(out, "{x:?}").ok()),
        whole => with_values!(whole, v => v.get(i).and_then(|x| write!(out, "{x}").ok())),
    };
    if done.is_none() {
        out.push_str("null");
    }
}

fn float(out: &mut String, x: f64, text: &str) {
    match x {
        x if x.is_nan() => out.push_str("nan"),
        x if x.is_infinite() => out.push_str(if x > 0.0 { "inf" } else { "-inf" }),
        _ => out.push_str(text.strip_suffix(".0").unwrap_or(text)),
    }
}

fn list(out: &mut String, content: &Array, items: std::ops::Range<usize>) {
    out.push('[');
    for (n, item) in items.enumerate() {
        if n > 0 {
            out.push(',');
        }
        json(out, content, item);
    }
    out.push(']');
}

fn range(offsets: &[i64], i: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets.get(i).and_then(|&o| usize::try_from(o).ok()).unwrap_or(0);
    at(i)..at(i + 1).max(at(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(array: &Array, i: usize) -> (String, String) {
        let (mut a, mut b) = (String::new(), String::new());
        json(&mut a, array, i);
        plain(&mut b, array, i);
        (a, b)
    }

    #[test]
    fn numbers_as_short_as_they_can_be_told_apart() {
        let f = Array::Flat(Values::F32(vec![0.1, 2.0, f32::NAN, f32::NEG_INFINITY, 1e-30]));
        let shown: Vec<_> = (0..6).map(|i| both(&f, i)).collect();
        let expected =
            [("0.1", "0.1"), ("2.0", "2"), ("null", "nan"), ("null", "-inf"), ("1e-30", "1e-30"), ("null", "")];
        assert_eq!(shown, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(both(&Array::Flat(Values::I64(vec![i64::MAX])), 0).0, "9223372036854775807");
        assert_eq!(both(&Array::Flat(Values::Bool(vec![1])), 0).1, "true");
    }

    #[test]
    fn nested_entries() {
        let x = Array::Flat(Values::I32(vec![1, 2, 3, 4]));
        let list = Array::List { offsets: vec![0, 2, 2], content: Box::new(x.clone()) };
        assert_eq!(both(&list, 0).0, "[1,2]");
        assert_eq!(both(&list, 1).1, "[]");
        let regular = Array::Regular { size: 2, len: 2, content: Box::new(x) };
        assert_eq!(both(&regular, 1).0, "[3,4]");
        let text = Array::Text { offsets: vec![0, 2], bytes: b"a\"".to_vec() };
        assert_eq!(both(&text, 0), ("\"a\\\"\"".to_owned(), "a\"".to_owned()));
        let record = Array::Record { len: 2, fields: vec![("l".to_owned(), list), ("t".to_owned(), text)] };
        assert_eq!(both(&record, 0).0, "{\"l\":[1,2],\"t\":\"a\\\"\"}");
    }
}
