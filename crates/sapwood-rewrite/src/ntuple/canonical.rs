//! Pages as elements next to each other, whatever the page's encoding, and back: to cut and join pages anywhere.
//!
//! Elements are little-endian, in whole bytes. What is the same for every element stays as it is: numbers whose sign is
//! folded, bits of reduced precision.

use sapwood_format::ntuple::Column;
use sapwood_span::{Error, Result};

/// Whether a column has ends of lists, or selects alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Values,
    Ends,
    Switches,
}

impl Meaning {
    pub(super) fn of(code: u16) -> Self {
        match code {
            0x0e | 0x0f | 0x1a | 0x1b => Meaning::Ends,
            0x10 => Meaning::Switches,
            _ => Meaning::Values,
        }
    }
}

/// How a column's pages hold its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// Elements of a few bits each, packed.
    Bits(u32),
    /// Elements of so many bytes, one after the other.
    Plain(usize),
    /// All first bytes, then all second bytes, and so on.
    Split(usize),
    /// The same; each element is stored as the difference to the one before.
    Delta(usize),
}

impl Storage {
    /// # Errors
    /// `Unsupported` for columns of a later format version, `Corrupt` for impossible numbers of bits.
    pub(super) fn of(column: &Column) -> Result<Self> {
        let bits = column.bits;
        let own = match column.code {
            0x00 => 1,
            0x01..=0x04 => 8,
            0x05 | 0x06 | 0x0b | 0x11 | 0x12 | 0x17 => 16,
            0x07 | 0x08 | 0x0c | 0x0e | 0x13 | 0x14 | 0x18 | 0x1a => 32,
            0x09 | 0x0a | 0x0d | 0x0f | 0x15 | 0x16 | 0x19 | 0x1b => 64,
            0x10 => 96,
            0x1c if (10..=31).contains(&bits) => bits,
            0x1d if (1..=32).contains(&bits) => bits,
            code => return Err(Error::unsupported(format!("its column has type {code:#04x} with {bits} bits"))),
        };
        if own != bits {
            return Err(Error::corrupt(format!("a column of type {:#04x} with {bits} bits", column.code)));
        }
        let bytes = usize::from(bits / 8);
        let storage = match column.code {
            0x00 | 0x1c | 0x1d => Storage::Bits(bits.into()),
            0x01..=0x10 => Storage::Plain(bytes),
            0x11..=0x19 => Storage::Split(bytes),
            _ => Storage::Delta(bytes),
        };
        Ok(storage)
    }

    /// Bytes of an element outside of pages.
    pub(super) fn width(self) -> usize {
        match self {
            Storage::Bits(1) => 1,
            Storage::Bits(_) => 4,
            Storage::Plain(width) | Storage::Split(width) | Storage::Delta(width) => width,
        }
    }

    /// Bytes of a page with so many elements.
    pub(super) fn page_len(self, elements: usize) -> usize {
        match self {
            Storage::Bits(bits) => elements.saturating_mul(bits as usize).div_ceil(8),
            _ => elements.saturating_mul(self.width()),
        }
    }

    /// Appends the elements of a page of [`Storage::page_len`] bytes.
    pub(super) fn unpack(self, page: &[u8], elements: usize, out: &mut Vec<u8>) {
        match self {
            Storage::Plain(_) => out.extend_from_slice(page),
            Storage::Bits(bits) => {
                let (mut held, mut count, mut bytes) = (0_u64, 0, page.iter());
                for _ in 0..elements {
                    while count < bits {
                        held |= u64::from(bytes.next().copied().unwrap_or(0)) << count;
                        count += 8;
                    }
                    let element = (held & (u64::MAX >> (64 - bits))) as u32;
                    out.extend_from_slice(element.to_le_bytes().get(..self.width()).unwrap_or_default());
                    held >>= bits;
                    count -= bits;
                }
            }
            Storage::Split(width) => join(page, width, elements, out),
            Storage::Delta(width) => {
                let start = out.len();
                join(page, width, elements, out);
                let mut sum = 0_u64;
                for element in out.get_mut(start..).unwrap_or_default().chunks_exact_mut(width) {
                    sum = sum.wrapping_add(number(element));
                    element.copy_from_slice(sum.to_le_bytes().get(..width).unwrap_or_default());
                }
            }
        }
    }

    /// Parts of a page, each with another byte of all its elements.
    pub(super) fn planes(self) -> usize {
        match self {
            Storage::Split(bytes) | Storage::Delta(bytes) => bytes,
            Storage::Bits(_) | Storage::Plain(_) => 1,
        }
    }

    /// Appends the page of these elements.
    pub(super) fn pack(self, elements: &[u8], out: &mut Vec<u8>) {
        match self {
            Storage::Plain(_) => out.extend_from_slice(elements),
            Storage::Bits(bits) => {
                let (mut held, mut count) = (0_u64, 0);
                for element in elements.chunks_exact(self.width()) {
                    held |= number(element) << count;
                    count += bits;
                    while count >= 8 {
                        out.push(held as u8);
                        held >>= 8;
                        count -= 8;
                    }
                }
                if count > 0 {
                    out.push(held as u8);
                }
            }
            Storage::Split(width) => split(elements, width, out),
            Storage::Delta(width) => {
                let mut before = 0_u64;
                let mut differences = Vec::with_capacity(elements.len());
                for element in elements.chunks_exact(width) {
                    let n = number(element);
                    let difference = n.wrapping_sub(std::mem::replace(&mut before, n)).to_le_bytes();
                    differences.extend_from_slice(difference.get(..width).unwrap_or_default());
                }
                split(&differences, width, out);
            }
        }
    }
}

