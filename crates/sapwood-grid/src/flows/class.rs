//! Classes of flows that always have the same rate, and when the flows of each end.

use super::Tag;
use crate::clock::{SECOND, Time};
use sapwood_pages::prefetch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows with the same path and largest rate: one line of the processor's cache, as each flow that begins or ends changes it.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(super) struct Class {
    pub(super) cap: f64,
    pub(super) rate: f64,
    /// Bytes that a flow which was there from the beginning would have received.
    pub(super) served: f64,
    pub(super) since: Time,
    /// When the next of its flows ends, as was noted with this stamp.
    pub(super) noted: Time,
    pub(super) stamp: u32,
    pub(super) path: u32,
    pub(super) flows: u32,
    pub(super) line: Line,
}

impl Class {
    /// Brings what its flows have received up to date.
    pub(super) fn touch(&mut self, now: Time) {
        self.served += self.rate * ((now - self.since) as f64 / SECOND);
        self.since = now;
    }
}

/// Classes with the same leading bits of their largest rate are one: rates are rounded up by 1/256 at most.
const RATE_BITS: u64 = (1 << 44) - 1;

/// The bits that are left of a largest rate, beside the path.
pub(super) fn class_key(path: u32, cap: f64) -> u64 {
    u64::from(path) << 20 | cap.to_bits() >> 44
}

/// A flow that begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewFlow {
    pub(super) path: u32,
    pub(super) cap: f64,
    pub(super) bytes: u64,
    pub(super) tag: Tag,
}

impl NewFlow {
    /// Some bytes at this rate at most.
    pub(crate) fn new(path: u32, cap: f64, bytes: u64, tag: Tag) -> Self {
        let bits = cap.clamp(1.0, 1e15).to_bits();
        let bits = if bits & RATE_BITS == 0 { bits } else { (bits | RATE_BITS) + 1 };
        Self { path, cap: f64::from_bits(bits), bytes, tag }
    }

    pub(super) fn key(&self) -> u64 {
        class_key(self.path, self.cap)
    }
}

/// A flow: half a line of the processor's cache. Those that end first are the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(align(32))]
pub(super) struct Flow {
    /// The value of `served` at which it ends, as bits.
    pub(super) end: u64,
    /// Its number, which no other has, and in the last two bits the kind of what it is for.
    number: u64,
    pub(super) bytes: u64,
    /// What it is for, of that kind.
    of: u32,
    /// The next in the list.
    next: u32,
}

impl Flow {
    pub(super) fn new(end: u64, number: u64, bytes: u64, tag: Tag) -> Self {
        let (kind, of) = match tag {
            Tag::Job(of) => (0, of),
            Tag::Transfer(of) => (1, of),
            Tag::Fill(of) => (2, of),
            Tag::Rest(of) => (3, of),
        };
        Self { end, number: number << 2 | kind, bytes, of, next: NONE }
    }

    pub(super) fn tag(&self) -> Tag {
        match self.number & 3 {
            0 => Tag::Job(self.of),
            1 => Tag::Transfer(self.of),
            2 => Tag::Fill(self.of),
            _ => Tag::Rest(self.of),
        }
    }
}

/// The flows of a class in the order of their ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    first: u32,
    last: u32,
    /// Those that end before one that began before them.
    heap: u32,
}

const NONE: u32 = u32::MAX;

impl Default for Line {
    fn default() -> Self {
        Self { first: NONE, last: NONE, heap: NONE }
    }
}

/// The flows of all lines. Most flows of a class end in the order in which they began: these are a list. Few are sorted, in a heap.
#[derive(Debug, Default)]
pub(super) struct Lines {
    flows: Vec<Flow>,
    free: Vec<u32>,
    heaps: Vec<BinaryHeap<Reverse<Flow>>>,
    free_heaps: Vec<u32>,
}

