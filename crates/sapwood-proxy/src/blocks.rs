//! The bytes of one version of a file: which are in memory, in the store, or in flight. All clients share them,
//! whatever their credentials, so that what several want at once is fetched once.

use crate::failure::Failure;
use crate::memory_limit::{Memory, Pieces};
use crate::pending_fetch::PendingFetch;
use bytes::Bytes;
use sapwood_engine::local_cache::{CachedFile, Store};
use sapwood_prefetch::divided;
use sapwood_span::Span;
use sapwood_span::sync::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a full store is not waited for.
const FULL: Duration = Duration::from_secs(10);

/// The bytes of one version.
pub(crate) struct Blocks {
    size: u64,
    /// The store's data of it; none where there is no store, or it cannot keep this version.
    stored: Option<(Store, CachedFile)>,
    memory: Arc<Memory>,
    /// By their first byte; they do not overlap.
    pieces: Mutex<BTreeMap<u64, Piece>>,
    changes: watch::Sender<()>,
    /// When the store last left something out.
    full: Mutex<Option<Instant>>,
}

struct Piece {
    len: u64,
    state: PieceState,
}

enum PieceState {
    InFlight(Arc<PendingFetch>),
    InMemory { bytes: Bytes, stamp: u64 },
}

/// Where the bytes of some spans are.
#[derive(Default)]
pub(crate) struct Lookup {
    /// In memory.
    pub here: Vec<(u64, Bytes)>,
    /// In the store.
    pub stored: Vec<Span>,
    /// In flight, including those of `begun`.
    pub coming: Vec<Arc<PendingFetch>>,
    /// Nowhere: these fetches are registered as in flight, and the caller must run them.
    pub begun: Vec<Arc<PendingFetch>>,
}

impl Pieces for Blocks {
    fn forget(&self, span: Span, stamp: u64) {
        let mut pieces = lock(&self.pieces);
        let is_it = |piece: &Piece| matches!(&piece.state, PieceState::InMemory { stamp: of, .. } if *of == stamp);
        if pieces.get(&span.start).is_some_and(is_it) {
            pieces.remove(&span.start);
        }
    }
}

