//! The records of a file, found by a walk.

use super::Examination;
use sapwood_engine::RawFile;
use sapwood_format::tree::BasketHead;
use sapwood_format::{Found, Key};
use sapwood_span::{Result, Span};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A record, according to its label.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Bytes, label included.
    pub len: u64,
    /// See [`label_hash`].
    pub label: u64,
    /// Entries, when it is a basket.
    pub entries: Option<u32>,
    /// Whether it holds pages or metadata of an ntuple.
    pub is_page: bool,
}

/// The records by position.
#[derive(Debug, Default)]
pub(super) struct Records {
    by_start: BTreeMap<u64, Record>,
    /// Whether the file is marked as closed.
    closed: bool,
    /// Free bytes according to a closed file: an uncommitted update there is not damage.
    free: Vec<Span>,
    /// Records that are objects: without baskets and the file's internal records.
    pub objects: u64,
}

/// Identifies labels: name, class and cycle. Directories may be listed as `TDirectoryFile` and labelled `TDirectory`,
/// or the other way round, depending on the writer.
pub(super) fn label_hash(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    let class = if key.is_directory() { "TDirectory" } else { &key.class };
    (&key.name, class, key.cycle).hash(&mut hasher);
    hasher.finish()
}

impl Records {
    /// Walks a file from its first record to its end.
    pub(super) fn walk(out: &mut Examination, raw: &RawFile) -> Result<Self> {
        let (header, size) = (raw.header(), raw.size());
        // a file that was not closed continues after the end in its header
        let closed = header.free.start != 0 && header.end <= size;
        let end = if closed { header.end } else { size };
        let free = if closed { raw.free_segments().unwrap_or_default() } else { Vec::new() };
        let mut records = Self { closed, free, ..Self::default() };
        raw.walk(end, |found| records.add(out, found))?;
        Ok(records)
    }

    fn add(&mut self, out: &mut Examination, found: Found) {
        match found {
            Found::Key(key, bytes) => {
                out.records += 1;
                let basket = key.class == "TBasket";
                let entries = if basket {
                    match BasketHead::read_label(&bytes) {
                        Ok((head, _)) => Some(head.entries),
                        Err(_) if self.is_free(&key) => None,
                        Err(e) => {
                            out.error("basket", &format!("{}:{}", key.title, key.name), Some(key.span), &e);
                            None
                        }
                    }
                } else {
                    None
                };
                if !basket && key.class != "TFile" && key.name != "StreamerInfo" {
                    self.objects += 1;
                }
                let record =
                    Record { len: key.span.len, label: label_hash(&key), entries, is_page: key.class == "RBlob" };
                self.by_start.insert(key.span.start, record);
            }
            Found::Gap(span) => out.free_bytes += span.len,
            // some writers leave unmarked bytes behind; keys or trees that refer to them are reported elsewhere
            Found::Damage(span) if self.closed => {
                out.note("record", "", Some(span), format!("{} bytes are neither a record nor free", span.len));
            }
            Found::Damage(span) => out.damage("record", "", Some(span), format!("{} bytes are not a record", span.len)),
            Found::Cut(key) => {
                let what = format!("{} {} is truncated", key.class, key.name);
                if self.is_free(&key) {
                    return out.note("record", &key.name, Some(key.span), format!("{what}, where the file is free"));
                }
                out.damage("record", &key.name, Some(key.span), what);
            }
            Found::End => {}
        }
    }

    /// Whether a record begins in free bytes.
    fn is_free(&self, key: &Key) -> bool {
        let before = self.free.partition_point(|s| s.start <= key.span.start);
        before.checked_sub(1).and_then(|i| self.free.get(i)).is_some_and(|s| key.span.start < s.end())
    }

    /// The record that begins at a position.
    pub(super) fn at(&self, start: u64) -> Option<&Record> {
        self.by_start.get(&start)
    }

    /// The first record that begins within a span.
    pub(super) fn first_within(&self, span: Span) -> Option<(Span, &Record)> {
        self.by_start.range(span.start..span.end()).next().map(|(&start, r)| (Span::new(start, r.len), r))
    }

    /// The record that contains a span behind its label.
    pub(super) fn around(&self, span: Span) -> Option<(Span, &Record)> {
        let (&start, record) = self.by_start.range(..span.start).next_back()?;
        let whole = Span::new(start, record.len);
        (span.end() <= whole.end()).then_some((whole, record))
    }

    /// Baskets: positions and lengths.
    pub(super) fn baskets(&self) -> impl Iterator<Item = Span> {
        self.by_start.iter().filter(|(_, r)| r.entries.is_some()).map(|(&start, r)| Span::new(start, r.len))
    }
}
