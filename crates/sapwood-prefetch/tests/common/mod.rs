//! Files, readers and a cache in virtual time: the requests of `TTree::GetEntry`, in sequence.

#![allow(dead_code)]

use sapwood_prefetch::{BasketMap, BranchBaskets, FileMap, Memory, Reader, RequestedSpan, Stats, TreeAt};
use sapwood_span::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Round trip to the origin and bytes that arrive in one millisecond: 100 ms, 1 Gbit/s.
const ROUND_TRIP: f64 = 100.0;
const RATE: f64 = 125_000.0;
/// Milliseconds per request to the proxy, and bytes that the reader decompresses in one millisecond.
const REQUEST: f64 = 0.3;
const UNZIPPED: f64 = 30_000.0;

pub struct Branch {
    pub path: String,
    pub counter: Option<usize>,
    pub entries_each: u64,
    pub bytes_each: u64,
    pub baskets: Vec<(u64, Span)>,
}

pub struct Model {
    pub entries: u64,
    pub branches: Vec<Branch>,
    pub size: u64,
}

impl Model {
    /// Baskets follow one another in the file in the order in which filling them ends.
    pub fn new(entries: u64, branches: Vec<(String, Option<usize>, u64, u64)>) -> Self {
        let mut branches: Vec<Branch> = branches
            .into_iter()
            .map(|(path, counter, entries_each, bytes_each)| Branch {
                path,
                counter,
                entries_each,
                bytes_each,
                baskets: Vec::new(),
            })
            .collect();
        let mut ends: Vec<(u64, usize, u64)> = Vec::new();
        for (i, b) in branches.iter().enumerate() {
            ends.extend(
                (0..entries).step_by(b.entries_each as usize).map(|e| ((e + b.entries_each).min(entries), i, e)),
            );
        }
        ends.sort();
        let mut at = 300;
        for (_, i, first) in ends {
            let b = &mut branches[i];
            // no two of the same length
            let len = b.bytes_each + (first / 7) % 50;
            b.baskets.push((first, Span::new(at, len)));
            at += len;
        }
        // the trees' header, the list of keys, the end
        Self { entries, branches, size: at + 400_000 + 10_000 }
    }

    /// The seed's tree: 100 numbers, 25 counted arrays with their counters, and two numbers more.
    pub fn chep(entries: u64) -> Self {
        let mut branches: Vec<_> = (0..100).map(|i| (format!("s{i}"), None, 2000, 1960)).collect();
        for i in 0..25 {
            let (n, v) = match i {
                0 => ("nrawtr".to_owned(), "rawtr".to_owned()),
                1 => ("nE33".to_owned(), "E33".to_owned()),
                i => (format!("n{i}"), format!("v{i}")),
            };
            let counter = branches.len();
            branches.push((n, None, 2000, 1960));
            branches.push((v, Some(counter), if i < 2 { 141 } else { 330 }, 3600));
        }
        branches.push(("run".to_owned(), None, 2000, 1960));
        branches.push(("evt".to_owned(), None, 2000, 1960));
        Self::new(entries, branches)
    }

    /// Like NanoAOD: 40 collections of 30 members each, 300 single numbers.
    pub fn nano(entries: u64) -> Self {
        let mut branches = Vec::new();
        for c in 0..40 {
            let counter = branches.len();
            branches.push((format!("nC{c}"), None, 1000, 600));
            branches.extend((0..30).map(|m| (format!("C{c}_m{m:02}"), Some(counter), 1000, 5000)));
        }
        branches.extend((0..300).map(|i| (format!("HLT_{i}"), None, 1000, 200)));
        Self::new(entries, branches)
    }

    pub fn find(&self, path: &str) -> usize {
        self.branches.iter().position(|b| b.path == path).unwrap()
    }

    pub fn header(&self) -> Span {
        Span::new(self.size - 410_000, 400_000)
    }

