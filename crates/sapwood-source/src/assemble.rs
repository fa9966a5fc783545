//! Assembles the wanted spans from pieces of a file that arrive in any order and of any length.

use bytes::Bytes;
use sapwood_span::{Span, coalesce};

/// Bytes at this offset of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub offset: u64,
    pub bytes: Bytes,
}

/// One wanted span and the part of it that has arrived.
struct Slot {
    index: usize,
    span: Span,
    /// Empty until the first incomplete piece arrives.
    buffer: Vec<u8>,
    /// Ascending disjoint parts of the span that are filled.
    filled: Vec<Span>,
    done: bool,
}

/// The spans of one fetch.
pub struct Assembler {
    /// Ascending by start.
    slots: Vec<Slot>,
    /// For each slot the farthest end among it and those before it: finds overlaps quickly.
    reach: Vec<u64>,
}

impl Assembler {
    /// Wants these spans; empty ones are ignored. They must have been checked against the size.
    pub fn new(spans: &[Span]) -> Self {
        let mut order: Vec<usize> = (0..spans.len()).filter(|&i| !spans[i].is_empty()).collect();
        order.sort_by_key(|&i| spans[i]);
        let slot = |index| Slot { index, span: spans[index], buffer: Vec::new(), filled: Vec::new(), done: false };
        let slots: Vec<Slot> = order.into_iter().map(slot).collect();
        let mut far = 0;
        let reach = slots
            .iter()
            .map(|s| {
                far = far.max(s.span.end());
                far
            })
            .collect();
        Self { slots, reach }
    }

    /// Takes bytes of the file; spans completed by them go to `done` with their index.
    pub fn push(&mut self, offset: u64, bytes: &Bytes, done: &mut Vec<(usize, Bytes)>) {
        let here = Span::new(offset, bytes.len() as u64);
        let from = self.reach.partition_point(|&end| end <= here.start);
        let to = self.slots.partition_point(|s| s.span.start < here.end());
        for slot in self.slots.get_mut(from..to).unwrap_or_default() {
            if !slot.done
                && slot.span.overlaps(here)
                && let Some(complete) = slot.take(here, bytes)
            {
                done.push((slot.index, complete));
            }
        }
    }

    /// What is still missing inside these bounds: ascending, disjoint, not touching.
    pub fn missing(&self, bounds: &[Span]) -> Vec<Span> {
        let mut gaps = Vec::new();
        for slot in self.slots.iter().filter(|s| !s.done) {
            slot.gaps(&mut gaps);
        }
        let gaps: Vec<Span> = coalesce(&gaps, 0, u64::MAX).into_iter().map(|c| c.span).collect();
        // Both lists ascend: walk them together.
        let mut out = Vec::new();
        let mut gaps = gaps.iter().peekable();
        for bound in bounds {
            while let Some(gap) = gaps.peek() {
                let (start, end) = (gap.start.max(bound.start), gap.end().min(bound.end()));
                if start < end {
                    out.push(Span::new(start, end - start));
                }
                if gap.end() > bound.end() {
                    break;
                }
                gaps.next();
            }
        }
        out
    }
}

impl Slot {
    /// Takes its share of `bytes`; returns the span's bytes once all have arrived.
    fn take(&mut self, here: Span, bytes: &Bytes) -> Option<Bytes> {
        let start = self.span.start.max(here.start);
        let end = self.span.end().min(here.end());
        let (from, to) = ((start - here.start) as usize, (end - here.start) as usize);
        if self.filled.is_empty() && end - start == self.span.len {
            self.done = true;
            let share = bytes.slice(from..to);
            // A small span must not keep a large network buffer alive.
            return Some(if share.len() * 4 < bytes.len() { Bytes::copy_from_slice(&share) } else { share });
        }
        if self.buffer.is_empty() {
            self.buffer = vec![0; self.span.len as usize];
        }
        let at = (start - self.span.start) as usize;
        self.buffer[at..at + (to - from)].copy_from_slice(&bytes[from..to]);
        self.fill(Span::new(start, end - start));
        if !matches!(self.filled.as_slice(), [all] if *all == self.span) {
            return None;
        }
        self.done = true;
        self.filled = Vec::new();
        Some(Bytes::from(std::mem::take(&mut self.buffer)))
    }

    fn fill(&mut self, new: Span) {
        if let Some(last) = self.filled.last_mut()
            && last.end() == new.start
        {
            last.len += new.len;
            return;
        }
        self.filled.push(new);
        self.filled = coalesce(&self.filled, 0, u64::MAX).into_iter().map(|c| c.span).collect();
    }

    fn gaps(&self, out: &mut Vec<Span>) {
        let mut at = self.span.start;
        for filled in &self.filled {
            if filled.start > at {
                out.push(Span::new(at, filled.start - at));
            }
            at = filled.end();
        }
        if at < self.span.end() {
            out.push(Span::new(at, self.span.end() - at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn missing_shrinks_as_pieces_come() {
        let mut a = Assembler::new(&[Span::new(10, 10), Span::new(30, 10)]);
        let all = [Span::new(0, 100)];
        let mut done = Vec::new();
        a.push(12, &Bytes::from_static(b"xxx"), &mut done);
        assert_eq!(a.missing(&all), [Span::new(10, 2), Span::new(15, 5), Span::new(30, 10)]);
        assert_eq!(a.missing(&[Span::new(0, 11), Span::new(35, 1)]), [Span::new(10, 1), Span::new(35, 1)]);
        a.push(30, &Bytes::from_static(b"0123456789"), &mut done);
        assert_eq!(done, [(1, Bytes::from_static(b"0123456789"))]);
    }

    proptest! {
        #[test]
        fn every_span_once_and_right(
            spans in prop::collection::vec((0u64..200, 0u64..60), 0..20),
            pieces in prop::collection::vec((0usize..250, 1usize..80), 0..60),
        ) {
            let file: Vec<u8> = (0..=255u8).chain(0..=9).collect();
            let spans: Vec<Span> = spans.into_iter().map(|(s, l)| Span::new(s, l)).collect();
            let mut a = Assembler::new(&spans);
            let mut done = Vec::new();
            let mut seen = vec![false; file.len()];
            let whole = [Span::new(0, 266)];
            for (at, len) in pieces {
                let end = (at + len).min(file.len());
                seen[at..end].fill(true);
                a.push(at as u64, &Bytes::copy_from_slice(&file[at..end]), &mut done);
                for gap in a.missing(&whole) {
                    prop_assert!(seen[gap.start as usize..gap.end() as usize].iter().all(|s| !s));
                }
            }
            for gap in a.missing(&whole) {
                a.push(gap.start, &Bytes::copy_from_slice(&file[gap.start as usize..gap.end() as usize]), &mut done);
            }
            prop_assert!(a.missing(&whole).is_empty());
            done.sort_by_key(|d| d.0);
            let want: Vec<(usize, Bytes)> = spans.iter().enumerate().filter(|(_, s)| !s.is_empty())
                .map(|(i, s)| (i, Bytes::copy_from_slice(&file[s.start as usize..s.end() as usize]))).collect();
            prop_assert_eq!(done, want);
        }
    }
}