impl Blocks {
    pub(crate) fn new(size: u64, stored: Option<(Store, CachedFile)>, memory: Arc<Memory>) -> Arc<Self> {
        let (changes, _) = watch::channel(());
        Arc::new(Self { size, stored, memory, pieces: Mutex::default(), changes, full: Mutex::default() })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Signals that something has arrived, or will not arrive.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Looks up the bytes of spans, which do not overlap; what is nowhere is registered as in flight for this open
    /// file. `use_store`: whether the store is searched.
    pub(crate) fn look_up(&self, spans: &[Span], of: u64, use_store: bool) -> Lookup {
        let mut lookup = Lookup::default();
        let mut absent = Vec::new();
        let mut pieces = lock(&self.pieces);
        for &span in spans {
            let mut at = span.start;
            let before = pieces.range(..span.start).next_back().map_or(span.start, |(start, _)| *start);
            for (&start, piece) in pieces.range(before..span.end()) {
                let end = start + piece.len;
                if end <= at {
                    continue;
                }
                if start > at {
                    self.outside(Span::new(at, start - at), use_store, &mut lookup, &mut absent);
                }
                let from = start.max(at);
                let to = end.min(span.end());
                match &piece.state {
                    PieceState::InMemory { bytes, .. } => {
                        lookup.here.push((from, bytes.slice((from - start) as usize..(to - start) as usize)));
                    }
                    PieceState::InFlight(fetch) => {
                        if !lookup.coming.iter().any(|known| Arc::ptr_eq(known, fetch)) {
                            lookup.coming.push(Arc::clone(fetch));
                        }
                    }
                }
                at = to;
            }
            if at < span.end() {
                self.outside(Span::new(at, span.end() - at), use_store, &mut lookup, &mut absent);
            }
        }
        for spans in divided(&absent) {
            let fetch = Arc::new(PendingFetch::new(spans, of));
            for span in &fetch.spans {
                let coming = Piece { len: span.len, state: PieceState::InFlight(Arc::clone(&fetch)) };
                pieces.insert(span.start, coming);
            }
            lookup.coming.push(Arc::clone(&fetch));
            lookup.begun.push(fetch);
        }
        lookup
    }

    /// How many bytes of a span are in memory, in the store, or in flight.
    pub(crate) fn held(&self, span: Span) -> u64 {
        let mut lookup = Lookup::default();
        let (mut absent, mut known, mut at) = (Vec::new(), 0, span.start);
        let pieces = lock(&self.pieces);
        let before = pieces.range(..span.start).next_back().map_or(span.start, |(start, _)| *start);
        for (&start, piece) in pieces.range(before..span.end()) {
            let end = (start + piece.len).min(span.end());
            if end > at {
                if start > at {
                    self.outside(Span::new(at, start - at), true, &mut lookup, &mut absent);
                }
                known += end - start.max(at);
                at = end;
            }
        }
        if at < span.end() {
            self.outside(Span::new(at, span.end() - at), true, &mut lookup, &mut absent);
        }
        known + lookup.stored.iter().map(|part| part.len).sum::<u64>()
    }

    /// Divides what is not in memory into what the store holds and what is absent.
    fn outside(&self, span: Span, use_store: bool, lookup: &mut Lookup, absent: &mut Vec<Span>) {
        let mut at = span.start;
        let held = self.stored.iter().filter(|_| use_store).flat_map(|(_, file)| file.held(span));
        for part in held {
            if part.start > at {
                absent.push(Span::new(at, part.start - at));
            }
            lookup.stored.push(part);
            at = part.end();
        }
        if at < span.end() {
            absent.push(Span::new(at, span.end() - at));
        }
    }

    /// Reads from the store, and checks; none where a piece was damaged. Waits for the disk.
    pub(crate) fn read_stored(&self, span: Span) -> Option<Bytes> {
        self.stored.as_ref()?.1.read(span)
    }

    /// The bytes of a fetch have arrived, span by span.
    pub(crate) fn arrived(self: &Arc<Self>, fetch: &Arc<PendingFetch>, all: &[Bytes]) {
        let mut added = Vec::new();
        {
            let mut pieces = lock(&self.pieces);
            for (span, bytes) in fetch.spans.iter().zip(all) {
                let stamp = self.memory.stamp();
                let here = Piece { len: span.len, state: PieceState::InMemory { bytes: bytes.clone(), stamp } };
                pieces.insert(span.start, here);
                added.push((*span, stamp));
            }
        }
        self.changes.send_replace(());
        for (span, stamp) in added {
            let owner: Arc<dyn Pieces> = self.clone();
            self.memory.added(Arc::downgrade(&owner), span, stamp);
        }
    }

    /// Adds bytes that were not waited for, where there is nothing yet.
    pub(crate) fn add(self: &Arc<Self>, start: u64, bytes: &Bytes, of: u64) {
        let lookup = self.look_up(&[Span::new(start, bytes.len() as u64)], of, false);
        for fetch in &lookup.begun {
            let part = |span: &Span| bytes.slice((span.start - start) as usize..(span.end() - start) as usize);
            self.arrived(fetch, &fetch.spans.iter().map(part).collect::<Vec<_>>());
        }
    }

    /// A fetch will return nothing (more).
    pub(crate) fn failed(&self, fetch: &Arc<PendingFetch>, failure: Failure) {
        fetch.fail(failure);
        let mut pieces = lock(&self.pieces);
        for span in &fetch.spans {
            let is_its =
                |piece: &Piece| matches!(&piece.state, PieceState::InFlight(coming) if Arc::ptr_eq(coming, fetch));
            if pieces.get(&span.start).is_some_and(is_its) {
                pieces.remove(&span.start);
            }
        }
        drop(pieces);
        self.changes.send_replace(());
    }

    /// Drops what is in memory: what the store holds is correct.
    pub(crate) fn clear(&self) {
        lock(&self.pieces).retain(|_, piece| matches!(piece.state, PieceState::InFlight(_)));
    }

    /// Stores bytes that are known to be of this version. Waits while the disk is behind, unless the store is full.
    pub(crate) async fn keep(&self, pieces: Vec<(u64, Bytes)>) {
        let Some((store, file)) = &self.stored else { return };
        let insert = |(start, bytes): &(u64, Bytes)| file.insert(*start, bytes.clone());
        let lacks = |(start, bytes): &(u64, Bytes)| {
            let span = Span::new(*start, bytes.len() as u64);
            file.held(span).iter().map(|part| part.len).sum::<u64>() < span.len
        };
        pieces.iter().for_each(insert);
        if lock(&self.full).is_some_and(|since| since.elapsed() < FULL) || !pieces.iter().any(lacks) {
            return;
        }
        let behind = store.clone();
        // fails only when the runtime ends
        let _ = tokio::task::spawn_blocking(move || behind.flush()).await;
        pieces.iter().for_each(insert);
        *lock(&self.full) = pieces.iter().any(lacks).then(Instant::now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_prefetch::LONGEST_FETCH;

    fn blocks(memory: u64) -> Arc<Blocks> {
        Blocks::new(100 << 20, None, Arc::new(Memory::new(memory)))
    }

    fn spans(lookup: &Lookup) -> Vec<Vec<(u64, u64)>> {
        lookup.begun.iter().map(|f| f.spans.iter().map(|s| (s.start, s.len)).collect()).collect()
    }

    fn bytes(len: u64, value: u8) -> Bytes {
        Bytes::from(vec![value; len as usize])
    }

    #[test]
    fn what_is_on_its_way_is_not_fetched_again() {
        let blocks = blocks(1 << 20);
        let first = blocks.look_up(&[Span::new(100, 100), Span::new(300, 10)], 1, true);
        assert_eq!(spans(&first), [[(100, 100), (300, 10)]]);
        let second = blocks.look_up(&[Span::new(50, 400)], 2, true);
        assert_eq!(spans(&second), [[(50, 50), (200, 100), (310, 140)]]);
        assert_eq!(second.coming.len(), 2);
        blocks.arrived(&first.begun[0], &[bytes(100, 1), bytes(10, 2)]);
        let third = blocks.look_up(&[Span::new(150, 160)], 3, true);
        assert!(third.begun.is_empty());
        assert_eq!(third.here, [(150, bytes(50, 1)), (300, bytes(10, 2))]);
        assert_eq!(third.coming.len(), 1);
        assert_eq!(blocks.held(Span::new(0, 60)), 10);
        assert_eq!(blocks.held(Span::new(40, 500)), 400);
        blocks.failed(&second.begun[0], Failure::Changed);
        assert_eq!(third.coming[0].failure(), Some(&Failure::Changed));
        assert_eq!(spans(&blocks.look_up(&[Span::new(150, 160)], 3, true)), [[(200, 100)]]);
    }

    #[test]
    fn long_spans_become_several_fetches() {
        let lookup =
            blocks(1 << 20).look_up(&[Span::new(10, 2 * LONGEST_FETCH), Span::new(3 * LONGEST_FETCH, 5)], 1, true);
        assert_eq!(
            spans(&lookup),
            [vec![(10, LONGEST_FETCH)], vec![(10 + LONGEST_FETCH, LONGEST_FETCH)], vec![(3 * LONGEST_FETCH, 5)]]
        );
    }

    #[test]
    fn the_oldest_make_room_in_memory() {
        let blocks = blocks(3000);
        for at in 0..4 {
            blocks.add(at * 1000, &bytes(1000, at as u8), 1);
        }
        blocks.add(3500, &bytes(1000, 9), 1);
        let lookup = blocks.look_up(&[Span::new(0, 4500)], 1, true);
        assert_eq!(lookup.here, [(3000, bytes(1000, 3)), (4000, bytes(500, 9))]);
        assert_eq!(spans(&lookup), [[(0, 3000)]]);
    }
}
