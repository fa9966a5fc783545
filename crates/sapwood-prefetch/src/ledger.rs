//! What was fetched ahead for one reader, and what of it was right.

use sapwood_span::Span;
use std::collections::{BTreeMap, VecDeque};

/// Bytes that may be fetched ahead before the reader has shown anything: about a hundredth of a second at 1 Gbit/s.
const START: u64 = 1 << 20;

/// The window at first.
const FIRST_WINDOW: u64 = 512 << 10;

/// The window after it was wrong most of the time.
const LEAST_WINDOW: u64 = 16 << 10;

/// Bytes that a reader may read beyond two windows before what it has not asked for counts as wrong.
const PATIENCE: u64 = 1 << 20;

/// What one reader was given, and what was fetched ahead for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes asked for.
    pub asked: u64,
    /// Bytes of these that were neither held, nor under way, nor fetched ahead for this reader.
    pub missed: u64,
    /// Bytes fetched ahead that were asked for afterwards.
    pub useful: u64,
    /// Bytes fetched ahead that the reader went past.
    pub useless: u64,
    /// Bytes fetched ahead that may still be asked for.
    pub ahead: u64,
}

/// Bytes fetched ahead and not asked for yet.
#[derive(Clone, Copy)]
struct Pending {
    len: u64,
    /// They are wrong when the reader has asked for so many bytes.
    until: u64,
}

/// Bounds what is fetched ahead: at any time, what was fetched ahead and not asked for is at most [`START`] and half of
/// what the origin was asked for on the reader's behalf and the reader wanted.
pub(crate) struct Ledger {
    pending: BTreeMap<u64, Pending>,
    /// Starts, by the time they were fetched.
    order: VecDeque<u64>,
    stats: Stats,
    most: u64,
    window: u64,
    /// Useful and useless bytes since the window changed.
    right: u64,
    wrong: u64,
}

