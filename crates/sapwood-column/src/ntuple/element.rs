//! Elements of ntuple columns: from the bytes of a page to numbers. All is little-endian; encodings end with the page.

use crate::{DType, Values};
use sapwood_format::ntuple::Column;
use sapwood_span::{Error, Result};

/// How the elements of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Element {
    /// One bit each, least significant first.
    Bit,
    /// Whole bytes.
    Plain(DType),
    /// All first bytes, then all second bytes, and so on.
    Split(DType),
    /// The same; signed numbers are mapped to unsigned ones, small to small.
    ZigZag(DType),
    /// The same; each is stored as the difference to the one before. Positions in another column.
    Delta(DType),
    /// Half-precision numbers; split or not.
    Half { split: bool },
    /// The first bits of single-precision numbers.
    Truncated { bits: u32 },
    /// Whole numbers between the ends of a range; in double precision where the field is.
    Quantized { bits: u32, min: f64, max: f64, wide: bool },
    /// A position, 64 bits, and the number of a subfield, 32 bits.
    Switch,
}

impl Element {
    /// # Errors
    /// `Unsupported` for a type of a later format version, `Corrupt` for impossible numbers of bits.
    pub(super) fn of(column: &Column) -> Result<Self> {
        use DType::*;
        let element = match column.code {
            0x00 => Element::Bit,
            0x01 | 0x02 | 0x04 => Element::Plain(U8),
            0x03 => Element::Plain(I8),
            0x05 => Element::Plain(I16),
            0x06 => Element::Plain(U16),
            0x07 => Element::Plain(I32),
            0x08 | 0x0e => Element::Plain(U32),
            0x09 => Element::Plain(I64),
            0x0a | 0x0f => Element::Plain(U64),
            0x0b => Element::Half { split: false },
            0x0c => Element::Plain(F32),
            0x0d => Element::Plain(F64),
            0x10 => Element::Switch,
            0x11 => Element::ZigZag(I16),
            0x12 => Element::Split(U16),
            0x13 => Element::ZigZag(I32),
            0x14 => Element::Split(U32),
            0x15 => Element::ZigZag(I64),
            0x16 => Element::Split(U64),
            0x17 => Element::Half { split: true },
            0x18 => Element::Split(F32),
            0x19 => Element::Split(F64),
            0x1a => Element::Delta(U32),
            0x1b => Element::Delta(U64),
            0x1c if (10..=31).contains(&column.bits) => Element::Truncated { bits: column.bits.into() },
            0x1d if (1..=32).contains(&column.bits) => {
                let range = column.range.filter(|(min, max)| min <= max && (max - min).is_finite());
                let (min, max) = range.ok_or_else(|| Error::corrupt("quantized numbers without a range"))?;
                Element::Quantized { bits: column.bits.into(), min, max, wide: false }
            }
            code => {
                let what = format!("its column has type {code:#04x} with {} bits", column.bits);
                return Err(Error::unsupported(what));
            }
        };
        if column.bits as usize != element.bits() {
            return Err(Error::corrupt(format!("a column of type {:#04x} with {} bits", column.code, column.bits)));
        }
        Ok(element)
    }

    /// As its numbers are in a field of another precision: quantized ones are computed in that of the field, as in ROOT.
    pub(super) fn in_field_of(self, dtype: DType) -> Self {
        match self {
            Element::Quantized { bits, min, max, .. } => {
                Element::Quantized { bits, min, max, wide: dtype == DType::F64 }
            }
            other => other,
        }
    }

    /// Bits per element on storage.
    pub(super) fn bits(self) -> usize {
        match self {
            Element::Bit => 1,
            Element::Plain(d) | Element::Split(d) | Element::ZigZag(d) | Element::Delta(d) => 8 * d.size(),
            Element::Half { .. } => 16,
            Element::Truncated { bits } | Element::Quantized { bits, .. } => bits as usize,
            Element::Switch => 96,
        }
    }

    /// Whether its numbers are positions in another column.
    pub(super) fn is_index(column: &Column) -> bool {
        matches!(column.code, 0x0e | 0x0f | 0x1a | 0x1b)
    }

    /// The numbers in memory.
    pub(super) fn dtype(self) -> DType {
        match self {
            Element::Bit => DType::Bool,
            Element::Plain(d) | Element::Split(d) | Element::ZigZag(d) | Element::Delta(d) => d,
            Element::Quantized { wide: true, .. } => DType::F64,
            Element::Half { .. } | Element::Truncated { .. } | Element::Quantized { .. } => DType::F32,
            Element::Switch => DType::U64,
        }
    }

    /// Bytes of a page with so many elements.
    pub(super) fn page_bytes(self, elements: usize) -> Option<usize> {
        Some(elements.checked_mul(self.bits())?.div_ceil(8))
    }

