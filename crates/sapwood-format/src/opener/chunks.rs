//! The pieces of a file read so far.

use bytes::{Bytes, BytesMut};
use sapwood_span::Span;
use std::collections::BTreeMap;

/// Pieces of a file, by position.
#[derive(Clone, Debug, Default)]
pub struct Chunks(BTreeMap<u64, Bytes>);

impl Chunks {
    /// Keeps a piece.
    pub fn push(&mut self, start: u64, bytes: Bytes) {
        match self.0.get(&start) {
            Some(b) if b.len() >= bytes.len() => {}
            _ => drop(self.0.insert(start, bytes)),
        }
    }

    /// Where the last piece begins.
    pub(super) fn last_start(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(s, _)| *s)
    }

    /// Drops pieces of more than this many bytes.
    pub(super) fn forget_larger(&mut self, bytes: usize) {
        self.0.retain(|_, b| b.len() <= bytes);
    }

    /// The parts of a span that have not been read.
    pub fn missing(&self, span: Span) -> Vec<Span> {
        let mut out = Vec::new();
        let mut at = span.start;
        while at < span.end() {
            let here = self.0.range(..=at).map(|(s, b)| s + b.len() as u64).filter(|&end| end > at).max();
            if let Some(end) = here {
                at = end;
                continue;
            }
            let next = self.0.range(at + 1..).find(|(_, b)| !b.is_empty()).map_or(u64::MAX, |(s, _)| *s);
            let end = next.min(span.end());
            out.push(Span::new(at, end - at));
            at = end;
        }
        out
    }

    /// The bytes of a span, if all have been read.
    pub fn get(&self, span: Span) -> Option<Bytes> {
        let mut out: Option<BytesMut> = None;
        let mut at = span.start;
        while at < span.end() {
            let (start, chunk) = self.0.range(..=at).rev().find(|(s, b)| *s + b.len() as u64 > at)?;
            let from = (at - start) as usize;
            let to = chunk.len().min(from.saturating_add((span.end() - at) as usize));
            if out.is_none() && (to - from) as u64 == span.len {
                return Some(chunk.slice(from..to));
            }
            out.get_or_insert_with(BytesMut::new).extend_from_slice(&chunk[from..to]);
            at += (to - from) as u64;
        }
        Some(out.unwrap_or_default().freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_only_for_what_is_missing() {
        let mut c = Chunks::default();
        c.push(10, Bytes::from_static(&[1; 10]));
        c.push(40, Bytes::from_static(&[2; 5]));
        assert_eq!(c.missing(Span::new(0, 50)), [Span::new(0, 10), Span::new(20, 20), Span::new(45, 5)]);
        assert_eq!(c.missing(Span::new(12, 8)), []);
        c.push(20, Bytes::from_static(&[3; 20]));
        assert_eq!(c.get(Span::new(12, 30)).map(|b| b.len()), Some(30));
        assert_eq!(c.get(Span::new(0, 11)), None);
    }
}
