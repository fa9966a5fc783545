use crate::column::{Column, Data};
use crate::column_source::EntryValues;
use crate::core::{Basket, Core};
use crate::layout::{Limit, Pending, Sizes, offset_table};
use crate::parts::{Parts, part_bytes};
use crate::pool::Job;
use crate::serial::big_endian;
use sapwood_codec::Compression;
use sapwood_span::Result;
use std::sync::Arc;

/// Initial room for entries in a basket's offset table (`TTree::fDefaultEntryOffsetLen`).
pub(crate) const OFFSETS_AT_FIRST: u32 = 1000;

/// The feature bit of baskets whose offsets are left out or stored as lengths (ROOT's kGenerateOffsetMap).
pub(crate) const GENERATES_OFFSETS: u8 = 1;

/// How a branch's baskets store where their entries begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offsets {
    /// Not at all: entries have one size.
    None,
    /// As a table of offsets.
    Table,
    /// As a table of the lengths of entries (ROOT's kGenerateOffsetMap).
    Lengths,
    /// Derived from the counter (ROOT's kGenerateOffsetMap).
    LeftOut,
}

/// A branch during writing: the basket being filled.
pub(crate) struct Branch {
    pub(crate) column: Column,
    /// Bytes of the buffer beyond which a basket is written.
    pub(crate) basket_bytes: u32,
    pub(crate) compression: Compression,
    /// How its baskets store where their entries begin.
    pub(crate) offsets: Offsets,
    /// ROOT's guess of how many entries a basket will have (`fEntryOffsetLen`); 0 without offsets.
    pub(crate) offsets_len: u32,
    /// The largest count so far, for branches that count; bytes of the longest C string.
    pub(crate) largest: i64,
    /// Whether its leaf keeps the largest value though it is not a counter.
    pub(crate) ranged: bool,
    /// Baskets written or in progress.
    pub(crate) baskets: usize,
    /// Bytes and offsets of the last basket, as the expected size of the next one.
    expected: (usize, usize),
    key_len: usize,
    name: Arc<str>,
    /// Full parts already being compressed, and their bytes.
    parts: Vec<Arc<Job>>,
    parted: usize,
    /// Bytes after which `data` becomes the next part.
    part_bytes: usize,
    data: Vec<u8>,
    /// Where each entry begins in the basket; only for entries of variable size.
    starts: Vec<u32>,
    entries: u64,
}

/// Properties shared by the baskets of all branches of a tree.
#[derive(Clone)]
pub(crate) struct BasketOwner {
    /// The tree's number among the core's tables.
    pub(crate) tree: usize,
    pub(crate) name: Arc<str>,
    /// Position of its directory.
    pub(crate) parent: u64,
}

impl Branch {
    /// One of a tree's branches, of which this many have baskets.
    pub(crate) fn new(column: Column, tree: &str, number: usize, basket_bytes: u32, compression: Compression) -> Self {
        let compression = column.compression.unwrap_or(compression);
        Self {
            basket_bytes: column.basket_bytes.unwrap_or(basket_bytes),
            compression,
            offsets: if column.data == Data::Offsets { Offsets::Table } else { Offsets::None },
            offsets_len: if matches!(column.data, Data::Fixed(_)) { 0 } else { OFFSETS_AT_FIRST },
            largest: 0,
            ranged: false,
            baskets: 0,
            expected: (0, 0),
            key_len: Basket::key_len(&column.name, tree, 0),
            name: column.name.as_str().into(),
            column,
            parts: Vec::new(),
            parted: 0,
            part_bytes: part_bytes(number, compression),
            data: Vec::new(),
            starts: Vec::new(),
            entries: 0,
        }
    }

    /// Continues with the properties of the branch's existing baskets.
    pub(crate) fn resume(&mut self, offsets: Offsets, tree: &str, offsets_len: u32) {
        self.offsets = offsets;
        self.key_len = Basket::key_len(&self.column.name, tree, self.features());
        self.offsets_len = if offsets == Offsets::None { 0 } else { offsets_len.max(10) };
    }

    /// The feature bits of its baskets.
    fn features(&self) -> u8 {
        if matches!(self.offsets, Offsets::Lengths | Offsets::LeftOut) { GENERATES_OFFSETS } else { 0 }
    }

    /// Size of the basket being filled.
    pub(crate) fn pending(&self) -> Pending {
        Pending { entries: self.entries, bytes: (self.parted + self.data.len()) as u64 }
    }

    /// The limit of a basket.
    pub(crate) fn limit(&self) -> Limit {
        let (buffer, key) = (u64::from(self.basket_bytes), self.key_len as u64);
        Limit { buffer, key, offsets: self.offsets != Offsets::None }
    }

    /// Records properties of a batch that concern the whole branch.
    pub(crate) fn survey(&mut self, piece: &EntryValues<'_>) {
        if self.column.counts() || self.ranged {
            self.largest = self.largest.max(piece.largest());
        }
        if self.column.is_c_string() {
            self.largest = self.largest.max(piece.longest());
        }
    }

