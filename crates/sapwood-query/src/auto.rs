use crate::binning::{automatic_axis, automatic_axis_of};
use crate::hist::{Axis, Hist1D};
use sapwood_span::Result;
use std::collections::BTreeMap;

/// Values kept before they are counted instead: 32 MiB with their weights.
const BUFFER: usize = 1 << 21;
/// Bins of the histogram that counts, at most, unless fewer or more are asked for.
const COARSE_BINS: i64 = 128;
/// Bins it has at most when more are asked for.
const FINEST_BINS: i64 = 1 << 16;

/// A histogram that finds its binning when all is filled.
///
/// It keeps the values up to two million; beyond that it counts them in at most 128 bins whose
/// width is a power of two and whose edges are multiples of it. Such bins can be joined exactly
/// when the range grows, so that counts never depend on the order of filling or on how the work
/// was divided.
#[derive(Clone, Debug)]
pub struct AutoHist {
    integer: bool,
    /// How many bins it shall have.
    bins: Option<usize>,
    store: Store,
    min: f64,
    max: f64,
    below: Flow,
    above: Flow,
}

#[derive(Clone, Debug)]
enum Store {
    Kept { values: Vec<f64>, weights: Vec<f64> },
    Counted(Coarse),
}

/// Values that lie in no bin: infinities, and NaN, which ROOT puts in the overflow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    entries: u64,
    sums: [f64; 2],
}

impl Flow {
    fn add(&mut self, entries: u64, sums: [f64; 2]) {
        self.entries += entries;
        self.sums[0] += sums[0];
        self.sums[1] += sums[1];
    }
}

impl AutoHist {
    /// An empty histogram; `integer` when the values are whole numbers ([`crate::Query::is_integer`]).
    pub fn new(integer: bool) -> Self {
        Self::with_bins(integer, None)
    }

    /// An empty histogram that will have exactly this many bins.
    pub fn with_bins(integer: bool, bins: Option<usize>) -> Self {
        Self {
            integer,
            bins,
            store: Store::Kept { values: Vec::new(), weights: Vec::new() },
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            below: Flow::default(),
            above: Flow::default(),
        }
    }

    /// Adds one entry per value and weight (to the shorter of the two slices).
    pub fn fill(&mut self, values: &[f64], weights: &[f64]) {
        let n = values.len().min(weights.len());
        let (values, weights) = (&values[..n], &weights[..n]);
        let mut odd = false;
        for (&x, &w) in values.iter().zip(weights) {
            if x.is_finite() {
                self.min = self.min.min(x);
                self.max = self.max.max(x);
            } else {
                odd = true;
                let flow = if x == f64::NEG_INFINITY { &mut self.below } else { &mut self.above };
                flow.add(1, [w, w * w]);
            }
        }
        match &mut self.store {
            Store::Kept { values: v, weights: w } if !odd => {
                v.extend_from_slice(values);
                w.extend_from_slice(weights);
            }
            Store::Kept { values: v, weights: w } => {
                let finite = values.iter().zip(weights).filter(|(x, _)| x.is_finite());
                for (x, y) in finite {
                    v.push(*x);
                    w.push(*y);
                }
            }
            Store::Counted(c) => {
                c.widen(self.min, self.max, self.integer);
                c.add(values, weights);
            }
        }
        self.count_if_many();
    }

