//! Items whose number is known to another branch, their counter.

use crate::decode::{Entries, Layout, in_entry, not_a_list};
use crate::input::Input;
use crate::read::members::{by_members, read_counted};
use crate::{Array, Item, Object, Values};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// Bytes before those of a kept entry: they hold the position of the first of them in ROOT's references.
const ORIGIN: usize = 8;

/// The mark of a byte count.
const BYTE_COUNT: u32 = 0x4000_0000;

impl Layout {
    /// Keeps the bytes of an entry until the counter's values are available.
    pub(crate) fn keep(c: &mut Input, out: &mut Array) -> Result<()> {
        let Array::Text { offsets, bytes } = out else { return Err(not_a_list()) };
        bytes.extend_from_slice(&c.reference().to_be_bytes());
        let left = c.left();
        bytes.extend_from_slice(c.take(left)?);
        offsets.push(bytes.len() as i64);
        Ok(())
    }

    /// Divides a [`Decoded::Uncounted`](crate::Decoded::Uncounted) column by the counter's values for the same entries.
    ///
    /// # Errors
    /// `Corrupt` when the counts do not add up to the items.
    pub fn attach(&self, uncounted: Array, counts: &Array) -> Result<Array> {
        match uncounted {
            Array::Text { offsets, bytes } if self.entries.are_kept() => self.divide(&offsets, &bytes, counts),
            items => attach_counts(items, counts),
        }
    }

    /// Reads the bytes of entries: counted per entry's object, or per object of its collection.
    fn divide(&self, offsets: &[i64], bytes: &[u8], counts: &Array) -> Result<Array> {
        let counts = Counts::of(counts)?;
        if counts.entries() + 1 != offsets.len() {
            return Err(bad_counter());
        }
        let mut out = self.column_type().empty();
        for (i, range) in offsets.windows(2).enumerate() {
            let kept = bytes.get(range[0] as usize..range[1] as usize).unwrap_or_default();
            self.entry(kept, counts.objects(i), &counts, &mut out).map_err(|e| in_entry(e, i))?;
        }
        Ok(out)
    }

    /// Reads one entry that was kept.
    fn entry(&self, kept: &[u8], objects: Range<usize>, counts: &Counts, out: &mut Array) -> Result<()> {
        let Some((origin, data)) = kept.split_first_chunk::<ORIGIN>() else { return Err(not_a_list()) };
        let mut c = Input::new(data, usize::try_from(u64::from_be_bytes(*origin)).unwrap_or(0));
        let all = |item: &Item, c: &mut Input, out: &mut Array| {
            objects.clone().try_for_each(|object| read_counted(item, c, counts.get(object), out))
        };
        let each = |c: &mut Input, out: &mut Array| {
            let Item::Headed(inner) = &self.item else { return all(&self.item, c, out) };
            let inner: &Item = inner;
            inner.headed(c, |c| all(inner, c, out))
        };
        match (&self.entries, out) {
            (Entries::Counted, out) => each(&mut c, out)?,
            (_, Array::List { offsets, content }) => {
                // a collection of no objects may have been written as nothing at all
                match &self.item {
                    _ if c.left() == 0 => {}
                    Item::Base(base) => {
                        let n = objects.clone().fold(0usize, |sum, object| sum.saturating_add(counts.get(object)));
                        read_bases(base, &mut c, n, content)?;
                    }
                    _ => each(&mut c, content)?,
                }
                offsets.push(content.len() as i64);
            }
            _ => return Err(not_a_list()),
        }
        if c.left() > 0 {
            return Err(Error::corrupt(format!("{} bytes are left over", c.left())));
        }
        Ok(())
    }
}

/// Reads the base class of a collection's objects, where it is a separate branch: member by member, or each with a
/// header.
fn read_bases(base: &Object, c: &mut Input, n: usize, out: &mut Array) -> Result<()> {
    let Array::Record { len, fields } = out else { return Err(not_a_list()) };
    if are_headed(c.ahead(c.left()), n) {
        (0..n).try_for_each(|_| base.read(c, fields))?;
    } else {
        by_members(&base.members, c, n, fields)?;
    }
    *len = len.saturating_add(n);
    Ok(())
}

