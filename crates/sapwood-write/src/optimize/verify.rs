//! Whether every value is the same: the entries of both files, side by side, byte by byte.

use super::cut::{Rule, Slices};
use crate::merge::facts::BranchFacts;
use crate::merge::input::Reader;
use crate::merge::recode::Recoder;
use bytes::Bytes;
use sapwood_format::tree::split_basket;
use sapwood_span::{Error, Result, Span};
use std::collections::VecDeque;

/// Compressed bytes of a branch that are read at once.
const AHEAD: u64 = 2 << 20;

/// A branch of one of the files, basket after basket.
struct Walk<'a> {
    reader: &'a Reader,
    spans: VecDeque<Span>,
    records: VecDeque<Bytes>,
    /// Baskets that lay in the header of the input, as records.
    embedded: VecDeque<Bytes>,
    /// The present basket: what it inflates to, and its next entry.
    payload: Vec<u8>,
    head: sapwood_format::tree::BasketHead,
    at: usize,
}

impl<'a> Walk<'a> {
    fn new(reader: &'a Reader, branch: &BranchFacts, recoder: &mut Recoder) -> Result<Self> {
        let none = sapwood_codec::Compression::NONE;
        let embedded: Result<VecDeque<Bytes>> =
            branch.embedded.iter().map(|e| Ok(Bytes::from(e.record(none, recoder.encoder())?.0))).collect();
        Ok(Self {
            reader,
            spans: branch.baskets.iter().map(|b| b.span).collect(),
            records: VecDeque::new(),
            embedded: embedded?,
            payload: Vec::new(),
            head: sapwood_format::tree::BasketHead::default(),
            at: 0,
        })
    }

    /// Goes on to the next basket; false at the end.
    fn next(&mut self, recoder: &mut Recoder) -> Result<bool> {
        if self.records.is_empty() {
            let mut wanted = Vec::new();
            let mut bytes = 0;
            while let Some(s) = self.spans.front().copied() {
                if bytes > 0 && bytes + s.len > AHEAD {
                    break;
                }
                bytes += s.len;
                wanted.push(s);
                self.spans.pop_front();
            }
            self.records.extend(self.reader.read_all(&wanted)?);
        }
        let Some(record) = self.records.pop_front().or_else(|| self.embedded.pop_front()) else { return Ok(false) };
        (self.head, self.payload) = recoder.inflate(&record)?;
        self.at = 0;
        Ok(true)
    }
}

/// Compares a branch of the output with that of the input.
///
/// # Errors
/// `Corrupt`, with the first entry that differs.
pub(crate) fn same(
    rule: &Rule,
    (before, old): (&Reader, &BranchFacts),
    (after, new): (&Reader, &BranchFacts),
    recoder: &mut Recoder,
) -> Result<()> {
    let (mut a, mut b) = (Walk::new(before, old, recoder)?, Walk::new(after, new, recoder)?);
    let differs = |entry: u64| {
        Error::corrupt(format!("entry {entry} came out differently"))
            .with_remedy("this is an error of sapwood: please report it with the file that shows it")
    };
    if let Rule::Whole(_) = rule {
        let mut entry = 0;
        while a.next(recoder)? {
            // a label of another length moves the offsets; the values stay
            let same = b.next(recoder)? && {
                let (x, y) = (split_basket(&a.head, &a.payload)?, split_basket(&b.head, &b.payload)?);
                x.data == y.data && x.entries == y.entries && x.offsets.is_some() == y.offsets.is_some()
            };
            if !same {
                return Err(differs(entry));
            }
            entry += u64::from(a.head.entries);
        }
        return if b.next(recoder)? { Err(differs(entry)) } else { Ok(()) };
    }
    let mut entry = 0;
    let (mut more_a, mut more_b) = (a.next(recoder)?, b.next(recoder)?);
    while more_a && more_b {
        let x = Slices::new(rule, &split_basket(&a.head, &a.payload)?, &a.payload)?;
        let y = Slices::new(rule, &split_basket(&b.head, &b.payload)?, &b.payload)?;
        let n = (x.len() - a.at).min(y.len() - b.at);
        let (i, j) = (a.at, b.at);
        let lengths = (0..n).all(|k| x.start(i + k) - x.start(i) == y.start(j + k) - y.start(j));
        if !lengths || x.bytes(i..i + n) != y.bytes(j..j + n) {
            let k = (0..n).find(|&k| x.bytes(i + k..i + k + 1) != y.bytes(j + k..j + k + 1)).unwrap_or(0);
            return Err(differs(entry + k as u64));
        }
        let (end_a, end_b) = (i + n == x.len(), j + n == y.len());
        entry += n as u64;
        (a.at, b.at) = (i + n, j + n);
        if end_a {
            more_a = a.next(recoder)?;
        }
        if end_b {
            more_b = b.next(recoder)?;
        }
    }
    if more_a || more_b { Err(differs(entry)) } else { Ok(()) }
}