    /// Appends the elements of a page, `n` of them, whose bytes are as many as [`Element::page_bytes`] says.
    ///
    /// # Errors
    /// When `out` is of another type than [`Element::dtype`].
    pub(super) fn append(self, page: &[u8], n: usize, out: &mut Values) -> Result<()> {
        match (self, out) {
            (Element::Bit, Values::Bool(out)) => out.extend((0..n).map(|i| (page[i / 8] >> (i % 8)) & 1)),
            (Element::Half { split }, Values::F32(out)) => {
                let at = |i: usize| if split { [page[i], page[n + i]] } else { [page[2 * i], page[2 * i + 1]] };
                out.extend((0..n).map(|i| half(u16::from_le_bytes(at(i)))));
            }
            (Element::Truncated { bits }, Values::F32(out)) => {
                out.extend(Packed::new(page, bits).take(n).map(|b| f32::from_bits(b << (32 - bits))));
            }
            // rounding does not lead beyond the limit, as in ROOT
            (Element::Quantized { bits, min, max, wide: false }, Values::F32(out)) => {
                let scale = (max - min) / f64::from(u32::MAX >> (32 - bits));
                out.extend(Packed::new(page, bits).take(n).map(|q| (f64::from(q) * scale + min).min(max) as f32));
            }
            (Element::Quantized { bits, min, max, wide: true }, Values::F64(out)) => {
                let scale = (max - min) / f64::from(u32::MAX >> (32 - bits));
                out.extend(Packed::new(page, bits).take(n).map(|q| (f64::from(q) * scale + min).min(max)));
            }
            (Element::Plain(_), out) => plain(page, out),
            (Element::Split(_), out) => split(page, n, out),
            (Element::ZigZag(_), Values::I16(out)) => {
                out.extend(joined::<2>(page, n).map(u16::from_le_bytes).map(|u| (u >> 1) as i16 ^ -((u & 1) as i16)));
            }
            (Element::ZigZag(_), Values::I32(out)) => {
                out.extend(joined::<4>(page, n).map(u32::from_le_bytes).map(|u| (u >> 1) as i32 ^ -((u & 1) as i32)));
            }
            (Element::ZigZag(_), Values::I64(out)) => {
                out.extend(joined::<8>(page, n).map(u64::from_le_bytes).map(|u| (u >> 1) as i64 ^ -((u & 1) as i64)));
            }
            (Element::Delta(_), Values::U32(out)) => {
                let mut sum = 0_u32;
                out.extend(joined::<4>(page, n).map(|b| {
                    sum = sum.wrapping_add(u32::from_le_bytes(b));
                    sum
                }));
            }
            (Element::Delta(_), Values::U64(out)) => {
                let mut sum = 0_u64;
                let mut add = |difference: u64| {
                    sum = sum.wrapping_add(difference);
                    sum
                };
                // lists are short: mostly all bytes of their lengths but the first are zero
                match significant::<8>(page, n) {
                    0 | 1 => out.extend(page[..n].iter().map(|&b| add(b.into()))),
                    _ => out.extend(joined::<8>(page, n).map(|b| add(u64::from_le_bytes(b)))),
                }
            }
            _ => return Err(Error::invalid("elements of another type")),
        }
        Ok(())
    }
}

/// Appends numbers that are stored as in memory.
fn plain(page: &[u8], out: &mut Values) {
    macro_rules! numbers {
        ($out:expr, $t:ty) => {
            $out.extend(page.as_chunks().0.iter().map(|b| <$t>::from_le_bytes(*b)))
        };
    }
    match out {
        Values::Bool(out) | Values::U8(out) => out.extend_from_slice(page),
        Values::I8(out) => out.extend(page.iter().map(|&b| b as i8)),
        Values::I16(out) => numbers!(out, i16),
        Values::U16(out) => numbers!(out, u16),
        Values::I32(out) => numbers!(out, i32),
        Values::U32(out) => numbers!(out, u32),
        Values::I64(out) => numbers!(out, i64),
        Values::U64(out) => numbers!(out, u64),
        Values::F32(out) => numbers!(out, f32),
        Values::F64(out) => numbers!(out, f64),
    }
}

fn split(page: &[u8], n: usize, out: &mut Values) {
    match out {
        Values::Bool(out) | Values::U8(out) => out.extend_from_slice(page),
        Values::I8(out) => out.extend(page.iter().map(|&b| b as i8)),
        Values::I16(out) => out.extend(joined::<2>(page, n).map(i16::from_le_bytes)),
        Values::U16(out) => out.extend(joined::<2>(page, n).map(u16::from_le_bytes)),
        Values::I32(out) => out.extend(joined::<4>(page, n).map(i32::from_le_bytes)),
        Values::U32(out) => out.extend(joined::<4>(page, n).map(u32::from_le_bytes)),
        Values::I64(out) => out.extend(joined::<8>(page, n).map(i64::from_le_bytes)),
        Values::U64(out) => out.extend(joined::<8>(page, n).map(u64::from_le_bytes)),
        Values::F32(out) => out.extend(joined::<4>(page, n).map(f32::from_le_bytes)),
        Values::F64(out) => out.extend(joined::<8>(page, n).map(f64::from_le_bytes)),
    }
}

/// The bytes of each element, of pages with all first bytes in front.
fn joined<const N: usize>(page: &[u8], n: usize) -> impl Iterator<Item = [u8; N]> + '_ {
    // one slice per byte: the compiler sees that no index leaves it
    let bytes: [&[u8]; N] = std::array::from_fn(|k| &page[k * n..(k + 1) * n]);
    (0..n).map(move |i| std::array::from_fn(|k| bytes[k][i]))
}

