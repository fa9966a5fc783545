use super::baskets::Needed;
use super::state::{Outcome, Shared};
use bytes::Bytes;
use sapwood_codec::{Chain, Decoder};
use sapwood_column::{Array, Decoded};
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_plan::BasketId;
use sapwood_span::{Error, Result};
use std::time::Instant;

/// Baskets are as large as one entry at least; ROOT itself cannot write larger ones.
const MOST: u32 = 1 << 30;

/// Unpacked bytes of baskets that are inflated together, unless one alone has more.
const TOGETHER: u64 = 4 << 20;

/// A basket to decode.
pub(super) struct Task {
    pub basket: usize,
    pub planned: Option<BasketId>,
    /// Its record in the file, or none where it lies in the tree's header.
    pub record: Option<Bytes>,
    /// Memory for its values.
    pub spare: Option<Array>,
}

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

/// A record whose head has been read.
struct Opened<'a> {
    head: BasketHead,
    payload: &'a [u8],
    /// Bytes that the payload unpacks to; none where it is not compressed.
    size: Option<usize>,
}

/// Inflates and decodes baskets.
pub(super) fn decode_all(shared: &Shared, scratch: &mut Scratch, mut tasks: Vec<Task>) -> Vec<Outcome> {
    let mut results = Vec::with_capacity(tasks.len());
    let spares: Vec<Option<Array>> = tasks.iter_mut().map(|t| t.spare.take()).collect();
    let opened: Vec<Option<Result<Opened<'_>>>> =
        tasks.iter().map(|t| t.record.as_ref().map(|record| open(&shared.baskets[t.basket], record))).collect();
    let mut rest = tasks.iter().zip(opened).zip(spares).peekable();
    while rest.peek().is_some() {
        let (mut group, mut bytes) = (Vec::new(), 0);
        while let Some(next) = rest.next_if(|((_, opened), _)| group.is_empty() || bytes + packed(opened) <= TOGETHER) {
            bytes += packed(&next.0.1);
            group.push(next);
        }
        let chains: Vec<Chain<'_>> = group.iter().filter_map(|((_, opened), _)| chain(opened)).collect();
        let began = Instant::now();
        let mut places = scratch.decoder.decompress_all(&chains, &mut scratch.inflated).into_iter();
        let took = began.elapsed();
        for ((task, opened), spare) in group {
            let mut out = Outcome::of(task);
            let place = chain(&opened).and_then(|_| places.next());
            let needed = &shared.baskets[task.basket];
            let result = match opened {
                None => embedded(shared, needed, &mut out),
                Some(opened) => opened.and_then(|opened| {
                    let inflated = match place {
                        None => opened.payload,
                        Some(place) => scratch.inflated.get(place?).unwrap_or_default(),
                    };
                    out.unzipped = inflated.len() as u64;
                    if opened.size.is_some() {
                        out.packed = opened.payload.len() as u64;
                        // theirs together is measured, of which each has its part
                        out.unzip = took.mul_f64(out.unzipped as f64 / bytes.max(1) as f64);
                    }
                    let began = Instant::now();
                    let layout = &shared.columns[needed.column].layout;
                    let decoded = layout.decode(&split_basket(&opened.head, inflated)?, spare)?;
                    out.decode = began.elapsed();
                    Ok(decoded)
                }),
            };
            out.set(shared, result);
            results.push(out);
        }
    }
    results
}

fn chain<'a>(opened: &Option<Result<Opened<'a>>>) -> Option<Chain<'a>> {
    let opened = opened.as_ref()?.as_ref().ok()?;
    Some(Chain { compressed: opened.payload, size: opened.size? })
}

fn packed(opened: &Option<Result<Opened<'_>>>) -> u64 {
    chain(opened).map_or(0, |c| c.size as u64)
}

/// Reads a record's head and checks it against the tree's header.
fn open<'a>(needed: &Needed, record: &'a [u8]) -> Result<Opened<'a>> {
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
    if key.is_raw() {
        return Ok(Opened { head, payload, size: None });
    }
    if key.object_len > MOST || u64::from(key.object_len) > (payload.len() as u64 + 64) * 20_000 {
        return Err(Error::corrupt(format!("{} bytes claim to inflate to {}", payload.len(), key.object_len)));
    }
    Ok(Opened { head, payload, size: Some(key.object_len as usize) })
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
