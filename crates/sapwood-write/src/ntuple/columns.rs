//! The columns of an ntuple that is written: elements become pages, which are compressed in the background.

use super::field::last_step;
use crate::pool::{Job, Pool};
use sapwood_codec::Compression;
use sapwood_column::ntuple::PageEncoding;
use sapwood_column::{Values, with_values};
use std::ops::Range;
use std::sync::Arc;

/// A page that is being compressed.
pub(super) struct PendingPage {
    pub(super) elements: u32,
    /// Its bytes before compression, without the checksum.
    pub(super) size: u64,
    pub(super) job: Arc<Job>,
}

/// A column of the current cluster.
pub(super) struct ColumnBuffer {
    encoding: PageEncoding,
    /// Bits of an element on a page.
    bits: u16,
    /// Bytes of an element in memory.
    element: usize,
    /// Bytes in memory of a full page.
    full: usize,
    compression: Compression,
    /// The elements of the page that is being filled, little-endian.
    buffer: Vec<u8>,
    /// Elements in all clusters before.
    pub(super) first_element: u64,
    /// Elements in this cluster.
    pub(super) elements: u64,
    /// For ends of lists: items of the lists in this cluster.
    pub(super) items: u64,
    /// For variants: values of each alternative in this cluster.
    alternatives: Vec<u64>,
    /// The pages of this cluster.
    pub(super) pages: Vec<PendingPage>,
}

impl ColumnBuffer {
    pub(super) fn new(
        (bits, encoding): (u16, PageEncoding),
        element: usize,
        page_bytes: usize,
        compression: Compression,
    ) -> Self {
        Self {
            encoding,
            bits,
            element,
            full: (page_bytes / element).max(1) * element,
            compression,
            buffer: Vec::new(),
            first_element: 0,
            elements: 0,
            items: 0,
            alternatives: Vec::new(),
            pages: Vec::new(),
        }
    }

    /// Appends numbers.
    pub(super) fn push(&mut self, values: &Values, range: Range<usize>, pool: &mut Pool) {
        match values {
            Values::Bool(v) => self.push_elements(v.get(range).unwrap_or_default(), |&b| [u8::from(b != 0)], pool),
            Values::U8(v) => self.push_bytes(v.get(range).unwrap_or_default(), pool),
            _ => with_values!(values, v => {
                self.push_elements(v.get(range).unwrap_or_default(), |x| x.to_le_bytes(), pool);
            }),
        }
    }

