//! Which entries of a tree are whole, when some of its baskets are not, and the tree without the others.

use crate::input::Reader;
use crate::recode::Recoder;
use sapwood_edit::tree::{Basket, TreeFacts};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;

/// Ranges of entries, in order, none touching another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    fn add(&mut self, new: Range<u64>) {
        if new.is_empty() {
            return;
        }
        let from = self.0.partition_point(|r| r.end < new.start);
        let to = self.0.partition_point(|r| r.start <= new.end);
        let first = self.0.get(from).filter(|_| from < to).map_or(new.start, |r| r.start.min(new.start));
        let last = to.checked_sub(1).filter(|_| from < to).and_then(|i| self.0.get(i));
        let end = last.map_or(new.end, |r| r.end.max(new.end));
        self.0.splice(from..to, std::iter::once(first..end));
    }

    pub(super) fn len(&self) -> u64 {
        self.0.iter().map(|r| r.end - r.start).sum()
    }

    /// Whether any of these entries is in the ranges, and whether all are.
    fn meets(&self, entries: &Range<u64>) -> (bool, bool) {
        let i = self.0.partition_point(|r| r.end <= entries.start);
        match self.0.get(i).filter(|r| r.start < entries.end) {
            Some(r) => (true, r.start <= entries.start && entries.end <= r.end),
            None => (false, false),
        }
    }

    /// The number of an entry once those in the ranges are gone.
    fn without(&self, entry: u64) -> u64 {
        let before = self.0.iter().take_while(|r| r.start < entry);
        entry - before.map(|r| r.end.min(entry) - r.start).sum::<u64>()
    }
}

impl std::fmt::Display for Ranges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 10;
        let shown: Vec<String> = self.0.iter().take(SHOWN).map(|r| format!("{}-{}", r.start, r.end - 1)).collect();
        let more =
            if self.0.len() > SHOWN { format!(" and {} more ranges", self.0.len() - SHOWN) } else { String::new() };
        write!(f, "{}{more}", shown.join(", "))
    }
}

/// A branch's baskets that can be read, with their bytes before compression.
type Good = Vec<(Basket, u64)>;

/// Takes the entries out of a tree that are not whole in all of its branches; which ones, and why the first of them
/// is lost. Baskets stay as they are: those that share entries with a lost one are lost as well.
///
/// # Errors
/// When reading was interrupted.
pub(super) fn keep_whole(
    facts: &mut TreeFacts,
    reader: &Reader,
    recoder: &mut Recoder,
    check: &dyn Fn() -> Result<()>,
) -> Result<(Ranges, Option<Error>)> {
    let (mut lost, mut why) = (Ranges::default(), None);
    let mut good: HashMap<usize, Good> = HashMap::new();
    for (i, branch) in facts.branches.iter().enumerate().filter(|(_, b)| b.filled) {
        let mut mine = Good::new();
        for basket in &branch.baskets {
            check()?;
            match unpacked(basket, reader, recoder) {
                Ok(bytes) => mine.push((*basket, bytes)),
                Err(e) => why = why.or_else(|| Some(e.at(basket.span).in_branch(branch.schema.path.clone()))),
            }
        }
        let mut covered: Vec<Range<u64>> = mine.iter().map(|(b, _)| b.first..b.last).collect();
        covered.extend(branch.embedded.iter().map(|e| e.first..e.first + u64::from(e.entries)));
        covered.sort_by_key(|r| r.start);
        let mut at = 0;
        for range in covered {
            // two baskets for the same entries: which of them is right is not known
            lost.add(range.start..at.min(range.end));
            lost.add(at..range.start);
            at = at.max(range.end);
        }
        lost.add(at..branch.entry_number);
        good.insert(i, mine);
    }
    if lost.len() == 0 {
        return Ok((lost, None));
    }
    for branch in facts.branches.iter().filter(|b| b.filled) {
        lost.add(branch.entry_number..facts.entries);
    }
    loop {
        let before = lost.len();
        let own = good.values().flatten().map(|(b, _)| b.first..b.last);
        let embedded = facts.branches.iter().flat_map(|b| &b.embedded);
        for entries in own.chain(embedded.map(|e| e.first..e.first + u64::from(e.entries))) {
            if let (true, false) = lost.meets(&entries) {
                lost.add(entries);
            }
        }
        if lost.len() == before {
            break;
        }
    }
    take_out(facts, good, &lost);
    Ok((lost, why))
}

/// A basket's bytes before compression, label included, once it was inflated and says what the header says of it.
fn unpacked(basket: &Basket, reader: &Reader, recoder: &mut Recoder) -> Result<u64> {
    if basket.span.end() > reader.size() {
        return Err(Error::corrupt("a basket lies beyond the end of the file"));
    }
    let mut record = Vec::new();
    reader.read(basket.span, &mut record)?;
    record.truncate(basket.span.len as usize);
    let (head, payload) = recoder.inflate(&record)?;
    let says = u64::from(head.entries);
    if says != basket.last - basket.first {
        let wanted = basket.last - basket.first;
        return Err(Error::corrupt(format!("a basket holds {says} entries where its tree counts {wanted}")));
    }
    Ok(u64::from(head.key_len) + payload.len() as u64)
}

/// Numbers anew what is left.
fn take_out(facts: &mut TreeFacts, mut good: HashMap<usize, Good>, lost: &Ranges) {
    let entries = facts.entries - lost.len();
    for (i, branch) in facts.branches.iter_mut().enumerate() {
        branch.entries = if branch.entries == facts.entries { entries } else { lost.without(branch.entries) };
        branch.entry_number = lost.without(branch.entry_number);
        let Some(mine) = good.remove(&i) else { continue };
        let kept: Good = mine.into_iter().filter(|(b, _)| !lost.meets(&(b.first..b.last)).0).collect();
        branch.total_bytes = kept.iter().map(|(_, bytes)| *bytes as i64).sum();
        branch.zip_bytes = kept.iter().map(|(b, _)| b.span.len as i64).sum();
        branch.baskets = kept
            .into_iter()
            .map(|(b, _)| Basket { first: lost.without(b.first), last: lost.without(b.last), ..b })
            .collect();
        branch.embedded.retain(|e| !lost.meets(&(e.first..e.first + u64::from(e.entries))).0);
        branch.embedded.iter_mut().for_each(|e| e.first = lost.without(e.first));
    }
    facts.clusters.iter_mut().for_each(|c| *c = lost.without(*c));
    facts.clusters.dedup();
    (facts.entries, facts.index, facts.is_cut) = (entries, None, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_entries_move_up() {
        let mut r = Ranges::default();
        for (from, to) in [(10, 20), (30, 40), (50, 60), (5, 5), (40, 45), (18, 32)] {
            r.add(from..to);
        }
        assert_eq!(r, Ranges(vec![10..45, 50..60]));
        assert_eq!((r.len(), r.to_string()), (45, "10-44, 50-59".to_owned()));
        assert_eq!([0, 10, 12, 45, 50, 55, 60, 70].map(|e| r.without(e)), [0, 10, 10, 10, 15, 15, 15, 25]);
        assert_eq!(r.meets(&(12..20)), (true, true));
        assert_eq!(r.meets(&(40..50)), (true, false));
        assert_eq!(r.meets(&(45..50)), (false, false));
        r.add(45..50);
        assert_eq!(r.to_string(), "10-59");
    }
}