    pub fn keys(&self) -> Span {
        Span::new(self.size - 5000, 4700)
    }

    pub fn map(&self) -> FileMap {
        let branches = self.branches.iter().map(|b| BranchBaskets {
            path: &b.path,
            counter: b.counter,
            baskets: b.baskets.clone(),
        });
        let map = Arc::new(BasketMap::new("t", self.entries, branches).unwrap());
        FileMap { size: self.size, trees: vec![TreeAt { header: self.header(), baskets: map }] }
    }

    /// What ROOT reads on opening: both ends, the keys, the tree's header.
    pub fn opening(&self) -> Vec<Vec<Span>> {
        vec![vec![Span::new(0, 300)], vec![self.keys()], vec![self.header()]]
    }

    fn number(&self, branch: usize, entry: u64) -> usize {
        (entry / self.branches[branch].entries_each) as usize
    }

    pub fn basket(&self, branch: usize, entry: u64) -> Span {
        self.branches[branch].baskets[self.number(branch, entry)].1
    }

    /// Entry by entry, branch by branch: one request for each basket that is not the branch's current one. `wanted`
    /// tells whether a branch is read in an entry.
    pub fn entry_by_entry(
        &self,
        branches: &[usize],
        entries: impl Iterator<Item = u64>,
        wanted: impl Fn(usize, u64) -> bool,
    ) -> Vec<Vec<Span>> {
        let mut current = BTreeMap::new();
        let mut out = self.opening();
        for entry in entries {
            for &b in branches {
                let number = self.number(b, entry);
                if wanted(b, entry) && current.insert(b, number) != Some(number) {
                    out.push(vec![self.branches[b].baskets[number].1]);
                }
            }
        }
        out
    }

    /// As through ROOT's cache: the first baskets of all branches, then vectors of this many bytes.
    pub fn in_vectors(&self, branches: &[usize], bytes: u64) -> Vec<Vec<Span>> {
        let mut out = self.opening();
        out.push(self.branches.iter().map(|b| b.baskets[0].1).collect());
        let mut baskets: Vec<(u64, Span)> =
            branches.iter().flat_map(|&b| self.branches[b].baskets.iter().skip(1).copied()).collect();
        baskets.sort_by_key(|(first, _)| *first);
        let (mut vector, mut len) = (Vec::new(), 0);
        for (_, span) in baskets {
            vector.push(span);
            len += span.len;
            if len >= bytes {
                vector.sort();
                out.push(std::mem::take(&mut vector));
                len = 0;
            }
        }
        out.push(vector);
        out.retain(|v| !v.is_empty());
        // adjacent baskets are one span
        let joined = |v: Vec<Span>| sapwood_span::coalesce(&v, 0, u64::MAX).iter().map(|c| c.span).collect();
        out.into_iter().map(joined).collect()
    }
}

/// The cost of a session.
#[derive(Debug)]
pub struct Run {
    /// The client's requests.
    pub requests: usize,
    /// Those that had to wait for the origin.
    pub waits: usize,
    /// Their waiting time, in round trips.
    pub round_trips: f64,
    /// Requests to the origin.
    pub fetches: usize,
    /// Bytes from the origin divided by distinct bytes that the client requested.
    pub ratio: f64,
    pub stats: Stats,
    pub origin_bytes: u64,
}

/// A proxy's cache in front of an origin, in virtual time.
#[derive(Default)]
pub struct Cache {
    /// Start: end, and when it has arrived.
    held: BTreeMap<u64, (u64, f64)>,
    bytes: u64,
    fetches: usize,
    /// When the line is free.
    line: f64,
    /// When the last session ended.
    now: f64,
}

