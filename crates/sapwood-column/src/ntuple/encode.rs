//! Elements of ntuple columns as pages: the inverse of the decoding in [`super::element`].

use crate::DType;

/// How the elements of a page are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageEncoding {
    /// One bit each, least significant first; given as bytes of 0 or 1.
    Bits,
    /// As in memory, little-endian.
    Plain,
    /// Elements of this many bytes: all first bytes, then all second bytes, and so on.
    Split(usize),
    /// The same after signed numbers were mapped to unsigned ones, small to small.
    ZigZag(usize),
    /// The same for numbers of 64 bits, each as the difference to the one before.
    Delta,
    /// As half-precision numbers; given in single precision.
    Half,
    /// The first of these bits of single-precision numbers.
    Truncated(u32),
    /// Counts of equal steps, of these bits; given as 32-bit numbers.
    Packed(u32),
}

/// The column of a half-precision number: its code, bits, and how pages are encoded. ROOT does not read the split type into
/// fields of `float`.
pub fn half_column() -> (u16, u16, PageEncoding) {
    (0x0b, 16, PageEncoding::Half)
}

/// The same for the first bits of single-precision numbers, 10 to 31.
pub fn truncated_column(bits: u16) -> (u16, u16, PageEncoding) {
    (0x1c, bits, PageEncoding::Truncated(bits.into()))
}

/// The same for counts of equal steps between two limits, of 1 to 32 bits.
pub fn quantized_column(bits: u16) -> (u16, u16, PageEncoding) {
    (0x1d, bits, PageEncoding::Packed(bits.into()))
}

/// The same for variants: 64 bits for a position, 32 for the number of the alternative, from 1 on.
pub fn switch_column() -> (u16, u16, PageEncoding) {
    (0x10, 96, PageEncoding::Plain)
}

/// The column type of ROOT for numbers: its code, bits, and how pages are encoded. `packed`: the one that ROOT chooses
/// in compressed files.
pub fn column_of(dtype: DType, packed: bool) -> (u16, u16, PageEncoding) {
    use PageEncoding::{Bits, Plain, Split, ZigZag};
    let (plain, split, encoding) = match dtype {
        DType::Bool => return (0x00, 1, Bits),
        DType::U8 => return (0x04, 8, Plain),
        DType::I8 => return (0x03, 8, Plain),
        DType::I16 => (0x05, 0x11, ZigZag(2)),
        DType::U16 => (0x06, 0x12, Split(2)),
        DType::I32 => (0x07, 0x13, ZigZag(4)),
        DType::U32 => (0x08, 0x14, Split(4)),
        DType::I64 => (0x09, 0x15, ZigZag(8)),
        DType::U64 => (0x0a, 0x16, Split(8)),
        DType::F32 => (0x0c, 0x18, Split(4)),
        DType::F64 => (0x0d, 0x19, Split(8)),
    };
    let bits = 8 * dtype.size() as u16;
    if packed { (split, bits, encoding) } else { (plain, bits, Plain) }
}

/// The same for the ends of lists, counted from the beginning of the cluster, as 64-bit numbers.
pub fn index_column(packed: bool) -> (u16, u16, PageEncoding) {
    if packed { (0x1b, 64, PageEncoding::Delta) } else { (0x0f, 64, PageEncoding::Plain) }
}

/// The same for the bytes of strings.
pub fn text_column() -> (u16, u16, PageEncoding) {
    (0x02, 8, PageEncoding::Plain)
}

impl PageEncoding {
    /// Parts of a page, each with another byte of all its elements.
    pub fn planes(self) -> usize {
        match self {
            PageEncoding::Split(bytes) | PageEncoding::ZigZag(bytes) => bytes,
            PageEncoding::Delta => 8,
            _ => 1,
        }
    }

