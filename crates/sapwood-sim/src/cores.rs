//! The cores of a client: they decompress, take replies apart, and analyse.

/// What the one that analyses does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Analysis {
    /// Evaluates the cut of a batch.
    Cut,
    /// Analyses a batch, then requests the next.
    Batch,
}

/// How many there are, and what they do.
#[derive(Debug)]
pub(crate) struct Cores {
    count: usize,
    busy: usize,
    /// Until when one of them analyses a batch.
    analyses_until: Option<f64>,
    /// Whether one takes a reply from the network: one at a time does.
    takes: bool,
}

impl Cores {
    pub(crate) fn new(count: usize) -> Self {
        Self { count: count.max(1), busy: 0, analyses_until: None, takes: false }
    }

    pub(crate) fn are_idle(&self) -> bool {
        self.busy == 0
    }

    /// Analyses a batch until this time.
    pub(crate) fn analyse(&mut self, until: f64) {
        self.analyses_until = Some(until);
    }

    /// The analysis ends at this time; or it was interrupted, and ends later: then when it does.
    pub(crate) fn analysed(&mut self, now: f64) -> Option<f64> {
        let later = self.analyses_until.filter(|&until| until > now);
        if later.is_none() {
            self.analyses_until = None;
        }
        later
    }

    /// A core begins to decompress for so many seconds, if one is free. A single one interrupts its analysis for it.
    pub(crate) fn decompress(&mut self, seconds: f64) -> bool {
        let analyse = usize::from(self.analyses_until.is_some() && self.count > 1);
        let free = self.busy + analyse < self.count;
        if free {
            self.begin(seconds);
        }
        free
    }

    pub(crate) fn decompressed(&mut self) {
        self.busy -= 1;
    }

    /// Whether a core can take a reply from the network now.
    pub(crate) fn may_take(&self) -> bool {
        !self.takes && self.busy < self.count
    }

    /// A core begins to take a reply; if none is free, the one that analyses.
    pub(crate) fn take(&mut self, seconds: f64) {
        self.begin(seconds);
        self.takes = true;
    }

    /// One more is busy; if all are, the one that analyses is interrupted.
    fn begin(&mut self, seconds: f64) {
        if let Some(until) = self.analyses_until.as_mut().filter(|_| self.busy + 1 >= self.count) {
            *until += seconds;
        }
        self.busy += 1;
    }

    pub(crate) fn taken(&mut self) {
        self.busy -= 1;
        self.takes = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_cores_analyses() {
        let mut cores = Cores::new(2);
        assert!(cores.decompress(1.0) && cores.decompress(1.0) && !cores.decompress(1.0));
        cores.decompressed();
        cores.analyse(5.0);
        assert!(!cores.decompress(1.0));
        assert_eq!(cores.analysed(5.0), None);
        assert!(cores.decompress(1.0));
    }

    #[test]
    fn a_single_core_decompresses_while_it_analyses() {
        let mut cores = Cores::new(1);
        cores.analyse(5.0);
        assert!(cores.decompress(2.0) && !cores.decompress(2.0) && !cores.may_take());
        cores.decompressed();
        assert_eq!(cores.analysed(5.0), Some(7.0));
        assert_eq!(cores.analysed(7.0), None);
    }

    #[test]
    fn a_reply_interrupts_the_analysis_if_no_core_is_free() {
        for (count, end) in [(1, 6.0), (2, 5.0)] {
            let mut cores = Cores::new(count);
            cores.analyse(5.0);
            assert!(cores.may_take());
            cores.take(1.0);
            assert!(!cores.may_take());
            cores.taken();
            assert_eq!(cores.analysed(5.0), (end > 5.0).then_some(end), "{count} cores");
            assert_eq!(cores.analysed(end), None);
            assert!(cores.are_idle());
        }
    }
}