    /// Appends elements that are bytes.
    pub(super) fn push_bytes(&mut self, mut bytes: &[u8], pool: &mut Pool) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(self.full - self.buffer.len()));
            self.reserve(now.len(), pool);
            self.buffer.extend_from_slice(now);
            bytes = later;
            self.end_if_full(pool);
        }
    }

    /// Appends where each entry's items end, counted from the beginning of the cluster. There is one more offset than
    /// entries.
    pub(super) fn push_ends(&mut self, offsets: &[i64], pool: &mut Pool) {
        let Some((&first, ends)) = offsets.split_first() else { return };
        let before = self.items;
        self.items += ends.last().map_or(0, |&last| (last - first) as u64);
        self.push_elements(ends, |&end| (before + (end - first) as u64).to_le_bytes(), pool);
    }

    /// Appends which alternative each of these values is, and where it is among those of its kind in this cluster.
    pub(super) fn push_switches(&mut self, chosen: impl Iterator<Item = Option<usize>>, pool: &mut Pool) {
        let mut elements: Vec<[u8; 12]> = Vec::new();
        for alternative in chosen {
            let mut element = [0; 12];
            if let Some(i) = alternative {
                if self.alternatives.len() <= i {
                    self.alternatives.resize(i + 1, 0);
                }
                let before = self.alternatives.get_mut(i).map_or(0, |n| std::mem::replace(n, *n + 1));
                let (position, tag) = element.split_at_mut(8);
                position.copy_from_slice(&before.to_le_bytes());
                tag.copy_from_slice(&(i as u32 + 1).to_le_bytes());
            }
            elements.push(element);
        }
        self.push_elements(&elements, |&e| e, pool);
    }

    /// Appends real numbers in the form in which pages of fewer bits are made of them.
    pub(super) fn push_reduced(
        &mut self,
        values: &Values,
        range: Range<usize>,
        precision: super::Precision,
        pool: &mut Pool,
    ) {
        let bytes = |x: f64| match precision {
            super::Precision::Quantized(bits, least, most) => steps(x, bits, least, most).to_le_bytes(),
            _ => (x as f32).to_le_bytes(),
        };
        match values {
            Values::F32(v) => {
                self.push_elements(v.get(range).unwrap_or_default(), |&x| bytes(f64::from(x)), pool);
            }
            Values::F64(v) => self.push_elements(v.get(range).unwrap_or_default(), |&x| bytes(x), pool),
            _ => {}
        }
    }

    fn push_elements<T, const N: usize>(&mut self, mut items: &[T], bytes: impl Fn(&T) -> [u8; N], pool: &mut Pool) {
        while !items.is_empty() {
            let room = (self.full - self.buffer.len()) / N;
            let (now, later) = items.split_at(items.len().min(room));
            let start = self.buffer.len();
            self.reserve(now.len() * N, pool);
            self.buffer.resize(start + now.len() * N, 0);
            let places = self.buffer.get_mut(start..).unwrap_or_default().as_chunks_mut::<N>().0;
            places.iter_mut().zip(now).for_each(|(place, item)| *place = bytes(item));
            items = later;
            self.end_if_full(pool);
        }
    }

    /// Takes memory for so many bytes more: twice as much as before, but not more than a page has. Of a column whose page
    /// ended nothing is held until then: a cluster has thousands of these.
    fn reserve(&mut self, bytes: usize, pool: &Pool) {
        if self.buffer.capacity() == 0 {
            self.buffer = pool.buffer();
        }
        let (len, room) = (self.buffer.len() + bytes, self.buffer.capacity());
        if len > room {
            self.buffer.reserve_exact(len.max(self.full.min(2 * room)) - self.buffer.len());
        }
    }

    fn end_if_full(&mut self, pool: &mut Pool) {
        if self.buffer.len() >= self.full {
            self.end_page(pool);
        }
    }

    /// Hands the page that is being filled to the threads that compress.
    pub(super) fn end_page(&mut self, pool: &mut Pool) {
        if self.buffer.is_empty() {
            return;
        }
        let elements = self.buffer.len() / self.element;
        self.elements += elements as u64;
        let size = (elements as u64 * u64::from(self.bits)).div_ceil(8);
        let bytes = std::mem::take(&mut self.buffer);
        let job = pool.submit_page(bytes, self.compression, self.encoding);
        self.pages.push(PendingPage { elements: elements as u32, size, job });
    }

    /// Begins the next cluster.
    pub(super) fn next_cluster(&mut self) {
        self.first_element += self.elements;
        (self.elements, self.items) = (0, 0);
        self.alternatives.clear();
        self.pages.clear();
    }
}

/// The number of the nearest of the equal steps between two limits.
fn steps(x: f64, bits: u16, least: f64, most: f64) -> u32 {
    // as ROOT rounds; the argument was checked to be within the limits
    ((x - least) * (last_step(bits) / (most - least)) + 0.5) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_no_memory_between_their_pages() {
        const PAGE: usize = 64 << 10;
        let mut pool = Pool::new(1);
        let mut columns: Vec<ColumnBuffer> =
            (0..100).map(|_| ColumnBuffer::new((32, PageEncoding::Split(4)), 4, PAGE, Compression::NONE)).collect();
        let values = Values::F32((0..20_000u16).map(f32::from).collect());
        for cluster in 1..3 {
            for column in &mut columns {
                column.push(&values, 0..20_000, &mut pool);
                column.end_page(&mut pool);
            }
            // the buffers went from column to column
            assert_eq!(columns.iter().map(|c| c.buffer.capacity()).sum::<usize>(), 0);
            for column in &mut columns {
                let elements: Vec<u32> = column.pages.iter().map(|page| page.elements).collect();
                assert_eq!(elements, [16_384, 3616]);
                column.next_cluster();
                assert_eq!(column.first_element, cluster * 20_000);
            }
        }
    }
}