    /// Appends the page for these elements, given as in memory, little-endian.
    pub fn encode(self, elements: &[u8], out: &mut Vec<u8>) {
        match self {
            PageEncoding::Bits => out.extend(
                elements
                    .chunks(8)
                    .map(|eight| eight.iter().enumerate().fold(0, |byte, (i, &bit)| byte | (u8::from(bit != 0) << i))),
            ),
            PageEncoding::Plain => out.extend_from_slice(elements),
            PageEncoding::Split(2) => split::<2>(elements, |b| b, out),
            PageEncoding::Split(4) => split::<4>(elements, |b| b, out),
            PageEncoding::Split(_) => split::<8>(elements, |b| b, out),
            PageEncoding::ZigZag(2) => split::<2>(elements, |b| zigzag_16(i16::from_le_bytes(b)).to_le_bytes(), out),
            PageEncoding::ZigZag(4) => split::<4>(elements, |b| zigzag_32(i32::from_le_bytes(b)).to_le_bytes(), out),
            PageEncoding::ZigZag(_) => split::<8>(elements, |b| zigzag_64(i64::from_le_bytes(b)).to_le_bytes(), out),
            PageEncoding::Delta => {
                let mut before = 0;
                let difference = |b| {
                    let n = u64::from_le_bytes(b);
                    n.wrapping_sub(std::mem::replace(&mut before, n)).to_le_bytes()
                };
                split::<8>(elements, difference, out);
            }
            PageEncoding::Half => {
                let halves = elements.as_chunks::<4>().0.iter();
                out.extend(halves.flat_map(|&b| half_of(f32::from_le_bytes(b)).to_le_bytes()));
            }
            PageEncoding::Truncated(bits) => {
                let numbers = elements.as_chunks::<4>().0.iter();
                pack(numbers.map(|&b| as_quiet(u32::from_le_bytes(b)) >> (32 - bits)), bits, out);
            }
            PageEncoding::Packed(bits) => {
                pack(elements.as_chunks::<4>().0.iter().map(|&b| u32::from_le_bytes(b)), bits, out);
            }
        }
    }
}

/// A NaN with the bit set that makes it quiet, the first of its fraction: truncated without it, it would become infinite.
fn as_quiet(bits: u32) -> u32 {
    if bits & 0x7fff_ffff > 0x7f80_0000 { bits | 0x0040_0000 } else { bits }
}

/// Numbers of these bits, one behind the other, least significant bit first.
fn pack(numbers: impl Iterator<Item = u32>, bits: u32, out: &mut Vec<u8>) {
    let (mut pending, mut have) = (0u64, 0);
    for number in numbers {
        pending |= u64::from(number) << have;
        have += bits;
        while have >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            have -= 8;
        }
    }
    if have > 0 {
        out.push(pending as u8);
    }
}

/// The nearest half-precision number; of two that are as near the even one. What is too large becomes infinite.
fn half_of(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let (exponent, mantissa) = ((bits >> 23 & 0xff) as i32, bits & 0x7f_ffff);
    if exponent == 0xff {
        // a NaN stays one
        let rest = if mantissa == 0 { 0 } else { 0x200 | (mantissa >> 13) as u16 };
        return sign | 0x7c00 | rest;
    }
    let exponent = exponent - 127 + 15;
    if exponent >= 0x1f {
        return sign | 0x7c00;
    }
    // bits that do not fit: more of them where the result has no leading one
    let (all, drop) = match exponent {
        1.. => (u32::try_from(exponent).unwrap_or(0) << 23 | mantissa, 13),
        -10..=0 => (mantissa | 0x80_0000, u32::try_from(14 - exponent).unwrap_or(24)),
        _ => return sign,
    };
    let (kept, lost, tie) = (all >> drop, all & ((1 << drop) - 1), 1 << (drop - 1));
    let up = lost > tie || (lost == tie && kept & 1 == 1);
    // a carry into the exponent is right: the next power of two, or infinity
    sign | (kept + u32::from(up)) as u16
}

fn zigzag_16(n: i16) -> i16 {
    (n << 1) ^ (n >> 15)
}

fn zigzag_32(n: i32) -> i32 {
    (n << 1) ^ (n >> 31)
}

fn zigzag_64(n: i64) -> i64 {
    (n << 1) ^ (n >> 63)
}

