//! New baskets out of old ones: entries are cut out and joined, nothing in them is decoded.

use super::cut::{Rule, Slices};
use crate::container::Label;
use crate::merge::embedded::{Embedded, Fresh};
use crate::merge::recode::Recoder;
use bytes::Bytes;
use sapwood_codec::Compression;
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_span::Result;
use std::ops::Range;

/// A basket of the input and the entries it holds.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) entries: Range<u64>,
    pub(crate) record: Bytes,
}

/// A basket of the output, not placed yet.
pub(crate) struct Built {
    pub(crate) first: u64,
    pub(crate) record: Vec<u8>,
    /// Bytes when inflated, label included.
    pub(crate) total: u64,
}

/// What all baskets of a branch are like.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) rule: Rule,
    /// Bytes of values in a basket at most, unless one entry alone has more.
    pub(crate) basket_bytes: u32,
    /// How they are compressed; as they are when none and the basket stays whole.
    pub(crate) compression: Option<Compression>,
    /// How the branch was compressed so far.
    pub(crate) own: Compression,
}

/// Makes baskets for the entries of `range` from the baskets that hold them, ascending.
///
/// # Errors
/// `Corrupt` when a basket is not what its header says.
pub(crate) fn build(
    shape: &Shape,
    sources: &[Source],
    range: &Range<u64>,
    recoder: &mut Recoder,
) -> Result<Vec<Built>> {
    if matches!(shape.rule, Rule::Whole(_)) {
        return sources.iter().map(|s| whole(shape, s, recoder)).collect();
    }
    let mut out = Vec::new();
    let mut next: Option<(Label, Fresh)> = None;
    let limit = shape.basket_bytes as usize;
    for source in sources {
        let (head, payload) = recoder.inflate(&source.record)?;
        let slices = Slices::new(&shape.rule, &split_basket(&head, &payload)?, &payload)?;
        check_entries(source, slices.len())?;
        let (label, _) = Label::read(&source.record)?;
        let from = range.start.saturating_sub(source.entries.start) as usize;
        let to = (range.end.min(source.entries.end) - source.entries.start) as usize;
        let mut at = from;
        while at < to {
            // process ids are counted by the label: entries of two cannot share one
            let ends = next.as_ref().is_some_and(|(l, n)| {
                l.pid != label.pid || n.starts.is_some() != slices.has_offsets() || n.data.len() >= limit
            });
            if ends && let Some(full) = next.take() {
                out.push(finish(shape, full, recoder)?);
            }
            let (_, basket) =
                next.get_or_insert_with(|| (label.clone(), empty(source.entries.start + at as u64, &slices)));
            let room = limit.saturating_sub(basket.data.len());
            let n = match slices.fitting(at, to, room) {
                0 if basket.entries == 0 => 1,
                0 => {
                    if let Some(full) = next.take() {
                        out.push(finish(shape, full, recoder)?);
                    }
                    continue;
                }
                n => n,
            };
            let (base, begin) = (basket.data.len(), slices.start(at));
            if let Some(starts) = &mut basket.starts {
                starts.extend((at..at + n).map(|i| (base + slices.start(i) - begin) as u32));
            }
            basket.data.extend_from_slice(slices.bytes(at..at + n));
            basket.entries += n as u32;
            at += n;
        }
    }
    if let Some(last) = next.take() {
        out.push(finish(shape, last, recoder)?);
    }
    Ok(out)
}

fn empty(first: u64, slices: &Slices) -> Fresh {
    let starts = slices.has_offsets().then(Vec::new);
    let entry_size = if slices.has_offsets() { 0 } else { slices.start(1) as u32 };
    Fresh { first, entries: 0, data: Vec::new(), starts, entry_size }
}

fn finish(shape: &Shape, (label, fresh): (Label, Fresh), recoder: &mut Recoder) -> Result<Built> {
    let first = fresh.first;
    let basket = Embedded::fresh(&label, fresh, shape.basket_bytes);
    let (record, total) = basket.record(shape.compression.unwrap_or(shape.own), recoder.encoder())?;
    Ok(Built { first, record, total })
}

/// A basket that stays in one piece: copied, or compressed anew behind the same label.
fn whole(shape: &Shape, source: &Source, recoder: &mut Recoder) -> Result<Built> {
    let (head, key) = BasketHead::read(&source.record)?;
    check_entries(source, head.entries as usize)?;
    let mut record = Vec::new();
    match shape.compression {
        Some(c) => recoder.recompress(&source.record, c, &mut record)?,
        None => record.extend_from_slice(&source.record),
    }
    let total = u64::from(key.key_len) + u64::from(key.object_len);
    Ok(Built { first: source.entries.start, record, total })
}

fn check_entries(source: &Source, found: usize) -> Result<()> {
    let said = source.entries.end - source.entries.start;
    if found as u64 == said {
        return Ok(());
    }
    Err(sapwood_span::Error::corrupt(format!("a basket holds {found} entries where its branch lists {said}"))
        .with_remedy("`sapwood doctor` tells more"))
}