/// Whether these bytes are `n` objects, each with a byte count.
fn are_headed(mut data: &[u8], n: usize) -> bool {
    for _ in 0..n {
        let Some((count, rest)) = data.split_first_chunk::<4>() else { return false };
        let count = u32::from_be_bytes(*count);
        let Some(behind) = rest.get((count & !BYTE_COUNT) as usize..) else { return false };
        if count & BYTE_COUNT == 0 {
            return false;
        }
        data = behind;
    }
    data.is_empty()
}

/// The counter's values: one for each entry, or for each object of a collection.
struct Counts<'a> {
    values: &'a Values,
    objects: Option<&'a [i64]>,
}

impl<'a> Counts<'a> {
    fn of(counts: &'a Array) -> Result<Self> {
        match counts {
            Array::Flat(values) => Ok(Self { values, objects: None }),
            Array::List { offsets, content } => match &**content {
                Array::Flat(values) => Ok(Self { values, objects: Some(offsets) }),
                _ => Err(bad_counter()),
            },
            _ => Err(bad_counter()),
        }
    }

    fn entries(&self) -> usize {
        self.objects.map_or(self.values.len(), |o| o.len().saturating_sub(1))
    }

    /// The objects of an entry.
    fn objects(&self, entry: usize) -> Range<usize> {
        let at = |i: usize| self.objects.map_or(i, |o| o.get(i).map_or(0, |&o| o as usize));
        at(entry)..at(entry + 1)
    }

    fn get(&self, object: usize) -> usize {
        self.values.get_f64(object).map_or(0, |n| n.max(0.0) as usize)
    }
}

fn bad_counter() -> Error {
    Error::corrupt("the counter of an array is not one number for each object")
}

/// Divides items by the counter's values, for baskets whose offsets were left out.
///
/// # Errors
/// `Corrupt` when the counts do not add up to the items.
pub fn attach_counts(content: Array, counts: &Array) -> Result<Array> {
    let Array::Flat(values) = counts else {
        return Err(Error::corrupt("the counter of an array is not a number"));
    };
    let mut offsets = Vec::with_capacity(values.len() + 1);
    let mut at = 0i64;
    offsets.push(0);
    for i in 0..values.len() {
        at = at.saturating_add(values.get_f64(i).map_or(0, |x| x.max(0.0) as i64));
        offsets.push(at);
    }
    if at != content.len() as i64 {
        return Err(Error::corrupt(format!("the counter adds up to {at} items, the basket has {}", content.len())));
    }
    Ok(Array::List { offsets, content: Box::new(content) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn layout() -> Layout {
        let base = Object {
            class: "Base".to_owned(),
            version: 2,
            members: vec![("id".to_owned(), Item::Number(DType::I16)), ("name".to_owned(), Item::Text)],
            ..Object::default()
        };
        Layout::new(Item::Base(base), Entries::CountedUntilEnd).counted_by(Some(0))
    }

    /// The content of an entry with these bytes, when the collection has `n` objects.
    fn read(bytes: &[u8], n: i32) -> Result<Array> {
        let mut kept = vec![0; ORIGIN];
        kept.extend_from_slice(bytes);
        let offsets = vec![0, kept.len() as i64];
        layout().attach(Array::Text { offsets, bytes: kept }, &Array::Flat(Values::I32(vec![n])))
    }

    #[test]
    fn base_classes_of_a_collection_member_by_member_or_behind_headers() {
        let mut expected = layout().column_type().empty();
        if let Array::List { offsets, content } = &mut expected
            && let Array::Record { len, fields } = &mut **content
        {
            *len = 2;
            fields[0].1 = Array::Flat(Values::I16(vec![7, 8]));
            fields[1].1 = Array::Text { offsets: vec![0, 1, 3], bytes: b"abc".to_vec() };
            offsets.push(2);
        }
        let by_members = [0, 7, 0, 8, 1, b'a', 2, b'b', b'c'];
        let headed = [0x40, 0, 0, 6, 0, 2, 0, 7, 1, b'a', 0x40, 0, 0, 7, 0, 2, 0, 8, 2, b'b', b'c'];
        assert_eq!(read(&by_members, 2).unwrap(), expected);
        assert_eq!(read(&headed, 2).unwrap(), expected);
        assert!(read(&by_members, 3).is_err());
        assert!(read(&by_members, 1).is_err());
        assert!(read(&headed, 1).is_err());
        assert_eq!(read(&[], 0).unwrap().len(), 1);
    }
}