impl Lines {
    pub(super) fn push(&mut self, line: &mut Line, flow: Flow) {
        if let Some(last) = self.flows.get(line.last as usize)
            && last.end > flow.end
        {
            if line.heap == NONE {
                line.heap = self.free_heaps.pop().unwrap_or_else(|| {
                    self.heaps.push(BinaryHeap::new());
                    self.heaps.len() as u32 - 1
                });
            }
            self.heaps[line.heap as usize].push(Reverse(flow));
            return;
        }
        let place = self.free.pop().unwrap_or(self.flows.len() as u32);
        match self.flows.get_mut(place as usize) {
            Some(slot) => *slot = flow,
            None => self.flows.push(flow),
        }
        match self.flows.get_mut(line.last as usize) {
            Some(last) => last.next = place,
            None => line.first = place,
        }
        line.last = place;
    }

    /// The flow that ends first will be needed soon.
    pub(super) fn prefetch(&self, line: &Line) {
        if let Some(flow) = self.flows.get(line.first as usize) {
            prefetch(flow);
        }
    }

    /// A flow will be added soon.
    pub(super) fn prefetch_last(&self, line: &Line) {
        if let Some(flow) = self.flows.get(line.last as usize) {
            prefetch(flow);
        }
    }

    /// The flow that ends first was fetched; the next will be needed soon.
    pub(super) fn prefetch_second(&self, line: &Line) {
        let first = self.flows.get(line.first as usize);
        if let Some(second) = first.and_then(|first| self.flows.get(first.next as usize)) {
            prefetch(second);
        }
    }

    /// The flows of a line.
    pub(super) fn all(&self, line: &Line) -> impl Iterator<Item = &Flow> {
        let first = self.flows.get(line.first as usize);
        let listed = std::iter::successors(first, |flow| self.flows.get(flow.next as usize));
        let sorted = self.heaps.get(line.heap as usize).into_iter().flatten().map(|flow| &flow.0);
        listed.chain(sorted)
    }

    /// The flow that ends first.
    pub(super) fn peek(&self, line: &Line) -> Option<&Flow> {
        let listed = self.flows.get(line.first as usize);
        if line.heap == NONE {
            return listed;
        }
        let sorted = self.heaps.get(line.heap as usize).and_then(BinaryHeap::peek).map(|first| &first.0);
        listed.into_iter().chain(sorted).min()
    }

    /// Takes out the flow that ends first.
    pub(super) fn pop(&mut self, line: &mut Line) {
        let listed = self.flows.get(line.first as usize).copied();
        if let Some(heap) = self.heaps.get_mut(line.heap as usize)
            && let Some(Reverse(sorted)) = heap.peek()
            && listed.is_none_or(|listed| *sorted < listed)
        {
            heap.pop();
            if heap.is_empty() {
                self.free_heaps.push(line.heap);
                line.heap = NONE;
            }
        } else if let Some(Flow { next, .. }) = listed {
            self.free.push(line.first);
            line.first = next;
            if next == NONE {
                line.last = NONE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn flows_of_each_class_end_in_their_order(steps in proptest::collection::vec((0usize..3, 0u64..50, 0u8..3), 1..300)) {
            let mut lines = Lines::default();
            let mut of = [Line::default(); 3];
            let mut plain: [BinaryHeap<Reverse<Flow>>; 3] = Default::default();
            for (i, &(class, end, what)) in steps.iter().enumerate() {
                if what > 0 {
                    let kind = [Tag::Job, Tag::Transfer, Tag::Fill, Tag::Rest][i % 4];
                    let flow = Flow::new(end, i as u64, 1, kind(i as u32));
                    proptest::prop_assert_eq!(flow.tag(), kind(i as u32));
                    lines.push(&mut of[class], flow);
                    plain[class].push(Reverse(flow));
                } else {
                    lines.pop(&mut of[class]);
                    plain[class].pop();
                }
                for (line, plain) in of.iter().zip(&plain) {
                    let [first, plain] = [lines.peek(line), plain.peek().map(|first| &first.0)].map(|f| f.map(|f| (f.end, f.tag())));
                    proptest::prop_assert_eq!(first, plain);
                }
            }
            // places of flows that have ended are used again
            let left: usize = plain.iter().map(BinaryHeap::len).sum();
            let sorted: usize = lines.heaps.iter().map(BinaryHeap::len).sum();
            proptest::prop_assert_eq!(lines.flows.len() - lines.free.len() + sorted, left);
        }
    }
}
