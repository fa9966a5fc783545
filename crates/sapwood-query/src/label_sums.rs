//! Axes of strings in histograms that are added: what each string contributes to ROOT's statistics.

use crate::grid::{Grid, Located, Places};
use crate::moments::Moments;
use crate::part_bytes::{PartReader, PartWriter, damaged};
use sapwood_span::Result;

/// Variables of a histogram, at most.
const MOST: usize = 3;

/// Of a string, over the rows inside all axes: the sum of weights w, and of w·v for each variable v that is a number.
type Sums = [f64; 1 + MOST];

/// The sums of each string of each axis of strings. A string that another part has in another bin counts there with another
/// place on the axis, so the statistics follow from these sums when all parts are added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LabelSums {
    /// Of each axis; `None` for those of numbers.
    axes: Vec<Option<Vec<Sums>>>,
}

impl LabelSums {
    /// Of nothing, for axes some of which are of strings.
    pub(crate) fn new(is_text: impl Iterator<Item = bool>) -> Self {
        Self { axes: is_text.map(|text| text.then(Vec::new)).collect() }
    }

    /// Adds rows that the grid located; `columns` of all variables, x first.
    pub(crate) fn add(&mut self, grid: &Grid, located: &Located, columns: &[&[f64]], weights: &[f64]) {
        let mut is_text = [false; MOST];
        is_text.iter_mut().zip(&self.axes).for_each(|(is_text, sums)| *is_text = sums.is_some());
        for (i, sums) in self.axes.iter_mut().enumerate() {
            let Some(sums) = sums else { continue };
            for (row, w) in weights.iter().enumerate() {
                if located.inside[row] == 0 {
                    continue;
                }
                let bin = grid.index(located.cells[row] as usize, i).wrapping_sub(1);
                if sums.len() <= bin {
                    sums.resize(bin + 1, Sums::default());
                }
                let [weight, products @ ..] = &mut sums[bin];
                *weight += w;
                for ((sum, column), _) in products.iter_mut().zip(columns).zip(is_text).filter(|(_, text)| !text) {
                    *sum += w * column[row];
                }
            }
        }
    }

    /// One for each bin of an axis.
    pub(crate) fn fit(&mut self, axis: usize, bins: usize) {
        if let Some(Some(sums)) = self.axes.get_mut(axis) {
            sums.resize(bins, Sums::default());
        }
    }

    /// Adds those of a part, whose bins have other places.
    pub(crate) fn merge(&mut self, other: &Self, places: &[Places]) {
        for ((mine, theirs), places) in self.axes.iter_mut().zip(&other.axes).zip(places) {
            let (Some(mine), Some(theirs), Some(places)) = (mine, theirs, places) else { continue };
            for (sums, &place) in theirs.iter().zip(places) {
                if mine.len() <= place {
                    mine.resize(place + 1, Sums::default());
                }
                mine[place].iter_mut().zip(sums).for_each(|(a, b)| *a += b);
            }
        }
    }

    pub(crate) fn scale(&mut self, by: f64) {
        self.axes.iter_mut().flatten().flatten().flatten().for_each(|sum| *sum *= by);
    }

    /// The moments with the middles of the bins as the values of strings; `weights` of the cells.
    pub(crate) fn moments(&self, mut all: Moments, grid: &Grid, weights: &[f64]) -> Moments {
        let middle = |bin: usize| bin as f64 + 0.5;
        let of = |axis: usize| self.axes.get(axis).and_then(Option::as_deref);
        for axis in 0..MOST {
            let Some(sums) = of(axis) else { continue };
            let [mut first, mut second] = [0.0; 2];
            for (bin, sums) in sums.iter().enumerate() {
                first += sums[0] * middle(bin);
                second += sums[0] * middle(bin) * middle(bin);
            }
            all.set_axis(axis, [first, second]);
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let product = |sums: &[Sums], variable: usize| -> f64 {
                sums.iter().enumerate().map(|(bin, sums)| middle(bin) * sums[1 + variable]).sum()
            };
            let sum = match (of(i), of(j)) {
                (Some(_), Some(_)) => grid
                    .inner_cells()
                    .map(|cell| {
                        let at = |axis| middle(grid.index(cell, axis).wrapping_sub(1));
                        weights.get(cell).copied().unwrap_or_default() * at(i) * at(j)
                    })
                    .sum(),
                (Some(sums), None) => product(sums, j),
                (None, Some(sums)) => product(sums, i),
                (None, None) => continue,
            };
            all.set_product(i, j, sum);
        }
        all
    }

    pub(crate) fn write_part(&self, out: &mut PartWriter) {
        self.axes.iter().flatten().for_each(|sums| out.numbers(sums.as_flattened()));
    }

    /// Those of a grid; `None` if none of its axes is of strings.
    pub(crate) fn read_part(part: &mut PartReader<'_>, grid: &Grid) -> Result<Option<Self>> {
        let mut axes = Vec::new();
        for (i, axis) in grid.axes().iter().enumerate() {
            axes.push(match grid.labels(i) {
                None => None,
                Some(labels) if labels.len() == axis.bins() => {
                    Some(part.exactly(labels.len() * (1 + MOST))?.as_chunks().0.to_vec())
                }
                Some(_) => return Err(damaged()),
            });
        }
        Ok(axes.iter().any(Option::is_some).then_some(Self { axes }))
    }
}
