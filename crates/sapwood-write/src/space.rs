//! Free space in a file: the gaps left by deleted records.

use sapwood_span::Span;

/// A gap's first bytes hold its length: the rest of a gap must have room for them.
pub(crate) const LEAST: u64 = 8;

/// Gaps between records, in order, none touching another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    gaps: Vec<Span>,
    /// Freed since the last commit: the state that readers would find after a crash still uses it.
    freed: Vec<Span>,
    /// Whether the gaps are from a file's list that was not yet checked against the live records.
    unchecked: bool,
}

impl Space {
    /// The gaps in a file's list.
    pub(crate) fn new(gaps: Vec<Span>) -> Self {
        let mut space = Self { unchecked: !gaps.is_empty(), gaps: Vec::new(), freed: gaps };
        space.commit();
        space
    }

    /// Whether the list must still be checked against the live records; true once only.
    pub(crate) fn take_unchecked(&mut self) -> bool {
        std::mem::take(&mut self.unchecked)
    }

    /// Removes gaps that are not free.
    pub(crate) fn retain(&mut self, is_free: impl FnMut(&Span) -> bool) {
        self.gaps.retain(is_free);
    }

    /// Bytes freed at the next commit.
    pub(crate) fn freed(&self) -> &[Span] {
        &self.freed
    }

    /// The gaps, without those in use until the next commit.
    pub(crate) fn gaps(&self) -> &[Span] {
        &self.gaps
    }

    /// The gaps after the next commit.
    pub(crate) fn after_commit(&self) -> Vec<Span> {
        let mut all = self.gaps.clone();
        all.extend_from_slice(&self.freed);
        all.retain(|g| g.len > 0);
        all.sort_by_key(|g| g.start);
        let mut out: Vec<Span> = Vec::with_capacity(all.len());
        for gap in all {
            match out.last_mut() {
                Some(last) if last.end() >= gap.start => {
                    *last = Span::new(last.start, gap.end().max(last.end()) - last.start);
                }
                _ => out.push(gap),
            }
        }
        out
    }

    /// Bytes freed so far can be used from now on.
    pub(crate) fn commit(&mut self) {
        self.gaps = self.after_commit();
        self.freed.clear();
    }

    /// Frees a record at the next commit.
    pub(crate) fn free(&mut self, span: Span) {
        self.freed.push(span);
    }

    /// Takes `len` bytes of the gap that fits best, if there is one.
    pub(crate) fn take(&mut self, len: u64) -> Option<u64> {
        let fits = |g: &Span| g.len == len || g.len >= len + LEAST;
        let best = self.gaps.iter().enumerate().filter(|(_, g)| fits(g)).min_by_key(|(_, g)| g.len)?.0;
        let gap = self.gaps.get_mut(best)?;
        let at = gap.start;
        *gap = Span::new(at + len, gap.len - len);
        if gap.len == 0 {
            self.gaps.remove(best);
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_gap_is_taken_and_what_is_freed_waits() {
        let mut s = Space::new(vec![Span::new(500, 40), Span::new(100, 100), Span::new(300, 30)]);
        assert_eq!(s.take(30), Some(300));
        assert_eq!(s.take(35), Some(100), "35 of 40 would leave 5");
        assert_eq!(s.take(40), Some(500));
        assert_eq!(s.take(66), None);
        s.free(Span::new(200, 50));
        assert_eq!(s.take(50), Some(135));
        assert_eq!(s.take(15), Some(185));
        assert_eq!((s.take(10), s.gaps().len()), (None, 0));
        s.commit();
        assert_eq!(s.gaps(), [Span::new(200, 50)]);
        s.free(Span::new(250, 10));
        s.free(Span::new(100, 100));
        s.commit();
        assert_eq!(s.gaps(), [Span::new(100, 160)]);
    }
}
