//! Arrays whose offsets are left out because they are derived from a counter (ROOT's kGenerateOffsetMap). The output
//! has offsets: readers other than ROOT use the counter's basket with the same number, which is valid only as long as
//! both branches are cut at the same entries.

use super::basket_split::{Rule, Slices};
use crate::recode::Recoder;
use bytes::Bytes;
use sapwood_column::interpret;
use sapwood_format::Streamers;
use sapwood_format::tree::{BasketData, Leaf, Tree, split_basket};
use sapwood_span::{Error, Result, Setting};
use std::borrow::Cow;
use std::ops::Range;

/// How the bytes of an array are derived from its counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The counter's branch, by number in the header.
    pub(crate) branch: usize,
    /// Bytes of an item.
    item: usize,
    /// How the counter's entries are delimited.
    rule: Rule,
    /// Whether counts are signed.
    signed: bool,
}

/// A basket of the counter and the entries it holds.
pub(crate) type Counts = (Range<u64>, Bytes);

/// The counter's branch of a branch that leaves out its offsets.
pub(crate) fn counter_of(tree: &Tree, branch: usize) -> Option<usize> {
    let b = tree.branches.get(branch).filter(|b| b.generated_offsets)?;
    let leaf = tree.leaves.get(*b.leaves.first()?)?;
    tree.leaves.get(leaf.count?)?.branch
}

impl Counted {
    /// For a branch that may leave out its offsets.
    ///
    /// # Errors
    /// Why they cannot be derived from the counter, as text, where they have to be.
    pub(crate) fn of(tree: &Tree, branch: usize, streamers: &Streamers) -> std::result::Result<Option<Self>, String> {
        let Some(b) = tree.branches.get(branch).filter(|b| b.generated_offsets && b.entry_offset_len > 0) else {
            return Ok(None);
        };
        let leaf = |l: &usize| tree.leaves.get(*l);
        let leaves: Vec<&Leaf> = b.leaves.iter().filter_map(leaf).collect();
        let Some(counter) = leaves.first().and_then(|l| leaf(&l.count?)) else { return Ok(None) };
        let why = || format!("its offsets follow from {}", counter.name);
        let (Some(at), 1) = (counter.branch, leaves.len()) else { return Err(why()) };
        let size = |b: usize| interpret(tree, b, streamers).ok().and_then(|l| l.item.fixed_size()).filter(|&n| n > 0);
        let width = match counter.class.as_str() {
            "TLeafB" => 1,
            "TLeafS" => 2,
            "TLeafI" => 4,
            "TLeafL" => 8,
            _ => return Err(why()),
        };
        let alone = tree.branches.get(at).is_some_and(|b| b.leaves.len() == 1);
        match (Rule::of(tree, at, streamers), size(branch)) {
            (rule @ Rule::Fixed(n), Some(item)) if alone && n == width => {
                Ok(Some(Self { branch: at, item, rule, signed: !counter.is_unsigned }))
            }
            _ => Err(why()),
        }
    }

    /// Adds offsets to a basket of these entries, if it has none.
    ///
    /// # Errors
    /// `Corrupt` when the counter does not match the bytes.
    pub(crate) fn complete<'a>(
        &self,
        basket: BasketData<'a>,
        entries: &Range<u64>,
        counts: &[Counts],
        recoder: &mut Recoder,
    ) -> Result<BasketData<'a>> {
        if basket.offsets.is_some() {
            return Ok(basket);
        }
        let mut table = Vec::new();
        let mut end = u64::from(basket.key_len);
        let mut at = entries.start;
        for (range, record) in counts {
            let (head, payload) = recoder.inflate(record)?;
            let slices = Slices::new(&self.rule, &split_basket(&head, &payload)?, &payload)?;
            let last = range.end.min(entries.end).min(range.start + slices.len() as u64);
            for i in at.max(range.start)..last {
                if i != at {
                    break;
                }
                table.extend_from_slice(&u32::try_from(end).unwrap_or(u32::MAX).to_be_bytes());
                let i = (i - range.start) as usize;
                end = end.saturating_add(self.count(slices.bytes(i..i + 1)).saturating_mul(self.item as u64));
                at += 1;
            }
        }
        if at != entries.end || end != basket.data.len() as u64 + u64::from(basket.key_len) {
            return Err(Error::corrupt(format!(
                "the counter does not determine where entries {} to {} begin",
                entries.start,
                entries.end.saturating_sub(1)
            ))
            .with_remedy("keep the baskets of this branch in one piece")
            .with_setting(Setting::KeepBranch));
        }
        Ok(BasketData { offsets: Some(Cow::Owned(table)), ..basket })
    }

    /// Negative counts mean zero.
    fn count(&self, bytes: &[u8]) -> u64 {
        let negative = self.signed && bytes.first().is_some_and(|b| b & 0x80 != 0);
        if negative { 0 } else { bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b)) }
    }
}
