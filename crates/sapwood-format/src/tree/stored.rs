//! Where a branch's baskets are stored, according to the tree's header.

use super::Branch;
use sapwood_span::Span;
use std::ops::Range;

/// A basket of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBasket {
    /// Its entries.
    pub entries: Range<u64>,
    /// Its number within the branch.
    pub number: usize,
    /// Where it is stored.
    pub place: BasketPlace,
}

/// Where a basket is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BasketPlace {
    /// In this record of the branch's file.
    File(Span),
    /// In the tree's header: at this position among the branch's embedded baskets.
    Header(usize),
}

/// The entry after the last one in the branch's baskets.
pub fn reach(b: &Branch) -> u64 {
    stored_baskets(b).last().map_or(0, |last| last.entries.end)
}

/// The baskets of a branch by entry, empty ones left out.
pub fn stored_baskets(b: &Branch) -> Vec<StoredBasket> {
    let mut out = Vec::with_capacity(b.write_basket + b.embedded.len());
    for i in 0..b.write_basket {
        let first = b.basket_entry[i];
        let next = b.basket_entry.get(i + 1).copied();
        // the table is longer than the baskets, padded with zeros
        let last = match next {
            Some(n) if n > first || i + 1 < b.write_basket => n,
            _ => b.entry_number.max(b.entries),
        };
        if let Some(at) = b.embedded.iter().position(|(k, _)| *k == i) {
            let n = u64::from(b.embedded[at].1.entries);
            push(&mut out, first..first.saturating_add(n), i, BasketPlace::Header(at));
        } else if b.basket_seek[i] != 0 {
            let span = Span::new(b.basket_seek[i], u64::from(b.basket_bytes[i]));
            push(&mut out, first..last, i, BasketPlace::File(span));
        }
    }
    for (at, (i, basket)) in b.embedded.iter().enumerate() {
        if *i >= b.write_basket {
            let first = match b.basket_entry.get(*i) {
                Some(&e) if e > 0 || *i == 0 => e,
                _ => b.entry_number.max(b.entries).saturating_sub(u64::from(basket.entries)),
            };
            push(&mut out, first..first.saturating_add(u64::from(basket.entries)), *i, BasketPlace::Header(at));
        }
    }
    out.sort_by_key(|b| b.entries.start);
    out
}

fn push(out: &mut Vec<StoredBasket>, entries: Range<u64>, number: usize, place: BasketPlace) {
    if entries.start < entries.end {
        out.push(StoredBasket { entries, number, place });
    }
}