/// How many of the bytes of each element are used, of pages with all first bytes in front: those behind are zero in all.
fn significant<const N: usize>(page: &[u8], n: usize) -> usize {
    let is_zero = |k: &usize| page[k * n..(k + 1) * n].chunks(256).all(|some| some.iter().fold(0, |x, b| x | b) == 0);
    N - (0..N).rev().take_while(is_zero).count()
}

/// Numbers of a few bits each, the first in the least significant bits.
struct Packed<'a> {
    bytes: std::slice::Iter<'a, u8>,
    bits: u32,
    held: u64,
    count: u32,
}

impl<'a> Packed<'a> {
    fn new(page: &'a [u8], bits: u32) -> Self {
        Self { bytes: page.iter(), bits, held: 0, count: 0 }
    }
}

impl Iterator for Packed<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.count < self.bits {
            self.held |= u64::from(*self.bytes.next()?) << self.count;
            self.count += 8;
        }
        let value = self.held & (u64::MAX >> (64 - self.bits));
        self.held >>= self.bits;
        self.count -= self.bits;
        Some(value as u32)
    }
}

/// A half-precision number.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, mantissa) = (u32::from(bits >> 10) & 0x1f, u32::from(bits & 0x3ff));
    let value = match (exponent, mantissa) {
        (0, 0) => 0,
        // 2^-24 each: exact
        (0, m) => (m as f32 / 16_777_216.0).to_bits(),
        (31, m) => 0x7f80_0000 | (m << 13),
        (e, m) => ((e + 112) << 23) | (m << 13),
    };
    f32::from_bits(sign | value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(code: u16, bits: u16) -> Column {
        Column { code, bits, field: 0, representation: 0, first_element: 0, range: Some((-1.0, 1.0)) }
    }

    fn decoded(code: u16, bits: u16, page: &[u8], n: usize) -> Values {
        let element = Element::of(&column(code, bits)).unwrap();
        assert_eq!(element.page_bytes(n), Some(page.len()));
        let mut out = Values::with_capacity(element.dtype(), n);
        element.append(page, n, &mut out).unwrap();
        out
    }

    #[test]
    fn encodings() {
        assert_eq!(decoded(0x00, 1, &[0b101, 1], 9), Values::Bool(vec![1, 0, 1, 0, 0, 0, 0, 0, 1]));
        assert_eq!(decoded(0x07, 32, &[1, 0, 0, 0, 255, 255, 255, 255], 2), Values::I32(vec![1, -1]));
        assert_eq!(decoded(0x12, 16, &[1, 2, 0, 1], 2), Values::U16(vec![1, 258]));
        assert_eq!(decoded(0x11, 16, &[0, 1, 2, 3, 0, 0, 0, 0], 4), Values::I16(vec![0, -1, 1, -2]));
        assert_eq!(decoded(0x1a, 32, &[3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0], 3), Values::U32(vec![3, 3, 5]));
        assert_eq!(
            decoded(0x0b, 16, &[0, 0x3c, 1, 0, 0, 0xfc], 3),
            Values::F32(vec![1.0, f32::from_bits(0x3380_0000), f32::NEG_INFINITY])
        );
        assert_eq!(decoded(0x17, 16, &[0, 0, 0x3c, 0xc0], 2), Values::F32(vec![1.0, -2.0]));
        // the first 12 bits of 1.0 and -2.0, one after the other
        assert_eq!(decoded(0x1c, 12, &[0xf8, 0x03, 0xc0], 2), Values::F32(vec![1.0, -2.0]));
        assert_eq!(decoded(0x1d, 2, &[0b1100], 2), Values::F32(vec![-1.0, 1.0]));
        // 7 steps of these limits would end above the upper one
        let range = Some((-123.456, 7.89));
        let limited = Element::of(&Column { range, ..column(0x1d, 3) }).unwrap().in_field_of(DType::F64);
        let mut out = Values::with_capacity(DType::F64, 2);
        limited.append(&[0b111_000], 2, &mut out).unwrap();
        assert_eq!(out, Values::F64(vec![-123.456, 7.89]));
        let wide = Element::of(&column(0x1d, 32)).unwrap().in_field_of(DType::F64);
        let mut out = Values::with_capacity(wide.dtype(), 1);
        wide.append(&[1, 0, 0, 0x80], 1, &mut out).unwrap();
        let steps = 2_147_483_649.0 * (2.0 / 4_294_967_295.0);
        assert_eq!(out, Values::F64(vec![steps - 1.0]));
    }

    #[test]
    fn what_is_impossible_is_refused() {
        assert!(Element::of(&column(0x07, 16)).is_err());
        assert!(Element::of(&column(0x1c, 32)).is_err());
        assert!(Element::of(&column(0x1d, 0)).is_err());
        assert!(Element::of(&column(0x40, 8)).is_err());
        assert!(Element::of(&Column { range: None, ..column(0x1d, 8) }).is_err());
    }
}
