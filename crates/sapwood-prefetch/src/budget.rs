//! Counts what was fetched ahead for one reader, and how much of it was used.

use sapwood_span::Span;
use std::collections::{BTreeMap, VecDeque};

/// Bytes that may be fetched ahead before the reader has shown any habit: about a hundredth of a second at 1 Gbit/s.
const START: u64 = 1 << 20;

/// The window at first.
const FIRST_WINDOW: u64 = 512 << 10;

/// The window after most fetches were wrong.
const LEAST_WINDOW: u64 = 16 << 10;

/// Bytes that a reader may read beyond two windows before what it has not requested counts as wrong.
const PATIENCE: u64 = 1 << 20;

/// Windows of skipped bytes that tell whether a reader comes back for them.
const LATELY: u64 = 4;

/// Spans that may be ahead at once: baskets of a few bytes are not worth more.
const MOST_PENDING: usize = 1 << 14;

/// Counters of one reader's requests and of what was fetched ahead for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes requested.
    pub requested: u64,
    /// Bytes of these that were neither held, nor in flight, nor fetched ahead for this reader.
    pub missed: u64,
    /// Bytes fetched ahead that were requested later.
    pub useful: u64,
    /// Bytes fetched ahead that the reader skipped, and has not read since; or which were no longer there when it requested them.
    pub useless: u64,
    /// Bytes fetched ahead that may still be requested.
    pub ahead: u64,
}

/// Bytes fetched ahead and not requested yet.
#[derive(Clone, Copy)]
struct Pending {
    len: u64,
    /// They count as wrong when the reader has requested this many bytes.
    until: u64,
    /// They are of a branch that the reader has not touched.
    is_suspected: bool,
}

/// Limits what is fetched ahead: at any time, the bytes fetched ahead and not requested are at most [`START`] plus the
/// bytes that were fetched from the origin for the reader and used; half of these when an eighth was wrong, unless the
/// reader has come back lately for half of what it skipped.
pub(crate) struct Budget {
    pending: BTreeMap<u64, Pending>,
    /// Starts, by the time they were fetched.
    order: VecDeque<u64>,
    /// Length of what was fetched ahead and then skipped, by its start: the reader may come back.
    skipped: BTreeMap<u64, u64>,
    /// Bytes skipped lately, and those of them that the reader has come back for.
    skipped_lately: u64,
    returned_lately: u64,
    stats: Stats,
    most: u64,
    window: u64,
    /// Bytes of branches that the reader has not touched: those pending, and those that were wrong.
    suspected: u64,
    wrongly_suspected: u64,
    /// Useful and useless bytes since the window changed.
    right: u64,
    wrong: u64,
}

