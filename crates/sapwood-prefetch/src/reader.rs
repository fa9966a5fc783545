//! One client's handle for a file.

use crate::budget::{Budget, Stats};
use crate::map::BasketMap;
use crate::memory::Memory;
use crate::request::Request;
use crate::stream::Streams;
use crate::tree_reader::{Context, TreeReader};
use sapwood_span::Span;
use std::cmp::Reverse;
use std::sync::Arc;

/// A span from the first byte of the file on that is not longer is read to open the file.
const LONGEST_BEGINNING: u64 = 64 << 10;

/// Baskets in it at most: of more it is not known which were wanted.
const MOST_CAME_ALONG: usize = 8;

/// What is known about a file. It may grow while the file is read: more trees come at the end.
#[derive(Clone, Debug, Default)]
pub struct FileMap {
    /// Size of the file in bytes.
    pub size: u64,
    /// The trees whose headers were read.
    pub trees: Vec<TreeAt>,
}

/// A tree of a file.
#[derive(Clone, Debug)]
pub struct TreeAt {
    /// The record of its header.
    pub header: Span,
    /// Its baskets.
    pub baskets: Arc<BasketMap>,
}

/// A span that a client requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedSpan {
    /// The bytes.
    pub span: Span,
    /// How many of them were in the cache, or in flight to it, at the time of the request.
    pub held: u64,
}

/// Watches what one client requests through one handle, and returns what to fetch ahead for it.
///
/// Rules: bytes fetched ahead and not requested never exceed 1 MiB plus the bytes that were fetched from the origin and
/// used by the client; half of these where an eighth of what was fetched ahead was wrong and the client has not come back
/// lately for half of what it skipped. Nothing is fetched ahead twice, nor what is held; nothing outside the file.
pub struct Reader {
    budget: Budget,
    streams: Streams,
    /// In the order of the file's map.
    trees: Vec<(TreeAt, TreeReader)>,
    /// The end of what was read to open the file: the first baskets may have come along.
    beginning: u64,
}

impl Reader {
    /// For an opened handle. `most`: bytes that may be fetched ahead and not requested yet.
    pub fn new(most: u64) -> Self {
        Self { budget: Budget::new(most), streams: Streams::default(), trees: Vec::new(), beginning: 0 }
    }

    /// From now on, at most this many bytes may be fetched ahead and not requested yet.
    pub fn limit(&mut self, most: u64) {
        self.budget.limit(most);
    }

    /// The client requests spans in one request. Returns what to fetch ahead, most urgent first.
    ///
    /// `held` tells whether all of a span is in the cache, or in flight to it.
    pub fn on_request(
        &mut self,
        request: &[RequestedSpan],
        file: &FileMap,
        held: &dyn Fn(Span) -> bool,
        memory: &Memory,
    ) -> Vec<Span> {
        let mut request = request.to_vec();
        request.sort_by_key(|requested| (requested.span.start, Reverse(requested.span.len)));
        request.dedup_by_key(|requested| requested.span);
        let (mut has_missed, mut end) = (false, 0);
        for &RequestedSpan { span, held } in &request {
            // bytes that are requested twice are wanted once
            let start = span.start.max(end).min(span.end());
            let new = Span::new(start, span.end() - start);
            has_missed |= self.budget.on_request(new, held);
            end = end.max(span.end());
        }
        self.budget.settle();
        let is_beginning = |span: &Span| span.start == 0 && span.len <= LONGEST_BEGINNING;
        let all: Vec<Span> = request.iter().map(|requested| requested.span).collect();
        let spans: Vec<Span> = all.iter().copied().filter(|span| !is_beginning(span)).collect();
        // sorted, the longest first
        self.beginning =
            all.first().filter(|span| is_beginning(span)).map_or(self.beginning, |span| self.beginning.max(span.len));
        let is_asked = |place: Span| all.iter().any(|span| span.overlaps(place));
        // what is requested will be in flight in a moment
        let held = &|span: Span| held(span) || all.iter().any(|requested| requested.contains(span));
        let mut out = Vec::new();
        for tree in file.trees.iter().skip(self.trees.len()) {
            let beginning = Span::new(0, self.beginning);
            let is_short = tree.baskets.beginning_in(beginning) <= MOST_CAME_ALONG;
            let came_along = tree.baskets.within(beginning).filter(|_| is_short);
            self.trees.push((tree.clone(), TreeReader::new(came_along)));
        }
        let mut is_tree = false;
        for (TreeAt { header, baskets: map }, tree) in &mut self.trees {
            let request = Request::new(map, &spans);
            let mut context = Context { map, size: file.size, budget: &mut self.budget, held, memory, out, seen: 0 };
            if !request.baskets.is_empty() {
                is_tree = request.between.is_empty();
                tree.on_request(&request, has_missed, &mut context);
            } else if is_asked(*header) {
                tree.expect(&mut context);
            }
            out = context.out;
        }
        if !is_tree {
            for &span in &all {
                self.streams.on_request(span, file.size, &mut self.budget, held, &mut out);
            }
        }
        out
    }

    /// Counts of right and wrong fetches so far.
    pub fn stats(&self) -> Stats {
        self.budget.stats()
    }

    /// Records what the client read of each tree, for readers of files with the same structure.
    pub fn remember(&self, memory: &mut Memory) {
        for (TreeAt { baskets: map, .. }, tree) in &self.trees {
            memory.remember(map.structure(), tree.branches());
        }
    }
}
