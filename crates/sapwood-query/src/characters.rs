//! Arrays of characters in classes (`char fType[20]`), which are strings for ROOT.

use sapwood_column::{Array, Values};
use sapwood_span::{Error, Result};

/// The strings of a column of arrays of characters: each ends at its first zero.
///
/// # Errors
/// `Invalid` for any other column.
pub(crate) fn characters_as_text(column: &Array) -> Result<Array> {
    match column {
        Array::Regular { size, len, content } => match content.as_ref() {
            Array::Flat(Values::I8(characters)) => strings(*size, *len, characters),
            inner => {
                let content = Box::new(characters_as_text(inner)?);
                Ok(Array::Regular { size: *size, len: *len, content })
            }
        },
        Array::List { offsets, content } => {
            let content = Box::new(characters_as_text(content)?);
            Ok(Array::List { offsets: offsets.clone(), content })
        }
        _ => Err(Error::invalid("the column holds no arrays of characters")),
    }
}

fn strings(size: usize, len: usize, characters: &[i8]) -> Result<Array> {
    let mut offsets = Vec::with_capacity(len + 1);
    let mut bytes = Vec::new();
    offsets.push(0);
    for i in 0..len {
        let one = i.checked_mul(size).and_then(|from| characters.get(from..from.checked_add(size)?));
        let one = one.ok_or_else(|| Error::invalid("the column ends before its last entry"))?;
        bytes.extend(one.iter().take_while(|c| **c != 0).map(|c| c.cast_unsigned()));
        offsets.push(bytes.len() as i64);
    }
    Ok(Array::Text { offsets, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_zero_or_with_the_array() {
        let characters = b"ab\0xabc\0\0\0\0\0".iter().map(|b| b.cast_signed()).collect();
        let column = Array::Regular { size: 4, len: 3, content: Box::new(Array::Flat(Values::I8(characters))) };
        let text = Array::Text { offsets: vec![0, 2, 5, 5], bytes: b"ababc".to_vec() };
        assert_eq!(characters_as_text(&column).unwrap(), text);
        let list = Array::List { offsets: vec![0, 3], content: Box::new(column) };
        let texts = Array::List { offsets: vec![0, 3], content: Box::new(text.clone()) };
        assert_eq!(characters_as_text(&list).unwrap(), texts);
        assert!(characters_as_text(&text).is_err());
        let short = Array::Regular { size: 4, len: 3, content: Box::new(Array::Flat(Values::I8(vec![1; 5]))) };
        assert!(characters_as_text(&short).is_err());
    }
}
