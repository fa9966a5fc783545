//! What two axes show: a value for each cell, cells joined so that they can be distinguished.

use crate::hist::Axis;
use crate::histogram::Histogram;

/// Values over x and y.
pub(super) struct Surface {
    /// Edges of the cells, one more than there are.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// A value for each cell, y runs fastest; `None` where nothing was filled.
    pub values: Vec<Option<f64>>,
}

impl Surface {
    /// Of a histogram of two variables, of three by their first two (added up over the third), or of a profile of two
    /// axes; of at most so many cells. `None` of anything else.
    pub(super) fn new(hist: &Histogram, most: (usize, usize)) -> Option<Self> {
        let axes = hist.axes();
        let (Some(x), Some(y)) = (axes.first(), axes.get(1)) else { return None };
        let depth = axes.get(2).map_or(1, Axis::bins);
        // sums of weighted values and of weights; of counts, the first only
        let (sums, weights) = match hist {
            Histogram::Many(h) => (h.values(false), None),
            Histogram::Profile(p) => (p.inner(&p.sums_of_values()), Some(p.inner(&p.sums_of_weights()))),
            _ => return None,
        };
        let (gx, gy) = (group(x.bins(), most.0), group(y.bins(), most.1));
        let (nx, ny) = (x.bins().div_ceil(gx), y.bins().div_ceil(gy));
        let joined = |cells: &[f64]| {
            let mut out = vec![0.0; nx * ny];
            for (i, column) in cells.chunks(y.bins() * depth).enumerate() {
                for (j, cell) in column.chunks(depth).enumerate() {
                    out[i / gx * ny + j / gy] += cell.iter().sum::<f64>();
                }
            }
            out
        };
        let sums = joined(&sums);
        let values = match weights.map(|w| joined(&w)) {
            None => sums.into_iter().map(|v| (v != 0.0 && v.is_finite()).then_some(v)).collect(),
            Some(weights) => {
                let mean = |(s, w): (f64, f64)| (w != 0.0 && (s / w).is_finite()).then_some(s / w);
                sums.into_iter().zip(weights).map(mean).collect()
            }
        };
        Some(Self { x: edges(x, gx, nx), y: edges(y, gy, ny), values })
    }

    /// The value of a cell.
    pub(super) fn value(&self, i: usize, j: usize) -> Option<f64> {
        self.values.get(i * (self.y.len() - 1) + j).copied().flatten()
    }

    /// Smallest and largest value; of counts the smallest is 0 unless it is less.
    pub(super) fn range(&self, counts: bool) -> (f64, f64) {
        let values = || self.values.iter().flatten().copied();
        let low = values().fold(if counts { 0.0 } else { f64::INFINITY }, f64::min);
        let high = values().fold(if counts { 0.0 } else { f64::NEG_INFINITY }, f64::max);
        if low.is_finite() && high.is_finite() && high > low {
            (low, high)
        } else if low.is_finite() && low == high {
            (low - 0.5, high + 0.5)
        } else {
            (0.0, 1.0)
        }
    }
}

/// How many bins are joined so that at most `most` are left.
fn group(bins: usize, most: usize) -> usize {
    bins.div_ceil(most.max(1)).max(1)
}

fn edges(axis: &Axis, group: usize, cells: usize) -> Vec<f64> {
    (0..=cells).map(|i| axis.edge((i * group).min(axis.bins()))).collect()
}
