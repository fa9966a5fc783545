use crate::binning::{automatic_axis, automatic_axis_near, automatic_axis_of};
use crate::hist::{Axis, Hist1D};
use sapwood_span::Result;

/// Rows that decide about an axis where the tree does not say how many: TTree::GetEstimate.
pub const ESTIMATE: i64 = 1_000_000;

/// Rows that decide about an axis at most, whatever a file asks for: they are kept until then.
const MOST_ROWS: usize = 1 << 24;

/// How many bins there shall be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BinCount {
    /// A hundred, as ROOT has it; for whole numbers about as many.
    #[default]
    Automatic,
    /// As ROOT understands `x>>h(10)`: this many, but for whole numbers, where it may be more or fewer.
    Near(usize),
    /// Exactly this many.
    Exactly(usize),
}

/// How many rows decide about an axis, by what the tree says. Below 1, all of them do.
pub fn rows_that_decide(estimate: i64) -> usize {
    usize::try_from(estimate).ok().filter(|&n| n > 0).map_or(MOST_ROWS, |n| n.min(MOST_ROWS))
}

impl BinCount {
    pub(crate) fn axis(self, min: f64, max: f64, integer: bool) -> Result<Axis> {
        match self {
            Self::Automatic => automatic_axis(min, max, integer),
            Self::Near(bins) => automatic_axis_near(bins, min, max, integer),
            Self::Exactly(bins) => automatic_axis_of(bins, min, max, integer),
        }
    }
}

/// A histogram whose values decide about its binning.
///
/// As in ROOT, the first rows decide: [`ESTIMATE`] of them, or as many as the tree says. They are kept until then; values
/// that come later and lie outside are counted in the underflow and the overflow. Fill it in the order of the entries.
#[derive(Clone, Debug)]
pub struct AutoHist {
    integer: bool,
    bins: BinCount,
    /// Rows that decide.
    rows: usize,
    store: Store,
}

#[derive(Clone, Debug)]
enum Store {
    Kept { values: Vec<f64>, weights: Vec<f64> },
    Binned(Hist1D),
}

impl AutoHist {
    /// An empty histogram; `integer` when the values are whole numbers ([`crate::Query::is_integer`]).
    pub fn new(integer: bool) -> Self {
        Self::with_bins(integer, BinCount::Automatic)
    }

    /// An empty histogram that will have this many bins.
    pub fn with_bins(integer: bool, bins: BinCount) -> Self {
        let store = Store::Kept { values: Vec::new(), weights: Vec::new() };
        Self { integer, bins, rows: ESTIMATE as usize, store }
    }

    /// How many rows decide about the binning: what the tree's header says (fEstimate). Below 1, all of them do.
    #[must_use = "it changes a copy"]
    pub fn estimate(mut self, rows: i64) -> Self {
        self.rows = rows_that_decide(rows);
        self
    }

    /// Adds one entry per value and weight (to the shorter of the two slices).
    ///
    /// # Errors
    /// `Invalid` when no binning spans the values.
    pub fn fill(&mut self, values: &[f64], weights: &[f64]) -> Result<()> {
        let n = values.len().min(weights.len());
        let kept = match &mut self.store {
            Store::Binned(hist) => {
                hist.fill(&values[..n], &weights[..n]);
                return Ok(());
            }
            Store::Kept { values: v, weights: w } => {
                let kept = n.min(self.rows.saturating_sub(v.len()));
                v.extend_from_slice(&values[..kept]);
                w.extend_from_slice(&weights[..kept]);
                if v.len() < self.rows {
                    return Ok(());
                }
                kept
            }
        };
        let mut hist = self.binned()?;
        hist.fill(&values[kept..n], &weights[kept..n]);
        self.store = Store::Binned(hist);
        Ok(())
    }

