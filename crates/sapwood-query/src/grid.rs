//! The bins of several axes together.

use crate::hist::Axis;
use crate::part_bytes::{PartReader, PartWriter, damaged};
use crate::uhi;
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Bins of all axes together, at most: 512 MiB for each sum that is kept.
const MOST_CELLS: usize = 1 << 26;
/// Rows that are located at a time.
pub(crate) const CHUNK: usize = 512;

/// Cells of two or three axes, with underflow and overflow; the last axis runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    axes: Vec<Axis>,
    /// What the bins of an axis stand for, where its values are strings.
    labels: Vec<Option<Vec<String>>>,
    cells: usize,
}

/// Of an axis of strings, the bin in a sum of each bin of a part; `None` for an axis of numbers.
pub(crate) type Places = Option<Vec<usize>>;

/// Where up to [`CHUNK`] rows belong.
pub(crate) struct Located {
    /// Cell of each row.
    pub cells: [u32; CHUNK],
    /// All bits set for a row that is inside all axes, else none.
    pub inside: [u64; CHUNK],
}

impl Located {
    pub(crate) fn new() -> Self {
        Self { cells: [0; CHUNK], inside: [u64::MAX; CHUNK] }
    }
}

/// The grid of the sum of two: strings that only the other one has get bins behind those that are there.
pub(crate) struct Union {
    pub(crate) grid: Grid,
    /// By axis, the bins that the other one's strings have in the sum.
    pub(crate) places: Vec<Places>,
}

impl Union {
    /// The sum of the cells of the two grids.
    pub(crate) fn add(&self, (mine, cells): (&Grid, &[f64]), (other, more): (&Grid, &[f64])) -> Vec<f64> {
        let mut sum = mine.moved(cells, &self.grid);
        for (from, add) in more.iter().enumerate() {
            let to = self.places.iter().enumerate().try_fold(0, |cell, (i, places)| {
                let index = other.index(from, i);
                let index = match places {
                    None => Some(index),
                    // nothing is beside the bins of strings
                    Some(places) => places.get(index.wrapping_sub(1)).map(|place| place + 1),
                };
                Some(cell * (self.grid.axes.get(i)?.bins() + 2) + index?)
            });
            if let Some(cell) = to.and_then(|to| sum.get_mut(to)) {
                *cell += *add;
            }
        }
        sum
    }
}

impl Grid {
    /// # Errors
    /// `Invalid` when there would be too many cells.
    pub(crate) fn new(axes: Vec<Axis>) -> Result<Self> {
        let cells = axes.iter().try_fold(1usize, |n, a| n.checked_mul(a.bins() + 2).filter(|n| *n <= MOST_CELLS));
        let Some(cells) = cells else {
            let bins: Vec<String> = axes.iter().map(|a| a.bins().to_string()).collect();
            return Err(Error::invalid(format!("{} bins are more than {MOST_CELLS}", bins.join(" × ")))
                .with_remedy("use fewer bins"));
        };
        Ok(Self { labels: vec![None; axes.len()], axes, cells })
    }

    pub(crate) fn write_part(&self, out: &mut PartWriter) {
        out.count(self.axes.len() as u64);
        for (axis, labels) in self.axes.iter().zip(&self.labels) {
            axis.write_part(out);
            out.texts(labels.as_deref());
        }
    }

    /// The bins of as many axes as there must be.
    pub(crate) fn read_part(part: &mut PartReader<'_>, number: RangeInclusive<usize>) -> Result<Self> {
        let axes = part.length(1)?;
        if !number.contains(&axes) {
            return Err(damaged());
        }
        let mut labels = Vec::new();
        let mut read = || {
            let axis = Axis::read_part(part)?;
            labels.push(part.texts()?);
            Ok(axis)
        };
        let grid = Self::new((0..axes).map(|_| read()).collect::<Result<_>>()?)?;
        let fit =
            |(axis, labels): (&Axis, &Option<Vec<String>>)| labels.as_ref().is_none_or(|l| l.len() == axis.bins());
        if grid.axes.iter().zip(&labels).all(fit) { Ok(Self { labels, ..grid }) } else { Err(damaged()) }
    }

    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    pub(crate) fn labels(&self, axis: usize) -> Option<&[String]> {
        self.labels.get(axis)?.as_deref()
    }

