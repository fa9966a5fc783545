use crate::{DType, Values};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// A column of entries, of any nesting.
///
/// Offsets are 64-bit, start at 0, never fall, and number one more than the entries.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// One number per entry.
    Flat(Values),
    /// `size` items of `content` per entry; `len` entries (kept, since `size` may be 0).
    Regular {
        /// Items per entry.
        size: usize,
        /// Entries.
        len: usize,
        /// `size * len` items.
        content: Box<Array>,
    },
    /// A list of any length per entry.
    List {
        /// Where each entry's items begin in `content`; one more than the entries.
        offsets: Vec<i64>,
        /// The items of all entries, one after another.
        content: Box<Array>,
    },
    /// A string of bytes per entry; ROOT does not say which encoding.
    Text {
        /// Where each entry's bytes begin; one more than the entries.
        offsets: Vec<i64>,
        /// The bytes of all entries.
        bytes: Vec<u8>,
    },
    /// Several named columns of the same length.
    Record {
        /// Entries (kept, since there may be no fields).
        len: usize,
        /// Names and columns, in the order of the file.
        fields: Vec<(String, Array)>,
    },
}

impl Array {
    /// Entries in this column.
    pub fn len(&self) -> usize {
        match self {
            Array::Flat(v) => v.len(),
            Array::Regular { len, .. } | Array::Record { len, .. } => *len,
            Array::List { offsets, .. } | Array::Text { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the innermost numbers, if there is only one.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Array::Flat(v) => Some(v.dtype()),
            Array::Regular { content, .. } | Array::List { content, .. } => content.dtype(),
            Array::Text { .. } | Array::Record { .. } => None,
        }
    }

    /// Bytes of memory the column takes.
    pub fn nbytes(&self) -> usize {
        match self {
            Array::Flat(v) => v.nbytes(),
            Array::Regular { content, .. } => content.nbytes(),
            Array::List { offsets, content } => offsets.len() * 8 + content.nbytes(),
            Array::Text { offsets, bytes } => offsets.len() * 8 + bytes.len(),
            Array::Record { fields, .. } => fields.iter().map(|(_, a)| a.nbytes()).sum(),
        }
    }

    /// Entries `start..stop` (clipped to the existing ones), copied.
    pub fn slice(&self, start: usize, stop: usize) -> Array {
        let stop = stop.min(self.len());
        let start = start.min(stop);
        match self {
            Array::Flat(v) => Array::Flat(v.slice(start, stop)),
            Array::Regular { size, content, .. } => Array::Regular {
                size: *size,
                len: stop - start,
                content: Box::new(content.slice(start * size, stop * size)),
            },
            Array::List { offsets, content } => {
                let (offsets, from, to) = cut_offsets(offsets, start, stop);
                Array::List { offsets, content: Box::new(content.slice(from, to)) }
            }
            Array::Text { offsets, bytes } => {
                let (offsets, from, to) = cut_offsets(offsets, start, stop);
                Array::Text { offsets, bytes: bytes[from..to].to_vec() }
            }
            Array::Record { fields, .. } => Array::Record {
                len: stop - start,
                fields: fields.iter().map(|(n, a)| (n.clone(), a.slice(start, stop))).collect(),
            },
        }
    }

    /// Drops all entries; the memory is kept for new ones.
    pub fn clear(&mut self) {
        match self {
            Array::Flat(v) => v.clear(),
            Array::Regular { len, content, .. } => {
                *len = 0;
                content.clear();
            }
            Array::List { offsets, content } => {
                offsets.clear();
                offsets.push(0);
                content.clear();
            }
            Array::Text { offsets, bytes } => {
                offsets.clear();
                offsets.push(0);
                bytes.clear();
            }
            Array::Record { len, fields } => {
                *len = 0;
                fields.iter_mut().for_each(|(_, a)| a.clear());
            }
        }
    }

    /// Makes room for this many more entries with `bytes` of numbers or text in all, as far as known.
    pub fn reserve(&mut self, entries: usize, bytes: usize) {
        match self {
            Array::Flat(v) => v.reserve(entries),
            Array::Regular { size, content, .. } => content.reserve(entries.saturating_mul(*size), bytes),
            Array::List { offsets, content } => {
                let _ = offsets.try_reserve_exact(entries);
                // how many items there are inside anything else is unknown
                if let Array::Flat(v) = &mut **content {
                    let size = v.dtype().size();
                    v.reserve(bytes / size);
                }
            }
            Array::Text { offsets, bytes: text } => {
                // as with numbers, a damaged header must not cause a failure here
                let _ = offsets.try_reserve_exact(entries);
                let _ = text.try_reserve_exact(bytes);
            }
            Array::Record { .. } => {}
        }
    }

    /// Appends all entries of `other`.
    ///
    /// # Errors
    /// As [`Array::append_range`].
    pub fn append(&mut self, other: &Array) -> Result<()> {
        self.append_range(other, 0..other.len())
    }

    /// Appends a range of the entries of `other`.
    ///
    /// # Errors
    /// `Invalid` when the two differ in shape or type (`self` may then hold part of it), or when the range leaves
    /// `other`.
    pub fn append_range(&mut self, other: &Array, range: Range<usize>) -> Result<()> {
        let mixed = || Error::invalid("columns of different types cannot be joined");
        if range.start > range.end || range.end > other.len() {
            return Err(Error::invalid("a range exceeds its column"));
        }
        match (self, other) {
            (Array::Flat(a), Array::Flat(b)) => {
                if a.append_range(b, range) {
                    Ok(())
                } else {
                    Err(mixed())
                }
            }
            (Array::Regular { size, len, content }, Array::Regular { size: s2, content: c2, .. }) if size == s2 => {
                *len += range.len();
                content.append_range(c2, range.start * *s2..range.end * *s2)
            }
            (Array::List { offsets, content }, Array::List { offsets: o2, content: c2 }) => {
                let items = append_offsets(offsets, o2, &range);
                content.append_range(c2, items)
            }
            (Array::Text { offsets, bytes }, Array::Text { offsets: o2, bytes: b2 }) => {
                let items = append_offsets(offsets, o2, &range);
                bytes.extend_from_slice(&b2[items]);
                Ok(())
            }
            (Array::Record { len, fields }, Array::Record { fields: f2, .. }) if fields.len() == f2.len() => {
                *len += range.len();
                fields.iter_mut().zip(f2).try_for_each(|((_, a), (_, b))| a.append_range(b, range.clone()))
            }
            _ => Err(mixed()),
        }
    }
}

fn cut_offsets(offsets: &[i64], start: usize, stop: usize) -> (Vec<i64>, usize, usize) {
    if offsets.is_empty() {
        return (vec![0], 0, 0);
    }
    let base = offsets[start];
    (offsets[start..=stop].iter().map(|o| o - base).collect(), base as usize, offsets[stop] as usize)
}

/// Appends the offsets of a range of entries and returns the range of their items.
fn append_offsets(joined: &mut Vec<i64>, offsets: &[i64], r: &Range<usize>) -> Range<usize> {
    if joined.is_empty() {
        joined.push(0);
    }
    let (Some(&from), Some(&to)) = (offsets.get(r.start), offsets.get(r.end)) else { return 0..0 };
    let shift = joined[joined.len() - 1] - from;
    joined.extend(offsets[r.start + 1..=r.end].iter().map(|o| o + shift));
    from as usize..to as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(items: &[&[f32]]) -> Array {
        let mut offsets = vec![0];
        let mut flat = Vec::new();
        for i in items {
            flat.extend_from_slice(i);
            offsets.push(flat.len() as i64);
        }
        Array::List { offsets, content: Box::new(Array::Flat(Values::F32(flat))) }
    }

    #[test]
    fn slices_and_joins_lists() {
        let a = lists(&[&[1.0], &[], &[2.0, 3.0], &[4.0]]);
        let mut b = a.slice(1, 3);
        assert_eq!(b, lists(&[&[], &[2.0, 3.0]]));
        b.append(&a.slice(3, 9)).unwrap();
        assert_eq!(b, lists(&[&[], &[2.0, 3.0], &[4.0]]));
        assert!(b.append(&Array::Flat(Values::F32(vec![]))).is_err());
    }
}