/// All first bytes of the converted elements, then all second bytes, and so on.
fn split<const N: usize>(elements: &[u8], mut convert: impl FnMut([u8; N]) -> [u8; N], out: &mut Vec<u8>) {
    let (elements, _) = elements.as_chunks::<N>();
    let (start, n) = (out.len(), elements.len());
    out.resize(start + N * n, 0);
    if n == 0 {
        return;
    }
    let mut parts = out[start..].chunks_exact_mut(n);
    // one slice per byte: the compiler sees that no index leaves it
    let mut bytes: [&mut [u8]; N] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    for (i, element) in elements.iter().enumerate() {
        let element = convert(*element);
        for (k, part) in bytes.iter_mut().enumerate() {
            part[i] = element[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Element;
    use super::*;
    use crate::Values;
    use proptest::prelude::*;
    use sapwood_format::ntuple::Column;

    fn decoded((code, bits, encoding): (u16, u16, PageEncoding), raw: &[u8], n: usize) -> Values {
        let column = Column { code, bits, field: 0, representation: 0, first_element: 0, range: None };
        let element = Element::of(&column).unwrap();
        let mut page = Vec::new();
        encoding.encode(raw, &mut page);
        assert_eq!(element.page_bytes(n), Some(page.len()));
        let mut out = Values::with_capacity(element.dtype(), n);
        element.append(&page, n, &mut out).unwrap();
        out
    }

    #[test]
    fn small_numbers_of_either_sign_stay_small() {
        let mut page = Vec::new();
        PageEncoding::ZigZag(2).encode(&[0, 0, 255, 255, 1, 0, 254, 255], &mut page);
        assert_eq!(page, [0, 1, 2, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn bits_are_packed() {
        let mut page = Vec::new();
        PageEncoding::Bits.encode(&[1, 0, 1, 0, 0, 0, 0, 0, 1], &mut page);
        assert_eq!(page, [0b101, 1]);
    }

    #[test]
    fn halves_are_rounded_to_the_nearest() {
        let cases = [
            (0.0f32, 0u16),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (65519.0, 0x7bff),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (5.960_464_5e-8, 1),
            (2.980_232_2e-8, 0),
            (2.980_232_6e-8, 1),
            (6.103_515_6e-5, 0x0400),
            (6.097_555e-5, 0x03ff),
            (f32::INFINITY, 0x7c00),
        ];
        for (x, half) in cases {
            assert_eq!(half_of(x), half, "{x}");
        }
        assert!(half_of(f32::NAN) & 0x7fff > 0x7c00);
    }

    #[test]
    fn every_half_stays_what_it_is() {
        let column = Column { code: 0x17, bits: 16, field: 0, representation: 0, first_element: 0, range: None };
        let element = Element::of(&column).unwrap();
        let all: Vec<u8> = (0..=u16::MAX).map(|h| h as u8).chain((0..=u16::MAX).map(|h| (h >> 8) as u8)).collect();
        let mut out = Values::with_capacity(DType::F32, 1 << 16);
        element.append(&all, 1 << 16, &mut out).unwrap();
        let Values::F32(numbers) = out else { panic!() };
        for (h, x) in (0..=u16::MAX).zip(numbers) {
            assert!(half_of(x) == h || x.is_nan(), "{h:#x} {x}");
        }
    }

    #[test]
    fn packed_numbers_are_decoded_to_what_they_were() {
        for bits in 1..=32u16 {
            let most = u32::MAX >> (32 - bits);
            let numbers: Vec<u32> = (0..37u32).map(|i| i.wrapping_mul(0x9e37_79b9) & most).collect();
            let raw: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            let mut page = Vec::new();
            quantized_column(bits).2.encode(&raw, &mut page);
            let range = Some((0.0, f64::from(most)));
            let column = Column { code: 0x1d, bits, field: 0, representation: 0, first_element: 0, range };
            let mut out = Values::with_capacity(DType::F32, 37);
            let element = Element::of(&column).unwrap();
            assert_eq!(element.page_bytes(37), Some(page.len()));
            element.append(&page, 37, &mut out).unwrap();
            assert_eq!(out, Values::F32(numbers.iter().map(|&n| n as f32).collect()));
        }
        let raw = 1.234_567_f32.to_le_bytes();
        let (code, bits, encoding) = truncated_column(20);
        let found = decoded((code, bits, encoding), &raw, 1);
        assert_eq!(found, Values::F32(vec![f32::from_bits(1.234_567_f32.to_bits() & 0xffff_f000)]));
    }

    proptest! {
        #[test]
        fn every_page_is_decoded_to_what_it_was(words in prop::collection::vec(any::<u64>(), 0..50), packed: bool) {
            macro_rules! check {
                ($t:ty, $variant:ident) => {{
                    let numbers: Vec<$t> = words.iter().map(|&w| <$t>::from_le_bytes(*w.to_le_bytes().first_chunk().unwrap())).collect();
                    let raw: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
                    let found = decoded(column_of(DType::$variant, packed), &raw, numbers.len());
                    let Values::$variant(found) = found else { panic!("{found:?}") };
                    let found: Vec<u8> = found.iter().flat_map(|x| x.to_le_bytes()).collect();
                    prop_assert_eq!(found, raw);
                }};
            }
            check!(u8, U8);
            check!(i8, I8);
            check!(u16, U16);
            check!(i16, I16);
            check!(u32, U32);
            check!(i32, I32);
            check!(u64, U64);
            check!(i64, I64);
            check!(f32, F32);
            check!(f64, F64);
            let bits: Vec<u8> = words.iter().map(|w| (w & 1) as u8).collect();
            prop_assert_eq!(decoded(column_of(DType::Bool, packed), &bits, bits.len()), Values::Bool(bits.clone()));
            let raw: Vec<u8> = words.iter().flat_map(|x| x.to_le_bytes()).collect();
            prop_assert_eq!(decoded(index_column(packed), &raw, words.len()), Values::U64(words.clone()));
        }
    }
}
