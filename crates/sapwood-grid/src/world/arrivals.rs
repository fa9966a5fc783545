//! Bytes on their way into caches. A job that reads them there waits until they have arrived; where it would have them sooner from
//! where they come, it fetches them.

use super::{Event, World};
use crate::clock::Time;
use crate::keys::NumberHash;
use crate::stretches::FILES;
use sapwood_pages::prefetch;
use sapwood_span::Result;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;

/// A cache: the proxy of a site, or the one of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CacheId(u32);

impl CacheId {
    pub(super) fn proxy(site: u32) -> Self {
        Self(site)
    }

    /// `first` is the number of the first node of its site among all sites and nodes.
    pub(super) fn node(first: u32, node: usize) -> Self {
        Self(first + node as u32)
    }

    /// The files of one chunk in this cache.
    fn chunk(self, number: u64) -> u64 {
        u64::from(self.0) << 32 | number
    }
}

/// Flows of one job, or those that fill a cache: half a line of the processor's cache.
#[derive(Default)]
#[repr(align(32))]
struct Arrival {
    /// When they end if nothing slows them.
    due: Time,
    /// Those that have not ended.
    flows: u32,
    /// Different for all that had this place; 0 if all flows have ended.
    number: u32,
    /// Jobs that wait for it; in most cases none.
    waiting: Option<Box<Waiting>>,
}

/// Jobs, and when they wait no longer.
#[derive(Default)]
struct Waiting(Vec<(u32, Time)>);

/// Files of an arrival in one chunk of a cache. It is not looked for when the arrival ends, which would be a wait for memory, but forgotten
/// with many others.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Piece {
    chunk: u64,
    files: [u32; 2],
    /// Whose reads they are; [`NONE`]: all of the files.
    workload: u32,
    arrival: u32,
    number: u32,
    /// The next in the same place; [`NONE`] after the last.
    next: u32,
}

const NONE: u32 = u32::MAX;
/// From so many pieces on, those of arrivals that have ended are forgotten; and the least places of pieces.
const MANY: usize = 256;

/// All arrivals.
#[derive(Default)]
pub(super) struct Arrivals {
    all: Vec<Arrival>,
    free: Vec<u32>,
    last: u32,
    /// The first piece in each of 2^n places, by the hash of its chunk.
    first: Vec<u32>,
    pieces: Vec<Piece>,
}

impl Arrivals {
    /// Flows begin that bring files into caches; `workload` reads them. Returns their number, which is never 0.
    pub(super) fn begin(
        &mut self,
        flows: u32,
        due: Time,
        into: &[(CacheId, Range<u64>)],
        workload: Option<u32>,
    ) -> u32 {
        self.last = self.last.checked_add(1).unwrap_or(1);
        let number = self.last;
        let new = Arrival { due, flows, number, waiting: None };
        let arrival = self.free.pop().unwrap_or(self.all.len() as u32);
        match self.all.get_mut(arrival as usize) {
            Some(slot) => *slot = new,
            None => self.all.push(new),
        }
        if self.pieces.len() >= self.first.len() {
            self.forget_ended();
        }
        let workload = workload.unwrap_or(NONE);
        for (cache, files) in into.iter().filter(|(_, files)| !files.is_empty()) {
            let [start, end] = [files.start, files.end].map(|file| file as u32);
            for chunk in chunks(files) {
                let chunk = cache.chunk(chunk);
                self.add(Piece { chunk, files: [start, end], workload, arrival, number, next: NONE });
            }
        }
        arrival + 1
    }