    /// Whether an axis is of strings.
    pub(crate) fn is_labelled(&self) -> bool {
        self.labels.iter().any(Option::is_some)
    }

    /// The bin of a cell on an axis, counted from the underflow.
    pub(crate) fn index(&self, cell: usize, axis: usize) -> usize {
        let behind: usize = self.axes.iter().skip(axis + 1).map(|a| a.bins() + 2).product();
        cell / behind.max(1) % self.axes.get(axis).map_or(1, |a| a.bins() + 2)
    }

    /// The cells without underflow and overflow.
    pub(crate) fn inner_cells(&self) -> impl Iterator<Item = usize> + '_ {
        let is_inner = |cell: &usize| {
            self.axes.iter().enumerate().all(|(i, axis)| (1..=axis.bins()).contains(&self.index(*cell, i)))
        };
        (0..self.cells).filter(is_inner)
    }

    /// The sum of two grids.
    ///
    /// # Errors
    /// `Invalid` when axes of numbers differ.
    pub(crate) fn union(&self, other: &Self) -> Result<Union> {
        let (mut grid, mut places) = (self.clone(), Vec::new());
        if self.axes.len() != other.axes.len() {
            return Err(Error::invalid("histograms of different binning cannot be added"));
        }
        for (i, (mine, theirs)) in self.labels.iter().zip(&other.labels).enumerate() {
            let (Some(mine), Some(theirs)) = (mine, theirs) else {
                if self.axes.get(i) != other.axes.get(i) || mine.is_some() != theirs.is_some() {
                    return Err(Error::invalid("histograms of different binning cannot be added"));
                }
                places.push(None);
                continue;
            };
            let mut names = mine.clone();
            let mut known: HashMap<&str, usize> = mine.iter().map(String::as_str).zip(0..).collect();
            let place = |name| {
                *known.entry(name).or_insert_with(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                })
            };
            places.push(Some(theirs.iter().map(String::as_str).map(place).collect()));
            grid = grid.with_labels(i, Axis::new(names.len(), 0.0, names.len() as f64)?, names)?;
        }
        Ok(Union { grid, places })
    }

    /// Another axis of strings in place of axis `i`; without names while they are not all known.
    pub(crate) fn with_labels(&self, i: usize, axis: Axis, names: Vec<String>) -> Result<Self> {
        let mut axes = self.axes.clone();
        if let Some(old) = axes.get_mut(i) {
            *old = axis;
        }
        let mut labels = self.labels.clone();
        if let (Some(old), false) = (labels.get_mut(i), names.is_empty()) {
            *old = Some(names);
        }
        Ok(Self { labels, ..Self::new(axes)? })
    }

    /// Cells as another grid has them, one axis of which may have more or fewer bins; of fewer, those left out are lost.
    pub(crate) fn moved<T: Copy + Default>(&self, cells: &[T], to: &Grid) -> Vec<T> {
        fn copy<T: Copy>(from: &[Axis], to: &[Axis], cells: &[T], out: &mut [T]) {
            let (Some((a, from)), Some((b, to))) = (from.split_first(), to.split_first()) else {
                return out.copy_from_slice(cells);
            };
            let size = |axes: &[Axis]| axes.iter().map(|a| a.bins() + 2).product::<usize>();
            let shared = if a.bins() == b.bins() { a.bins() + 2 } else { a.bins().min(b.bins()) + 1 };
            let parts = cells.chunks(size(from)).zip(out.chunks_mut(size(to)));
            parts.take(shared).for_each(|(cells, out)| copy(from, to, cells, out));
        }
        let mut out = vec![T::default(); to.cells];
        copy(&self.axes, &to.axes, cells, &mut out);
        out
    }

    /// Which axes have underflow and overflow in UHI's schema: those that are not of strings.
    fn flow(&self) -> Vec<bool> {
        self.labels.iter().map(Option::is_none).collect()
    }

    /// The axes in UHI's schema.
    pub(crate) fn json_axes(&self, titles: &[&str]) -> String {
        let axes = self.axes.iter().zip(&self.labels).enumerate().map(|(i, (axis, labels))| {
            uhi::axis(axis.described(), labels.as_deref(), titles.get(i).copied().unwrap_or_default())
        });
        axes.collect::<Vec<_>>().join(",")
    }

    /// Cells as nested lists in UHI's schema.
    pub(crate) fn json_cells(&self, cells: &[f64]) -> String {
        let flow = self.flow();
        let shape: Vec<usize> =
            self.axes.iter().zip(&flow).map(|(a, flow)| a.bins() + if *flow { 2 } else { 0 }).collect();
        uhi::nested(&self.cut(cells, &flow), &shape)
    }

    /// Finds the cells of at most [`CHUNK`] rows: one slice of values for each axis, all of the same length.
    pub(crate) fn locate<'v>(&self, columns: impl Iterator<Item = &'v [f64]>, out: &mut Located) {
        let mut indices = [0u32; CHUNK];
        out.cells.fill(0);
        out.inside.fill(u64::MAX);
        for (axis, column) in self.axes.iter().zip(columns) {
            let (bins, n) = (axis.bins() as u32, column.len().min(CHUNK));
            axis.indices(&column[..n], &mut indices[..n]);
            for ((cell, inside), i) in out.cells.iter_mut().zip(&mut out.inside).zip(&indices[..n]) {
                *cell = *cell * (bins + 2) + i;
                *inside &= if i.wrapping_sub(1) < bins { u64::MAX } else { 0 };
            }
        }
    }

    /// The cells without underflow and overflow.
    pub(crate) fn inner(&self, cells: &[f64]) -> Vec<f64> {
        self.cut(cells, &vec![false; self.axes.len()])
    }

    /// The cells, with underflow and overflow of some of the axes.
    fn cut(&self, cells: &[f64], flow: &[bool]) -> Vec<f64> {
        fn copy(axes: &[Axis], flow: &[bool], cells: &[f64], out: &mut Vec<f64>) {
            let (Some((axis, rest)), Some((all, flow))) = (axes.split_first(), flow.split_first()) else {
                return out.extend(cells);
            };
            let size = rest.iter().map(|a| a.bins() + 2).product::<usize>().max(1);
            let (skipped, taken) = if *all { (0, axis.bins() + 2) } else { (1, axis.bins()) };
            cells.chunks(size).skip(skipped).take(taken).for_each(|part| copy(rest, flow, part, out));
        }
        let mut out = Vec::new();
        copy(&self.axes, flow, cells, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_located_and_the_inner_cells_are_copied() {
        let grid = Grid::new(vec![Axis::new(2, 0.0, 2.0).unwrap(), Axis::variable(&[0.0, 1.0, 10.0, 11.0]).unwrap()]);
        let grid = grid.unwrap();
        let mut out = Located::new();
        let (x, y) = ([0.5, 1.5, -1.0, 1.5], [5.0, 10.5, 0.5, f64::NAN]);
        grid.locate([&x[..], &y[..]].into_iter(), &mut out);
        assert_eq!(out.cells[..4], [5 + 2, 10 + 3, 1, 10 + 4]);
        assert_eq!(out.inside[..4], [u64::MAX, u64::MAX, 0, 0]);
        let cells: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(grid.inner(&cells), [6.0, 7.0, 8.0, 11.0, 12.0, 13.0]);
        let wider = grid.with_labels(0, Axis::new(3, 0.0, 3.0).unwrap(), vec!["a".into(); 3]).unwrap();
        let moved = grid.moved(&cells, &wider);
        assert_eq!(moved[..15], cells[..15]);
        assert_eq!((moved.len(), moved[15..].iter().sum::<f64>()), (25, 0.0));
        assert_eq!(wider.moved(&moved, &grid)[..15], cells[..15]);
        assert_eq!(wider.json_cells(&moved).matches('[').count(), 4);
        assert!(Grid::new(vec![Axis::new(10_000, 0.0, 1.0).unwrap(); 2]).is_err());
    }
}