impl Budget {
    /// `most`: bytes that may be ahead at once.
    pub(crate) fn new(most: u64) -> Self {
        Self {
            pending: BTreeMap::new(),
            order: VecDeque::new(),
            skipped: BTreeMap::new(),
            skipped_lately: 0,
            returned_lately: 0,
            stats: Stats::default(),
            most,
            window: FIRST_WINDOW.min(most),
            suspected: 0,
            wrongly_suspected: 0,
            right: 0,
            wrong: 0,
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        self.stats
    }

    /// The bytes that may currently be ahead at once.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Whether enough is ahead for now: more is fetched when half of the window was used, so that requests stay few.
    pub(crate) fn is_full(&self) -> bool {
        self.ahead() > self.window.min(self.ahead() + self.credit()) / 2
    }

    /// Bytes that are ahead for branches that the reader has touched.
    pub(crate) fn ahead(&self) -> u64 {
        self.stats.ahead - self.suspected
    }

    /// From now on, at most this many bytes may be ahead at once.
    pub(crate) fn limit(&mut self, most: u64) {
        self.most = most;
        self.window = self.window.max(LEAST_WINDOW).min(most);
    }

    /// The reader requests a span, of which `held` bytes were held or in flight. True when it has to wait for others.
    pub(crate) fn on_request(&mut self, span: Span, held: u64) -> bool {
        if span.len == 0 {
            return false;
        }
        self.stats.requested = self.stats.requested.saturating_add(span.len);
        let held = held.min(span.len);
        let (taken, _) = self.take(span);
        // what has failed to come, or was evicted, was fetched for nothing
        let used = taken.min(held);
        self.stats.useless += taken - used;
        self.wrong += taken - used;
        // what was fetched again since is not counted twice
        let used = used + self.come_back(span, held - used);
        self.stats.useful += used;
        self.right += used;
        let missed = span.len - held;
        self.stats.missed = self.stats.missed.saturating_add(missed);
        missed > 0
    }

    /// The reader requests a span of which it had skipped something: as far as it is still held, that was not wrong.
    fn come_back(&mut self, span: Span, held: u64) -> u64 {
        let inside = self.skipped.range(span.start..span.end()).filter(|(start, len)| **start + **len <= span.end());
        let inside: Vec<(u64, u64)> = inside.map(|(start, len)| (*start, *len)).collect();
        for (start, _) in &inside {
            self.skipped.remove(start);
        }
        let bytes = inside.iter().map(|(_, len)| len).sum::<u64>().min(held);
        self.stats.useless -= bytes;
        self.returned_lately += bytes;
        bytes
    }

    /// Removes what is pending inside a span: how many bytes, and how many of these are of branches that the reader has not touched.
    fn take(&mut self, span: Span) -> (u64, u64) {
        let before = self.pending.range(..span.start).next_back();
        let from = before.filter(|(start, p)| **start + p.len > span.start).map_or(span.start, |(start, _)| *start);
        let met: Vec<(u64, Pending)> = self.pending.range(from..span.end()).map(|(start, p)| (*start, *p)).collect();
        let (mut taken, mut suspected) = (0, 0);
        for (start, p) in met {
            self.pending.remove(&start);
            let end = start + p.len;
            let inside = end.min(span.end()) - start.max(span.start);
            taken += inside;
            suspected += if p.is_suspected { inside } else { 0 };
            if start < span.start {
                self.keep(start, Pending { len: span.start - start, ..p });
            }
            if end > span.end() {
                self.keep(span.end(), Pending { len: end - span.end(), ..p });
                self.order.push_back(span.end());
            }
        }
        self.stats.ahead -= taken;
        self.suspected -= suspected;
        (taken, suspected)
    }

    /// Keeps what remains of a pending span. Who reads so many small parts gives up the rest.
    fn keep(&mut self, start: u64, rest: Pending) {
        if self.pending.len() < MOST_PENDING {
            self.pending.insert(start, rest);
            return;
        }
        self.stats.ahead -= rest.len;
        self.stats.useless += rest.len;
        self.wrong += rest.len;
        if rest.is_suspected {
            self.suspected -= rest.len;
            self.wrongly_suspected += rest.len;
        }
    }

    /// The reader will not request this span.
    pub(crate) fn passed(&mut self, span: Span) {
        let inside = self.pending.range(span.start..span.end()).filter(|(start, p)| **start + p.len <= span.end());
        self.skipped.extend(inside.map(|(start, p)| (*start, p.len)));
        while self.skipped.len() > MOST_PENDING {
            // those that a reader which moves forward has left behind longest
            self.skipped.pop_first();
        }
        let (taken, suspected) = self.take(span);
        self.wrongly_suspected += suspected;
        self.stats.useless += taken;
        self.wrong += taken;
        self.skipped_lately += taken;
    }

    /// Drops what was not requested in time, and adjusts the window to what was right and wrong.
    pub(crate) fn settle(&mut self) {
        while let Some(&start) = self.order.front() {
            match self.pending.get(&start) {
                Some(p) if p.until > self.stats.requested => break,
                Some(p) => self.passed(Span::new(start, p.len)),
                None => {}
            }
            self.order.pop_front();
        }
        // partly used spans leave more starts behind than are pending
        if self.order.len() > 1024 && self.order.len() > 4 * self.pending.len() {
            self.order.retain(|start| self.pending.contains_key(start));
        }
        // what was long ago says little
        while self.skipped_lately > LATELY.saturating_mul(self.window) {
            self.skipped_lately /= 2;
            self.returned_lately /= 2;
        }
        if self.wrong > self.window / 4 {
            self.resize(self.window / 2);
        } else if self.right >= self.window / 2 {
            self.resize(self.window.saturating_mul(2));
        }
    }

    fn resize(&mut self, window: u64) {
        self.window = window.max(LEAST_WINDOW).min(self.most);
        (self.right, self.wrong) = (0, 0);
    }

    /// The bytes that may be fetched ahead now, regardless of the window.
    pub(crate) fn credit(&self) -> u64 {
        let Stats { missed, useful, useless, ahead, .. } = self.stats;
        let wanted = missed.saturating_add(useful);
        // who came back for what was skipped will do so again
        let returns = self.returned_lately > 0 && self.returned_lately >= self.skipped_lately / 2;
        let share = if useless < useful / 8 || returns { wanted } else { wanted / 2 };
        let most = START.saturating_add(share);
        most.saturating_sub(useless + ahead).min(self.most.saturating_sub(ahead))
    }

    /// Fetches a span ahead, unless there is no credit for it.
    pub(crate) fn fetch(&mut self, span: Span) -> bool {
        self.fetch_as(span, false)
    }

    /// Fetches a span of a branch that the reader has not touched, unless too much was fetched for such guesses.
    pub(crate) fn suspect(&mut self, span: Span) -> bool {
        let most = START / 2 + self.stats.missed.saturating_add(self.stats.useful) / 8;
        self.suspected + self.wrongly_suspected + span.len <= most && self.fetch_as(span, true)
    }

    fn fetch_as(&mut self, span: Span, is_suspected: bool) -> bool {
        if span.len == 0 || span.len > self.credit() || self.pending.len() >= MOST_PENDING || self.overlaps(span) {
            return false;
        }
        let until = self.stats.requested.saturating_add(2 * (self.window + self.stats.ahead) + PATIENCE);
        self.pending.insert(span.start, Pending { len: span.len, until, is_suspected });
        self.order.push_back(span.start);
        self.stats.ahead += span.len;
        self.suspected += if is_suspected { span.len } else { 0 };
        true
    }

    fn overlaps(&self, span: Span) -> bool {
        self.pending.range(..span.end()).next_back().is_some_and(|(start, p)| start + p.len > span.start)
    }

    /// Whether the span was fetched ahead and not requested yet.
    pub(crate) fn is_ahead(&self, span: Span) -> bool {
        self.overlaps(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_span_are_useful_and_the_rest_stays() {
        let mut l = Budget::new(u64::MAX);
        assert!(l.fetch(Span::new(100, 100)));
        assert!(!l.fetch(Span::new(150, 100)), "never twice");
        assert!(!l.on_request(Span::new(120, 30), 30));
        assert!(l.on_request(Span::new(180, 40), 20), "half of it was not fetched");
        let s = l.stats();
        assert_eq!((s.useful, s.missed, s.ahead), (50, 20, 50));
        l.passed(Span::new(0, 1000));
        assert_eq!((l.stats().useless, l.stats().ahead), (50, 0));
    }

    #[test]
    fn what_is_wrong_uses_up_the_credit_and_halves_the_window() {
        let mut l = Budget::new(u64::MAX);
        let mut at = 0;
        while l.fetch(Span::new(at, 64 << 10)) {
            l.passed(Span::new(at, 64 << 10));
            l.settle();
            at += 1 << 20;
        }
        assert_eq!(l.stats().useless, START);
        assert_eq!(l.window(), LEAST_WINDOW);
        l.on_request(Span::new(1 << 40, 256 << 10), 0);
        assert_eq!(l.credit(), 128 << 10, "half of what was asked for since");
    }

    #[test]
    fn what_is_skipped_and_read_later_was_not_wrong() {
        let mut l = Budget::new(u64::MAX);
        let (kept, evicted) = (Span::new(0, 1000), Span::new(1000, 500));
        assert!(l.fetch(kept) && l.fetch(evicted));
        l.passed(Span::new(0, 1500));
        assert_eq!((l.stats().useless, l.stats().useful), (1500, 0));
        assert!(!l.on_request(kept, 1000) && l.on_request(evicted, 0));
        assert_eq!((l.stats().useless, l.stats().useful, l.stats().missed), (500, 1000, 500));
        l.on_request(kept, 1000);
        assert_eq!(l.stats().useful, 1000, "only once");
        assert!(l.fetch(evicted), "again");
        l.on_request(evicted, 500);
        assert_eq!((l.stats().useless, l.stats().useful), (500, 1500));
        let twice = Span::new(5000, 700);
        assert!(l.fetch(twice));
        l.passed(twice);
        assert!(l.fetch(twice), "it was evicted");
        l.on_request(twice, 700);
        assert_eq!((l.stats().useless, l.stats().useful), (1200, 2200), "the first time was for nothing");
    }

    #[test]
    fn small_parts_of_a_span_take_no_more_places_than_there_are() {
        let mut l = Budget::new(u64::MAX);
        assert!(l.fetch(Span::new(0, START)));
        for i in 0..START / 4 {
            l.on_request(Span::new(4 * i + 1, 1), 1);
            l.on_request(Span::new(4 * i + 3, 0), 0);
        }
        assert!(l.pending.len() <= MOST_PENDING && l.order.len() <= 5 * MOST_PENDING, "{}", l.order.len());
        let s = l.stats();
        assert_eq!(s.useful + s.useless + s.ahead, START, "{s:?}");
        assert_eq!(s.ahead, l.pending.values().map(|p| p.len).sum::<u64>());
    }

    #[test]
    fn what_is_not_asked_for_in_time_was_wrong() {
        let mut l = Budget::new(u64::MAX);
        l.fetch(Span::new(0, 1000));
        for i in 1..=40 {
            l.on_request(Span::new(i << 20, 100 << 10), 100 << 10);
            l.settle();
        }
        assert_eq!(l.stats(), Stats { requested: 40 * (100 << 10), useless: 1000, ..Stats::default() });
    }
}