impl Cache {
    /// The parts of a span that are not in flight, and when the others have arrived.
    fn look(&self, span: Span) -> (Vec<Span>, f64) {
        let mut missing = Vec::new();
        let (mut at, mut ready) = (span.start, 0f64);
        let before = self.held.range(..=span.start).next_back().map(|(s, v)| (*s, *v));
        let from = before.filter(|(_, (end, _))| *end > span.start).map_or(span.start, |(s, _)| s);
        for (&start, &(end, when)) in self.held.range(from..span.end()) {
            if start > at {
                missing.push(Span::new(at, start - at));
            }
            ready = ready.max(when);
            at = at.max(end);
        }
        if at < span.end() {
            missing.push(Span::new(at, span.end() - at));
        }
        (missing, ready)
    }

    pub fn held(&self, span: Span) -> u64 {
        span.len - self.look(span).0.iter().map(|s| s.len).sum::<u64>()
    }

    pub fn holds(&self, span: Span) -> bool {
        self.look(span).0.is_empty()
    }

    pub fn fetch(&mut self, spans: &[Span], now: f64) {
        let missing: Vec<Span> = spans.iter().flat_map(|s| self.look(*s).0).collect();
        let bytes: u64 = missing.iter().map(|s| s.len).sum();
        if bytes == 0 {
            return;
        }
        self.line = self.line.max(now) + bytes as f64 / RATE;
        let ready = self.line + ROUND_TRIP;
        self.held.extend(missing.iter().map(|s| (s.start, (s.end(), ready))));
        self.bytes += bytes;
        self.fetches += 1;
    }
}

/// One client's session. The basket map is known from the moment that the header is requested.
pub fn session(model: &Model, requests: &[Vec<Span>], cache: &mut Cache, memory: &Memory, most: u64) -> (Run, Reader) {
    let (before, fetched_before) = (cache.bytes, cache.fetches);
    let full = model.map();
    let mut file = FileMap { trees: Vec::new(), ..full.clone() };
    let mut reader = Reader::new(most);
    // opening brought the ends
    cache.fetch(&[Span::new(0, 512), Span::new(model.size - 10_000, 10_000)], cache.now);
    let mut now = cache.now + 1000.0;
    let (mut waits, mut waited, mut asked) = (0, 0.0, Cache::default());
    for spans in requests {
        if spans.contains(&model.header()) {
            file = full.clone();
        }
        let request: Vec<RequestedSpan> =
            spans.iter().map(|&span| RequestedSpan { span, held: cache.held(span) }).collect();
        let ahead = reader.on_request(&request, &file, &|span| cache.holds(span), memory);
        cache.fetch(spans, now);
        cache.fetch(&ahead, now);
        let ready = spans.iter().map(|s| cache.look(*s).1).fold(0.0, f64::max);
        if ready > now {
            waits += 1;
            waited += ready - now;
            now = ready;
        }
        now += REQUEST + spans.iter().map(|s| s.len as f64).sum::<f64>() / UNZIPPED;
        asked.fetch(spans, 0.0);
        let s = reader.stats();
        assert!(budget_holds(&s), "{s:?}");
        assert!(s.ahead <= most);
    }
    cache.now = now + 1000.0;
    let bytes = cache.bytes - before;
    let run = Run {
        requests: requests.len(),
        waits,
        round_trips: waited / ROUND_TRIP,
        fetches: cache.fetches - fetched_before,
        ratio: bytes as f64 / asked.bytes as f64,
        stats: reader.stats(),
        origin_bytes: bytes,
    };
    (run, reader)
}

/// A cold session of an unknown client.
pub fn cold(model: &Model, requests: &[Vec<Span>]) -> Run {
    session(model, requests, &mut Cache::default(), &Memory::default(), 64 << 20).0
}

/// Unrequested bytes are at most 1 MiB plus the requested ones, whatever happens. Where a quarter was wrong, it is half
/// of that plus what was ahead when it went wrong.
pub fn budget_holds(s: &Stats) -> bool {
    let wanted = s.missed + s.useful;
    s.ahead + s.useless <= (1 << 20) + wanted && s.useless <= (1 << 20) + wanted
}
