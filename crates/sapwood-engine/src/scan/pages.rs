//! Decoding what a cluster has of a field of an ntuple, which takes the place of a basket.

use super::cached_baskets;
use super::plan::ScanPlan;
use super::task::{ClusterPages, DecodeOutcome, Record};
use bytes::Bytes;
use sapwood_codec::Decoder;
use sapwood_column::ntuple::Pages;
use sapwood_column::{Array, Decoded};
use sapwood_format::ntuple::Page;
use sapwood_format::tree::Tree as Header;
use sapwood_source::Source;
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Decodes what a cluster has of a field, or a part of that.
pub(super) fn decode(
    plan: &ScanPlan,
    header: &Header,
    source: &Arc<dyn Source>,
    outcome: &mut DecodeOutcome,
    cluster_pages: &ClusterPages,
    decoder: &mut Decoder,
) -> Result<Decoded> {
    let basket = &plan.baskets[outcome.basket];
    let layout = &plan.columns[basket.column].layout;
    let (Some(ntuple), Some(field)) = (&header.ntuple, layout.field()) else {
        return Err(Error::invalid("pages of a branch that is no field"));
    };
    let cluster = ntuple.table.clusters.get(basket.number).ok_or_else(|| Error::invalid("no such cluster"))?;
    let begin = cluster.entries.start;
    let entries = basket.entries.start.saturating_sub(begin)..basket.entries.end.saturating_sub(begin);
    let began = Instant::now();
    let first = plan.baskets.get(basket.parts.start).ok_or_else(|| Error::invalid("no such part"))?;
    let numbers = first.pages.iter().map(|(number, _)| *number);
    let mut pages = Held {
        records: numbers.zip(&cluster_pages.records).collect(),
        open: &cluster_pages.open,
        page: Arc::default(),
        source,
        decoder,
        unzipped: 0,
        packed: 0,
        unzip: Duration::ZERO,
    };
    let array: Result<Array> = field.decode(ntuple, cluster, entries, &mut pages);
    (outcome.unzipped, outcome.packed, outcome.unzip) = (pages.unzipped, pages.packed, pages.unzip);
    outcome.decode = began.elapsed().saturating_sub(pages.unzip);
    array.map(Decoded::Column)
}

/// Pages whose bytes are here.
struct Held<'a> {
    records: HashMap<usize, &'a Record>,
    source: &'a Arc<dyn Source>,
    decoder: &'a mut Decoder,
    /// Pages that were decompressed for the part before.
    open: &'a Mutex<HashMap<usize, Arc<Vec<u8>>>>,
    /// The latest.
    page: Arc<Vec<u8>>,
    unzipped: u64,
    packed: u64,
    unzip: Duration,
}

impl Pages for Held<'_> {
    fn page(&mut self, index: usize, page: &Page, size: usize, again: bool) -> Result<&[u8]> {
        // the lock is released here: it is taken again below
        let open = lock(self.open).remove(&index);
        if let Some(open) = open {
            self.page = open;
            if again {
                lock(self.open).insert(index, self.page.clone());
            }
            return Ok(&self.page);
        }
        let at = |e: Error| e.at(page.span);
        let stored = match self.records.get(&index) {
            Some(Record::Here(bytes)) => bytes.clone(),
            Some(Record::Stored(span)) => cached_baskets::read(self.source, *span, || ()).map_err(at)?,
            // a page without elements has no bytes
            None if page.stored().is_empty() => Bytes::new(),
            _ => return Err(Error::invalid("a page was not read")),
        };
        let packed = page.checked(&stored).map_err(at)?;
        self.unzipped += size as u64;
        let began = Instant::now();
        // its memory is used again, unless the next part has it
        if Arc::get_mut(&mut self.page).is_none() {
            self.page = Arc::default();
        }
        let buffer = Arc::make_mut(&mut self.page);
        if page.unpack(packed, size, self.decoder, buffer).map_err(at)? {
            self.unzip += began.elapsed();
            self.packed += packed.len() as u64;
        }
        if again {
            lock(self.open).insert(index, self.page.clone());
        }
        Ok(&self.page)
    }
}
