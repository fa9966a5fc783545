//! Decoding what a cluster has of a field of an ntuple, which takes the place of a basket.

use super::cached_baskets;
use super::plan::ScanPlan;
use super::task::{DecodeOutcome, Record};
use bytes::Bytes;
use sapwood_codec::Decoder;
use sapwood_column::ntuple::Pages;
use sapwood_column::{Array, Decoded};
use sapwood_format::ntuple::Page;
use sapwood_format::tree::Tree as Header;
use sapwood_source::Source;
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Decodes what a cluster has of a field. `records`: the pages, in the order of the basket's.
pub(super) fn decode(
    plan: &ScanPlan,
    header: &Header,
    source: &Arc<dyn Source>,
    outcome: &mut DecodeOutcome,
    records: &[Record],
    decoder: &mut Decoder,
) -> Result<Decoded> {
    let basket = &plan.baskets[outcome.basket];
    let layout = &plan.columns[basket.column].layout;
    let (Some(ntuple), Some(field)) = (&header.ntuple, layout.field()) else {
        return Err(Error::invalid("pages of a branch that is no field"));
    };
    let cluster = ntuple.table.clusters.get(basket.number).ok_or_else(|| Error::invalid("no such cluster"))?;
    let began = Instant::now();
    let numbers = basket.pages.iter().map(|(number, _)| *number);
    let mut pages = Held {
        records: numbers.zip(records).collect(),
        source,
        decoder,
        buffer: Vec::new(),
        unzipped: 0,
        packed: 0,
        unzip: Duration::ZERO,
    };
    let array: Result<Array> = field.decode(ntuple, cluster, &mut pages);
    (outcome.unzipped, outcome.packed, outcome.unzip) = (pages.unzipped, pages.packed, pages.unzip);
    outcome.decode = began.elapsed().saturating_sub(pages.unzip);
    array.map(Decoded::Column)
}

/// Pages whose bytes are here.
struct Held<'a> {
    records: HashMap<usize, &'a Record>,
    source: &'a Arc<dyn Source>,
    decoder: &'a mut Decoder,
    buffer: Vec<u8>,
    unzipped: u64,
    packed: u64,
    unzip: Duration,
}

impl Pages for Held<'_> {
    fn page(&mut self, index: usize, page: &Page, size: usize) -> Result<&[u8]> {
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
        if page.unpack(packed, size, self.decoder, &mut self.buffer).map_err(at)? {
            self.unzip += began.elapsed();
            self.packed += packed.len() as u64;
        }
        Ok(&self.buffer)
    }
}