    /// Adds what another worker filled.
    pub fn merge(&mut self, other: AutoHist) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.below.add(other.below.entries, other.below.sums);
        self.above.add(other.above.entries, other.above.sums);
        match (&mut self.store, other.store) {
            (Store::Kept { values, weights }, Store::Kept { values: v, weights: w }) => {
                values.extend(v);
                weights.extend(w);
            }
            (Store::Counted(c), Store::Kept { values, weights }) => {
                c.widen(self.min, self.max, self.integer);
                c.add(&values, &weights);
            }
            (Store::Kept { values, weights }, Store::Counted(mut c)) => {
                c.widen(self.min, self.max, self.integer);
                c.add(values, weights);
                self.store = Store::Counted(c);
            }
            (Store::Counted(c), Store::Counted(mut d)) => {
                c.widen(self.min, self.max, self.integer);
                d.coarsen(c.exponent);
                c.join(d);
            }
        }
        self.count_if_many();
    }

    fn count_if_many(&mut self) {
        let Store::Kept { values, weights } = &self.store else { return };
        if values.len() > BUFFER {
            let most = self.bins.map_or(COARSE_BINS, |n| i64::try_from(n).unwrap_or(i64::MAX).clamp(2, FINEST_BINS));
            let mut c =
                Coarse { exponent: exponent(self.min, self.max, self.integer, most), most, ..Coarse::default() };
            c.add(values, weights);
            self.store = Store::Counted(c);
        }
    }

    /// Chooses the binning ([`automatic_axis`], or the bins it counted in) and gives the histogram;
    /// without any value it ranges from 0 to 1.
    ///
    /// # Errors
    /// `Invalid` when the values are so far apart that no binning spans them.
    pub fn finish(self) -> Result<Hist1D> {
        let mut hist = match self.store {
            Store::Kept { values, .. } if values.is_empty() => {
                Hist1D::new(Axis::new(self.bins.unwrap_or(100), 0.0, 1.0)?)
            }
            Store::Kept { values, weights } => {
                let axis = match self.bins {
                    None => automatic_axis(self.min, self.max, self.integer)?,
                    Some(bins) => automatic_axis_of(bins, self.min, self.max, self.integer)?,
                };
                let mut hist = Hist1D::new(axis);
                hist.fill(&values, &weights);
                hist
            }
            Store::Counted(c) => c.finish(self.bins)?,
        };
        let overflow = hist.axis().bins() + 1;
        hist.add_bin(0, self.below.entries, self.below.sums);
        hist.add_bin(overflow, self.above.entries, self.above.sums);
        Ok(hist)
    }
}

/// Bins of width 2^exponent by their number; the bin of number 0 begins at 0.
#[derive(Clone, Debug, Default)]
struct Coarse {
    exponent: i32,
    /// Bins at most.
    most: i64,
    bins: BTreeMap<i64, Flow>,
    sums: [f64; 4],
}

/// The smallest exponent for which the range takes no more than `most` bins.
fn exponent(min: f64, max: f64, integer: bool, most: i64) -> i32 {
    // Bin numbers stay below 2^52, so that they are exact.
    let magnitude = min.abs().max(max.abs());
    let finest = if magnitude > 0.0 { magnitude.log2() as i32 - 50 } else { -900 };
    let mut e = finest.max(if integer { 0 } else { -900 });
    let wanted = (max - min) / most as f64;
    if wanted > 0.0 {
        e = e.max(wanted.log2().floor().min(1000.0) as i32 - 1);
    }
    while e < 1023 && number(max, e) - number(min, e) >= most {
        e += 1;
    }
    e
}

fn number(x: f64, exponent: i32) -> i64 {
    (x * 2f64.powi(-exponent)).floor() as i64
}

impl Coarse {
    fn add(&mut self, values: &[f64], weights: &[f64]) {
        let (scale, mut sums) = (2f64.powi(-self.exponent), self.sums);
        let base = values.iter().copied().filter(|x| x.is_finite()).fold(f64::INFINITY, f64::min);
        let base = (base * scale).floor() as i64;
        let mut here = vec![Flow::default(); self.most as usize];
        for (&x, &w) in values.iter().zip(weights).filter(|(x, _)| x.is_finite()) {
            let i = (x * scale).floor() as i64 - base;
            if let Some(bin) = usize::try_from(i).ok().and_then(|i| here.get_mut(i)) {
                bin.add(1, [w, w * w]);
            }
            sums = [sums[0] + w, sums[1] + w * w, sums[2] + w * x, sums[3] + w * x * x];
        }
        self.sums = sums;
        for (i, flow) in here.into_iter().enumerate().filter(|(_, f)| f.entries > 0) {
            self.bins.entry(base + i as i64).or_default().add(flow.entries, flow.sums);
        }
    }

    fn widen(&mut self, min: f64, max: f64, integer: bool) {
        if min <= max {
            self.coarsen(exponent(min, max, integer, self.most));
        }
    }

    /// Joins bins; a bin of twice the width holds exactly two.
    fn coarsen(&mut self, exponent: i32) {
        if exponent <= self.exponent {
            return;
        }
        let shift = exponent.abs_diff(self.exponent).min(63);
        self.exponent = exponent;
        for (i, flow) in std::mem::take(&mut self.bins) {
            self.bins.entry(i >> shift).or_default().add(flow.entries, flow.sums);
        }
    }

    fn join(&mut self, other: Coarse) {
        self.coarsen(other.exponent);
        for (i, flow) in other.bins {
            self.bins.entry(i).or_default().add(flow.entries, flow.sums);
        }
        self.sums.iter_mut().zip(other.sums).for_each(|(a, b)| *a += b);
    }

