//! A sum over the values of a column, which does not depend on how they are divided into batches, nor on whether a list is
//! one of fixed length.

use sapwood_codec::Digest;
use sapwood_column::{Array, Values, with_values};
use std::ops::Range;

/// Bytes of numbers that are gathered for a digest at a time.
const GATHER: usize = 1 << 14;

/// The sum of some entries of a column: one digest for each of its parts.
#[derive(Clone, Default)]
pub(super) struct ColumnSum {
    parts: Vec<Digest>,
    gathered: Vec<u8>,
}

impl ColumnSum {
    /// Takes entries of a column.
    pub(super) fn update(&mut self, array: &Array, range: Range<usize>) {
        let mut part = 0;
        self.add(array, range, &mut part);
    }

    /// The sum of all entries so far; none of a column without any.
    pub(super) fn value(&self) -> u64 {
        let mut all = Digest::default();
        self.parts.iter().for_each(|part| all.update(&part.value().to_le_bytes()));
        all.value()
    }

    fn add(&mut self, array: &Array, range: Range<usize>, part: &mut usize) {
        match array {
            Array::Flat(values) => self.numbers(values, range, part),
            Array::Regular { size, content, .. } => self.add(content, range.start * size..range.end * size, part),
            Array::List { offsets, content } => {
                let items = self.counts(offsets, range, part);
                self.add(content, items, part);
            }
            Array::Text { offsets, bytes } => {
                let items = self.counts(offsets, range, part);
                self.next(part).update(bytes.get(items).unwrap_or_default());
            }
            Array::Record { fields, .. } => {
                fields.iter().for_each(|(_, field)| self.add(field, range.clone(), part));
            }
        }
    }

    /// The digest of the next part.
    fn next(&mut self, part: &mut usize) -> &mut Digest {
        let at = std::mem::replace(part, *part + 1);
        if self.parts.len() <= at {
            self.parts.resize_with(at + 1, Digest::default);
        }
        // it was made just now, if it was not there
        &mut self.parts[at]
    }

    fn numbers(&mut self, values: &Values, range: Range<usize>, part: &mut usize) {
        match values {
            // whatever is not 0 is true
            Values::Bool(v) => self.elements(v.get(range).unwrap_or_default(), |&b| [u8::from(b != 0)], part),
            Values::U8(v) => self.next(part).update(v.get(range).unwrap_or_default()),
            _ => with_values!(values, v => {
                self.elements(v.get(range).unwrap_or_default(), |x| x.to_le_bytes(), part);
            }),
        }
    }

    fn elements<T, const N: usize>(&mut self, items: &[T], bytes: impl Fn(&T) -> [u8; N], part: &mut usize) {
        let mut gathered = std::mem::take(&mut self.gathered);
        let digest = self.next(part);
        for some in items.chunks(GATHER / N) {
            gathered.resize(some.len() * N, 0);
            gathered.as_chunks_mut::<N>().0.iter_mut().zip(some).for_each(|(place, item)| *place = bytes(item));
            digest.update(&gathered);
        }
        self.gathered = gathered;
    }

    /// The lengths of lists; returns where their items are.
    fn counts(&mut self, offsets: &[i64], range: Range<usize>, part: &mut usize) -> Range<usize> {
        let offsets = offsets.get(range.start..=range.end).unwrap_or_default();
        let at = |o: Option<&i64>| o.map_or(0, |&o| o as usize);
        let (first, last) = (at(offsets.first()), at(offsets.last()));
        // where each begins, counted from the first one that this sum has: lengths, which do not depend on batches
        let mut gathered = std::mem::take(&mut self.gathered);
        let digest = self.next(part);
        let mut rest = offsets;
        while rest.len() > 1 {
            let n = (rest.len() - 1).min(GATHER / 8);
            gathered.clear();
            let lengths = rest.iter().zip(rest.get(1..=n).unwrap_or_default()).map(|(a, b)| b - a);
            lengths.for_each(|length| gathered.extend_from_slice(&length.to_le_bytes()));
            digest.update(&gathered);
            rest = rest.get(n..).unwrap_or_default();
        }
        self.gathered = gathered;
        first..last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(n: usize) -> Array {
        let offsets: Vec<i64> = (0..=n as i64).map(|i| i * (i - 1) / 2).collect();
        let items = *offsets.last().unwrap_or(&0);
        let content = Array::Flat(Values::F32((0..items).map(|i| i as f32).collect()));
        Array::List { offsets, content: Box::new(content) }
    }

    fn sum(array: &Array, pieces: &[Range<usize>]) -> u64 {
        let mut sum = ColumnSum::default();
        pieces.iter().for_each(|piece| sum.update(array, piece.clone()));
        sum.value()
    }

    fn once(array: &Array, range: Range<usize>) -> u64 {
        sum(array, std::slice::from_ref(&range))
    }

    #[test]
    fn pieces_do_not_matter_and_every_value_and_length_does() {
        let (all, n) = (lists(200), 200);
        let whole = once(&all, 0..n);
        assert_eq!(sum(&all, &[0..1, 1..70, 70..70, 70..n]), whole);
        // the same entries behind others have the same sum
        let later = all.slice(50, 80);
        assert_eq!(once(&later, 0..30), once(&all, 50..80));
        let Array::List { mut offsets, content } = all.clone() else { panic!() };
        offsets[100] += 1;
        assert_ne!(once(&Array::List { offsets, content }, 0..n), whole);
        let Array::List { offsets, mut content } = all else { panic!() };
        let Array::Flat(Values::F32(v)) = &mut *content else { panic!() };
        v[7000] = -0.5;
        assert_ne!(once(&Array::List { offsets, content }, 0..n), whole);
    }

    #[test]
    fn true_is_true_and_text_is_divided() {
        let of = |v: Vec<u8>| once(&Array::Flat(Values::Bool(v)), 0..2);
        assert_eq!(of(vec![7, 0]), of(vec![1, 0]));
        let text = |offsets| once(&Array::Text { offsets, bytes: b"abc".to_vec() }, 0..2);
        assert_ne!(text(vec![0, 1, 3]), text(vec![0, 2, 3]));
    }
}
