//! From a basket's record to its values.

use super::baskets::ScanBasket;
use super::pages;
use super::plan::ScanPlan;
use super::task::{DecodeOutcome, DecodeTask, Record};
use bytes::Bytes;
use sapwood_codec::{BlockChain, Decoder};
use sapwood_column::{Array, Decoded};
use sapwood_format::check_size;
use sapwood_format::tree::{BasketHead, Tree as Header, split_basket};
use sapwood_source::Source;
use sapwood_span::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A basket whose record's head has been read.
pub(super) struct OpenedBasket {
    record: Bytes,
    head: BasketHead,
    /// Where the payload begins.
    payload: usize,
    /// Bytes that it unpacks to.
    size: usize,
    spare: Option<Array>,
    outcome: DecodeOutcome,
}

impl BlockChain for OpenedBasket {
    fn compressed(&self) -> &[u8] {
        self.record.get(self.payload..).unwrap_or_default()
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl OpenedBasket {
    /// The outcome to report if its decoding panics.
    pub(super) fn outcome(&self) -> DecodeOutcome {
        DecodeOutcome::unfinished(self.outcome.basket, self.outcome.planned)
    }

    /// Bytes of its record in the file.
    pub(super) fn record_bytes(&self) -> usize {
        self.record.len()
    }
}

/// Reads the head of a basket that is compressed; one that is not is decoded at once, and so are pages.
pub(super) fn open(
    plan: &ScanPlan,
    header: &Header,
    source: &Arc<dyn Source>,
    task: DecodeTask,
    decoder: &mut Decoder,
) -> std::result::Result<OpenedBasket, DecodeOutcome> {
    let needed = &plan.baskets[task.basket];
    let mut outcome = DecodeOutcome::of(&task);
    let DecodeTask { record, spare, .. } = task;
    let result = match record {
        Record::Pages(records) => pages::decode(plan, header, source, &mut outcome, &records, decoder),
        Record::InHeader => embedded(plan, header, needed, &mut outcome),
        Record::Stored(_) => Err(Error::invalid("its record was not read")),
        Record::Here(record) => match checked(needed, &record) {
            Ok((head, payload, Some(size))) => return Ok(OpenedBasket { record, head, payload, size, spare, outcome }),
            Ok((head, payload, None)) => {
                values(plan, &head, record.get(payload..).unwrap_or_default(), spare, &mut outcome)
            }
            Err(e) => Err(e),
        },
    };
    outcome.set(plan, result);
    Err(outcome)
}

/// Decodes what was unpacked.
pub(super) fn decode(plan: &ScanPlan, opened: OpenedBasket, bytes: Result<&[u8]>, took: Duration) -> DecodeOutcome {
    let packed = opened.compressed().len() as u64;
    let OpenedBasket { head, spare, mut outcome, .. } = opened;
    let result = bytes.and_then(|bytes| {
        (outcome.packed, outcome.unzip) = (packed, took);
        values(plan, &head, bytes, spare, &mut outcome)
    });
    outcome.set(plan, result);
    outcome
}

fn values(
    plan: &ScanPlan,
    head: &BasketHead,
    bytes: &[u8],
    spare: Option<Array>,
    outcome: &mut DecodeOutcome,
) -> Result<Decoded> {
    outcome.unzipped = bytes.len() as u64;
    let began = Instant::now();
    let layout = &plan.columns[plan.baskets[outcome.basket].column].layout;
    let decoded = layout.decode(&split_basket(head, bytes)?, spare)?;
    outcome.decode = began.elapsed();
    Ok(decoded)
}

/// A record's head, checked against the tree's header; where its payload begins; and the size that this unpacks to, if
/// it is compressed.
fn checked(needed: &ScanBasket, record: &[u8]) -> Result<(BasketHead, usize, Option<usize>)> {
    let (head, key) = BasketHead::read(record)?;
    expect(u64::from(head.entries), needed)?;
    if key.span.len != record.len() as u64 {
        return Err(Error::corrupt(format!(
            "its record has {} bytes, the tree's header says {}",
            key.span.len,
            record.len()
        )));
    }
    let begins = key.key_len as usize;
    let Some(payload) = record.get(begins..) else {
        return Err(Error::corrupt("its key is longer than its record"));
    };
    if key.is_raw() {
        return Ok((head, begins, None));
    }
    check_size(&key, payload.len())?;
    Ok((head, begins, Some(key.object_len as usize)))
}

fn embedded(plan: &ScanPlan, header: &Header, needed: &ScanBasket, out: &mut DecodeOutcome) -> Result<Decoded> {
    let column = &plan.columns[needed.column];
    let (_, basket) = header.branches[column.branch]
        .embedded
        .get(needed.embedded)
        .ok_or_else(|| Error::corrupt("it is not in the tree's header"))?;
    let began = Instant::now();
    out.unzipped = basket.data.len() as u64;
    let decoded = column.layout.decode_embedded(basket)?;
    out.decode = began.elapsed();
    Ok(decoded)
}

fn expect(entries: u64, needed: &ScanBasket) -> Result<()> {
    let wanted = needed.entries.end - needed.entries.start;
    if entries == wanted {
        return Ok(());
    }
    Err(Error::corrupt(format!("it contains {entries} entries, the tree's header says {wanted}")))
}