impl Ledger {
    /// `most`: bytes that may be ahead at once.
    pub(crate) fn new(most: u64) -> Self {
        Self {
            pending: BTreeMap::new(),
            order: VecDeque::new(),
            stats: Stats::default(),
            most,
            window: FIRST_WINDOW.min(most),
            right: 0,
            wrong: 0,
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        self.stats
    }

    /// The bytes that may be ahead at once, now.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Whether enough is ahead for now: more is asked for when half of what may be ahead was used, so that requests stay few.
    pub(crate) fn is_full(&self) -> bool {
        self.stats.ahead > self.window.min(self.stats.ahead + self.credit()) / 2
    }

    /// Bytes of branches fetched on suspicion that may be wrong at once.
    pub(crate) fn suspicion(&self) -> u64 {
        START / 4 + (self.stats.missed + self.stats.useful) / 8
    }

    /// The reader asks for a span. True when it has to wait for the origin.
    pub(crate) fn asked(&mut self, span: Span, is_held: bool) -> bool {
        self.stats.asked += span.len;
        let taken = self.take(span);
        self.stats.useful += taken;
        self.right += taken;
        let missed = if is_held { 0 } else { span.len - taken };
        self.stats.missed += missed;
        missed > 0
    }

    /// Removes what is pending of a span.
    fn take(&mut self, span: Span) -> u64 {
        let before = self.pending.range(..span.start).next_back();
        let from = before.filter(|(start, p)| **start + p.len > span.start).map_or(span.start, |(start, _)| *start);
        let met: Vec<(u64, Pending)> = self.pending.range(from..span.end()).map(|(start, p)| (*start, *p)).collect();
        let mut taken = 0;
        for (start, p) in met {
            self.pending.remove(&start);
            let end = start + p.len;
            if start < span.start {
                self.pending.insert(start, Pending { len: span.start - start, ..p });
            }
            if end > span.end() {
                self.pending.insert(span.end(), Pending { len: end - span.end(), ..p });
                self.order.push_back(span.end());
            }
            taken += end.min(span.end()) - start.max(span.start);
        }
        self.stats.ahead -= taken;
        taken
    }

    /// The reader will not ask for this span.
    pub(crate) fn passed(&mut self, span: Span) {
        let taken = self.take(span);
        self.stats.useless += taken;
        self.wrong += taken;
    }

    /// A fetch failed: nothing of it was taken from the origin.
    pub(crate) fn failed(&mut self, span: Span) {
        self.take(span);
    }

    /// Drops what was not asked for within its time, and sizes the window by what was right and wrong.
    pub(crate) fn settle(&mut self) {
        while let Some(&start) = self.order.front() {
            match self.pending.get(&start) {
                Some(p) if p.until > self.stats.asked => break,
                Some(p) => self.passed(Span::new(start, p.len)),
                None => {}
            }
            self.order.pop_front();
        }
        // parts of one span leave more starts behind than are pending
        if self.order.len() > 1024 && self.order.len() > 4 * self.pending.len() {
            self.order.retain(|start| self.pending.contains_key(start));
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

    /// The bytes that may be fetched ahead now, whatever the window.
    pub(crate) fn credit(&self) -> u64 {
        let Stats { missed, useful, useless, ahead, .. } = self.stats;
        let most = START.saturating_add((missed + useful) / 2);
        most.saturating_sub(useless + ahead).min(self.most.saturating_sub(ahead))
    }

    /// Fetches a span ahead, unless there is no credit for it.
    pub(crate) fn fetch(&mut self, span: Span) -> bool {
        if span.len == 0 || span.len > self.credit() || self.overlaps(span) {
            return false;
        }
        let until = self.stats.asked.saturating_add(2 * (self.window + self.stats.ahead) + PATIENCE);
        self.pending.insert(span.start, Pending { len: span.len, until });
        self.order.push_back(span.start);
        self.stats.ahead += span.len;
        true
    }

    fn overlaps(&self, span: Span) -> bool {
        self.pending.range(..span.end()).next_back().is_some_and(|(start, p)| start + p.len > span.start)
    }

    /// Whether the span was fetched ahead and not asked for yet.
    pub(crate) fn is_ahead(&self, span: Span) -> bool {
        self.overlaps(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_span_are_useful_and_the_rest_stays() {
        let mut l = Ledger::new(u64::MAX);
        assert!(l.fetch(Span::new(100, 100)));
        assert!(!l.fetch(Span::new(150, 100)), "never twice");
        assert!(!l.asked(Span::new(120, 30), false));
        assert!(l.asked(Span::new(180, 40), false), "half of it was not fetched");
        let s = l.stats();
        assert_eq!((s.useful, s.missed, s.ahead), (50, 20, 50));
        l.passed(Span::new(0, 1000));
        assert_eq!((l.stats().useless, l.stats().ahead), (50, 0));
    }

    #[test]
    fn what_is_wrong_uses_up_the_credit_and_halves_the_window() {
        let mut l = Ledger::new(u64::MAX);
        let mut at = 0;
        while l.fetch(Span::new(at, 64 << 10)) {
            l.passed(Span::new(at, 64 << 10));
            l.settle();
            at += 1 << 20;
        }
        assert_eq!(l.stats().useless, START);
        assert_eq!(l.window(), LEAST_WINDOW);
        l.asked(Span::new(1 << 40, 256 << 10), false);
        assert_eq!(l.credit(), 128 << 10, "half of what was asked for since");
    }

    #[test]
    fn what_is_not_asked_for_in_time_was_wrong() {
        let mut l = Ledger::new(u64::MAX);
        l.fetch(Span::new(0, 1000));
        for i in 1..=40 {
            l.asked(Span::new(i << 20, 100 << 10), true);
            l.settle();
        }
        assert_eq!(l.stats(), Stats { asked: 40 * (100 << 10), useless: 1000, ..Stats::default() });
    }
}
