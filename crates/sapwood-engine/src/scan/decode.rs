use super::baskets::Needed;
use super::state::{Outcome, Shared};
use bytes::Bytes;
use sapwood_codec::Decoder;
use sapwood_column::{Array, Decoded};
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_plan::BasketId;
use sapwood_span::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Baskets are as large as one entry at least; ROOT itself cannot write larger ones.
const MOST: u32 = 1 << 30;

/// What a worker keeps from basket to basket.
pub(super) struct Scratch {
    decoder: Decoder,
    inflated: Vec<u8>,
}

impl Scratch {
    pub fn new() -> Self {
        Self { decoder: Decoder::new(), inflated: Vec::new() }
    }
}

/// Inflates and decodes one basket: its record in the file, or the one in the tree's header.
pub(super) fn decode(
    shared: &Shared,
    scratch: &mut Scratch,
    basket: usize,
    planned: Option<BasketId>,
    record: Option<&Bytes>,
    spare: Option<Array>,
) -> Outcome {
    let needed = &shared.baskets[basket];
    let mut out = Outcome {
        basket,
        planned,
        result: Err(Error::invalid("not decoded")),
        bytes: 0,
        unzipped: 0,
        packed: 0,
        unzip: Duration::ZERO,
        decode: Duration::ZERO,
    };
    let result = match record {
        Some(record) => stored(shared, scratch, needed, record, spare, &mut out),
        None => embedded(shared, needed, &mut out),
    };
    out.result = match result {
        Ok(d) => {
            out.bytes = match &d {
                Decoded::Column(a) | Decoded::Uncounted(a) => a.nbytes() as u64,
            };
            Ok(Arc::new(d))
        }
        Err(e) => {
            let branch = shared.tree.name_of(shared.columns[needed.column].branch);
            let e = Error::new(e.kind(), format!("basket {}: {}", needed.number, e.what())).in_branch(branch);
            let e = if let Some(span) = needed.span { e.at(span) } else { e };
            Err(e.in_file(shared.file.url()))
        }
    };
    out
}

fn stored(
    shared: &Shared,
    scratch: &mut Scratch,
    needed: &Needed,
    record: &[u8],
    spare: Option<Array>,
    out: &mut Outcome,
) -> Result<Decoded> {
    let (head, key) = BasketHead::read(record)?;
    expect(u64::from(head.entries), needed)?;
    if key.span.len != record.len() as u64 {
        return Err(Error::corrupt(format!(
            "its record has {} bytes, the tree's header says {}",
            key.span.len,
            record.len()
        )));
    }
    let Some(payload) = record.get(key.key_len as usize..) else {
        return Err(Error::corrupt("its label is longer than its record"));
    };
    let began = Instant::now();
    let inflated = if key.is_raw() {
        payload
    } else {
        if key.object_len > MOST || u64::from(key.object_len) > (payload.len() as u64 + 64) * 20_000 {
            return Err(Error::corrupt(format!("{} bytes claim to inflate to {}", payload.len(), key.object_len)));
        }
        scratch.decoder.decompress_vec(payload, &mut scratch.inflated, key.object_len as usize)?;
        scratch.inflated.as_slice()
    };
    let unzipped = Instant::now();
    out.unzip = unzipped - began;
    out.unzipped = inflated.len() as u64;
    out.packed = if key.is_raw() { 0 } else { payload.len() as u64 };
    let decoded = shared.columns[needed.column].layout.decode(&split_basket(&head, inflated)?, spare)?;
    out.decode = unzipped.elapsed();
    Ok(decoded)
}

fn embedded(shared: &Shared, needed: &Needed, out: &mut Outcome) -> Result<Decoded> {
    let column = &shared.columns[needed.column];
    let (_, basket) = shared.tree.header().branches[column.branch]
        .embedded
        .get(needed.embedded)
        .ok_or_else(|| Error::corrupt("it is not in the tree's header"))?;
    let began = Instant::now();
    out.unzipped = basket.data.len() as u64;
    let decoded = column.layout.decode_embedded(basket)?;
    out.decode = began.elapsed();
    Ok(decoded)
}

fn expect(entries: u64, needed: &Needed) -> Result<()> {
    let wanted = needed.entries.end - needed.entries.start;
    if entries == wanted {
        return Ok(());
    }
    Err(Error::corrupt(format!("it holds {entries} entries, the tree's header says {wanted}")))
}