/// Ends of lists in another storage: `page` has so many elements, uncompressed.
///
/// # Errors
/// `Unsupported` when there are more items than that can count.
pub(super) fn converted(page: &[u8], elements: usize, from: Storage, to: Storage) -> Result<Vec<u8>> {
    let (mut given, mut wanted, mut out) = (Vec::new(), Vec::new(), Vec::new());
    from.unpack(page, elements, &mut given);
    for element in given.chunks_exact(from.width()) {
        let bytes = number(element).to_le_bytes();
        let (kept, rest) = bytes.split_at(to.width().min(bytes.len()));
        if rest.iter().any(|&b| b != 0) {
            let what = "it has more items in a cluster than the 32-bit positions of another input can count";
            return Err(Error::unsupported(what).with_remedy("specify this file first"));
        }
        wanted.extend_from_slice(kept);
    }
    to.pack(&wanted, &mut out);
    Ok(out)
}

/// A little-endian number of at most 8 bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

fn join(page: &[u8], width: usize, elements: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + elements * width, 0);
    let to = out.get_mut(start..).unwrap_or_default();
    if elements == 0 {
        return;
    }
    for (k, bytes) in page.chunks_exact(elements).take(width).enumerate() {
        for (element, &byte) in to.chunks_exact_mut(width).zip(bytes) {
            element[k] = byte;
        }
    }
}

fn split(elements: &[u8], width: usize, out: &mut Vec<u8>) {
    for k in 0..width {
        out.extend(elements.chunks_exact(width).map(|element| element[k]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let bytes: Vec<u8> = (0..8 * 37_u32).map(|i| (i * 89 % 251) as u8).collect();
        let storages = [
            Storage::Plain(1),
            Storage::Plain(12),
            Storage::Split(2),
            Storage::Split(4),
            Storage::Split(8),
            Storage::Delta(4),
            Storage::Delta(8),
        ];
        for storage in storages {
            let n = bytes.len() / storage.width();
            let elements = &bytes[..n * storage.width()];
            check(storage, elements, n);
        }
        for bits in 1..=32 {
            let storage = Storage::Bits(bits);
            let mask = u32::MAX >> (32 - bits);
            let elements: Vec<u8> = (0..37_u32)
                .flat_map(|i| (i.wrapping_mul(0x9e37_79b9) & mask).to_le_bytes()[..storage.width()].to_vec())
                .collect();
            check(storage, &elements, 37);
        }
    }

    fn check(storage: Storage, elements: &[u8], n: usize) {
        let (mut page, mut back) = (Vec::new(), Vec::new());
        storage.pack(elements, &mut page);
        assert_eq!(page.len(), storage.page_len(n), "{storage:?}");
        storage.unpack(&page, n, &mut back);
        assert_eq!(back, elements, "{storage:?}");
    }

    #[test]
    fn impossible_columns_are_refused() {
        let column = |code, bits| Column { code, bits, field: 0, representation: 0, first_element: 0, range: None };
        assert_eq!(Storage::of(&column(0x1b, 64)).unwrap(), Storage::Delta(8));
        assert_eq!(Storage::of(&column(0x10, 96)).unwrap(), Storage::Plain(12));
        for (code, bits) in [(0x1b, 8), (0x10, 8), (0x00, 2), (0x1c, 9), (0x1d, 33), (0x1e, 8)] {
            assert!(Storage::of(&column(code, bits)).is_err(), "{code:#04x} with {bits} bits");
        }
    }

    #[test]
    fn ends_of_lists_change_their_storage_or_are_refused() {
        let ends = [3_u64, 3, 70_000].map(u64::to_le_bytes).concat();
        let (mut page, mut back) = (Vec::new(), Vec::new());
        Storage::Delta(8).pack(&ends, &mut page);
        let plain = converted(&page, 3, Storage::Delta(8), Storage::Plain(4)).unwrap();
        assert_eq!(plain, [3_u32, 3, 70_000].map(u32::to_le_bytes).concat());
        Storage::Delta(8).unpack(&converted(&plain, 3, Storage::Plain(4), Storage::Delta(8)).unwrap(), 3, &mut back);
        assert_eq!(back, ends);
        let many = (1_u64 << 32).to_le_bytes();
        assert!(converted(&many, 1, Storage::Plain(8), Storage::Delta(4)).is_err());
    }

    /// The bytes that ROOT's encodings have, by hand.
    #[test]
    fn encodings_are_those_of_the_format() {
        let mut page = Vec::new();
        Storage::Delta(4).pack(&[3, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0], &mut page);
        assert_eq!(page, [3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        page.clear();
        // the first 12 bits of 1.0 and -2.0
        Storage::Bits(12).pack(&[0xf8, 0x03, 0, 0, 0, 0x0c, 0, 0], &mut page);
        assert_eq!(page, [0xf8, 0x03, 0xc0]);
    }
}