    /// The arrivals that bring some of these files into a cache, if what they bring is read, too: adds their numbers.
    pub(super) fn bringing(
        &self,
        cache: CacheId,
        files: &Range<u64>,
        is_read: impl Fn(Option<u32>) -> bool,
        out: &mut Vec<u32>,
    ) {
        for chunk in chunks(files) {
            let chunk = cache.chunk(chunk);
            let mut next = self.first.get(self.place(chunk)).copied().unwrap_or(NONE);
            while let Some(piece) = self.pieces.get(next as usize) {
                next = piece.next;
                let [start, end] = piece.files.map(u64::from);
                let id = piece.arrival + 1;
                if piece.chunk == chunk
                    && end > files.start
                    && start < files.end
                    && self.is_on_its_way(piece)
                    && is_read(Some(piece.workload).filter(|workload| *workload != NONE))
                    && !out.contains(&id)
                {
                    out.push(id);
                }
            }
        }
    }

    /// Files of a cache will be looked for soon.
    pub(super) fn prefetch(&self, cache: CacheId, file: u64) {
        if let Some(first) = self.first.get(self.place(cache.chunk(file / FILES as u64))) {
            prefetch(first);
        }
    }

    /// Files whose place was fetched will be looked for soon.
    pub(super) fn prefetch_pieces(&self, cache: CacheId, file: u64) {
        let first = self.first.get(self.place(cache.chunk(file / FILES as u64)));
        if let Some(piece) = first.and_then(|&first| self.pieces.get(first as usize)) {
            prefetch(piece);
        }
    }

    /// An arrival will end soon.
    pub(super) fn prefetch_end(&self, id: u32) {
        if let Some(arrival) = self.all.get((id as usize).wrapping_sub(1)) {
            prefetch(arrival);
        }
    }

    fn place(&self, chunk: u64) -> usize {
        BuildHasherDefault::<NumberHash>::default().hash_one(chunk) as usize & self.first.len().saturating_sub(1)
    }

    fn add(&mut self, piece: Piece) {
        let place = self.place(piece.chunk);
        if let Some(first) = self.first.get_mut(place) {
            let next = std::mem::replace(first, self.pieces.len() as u32);
            self.pieces.push(Piece { next, ..piece });
        }
    }

    fn is_on_its_way(&self, piece: &Piece) -> bool {
        self.all.get(piece.arrival as usize).is_some_and(|arrival| arrival.number == piece.number)
    }

    fn forget_ended(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.retain(|piece| self.is_on_its_way(piece));
        // half of the places are free
        let places = (2 * pieces.len()).next_power_of_two().max(MANY);
        self.first.clear();
        self.first.resize(places, NONE);
        self.pieces.reserve(places);
        pieces.into_iter().for_each(|piece| self.add(piece));
    }

    fn of(&mut self, id: u32) -> Option<&mut Arrival> {
        self.all.get_mut(id.checked_sub(1)? as usize).filter(|arrival| arrival.number != 0)
    }

    /// A job waits, until `alone` at most. Returns when the bytes are there if nothing slows them.
    fn wait(&mut self, id: u32, job: u32, alone: Time) -> Option<Time> {
        let arrival = self.of(id)?;
        arrival.waiting.get_or_insert_default().0.push((job, alone));
        Some(arrival.due)
    }

    /// Whether a job waited until now at most, which it does no more.
    fn stops_waiting(&mut self, id: u32, job: u32, now: Time) -> bool {
        let Some(arrival) = self.of(id) else { return false };
        let Some(Waiting(waiting)) = arrival.waiting.as_deref_mut() else { return false };
        let at = waiting.iter().position(|&waits| waits == (job, now));
        at.map(|at| waiting.swap_remove(at)).is_some()
    }

    /// A flow has ended. After the last one: the jobs that waited for it.
    fn flow_ended(&mut self, id: u32) -> Vec<(u32, Time)> {
        let Some(arrival) = self.of(id) else { return Vec::new() };
        arrival.flows -= 1;
        if arrival.flows > 0 {
            return Vec::new();
        }
        arrival.number = 0;
        let waiting = arrival.waiting.take().map_or_else(Vec::new, |waiting| waiting.0);
        self.free.push(id - 1);
        waiting
    }
}

/// The chunks of these files.
fn chunks(files: &Range<u64>) -> Range<u64> {
    let size = FILES as u64;
    if files.is_empty() { 0..0 } else { files.start / size..files.end.div_ceil(size) }
}

