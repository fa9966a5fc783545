use crate::batch::{Batch, largest};
use crate::file::Core;
use crate::key::{self, Key};
use crate::layout::{Pending, Sizes, offset_table};
use crate::schema::{Column, Shape};
use sapwood_codec::Compression;
use sapwood_span::{Result, Span};

/// What a basket's key says beyond other keys: version, buffer size, entry size, entries, end of data, flag.
const BASKET_EXTRA: usize = 2 + 4 * 4 + 1;

/// Entries that a basket's offset table has room for at first (`TTree::fDefaultEntryOffsetLen`).
pub(crate) const OFFSETS_AT_FIRST: i32 = 1000;

/// A basket in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) span: Span,
    pub(crate) first_entry: u64,
}

/// A branch while it is written: the basket that fills, and those in the file.
pub(crate) struct Branch {
    pub(crate) column: Column,
    pub(crate) baskets: Vec<Written>,
    /// Entries in the baskets of the file.
    pub(crate) written: u64,
    /// Bytes of the baskets in the file before compression, keys included.
    pub(crate) total_bytes: u64,
    /// The same as they lie in the file.
    pub(crate) zip_bytes: u64,
    /// The largest count so far, for counters.
    pub(crate) largest: i64,
    data: Vec<u8>,
    /// Where each entry begins in `data`; only for jagged columns.
    starts: Vec<u32>,
    entries: u64,
}

impl Branch {
    pub(crate) fn new(column: Column) -> Self {
        Self {
            column,
            baskets: Vec::new(),
            written: 0,
            total_bytes: 0,
            zip_bytes: 0,
            largest: 0,
            data: Vec::new(),
            starts: Vec::new(),
            entries: 0,
        }
    }

    /// What the basket that fills holds.
    pub(crate) fn pending(&self) -> Pending {
        Pending { entries: self.entries, bytes: self.data.len() as u64 }
    }

    /// Notes what a batch tells about the whole branch.
    pub(crate) fn survey(&mut self, batch: &Batch<'_>) {
        if self.column.counts {
            self.largest = self.largest.max(largest(batch));
        }
    }

    /// Adds entries `from` to `to` of the batch to the basket that fills.
    pub(crate) fn append(&mut self, batch: &Batch<'_>, from: usize, to: usize) {
        if let Sizes::Jagged(offsets, item) = batch.sizes() {
            let first = offsets.get(from).copied().unwrap_or(0);
            let base = self.data.len() as u64;
            let entries = offsets.get(from..to).unwrap_or_default();
            self.starts.extend(entries.iter().map(|o| (base + (o - first).max(0) as u64 * item) as u32));
        }
        batch.append_to(from, to, &mut self.data);
        self.entries += (to - from) as u64;
    }

    /// Writes the basket that fills, if it holds any entry, and begins the next.
    pub(crate) fn write_basket(
        &mut self,
        core: &mut Core,
        tree: &str,
        compression: Compression,
        basket_bytes: u32,
    ) -> Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        let key_len = key::len("TBasket", &self.column.name, tree, true) + BASKET_EXTRA;
        let end_of_data = key_len + self.data.len();
        let jagged = matches!(self.column.shape, Shape::Jagged(_));
        if jagged {
            self.data.reserve(offset_table(self.entries) as usize);
            self.data.extend_from_slice(&(self.entries as u32 + 1).to_be_bytes());
            for start in &self.starts {
                self.data.extend_from_slice(&(key_len as u32 + start).to_be_bytes());
            }
            // The last offset is never read: ROOT writes zero and readers take the end of data.
            self.data.extend_from_slice(&[0; 4]);
        }
        let mut packed = std::mem::take(&mut core.packed);
        packed.clear();
        let shrunk = core.encoder.compress(&self.data, compression, &mut packed);
        let stored = if shrunk { &packed } else { &self.data };
        let key = Key {
            class: "TBasket",
            name: self.column.name.clone(),
            title: tree.to_owned(),
            cycle: 0,
            datime: core.datime,
            seek: core.sink.position(),
            parent: key::FIRST_RECORD,
            stored: stored.len(),
            size: self.data.len(),
        };
        let mut head = Vec::with_capacity(key_len);
        key.write_basket(&mut head, BASKET_EXTRA);
        head.extend_from_slice(&3_u16.to_be_bytes());
        let entry_size = match self.column.shape {
            Shape::Scalar => self.column.dtype.size() as i32,
            Shape::Fixed(n) => (n * self.column.dtype.size()) as i32,
            Shape::Jagged(_) => OFFSETS_AT_FIRST.max(self.entries as i32 + 1),
        };
        let buffer = (basket_bytes as usize).max(key_len + self.data.len());
        for n in [buffer as i32, entry_size, self.entries as i32, end_of_data as i32] {
            head.extend_from_slice(&n.to_be_bytes());
        }
        head.push(0);
        let span = Span::new(core.sink.position(), (head.len() + stored.len()) as u64);
        core.sink.append(&head)?;
        core.sink.append(stored)?;
        core.packed = packed;
        self.baskets.push(Written { span, first_entry: self.written });
        self.written += self.entries;
        self.total_bytes += (key_len + self.data.len()) as u64;
        self.zip_bytes += span.len;
        self.entries = 0;
        self.data.clear();
        self.starts.clear();
        Ok(())
    }
}
