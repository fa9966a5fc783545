//! Decoding what a cluster has of a field of an ntuple, which takes the place of a basket.

use super::cached_baskets;
use super::plan::ScanPlan;
use super::task::{DecodeOutcome, Record};
use bytes::Bytes;
use sapwood_codec::{Decoder, xxh3};
use sapwood_column::ntuple::Pages;
use sapwood_column::{Array, Decoded};
use sapwood_format::ntuple::{PAGE_CHECKSUM, Page};
use sapwood_format::tree::Tree as Header;
use sapwood_source::Source;
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that a page may decompress to however little was stored of it, and per stored byte.
const ANY_PAGE: u64 = 256 << 20;
const PER_BYTE: u64 = 100;

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
        let limit = ANY_PAGE.max(PER_BYTE.saturating_mul(page.span.len));
        if size as u64 > limit {
            let what = format!("a page claims {size} bytes, of {} compressed", page.span.len);
            return Err(at(Error::unsupported(what)));
        }
        self.buffer.clear();
        let packed = checked(page, &stored).map_err(at)?;
        self.unzipped += size as u64;
        if packed.len() == size {
            self.buffer.extend_from_slice(packed);
        } else {
            let began = Instant::now();
            self.decoder.decompress_vec(packed, &mut self.buffer, size).map_err(at)?;
            self.unzip += began.elapsed();
            self.packed += packed.len() as u64;
        }
        Ok(&self.buffer)
    }
}

/// The bytes of a page without its checksum, which they must match.
fn checked<'a>(page: &Page, stored: &'a [u8]) -> Result<&'a [u8]> {
    if stored.len() as u64 != page.stored().len {
        return Err(Error::corrupt(format!("a page has {} bytes, not {}", stored.len(), page.stored().len)));
    }
    if !page.has_checksum {
        return Ok(stored);
    }
    let (packed, sum) = stored.split_at(stored.len() - PAGE_CHECKSUM as usize);
    let stated = sum.try_into().map_or(0, u64::from_le_bytes);
    let actual = xxh3(packed);
    if stated != actual {
        return Err(Error::corrupt(format!("a page does not match its checksum: {actual:016x}, not {stated:016x}"))
            .with_remedy("the file is damaged: fetch it again"));
    }
    Ok(packed)
}