impl World<'_> {
    /// A job waits for bytes on their way, but for no longer than it would take to fetch them: `alone` is when it would have them.
    /// Returns for how many arrivals it waits.
    pub(super) fn wait_for(&mut self, job: u32, arrivals: &[u32], alone: Time) -> u32 {
        let mut count = 0;
        for &id in arrivals {
            let Some(due) = self.arrivals.wait(id, job, alone) else { continue };
            count += 1;
            // a slow job brings them; if the network is slow, to fetch them is no faster
            if alone < due {
                self.at(alone, Event::Overtakes(job, id));
            }
        }
        count
    }

    /// A job would have fetched the bytes by now that it waits for.
    pub(super) fn overtakes(&mut self, job: u32, arrival: u32) -> Result<()> {
        if self.arrivals.stops_waiting(arrival, job, self.now) { self.arrival_ended(job) } else { Ok(()) }
    }

    /// A flow of an arrival has ended.
    pub(super) fn arrives(&mut self, arrival: u32) -> Result<()> {
        let waiting = self.arrivals.flow_ended(arrival);
        waiting.into_iter().try_for_each(|(job, _)| self.arrival_ended(job))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_on_their_way_are_found_until_the_last_flow_ends() {
        let mut arrivals = Arrivals::default();
        let (here, there) = (CacheId::proxy(3), CacheId::node(30, 0));
        let long = arrivals.begin(2, 100, &[(here, 10..130), (there, 10..130)], Some(7));
        let short = arrivals.begin(1, 50, &[(here, 128..129)], None);
        let found = |arrivals: &Arrivals, cache, files: Range<u64>, which: fn(Option<u32>) -> bool| {
            let mut out = Vec::new();
            arrivals.bringing(cache, &files, which, &mut out);
            out.sort_unstable();
            out
        };
        assert_eq!(found(&arrivals, here, 28..140, |_| true), [long, short]);
        assert_eq!(found(&arrivals, here, 128..140, |_| true), [long, short]);
        assert_eq!(found(&arrivals, here, 28..140, |w| w.is_none()), [short]);
        assert_eq!(found(&arrivals, there, 129..130, |_| true), [long]);
        for none in [0..10, 130..199, 5..5] {
            assert!(found(&arrivals, here, none, |_| true).is_empty());
        }
        assert_eq!(arrivals.wait(long, 1, 60), Some(100));
        assert_eq!(arrivals.wait(long, 2, 70), Some(100));
        assert!(!arrivals.stops_waiting(long, 1, 70));
        assert!(arrivals.stops_waiting(long, 1, 60) && !arrivals.stops_waiting(long, 1, 60));
        assert!(arrivals.flow_ended(long).is_empty());
        assert_eq!(arrivals.flow_ended(long), [(2, 70)]);
        assert_eq!(arrivals.wait(long, 3, 80), None);
        assert_eq!(found(&arrivals, here, 0..199, |_| true), [short]);
        // what takes its place is something else
        let next = arrivals.begin(1, 200, &[(there, 0..1)], None);
        assert_eq!(next, long);
        assert_eq!(found(&arrivals, here, 0..199, |_| true), [short]);
    }

    #[test]
    fn what_has_ended_is_forgotten() {
        let mut arrivals = Arrivals::default();
        let cache = CacheId::proxy(0);
        let stays = arrivals.begin(1, 1, &[(cache, 7..200)], None);
        for file in 0..100 * MANY as u64 {
            let id = arrivals.begin(1, 1, &[(cache, file..file + 1)], None);
            assert!(arrivals.flow_ended(id).is_empty());
        }
        assert!(arrivals.pieces.len() <= MANY && arrivals.first.len() == MANY && arrivals.all.len() == 2);
        let mut out = Vec::new();
        arrivals.bringing(cache, &(0..10_000), |_| true, &mut out);
        assert_eq!(out, [stays]);
    }
}