    /// Appends entries `from` to `to` of the batch to the basket being filled.
    pub(crate) fn append(&mut self, core: &mut Core, piece: &EntryValues<'_>, from: usize, to: usize) {
        if matches!(self.offsets, Offsets::Table | Offsets::Lengths) {
            let base = (self.parted + self.data.len()) as u64;
            if self.starts.capacity() == 0 {
                self.starts.reserve_exact(self.expected.1);
            }
            match piece.sizes() {
                Sizes::Jagged(offsets, unit) => {
                    let first = offsets.get(from).copied().unwrap_or(0);
                    let entries = offsets.get(from..to).unwrap_or_default();
                    self.starts.extend(entries.iter().map(|o| (base + (o - first).max(0) as u64 * unit) as u32));
                }
                Sizes::Fixed(size) => self.starts.extend((0..(to - from) as u64).map(|i| (base + i * size) as u32)),
            }
        }
        let (mut items, size) = (piece.items(from, to), piece.values.dtype().size());
        while !items.is_empty() {
            if self.data.len() >= self.part_bytes {
                self.send_part(core);
            }
            let end = items.end.min(items.start.saturating_add((self.part_bytes - self.data.len()) / size));
            self.make_room(core, (end - items.start) * size);
            big_endian(&piece.values, items.start..end, &mut self.data);
            items.start = end;
        }
        self.entries += (to - from) as u64;
    }

    /// Starts to compress the part of the basket filled so far.
    fn send_part(&mut self, core: &mut Core) {
        let part = std::mem::take(&mut self.data);
        self.parted += part.len();
        self.parts.push(core.pool.submit(part, self.compression, true));
    }

    /// Makes room for this many more bytes: twice the current size, but not beyond the limit of the part or the basket.
    fn make_room(&mut self, core: &Core, more: usize) {
        if self.data.capacity() == 0 && more > 0 {
            self.data = core.pool.buffer();
            self.data.reserve_exact(self.expected.0.saturating_sub(self.parted).min(self.part_bytes));
        }
        let needed = self.data.len() + more;
        if needed > self.data.capacity() {
            let most = self.part_bytes.min(self.basket_bytes as usize);
            let grown = (2 * self.data.capacity()).min(most).max(needed);
            self.data.reserve_exact(grown - self.data.len());
        }
    }

    /// Submits the basket being filled, if it holds any entry, and starts the next. Returns its bytes.
    pub(crate) fn write_basket(&mut self, core: &mut Core, index: usize, owner: &BasketOwner) -> Result<u64> {
        if self.entries == 0 {
            return Ok(0);
        }
        let mut bytes = std::mem::take(&mut self.data);
        let end_of_data = self.key_len + self.parted + bytes.len();
        if matches!(self.offsets, Offsets::Table | Offsets::Lengths) {
            bytes.reserve_exact(offset_table(self.entries) as usize);
            bytes.extend_from_slice(&(self.entries as u32 + 1).to_be_bytes());
            let mut before = 0;
            for start in &self.starts {
                let number = match self.offsets {
                    Offsets::Lengths => start - std::mem::replace(&mut before, *start),
                    _ => self.key_len as u32 + start,
                };
                bytes.extend_from_slice(&number.to_be_bytes());
            }
            // The last offset is never read: ROOT writes zero and readers use the end of data.
            bytes.extend_from_slice(&[0; 4]);
        }
        let entry_size = match self.column.data {
            Data::Fixed(size) if self.offsets == Offsets::None => size,
            _ => self.offset_places(),
        };
        let size = self.parted + bytes.len();
        let basket = Basket {
            tree: owner.tree,
            branch: index,
            name: self.name.clone(),
            title: owner.name.clone(),
            parent: owner.parent,
            entries: self.entries,
            entry_size,
            buffer: self.basket_bytes.max((self.key_len + size) as u32),
            end_of_data: end_of_data as u32,
            features: self.features(),
            left_out: self.offsets == Offsets::LeftOut,
        };
        self.adapt_offsets();
        self.entries = 0;
        self.expected = (size, self.starts.len());
        // freed: until the next basket is as full, others in progress can use the memory
        self.starts = Vec::new();
        let mut jobs = std::mem::take(&mut self.parts);
        let part = !jobs.is_empty();
        jobs.push(core.pool.submit(bytes, self.compression, part));
        self.parted = 0;
        core.submit(basket, Parts { jobs, size }).map(|()| size as u64)
    }

    /// Room for entries in the basket's table of offsets: doubled as entries were added (`TBasket::Update`).
    fn offset_places(&self) -> u32 {
        let mut places = self.offsets_len.max(10);
        while u64::from(places) <= self.entries {
            places = places.saturating_mul(2);
        }
        places
    }

    /// ROOT's guess of the next basket's entries, derived from this one: the size of the table, in the first ten
    /// baskets, then the computation of `TBranch::WriteBasketImpl`.
    fn adapt_offsets(&mut self) {
        if self.offsets_len == 0 {
            return;
        }
        let entries = self.entries.min(u64::from(u32::MAX / 4)) as u32;
        if self.baskets < 10 && entries >= self.offsets_len {
            self.offsets_len = self.offset_places();
        }
        if self.offsets_len > 10 && 4 * entries < self.offsets_len {
            self.offsets_len = if entries < 3 { 10 } else { 4 * entries };
        } else if entries > self.offsets_len {
            self.offsets_len = 2 * entries;
        }
        self.baskets += 1;
    }
}