    /// The histogram of what is kept, which decides about the axis.
    fn binned(&mut self) -> Result<Hist1D> {
        let empty = Store::Kept { values: Vec::new(), weights: Vec::new() };
        let (values, weights) = match std::mem::replace(&mut self.store, empty) {
            Store::Binned(hist) => return Ok(hist),
            Store::Kept { values, weights } => (values, weights),
        };
        if values.is_empty() {
            let bins = match self.bins {
                BinCount::Automatic => 100,
                BinCount::Near(bins) | BinCount::Exactly(bins) => bins,
            };
            return Ok(Hist1D::new(Axis::new(bins, 0.0, 1.0)?));
        }
        // NaN decides nothing
        let min = values.iter().copied().fold(f64::MAX, f64::min);
        let max = values.iter().copied().fold(f64::MIN, f64::max);
        let mut hist = Hist1D::new(self.bins.axis(min, max, self.integer)?);
        hist.fill(&values, &weights);
        Ok(hist)
    }

    /// The histogram; without any value it ranges from 0 to 1.
    ///
    /// # Errors
    /// `Invalid` when no binning spans the values.
    pub fn finish(mut self) -> Result<Hist1D> {
        self.binned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_get_the_automatic_axis() {
        let mut h = AutoHist::new(false);
        h.fill(&[1.0, 100.0, f64::NAN], &[1.0; 3]).unwrap();
        let h = h.finish().unwrap();
        assert_eq!(h.axis(), automatic_axis(1.0, 100.0, false).unwrap());
        assert_eq!((h.values(true)[0], h.values(true)[101], h.entries()), (0.0, 1.0, 3));
        let h = AutoHist::new(true).finish().unwrap();
        assert_eq!((h.entries(), h.axis().low(), h.axis().high()), (0, 0.0, 1.0));
    }

    /// With an infinite value among them, ROOT 6.40 draws from -1 to 1.
    #[test]
    fn infinite_values_decide_as_in_root() {
        let mut h = AutoHist::new(false);
        h.fill(&[0.5, 100.0, f64::INFINITY], &[1.0; 3]).unwrap();
        let h = h.finish().unwrap();
        assert_eq!((h.axis().bins(), h.axis().low(), h.axis().high()), (100, -1.0, 1.0));
        assert_eq!((h.values(false).iter().sum::<f64>(), h.values(true)[101]), (1.0, 2.0));
        let mut h = AutoHist::new(false);
        h.fill(&[f64::NAN; 2], &[1.0; 2]).unwrap();
        assert_eq!(h.finish().unwrap().axis().high(), 1.0);
    }

    /// Values behind the estimate do not move the limits, as in ROOT, however they came.
    #[test]
    fn the_first_rows_decide() {
        let x: Vec<f64> = (0..60).map(f64::from).collect();
        let ones = vec![1.0; x.len()];
        let mut whole = AutoHist::new(false).estimate(20);
        whole.fill(&x, &ones).unwrap();
        let whole = whole.finish().unwrap();
        assert_eq!(whole.axis(), automatic_axis(0.0, 19.0, false).unwrap());
        assert_eq!((whole.entries(), whole.values(true)[101]), (60, 39.0));
        for size in [1, 7, 20, 21] {
            let mut parts = AutoHist::new(false).estimate(20);
            for part in x.chunks(size) {
                parts.fill(part, &ones[..part.len()]).unwrap();
            }
            assert_eq!(parts.finish().unwrap(), whole);
        }
        let mut all = AutoHist::new(false).estimate(-1);
        all.fill(&x, &ones).unwrap();
        assert_eq!(all.finish().unwrap().values(true)[101], 0.0);
    }

    #[test]
    fn as_many_bins_as_were_asked_for() {
        for (bins, integer) in [(10, false), (1, false), (7, true)] {
            let mut h = AutoHist::with_bins(integer, BinCount::Exactly(bins));
            h.fill(&[3.0, 80.0, 41.0], &[1.0; 3]).unwrap();
            let h = h.finish().unwrap();
            assert_eq!((h.axis().bins(), h.values(false).iter().sum::<f64>()), (bins, 3.0));
        }
        assert_eq!(AutoHist::with_bins(true, BinCount::Exactly(7)).finish().unwrap().axis().bins(), 7);
        assert!(AutoHist::with_bins(true, BinCount::Near(0)).finish().is_err());
    }
}