    /// The bins from the first to the last that holds anything, with empty ones around them up to `asked`.
    fn finish(self, asked: Option<usize>) -> Result<Hist1D> {
        let width = 2f64.powi(self.exponent);
        let mut first = self.bins.keys().next().copied().unwrap_or(0);
        let mut last = self.bins.keys().next_back().copied().unwrap_or(0);
        if asked == Some(1) && last > first {
            // zero is an edge of every width: two bins beside it are one in no other way
            let sums = self.bins.values().fold(Flow::default(), |mut all, f| {
                all.add(f.entries, f.sums);
                all
            });
            let mut hist = Hist1D::new(Axis::new(1, first as f64 * width, (last + 1) as f64 * width)?);
            hist.add_bin(1, sums.entries, sums.sums);
            hist.set_sums(self.sums);
            return Ok(hist);
        }
        let spare = asked.map_or(0, |n| i64::try_from(n).unwrap_or(i64::MAX) - (last - first + 1)).max(0);
        (first, last) = (first - spare / 2, last + spare - spare / 2);
        let axis = Axis::new((last - first + 1) as usize, first as f64 * width, (last + 1) as f64 * width)?;
        let mut hist = Hist1D::new(axis);
        for (i, flow) in self.bins {
            hist.add_bin((i - first) as usize + 1, flow.entries, flow.sums);
        }
        hist.set_sums(self.sums);
        Ok(hist)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize) -> Vec<f64> {
        // A fixed walk through -30..70 (the golden ratio keeps it uneven).
        (0..n).map(|i| (i as f64 * 0.618_033_988_749_895).fract() * 100.0 - 30.0).collect()
    }

    #[test]
    fn few_values_get_the_automatic_axis() {
        let mut h = AutoHist::new(false);
        h.fill(&[1.0, 100.0, f64::NAN, f64::NEG_INFINITY], &[1.0; 4]);
        let h = h.finish().unwrap();
        assert_eq!(h.axis(), automatic_axis(1.0, 100.0, false).unwrap());
        assert_eq!((h.values(true)[0], h.values(true)[101], h.entries()), (1.0, 1.0, 4));
        assert_eq!(AutoHist::new(true).finish().unwrap().entries(), 0);
    }

    #[test]
    fn many_values_count_alike_in_any_order_and_division() {
        let x = values(BUFFER + 5000);
        let ones = vec![1.0; x.len()];
        let mut whole = AutoHist::new(false);
        whole.fill(&x, &ones);
        let mut late = AutoHist::new(false);
        for part in x.chunks(500_000).rev() {
            let mut worker = AutoHist::new(false);
            worker.fill(part, &ones[..part.len()]);
            late.merge(worker);
        }
        let (whole, late) = (whole.finish().unwrap(), late.finish().unwrap());
        assert_eq!(whole.axis(), late.axis());
        assert_eq!(whole.values(true), late.values(true));
        assert_eq!(whole.values(false).iter().sum::<f64>(), x.len() as f64);
        assert_eq!((whole.axis().low(), whole.axis().high(), whole.axis().bins()), (-30.0, 70.0, 100));
        assert!((whole.mean() - 20.0).abs() < 0.01);
    }

    #[test]
    fn as_many_bins_as_were_asked_for_however_many_values() {
        for (bins, n) in [(10, 1000), (10, BUFFER + 10), (1, BUFFER + 10), (70_000, BUFFER + 10)] {
            let x = values(n);
            let mut h = AutoHist::with_bins(false, Some(bins));
            h.fill(&x, &vec![1.0; n]);
            let h = h.finish().unwrap();
            assert_eq!(h.axis().bins(), bins);
            assert_eq!(h.values(false).iter().sum::<f64>(), n as f64);
            let inside = x.iter().filter(|x| h.axis().index(**x) == bins.div_ceil(2)).count();
            assert_eq!(h.values(true)[bins.div_ceil(2)], inside as f64);
        }
        assert_eq!(AutoHist::with_bins(true, Some(7)).finish().unwrap().axis().bins(), 7);
    }

    #[test]
    fn growing_ranges_join_bins() {
        let mut h = AutoHist::new(true);
        h.fill(&vec![3.0; BUFFER + 1], &vec![1.0; BUFFER + 1]);
        h.fill(&[1e6, -1e6], &[1.0, 1.0]);
        let mut other = AutoHist::new(true);
        other.fill(&[5e6], &[2.0]);
        h.merge(other);
        let h = h.finish().unwrap();
        assert!(h.axis().bins() <= 128 && h.axis().low() <= -1e6 && h.axis().high() > 5e6);
        assert_eq!(h.values(false)[h.axis().index(3.0) - 1], (BUFFER + 1) as f64);
        assert_eq!(h.values(false)[h.axis().index(5e6) - 1], 2.0);
    }
}
