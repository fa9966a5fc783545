//! The held ranges of one version of a file, in memory: pure bookkeeping.

use crate::segment::Segment;
use crate::segment_index::Slot;
use bytes::Bytes;
use sapwood_span::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a piece on disk that holds a range. Several parts of one piece can be visible when pieces overlap.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Offset of the piece in its segment.
    position: u64,
    checksum: u64,
    /// Bytes of the piece before this part.
    skip: u32,
    /// Bytes of this part.
    len: u32,
    /// Bytes of the piece.
    whole: u32,
    segment: u32,
}

/// Location of the bytes of a range.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// In memory: not written yet.
    Memory(Bytes),
    /// On disk: `len` bytes, `skip` bytes into a piece.
    Disk { segment: Arc<Segment>, slot: Slot, skip: u32, len: u32 },
}

/// What is held of one version of a file.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// By offset in the remote file; they do not overlap.
    disk: BTreeMap<u64, Part>,
    /// Inserted and not yet on disk; they do not overlap each other, but may overlap those on disk.
    memory: BTreeMap<u64, Bytes>,
    segments: Vec<Arc<Segment>>,
    disk_bytes: u64,
}

impl Pieces {
    /// The parts of the span that are held, in order, neighbours joined.
    pub(crate) fn held(&self, span: Span) -> Vec<Span> {
        let mut parts: Vec<(u64, u64)> = overlapping(&self.disk, span, |p| u64::from(p.len)).collect();
        parts.extend(overlapping(&self.memory, span, |b| b.len() as u64));
        parts.sort_unstable();
        let mut out: Vec<Span> = Vec::new();
        for (start, end) in parts {
            let (start, end) = (start.max(span.start), end.min(span.end()));
            match out.last_mut() {
                Some(last) if start <= last.end() => last.len = last.len.max(end - last.start),
                _ => out.push(Span::new(start, end - start)),
            }
        }
        out
    }

    /// The parts of the span that are not held.
    pub(crate) fn missing(&self, span: Span) -> Vec<Span> {
        between(span, self.held(span))
    }

    /// The parts of the span that are not on disk.
    pub(crate) fn not_on_disk(&self, span: Span) -> Vec<Span> {
        let held =
            overlapping(&self.disk, span, |p| u64::from(p.len)).map(|(start, end)| Span::new(start, end - start));
        between(span, held.collect())
    }

    /// The locations of the bytes of the span, in order; none unless all are held.
    pub(crate) fn find(&self, span: Span) -> Option<Vec<Found>> {
        let mut out = Vec::new();
        let mut at = span.start;
        while at < span.end() {
            let left = span.end() - at;
            if let Some((&start, bytes)) = self.memory.range(..=at).next_back()
                && at - start < bytes.len() as u64
            {
                let from = (at - start) as usize;
                let len = left.min((bytes.len() - from) as u64) as usize;
                out.push(Found::Memory(bytes.slice(from..from + len)));
                at += len as u64;
                continue;
            }
            let (&start, part) = self.disk.range(..=at).next_back()?;
            let from = at - start;
            let room = u64::from(part.len).checked_sub(from).filter(|&r| r > 0)?;
            // bytes in memory need no check
            let next = self.memory.range(at..).next().map_or(u64::MAX, |(&next, _)| next - at);
            let len = left.min(room).min(next);
            let slot = Slot {
                start: start - u64::from(part.skip),
                position: part.position,
                len: part.whole,
                checksum: part.checksum,
            };
            let segment = self.segments.get(part.segment as usize)?.clone();
            out.push(Found::Disk { segment, slot, skip: part.skip + from as u32, len: len as u32 });
            at += len;
        }
        Some(out)
    }

    /// Adds bytes that are not held yet and will be written.
    pub(crate) fn add_memory(&mut self, start: u64, bytes: Bytes) {
        self.memory.insert(start, bytes);
    }

    /// Removes bytes that were to be written.
    pub(crate) fn remove_memory(&mut self, start: u64) {
        self.memory.remove(&start);
    }

    /// The number of a segment.
    pub(crate) fn add_segment(&mut self, segment: &Arc<Segment>) -> u32 {
        if let Some(known) = self.segments.iter().rposition(|s| Arc::ptr_eq(s, segment)) {
            return known as u32;
        }
        self.segments.push(segment.clone());
        (self.segments.len() - 1) as u32
    }

    /// Adds the new parts of a piece on disk.
    pub(crate) fn add_disk(&mut self, segment: u32, slot: &Slot) {
        let before = self.disk.range(..slot.end()).next_back();
        if before.is_none_or(|(&start, part)| start + u64::from(part.len) <= slot.start) {
            let (position, checksum) = (slot.position, slot.checksum);
            let part = Part { position, checksum, skip: 0, len: slot.len, whole: slot.len, segment };
            self.disk.insert(slot.start, part);
            self.disk_bytes += u64::from(slot.len);
            return;
        }
        for gap in self.not_on_disk(Span::new(slot.start, u64::from(slot.len))) {
            let part = Part {
                position: slot.position,
                checksum: slot.checksum,
                skip: (gap.start - slot.start) as u32,
                len: gap.len as u32,
                whole: slot.len,
                segment,
            };
            self.disk.insert(gap.start, part);
            self.disk_bytes += gap.len;
        }
    }

    /// Removes a piece on disk, or all of its segment.
    pub(crate) fn remove_disk(&mut self, segment: &Arc<Segment>, position: Option<u64>) {
        let Some(number) = self.segments.iter().position(|s| Arc::ptr_eq(s, segment)) else { return };
        self.disk.retain(|_, p| p.segment as usize != number || position.is_some_and(|at| p.position != at));
        self.disk_bytes = self.disk.values().map(|p| u64::from(p.len)).sum();
    }

    /// Removes everything that is on disk.
    pub(crate) fn clear_disk(&mut self) {
        self.disk.clear();
        self.segments.clear();
        self.disk_bytes = 0;
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        if self.memory.is_empty() {
            return self.disk_bytes;
        }
        self.held(Span::new(0, u64::MAX)).iter().map(|s| s.len).sum()
    }

    /// Pieces on disk.
    pub(crate) fn count(&self) -> usize {
        self.disk.len()
    }
}

/// Start and end of the entries that overlap a span.
fn overlapping<T>(map: &BTreeMap<u64, T>, span: Span, len: impl Fn(&T) -> u64) -> impl Iterator<Item = (u64, u64)> {
    let first = map.range(..=span.start).next_back().map_or(span.start, |(&start, _)| start);
    // a span that is longer than the largest offset ends there
    let range = first..span.end().max(first);
    map.range(range)
        .map(move |(&start, value)| (start, start + len(value)))
        .filter(move |&(start, end)| start < span.end() && end > span.start)
}

/// The gaps between ordered spans inside a span.
fn between(span: Span, held: Vec<Span>) -> Vec<Span> {
    let mut out = Vec::new();
    let mut at = span.start;
    for part in held {
        if part.start > at {
            out.push(Span::new(at, part.start - at));
        }
        at = at.max(part.end());
    }
    if at < span.end() {
        out.push(Span::new(at, span.end() - at));
    }
    out
}
