//! Builds new baskets from old ones: entries are cut out and joined, nothing in them is decoded.

use super::basket_split::{Rule, Slices};
use super::counted::{Counted, Counts};
use super::sums::{Sum, Summing};
use crate::recode::Recoder;
use bytes::Bytes;
use sapwood_codec::Compression;
use sapwood_edit::Label;
use sapwood_edit::tree::{Embedded, Fresh};
use sapwood_format::tree::{BasketHead, split_basket};
use sapwood_span::Result;
use std::ops::Range;

/// A basket of the input and the entries it holds.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) entries: Range<u64>,
    pub(crate) record: Bytes,
    /// The length of its label, if the record was created from a basket in the tree's header.
    pub(crate) key_len: Option<u32>,
    /// The counter's baskets, where offsets may be left out.
    pub(crate) counts: Vec<Counts>,
    /// Whether all of it is cut at once, also for later clusters.
    pub(crate) ahead: bool,
}

/// A basket of the output, without a position yet.
pub(crate) struct Built {
    pub(crate) first: u64,
    pub(crate) record: Vec<u8>,
    /// Decompressed bytes, label included.
    pub(crate) total: u64,
}

/// Common properties of all baskets of a branch.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) rule: Rule,
    /// The source of its offsets, where they may be left out.
    pub(crate) counted: Option<Counted>,
    /// Bytes of values in a basket at most, unless one entry alone has more.
    pub(crate) basket_bytes: u32,
    /// Their new compression; unchanged when none and the basket stays whole.
    pub(crate) compression: Option<Compression>,
    /// The branch's compression so far.
    pub(crate) own: Compression,
    /// Whether sums of the entries are wanted.
    pub(crate) summed: bool,
}

/// Parts cut for a cluster in advance: whole baskets, and the beginning of one that continues.
#[derive(Default)]
pub(crate) struct ClusterPart {
    pub(crate) built: Vec<Built>,
    /// Sums of its content in the input; none unless they are wanted.
    pub(crate) sums: Vec<Sum>,
    open: Option<(Label, Fresh)>,
}

/// Builds baskets for the entries of the first of these clusters from the baskets that hold them, ascending, and from
/// what was cut for it before. The last source may be cut for later clusters as well: these follow in the result,
/// cluster by cluster.
///
/// # Errors
/// `Corrupt` when a basket does not match its header.
pub(crate) fn build(
    shape: &Shape,
    before: ClusterPart,
    sources: &[Source],
    boundaries: &[u64],
    recoder: &mut Recoder,
) -> Result<(ClusterPart, Vec<ClusterPart>)> {
    let mut joined = before;
    if matches!(shape.rule, Rule::Whole(_)) {
        for source in sources {
            joined.built.push(whole(shape, source, recoder)?);
            if shape.summed {
                joined.sums.push(sum_of_whole(source, recoder)?);
            }
        }
        return Ok((joined, Vec::new()));
    }
    let mut clusters = boundaries.windows(2).map(|w| w[0]..w[1]);
    let range = clusters.next().unwrap_or_default();
    let mut later = Vec::new();
    for source in sources {
        let (head, payload) = recoder.inflate(&source.record)?;
        let mut basket = split_basket(&head, &payload)?;
        check_entries(source, basket.entries)?;
        if let Some(counted) = &shape.counted {
            basket = counted.complete(basket, &source.entries, &source.counts, recoder)?;
        }
        let slices = Slices::new(&shape.rule, &basket, &payload)?;
        let (label, _) = Label::read(&source.record)?;
        let mut take = |joined: &mut ClusterPart, range: &Range<u64>| {
            if shape.summed {
                joined.sums.extend(sum(&shape.rule, (&slices, label.pid), source, range));
            }
            joined.take(shape, (&slices, &label), source.entries.start, range, recoder)?;
            if range.end <= source.entries.end { joined.finish(shape, recoder) } else { Ok(()) }
        };
        take(&mut joined, &range)?;
        if source.ahead {
            for range in clusters.by_ref().take_while(|r| r.start < source.entries.end) {
                let mut piece = ClusterPart::default();
                take(&mut piece, &range)?;
                later.push(piece);
            }
        }
    }
    joined.finish(shape, recoder)?;
    Ok((joined, later))
}

