//! Collections of numbers, of any depth, each entry with its own header: one pass over the basket.
//!
//! The pass handles regular baskets. If it meets anything else (a header without byte count, a count that does not
//! fit), it gives up and leaves the basket to the general reader, which reads it or reports what is wrong.

use crate::{Array, DType, Item, Values};

/// The mark of a byte count, and of a collection written member by member.
const MARK: u8 = 0x40;

/// Collections of collections of numbers with one header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lists {
    depth: usize,
    number: DType,
}

impl Lists {
    /// The layout, if the item is one.
    pub(crate) fn of(item: &Item) -> Option<Self> {
        let Item::Headed(inner) = item else { return None };
        let mut depth = 0;
        let mut item = &**inner;
        while let Item::Sequence(inner) = item {
            depth += 1;
            item = inner;
        }
        match item {
            Item::Number(number) if (1..=3).contains(&depth) => Some(Self { depth, number: *number }),
            _ => None,
        }
    }

    /// Appends all entries; none where something is unusual: the column must then be cleared. `starts` are the offsets
    /// as stored in the file, which count from `key_len` bytes before the data.
    pub(crate) fn read(&self, data: &[u8], starts: &[u8], key_len: u32, out: &mut Array) -> Option<()> {
        let mut levels = Vec::with_capacity(self.depth);
        let values = levels_of(out, &mut levels)?;
        if levels.len() != self.depth || values.dtype() != self.number {
            return None;
        }
        values.reserve(data.len() / self.number.size());
        for offsets in &mut levels {
            offsets.reserve(starts.len() / 4);
        }
        let basket = Basket { data, starts, key_len };
        match values {
            Values::Bool(v) => basket.read(&mut levels, v, |[b]| u8::from(b != 0)),
            Values::U8(v) => basket.read(&mut levels, v, u8::from_be_bytes),
            Values::I8(v) => basket.read(&mut levels, v, i8::from_be_bytes),
            Values::I16(v) => basket.read(&mut levels, v, i16::from_be_bytes),
            Values::U16(v) => basket.read(&mut levels, v, u16::from_be_bytes),
            Values::I32(v) => basket.read(&mut levels, v, i32::from_be_bytes),
            Values::U32(v) => basket.read(&mut levels, v, u32::from_be_bytes),
            Values::I64(v) => basket.read(&mut levels, v, i64::from_be_bytes),
            Values::U64(v) => basket.read(&mut levels, v, u64::from_be_bytes),
            Values::F32(v) => basket.read(&mut levels, v, f32::from_be_bytes),
            Values::F64(v) => basket.read(&mut levels, v, f64::from_be_bytes),
        }
    }
}

/// The offsets of a column, outermost first, and its innermost numbers.
fn levels_of<'a>(out: &'a mut Array, levels: &mut Vec<&'a mut Vec<i64>>) -> Option<&'a mut Values> {
    match out {
        Array::List { offsets, content } => {
            levels.push(offsets);
            levels_of(content, levels)
        }
        Array::Flat(values) => Some(values),
        _ => None,
    }
}

struct Basket<'a> {
    data: &'a [u8],
    starts: &'a [u8],
    key_len: u32,
}

impl Basket<'_> {
    fn read<T, const N: usize>(
        &self,
        levels: &mut [&mut Vec<i64>],
        values: &mut Vec<T>,
        from: impl Fn([u8; N]) -> T + Copy,
    ) -> Option<()> {
        match levels {
            [list] => self.entries(|body| {
                run(body, values, from)?;
                list.push(values.len() as i64);
                Some(())
            }),
            [outer, inner] => self.entries(|body| {
                lists(body, inner, |body| run(body, values, from).map(|()| values.len()))?;
                outer.push(inner.len() as i64 - 1);
                Some(())
            }),
            [outer, middle, inner] => self.entries(|body| {
                lists(body, middle, |body| {
                    lists(body, inner, |body| run(body, values, from).map(|()| values.len()))?;
                    Some(inner.len() - 1)
                })?;
                outer.push(middle.len() as i64 - 1);
                Some(())
            }),
            _ => None,
        }
    }

    /// Passes the bytes after the header of each entry to `read`, which must consume all of them.
    #[inline]
    fn entries(&self, mut read: impl FnMut(&mut &[u8]) -> Option<()>) -> Option<()> {
        let mut rest = self.data;
        let (first, next) = self.starts.split_first_chunk::<4>()?;
        let mut at = u32::from_be_bytes(*first).checked_sub(self.key_len).filter(|&at| at == 0)?;
        let ends =
            next.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]).wrapping_sub(self.key_len));
        for end in ends.chain(std::iter::once(self.data.len() as u32)) {
            let len = end.checked_sub(at)? as usize;
            at = end;
            let (entry, behind) = rest.split_at_checked(len)?;
            rest = behind;
            let ([c0, c1, c2, c3, v0, _], mut body) = entry.split_first_chunk::<6>()?;
            let count = u32::from_be_bytes([c0 & !MARK, *c1, *c2, *c3]) as usize;
            if c0 & MARK == 0 || v0 & MARK != 0 || count + 4 != len {
                return None;
            }
            read(&mut body)?;
            if !body.is_empty() {
                return None;
            }
        }
        Some(())
    }
}

/// Takes a four-byte count.
#[inline]
fn count(body: &mut &[u8]) -> Option<usize> {
    let (n, rest) = body.split_first_chunk::<4>()?;
    *body = rest;
    usize::try_from(i32::from_be_bytes(*n)).ok()
}

/// Takes a count and as many numbers.
#[inline]
fn run<T, const N: usize>(body: &mut &[u8], values: &mut Vec<T>, from: impl Fn([u8; N]) -> T + Copy) -> Option<()> {
    let n = count(body)?;
    let (numbers, rest) = body.split_at_checked(n.checked_mul(N)?)?;
    *body = rest;
    values.extend(numbers.as_chunks::<N>().0.iter().map(|b| from(*b)));
    Some(())
}

/// Takes a count and as many lists, whose ends `list` returns.
#[inline]
fn lists(body: &mut &[u8], offsets: &mut Vec<i64>, mut list: impl FnMut(&mut &[u8]) -> Option<usize>) -> Option<()> {
    for _ in 0..count(body)? {
        let end = list(body)?;
        offsets.push(end as i64);
    }
    Some(())
}