impl ClusterPart {
    /// Appends the entries of a range from a basket; `first` is its first one.
    fn take(
        &mut self,
        shape: &Shape,
        (slices, label): (&Slices, &Label),
        first: u64,
        range: &Range<u64>,
        recoder: &mut Recoder,
    ) -> Result<()> {
        let limit = shape.basket_bytes as usize;
        let mut at = range.start.saturating_sub(first) as usize;
        let to = slices.len().min(range.end.saturating_sub(first) as usize);
        while at < to {
            // the label determines the process ids: entries of two cannot share one
            let ends = self.open.as_ref().is_some_and(|(l, n)| {
                l.pid != label.pid || n.starts.is_some() != slices.has_offsets() || n.data.len() >= limit
            });
            if ends {
                self.finish(shape, recoder)?;
            }
            let (_, basket) = self.open.get_or_insert_with(|| (label.clone(), empty(first + at as u64, slices)));
            let room = limit.saturating_sub(basket.data.len());
            let n = match slices.fitting(at, to, room) {
                0 if basket.entries == 0 => 1,
                0 => {
                    self.finish(shape, recoder)?;
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
        Ok(())
    }

    /// Finishes the current basket.
    fn finish(&mut self, shape: &Shape, recoder: &mut Recoder) -> Result<()> {
        let Some((label, fresh)) = self.open.take() else { return Ok(()) };
        let first = fresh.first;
        let basket = Embedded::fresh(&label, fresh, shape.basket_bytes);
        let (record, total) = basket.record(shape.compression.unwrap_or(shape.own), recoder.encoder())?;
        self.built.push(Built { first, record, total });
        Ok(())
    }
}

/// The sum of a range's entries in an input basket; none when it holds none of them.
fn sum(rule: &Rule, (slices, pid): (&Slices, u16), source: &Source, range: &Range<u64>) -> Option<Sum> {
    let entries = range.start.max(source.entries.start)..range.end.min(source.entries.end);
    if entries.is_empty() {
        return None;
    }
    let [from, to] = [entries.start, entries.end].map(|e| (e - source.entries.start) as usize);
    let mut summing = Summing::default();
    summing.entries(rule, slices, from..to);
    summing.process_ids(pid);
    Some(Sum { entries, value: summing.value() })
}

fn sum_of_whole(source: &Source, recoder: &mut Recoder) -> Result<Sum> {
    let (head, payload) = recoder.inflate(&source.record)?;
    let basket = split_basket(&head, &payload)?;
    let mut summing = Summing::default();
    summing.basket(basket.data, basket.offsets.as_deref(), source.key_len.unwrap_or(head.key_len));
    summing.process_ids(pid_of(&source.record)?);
    Ok(Sum { entries: source.entries.clone(), value: summing.value() })
}

/// The offset of the process ids for references in a basket.
pub(crate) fn pid_of(record: &[u8]) -> Result<u16> {
    Label::read(record).map(|(label, _)| label.pid)
}

fn empty(first: u64, slices: &Slices) -> Fresh {
    let starts = slices.has_offsets().then(Vec::new);
    let entry_size = if slices.has_offsets() { 0 } else { slices.start(1) as u32 };
    Fresh { first, entries: 0, data: Vec::new(), starts, entry_size }
}

/// A basket that stays in one piece: copied, or recompressed with the same label.
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
    Err(sapwood_span::Error::corrupt(format!("a basket contains {found} entries, its branch says {said}"))
        .with_remedy("run `sapwood doctor` for details"))
}
