//! A histogram's numbers, with buffered fills moved into its bins.

use super::axes::Axis;
use super::limits::good_limits;
use super::members::{AXES, SUMS, dimensions};
use super::numbers::{array, limits};
use super::part::Part;
use sapwood_edit::survey::Name;
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};

/// `TH1::kIsNotW` and `TH1::kAutoBinPTwo`, bits of the object.
const NO_WEIGHTS: i64 = 1 << 19;
const POWERS_OF_TWO: i64 = 1 << 20;

/// A histogram or profile.
pub(super) struct Filled<'p> {
    pub(super) part: Part<'p>,
    /// One per dimension.
    pub(super) axes: Vec<Axis<'p>>,
    /// Type of the contents.
    pub(super) item: i32,
    pub(super) contents: Vec<f64>,
    /// Squares of weights, for a profile those of the averaged values; empty where none are stored.
    pub(super) squares: Vec<f64>,
    /// For a profile: entries of each bin, and squares of their weights, which may be empty.
    pub(super) entries: Vec<f64>,
    pub(super) entry_squares: Vec<f64>,
    /// The statistics in the order of [`SUMS`].
    pub(super) sums: [Option<f64>; 14],
    /// Whether the contents differ from the file.
    pub(super) poured: bool,
    pub(super) profile: bool,
}

impl<'p> Filled<'p> {
    /// As stored in its file.
    ///
    /// # Errors
    /// `Unsupported` when it does not match its class.
    pub(super) fn of(part: Part<'p>) -> Result<Self> {
        let (s, node) = (part.survey, part.node);
        let n = dimensions(part.class());
        let axes = AXES.iter().take(n).map(|name| {
            let axis = s.child(node, *name).ok_or_else(|| Error::unsupported("has no axes"))?;
            Ok(Axis::of(part.at(axis)))
        });
        let profile = part.class().starts_with("TProfile");
        let numbers = |name| array(s, node, name);
        let (Some(contents), Some(f)) = (numbers(Name::Array), s.field(node, Name::Array)) else {
            return Err(Error::unsupported("has no bins"));
        };
        let axes = axes.collect::<Result<Vec<Axis>>>()?;
        let cells = axes.iter().fold(1usize, |n, a| n.saturating_mul(a.bins.saturating_add(2)));
        if cells != contents.len() {
            return Err(Error::unsupported(format!("has {} bins where its axes have {cells}", contents.len())));
        }
        let kept = |name| numbers(name).filter(|n| n.len() == cells).unwrap_or_default();
        let entries = kept(Name::BinEntries);
        if profile && entries.is_empty() {
            return Err(Error::unsupported("has no entries per bin"));
        }
        Ok(Self {
            part,
            axes,
            item: f.code,
            contents,
            squares: kept(Name::Errors),
            entries,
            entry_squares: kept(Name::BinSumw2),
            sums: SUMS.map(|name| s.number(node, name)),
            poured: false,
            profile,
        })
    }

    /// The buffered fills: for each its weight, then its position, and for a profile the averaged value. A buffer with
    /// a negative count is already in the bins.
    pub(super) fn waiting(&self) -> Vec<f64> {
        let buffer = array(self.part.survey, self.part.node, Name::Buffer).unwrap_or_default();
        let n = buffer.first().copied().filter(|n| *n > 0.0).unwrap_or(0.0) as usize;
        let len = n.saturating_mul(self.row());
        buffer.get(1..len.saturating_add(1)).unwrap_or_default().to_vec()
    }

    /// Numbers per fill.
    pub(super) fn row(&self) -> usize {
        1 + self.axes.len() + usize::from(self.profile)
    }

    /// Whether all axes have limits.
    pub(super) fn has_limits(&self) -> bool {
        self.axes.iter().all(Axis::has_limits)
    }

    /// Whether bins are filled though an axis has no limits.
    pub(super) fn is_set_without_limits(&self) -> bool {
        !self.has_limits() && (0..self.contents.len()).any(|cell| self.holds(cell))
    }

    /// Whether its axes choose their limits as powers of two.
    pub(super) fn in_powers_of_two(&self) -> bool {
        self.bits() & POWERS_OF_TWO != 0
    }

    fn bits(&self) -> i64 {
        self.part.survey.integer(self.part.node, Name::Bits).unwrap_or(0)
    }

    /// Whether it has no entries (`TH1::IsEmpty`).
    pub(super) fn is_empty(&self) -> bool {
        let [entries, weights, ..] = self.sums;
        let nothing = |n: Option<f64>| n.unwrap_or(0.0) == 0.0;
        nothing(entries) && nothing(weights) && self.contents.iter().all(|c| *c == 0.0)
    }

    /// The filled bins of an axis, in the order in which they occur.
    pub(super) fn used(&self, axis: usize) -> Vec<usize> {
        let stride: usize = self.axes.iter().take(axis).map(|a| a.bins + 2).product();
        let cells = self.axes.get(axis).map_or(0, |a| a.bins + 2);
        let mut seen = vec![false; cells];
        let mut out = Vec::new();
        for cell in 0..self.contents.len() {
            let bin = cell / stride.max(1) % cells.max(1);
            if self.holds(cell) && !std::mem::replace(&mut seen[bin], true) {
                out.push(bin);
            }
        }
        out
    }

    /// Whether a cell is filled.
    pub(super) fn holds(&self, cell: usize) -> bool {
        [&self.contents, &self.squares, &self.entries].iter().any(|n| n.get(cell).is_some_and(|n| *n != 0.0))
    }

    /// Becomes empty, with the bins of another.
    pub(super) fn take_bins(&mut self, other: &Self) {
        for (mine, theirs) in self.axes.iter_mut().zip(&other.axes) {
            (mine.bins, mine.low, mine.high) = (theirs.bins, theirs.low, theirs.high);
            mine.edges.clone_from(&theirs.edges);
        }
        let cells = other.contents.len();
        self.contents = vec![0.0; cells];
        for kept in [&mut self.squares, &mut self.entries, &mut self.entry_squares] {
            if !kept.is_empty() {
                *kept = vec![0.0; cells];
            }
        }
        self.sums = self.sums.map(|s| s.map(|_| 0.0));
        self.poured = true;
    }

    /// Gives all axes the limits that ROOT chooses for these fills.
    pub(super) fn choose_limits(&mut self, rows: &[f64]) {
        let row = self.row();
        for (i, a) in self.axes.iter_mut().enumerate() {
            let places = || rows.chunks_exact(row).filter_map(|r| r.get(1 + i).copied());
            let (least, most) = (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
            (a.low, a.high) = good_limits(a.bins, least, most);
            a.edges.clear();
        }
    }

    /// Moves buffered fills into their bins (`TH1::BufferEmpty`).
    ///
    /// # Errors
    /// As [`Filled::pour`].
    pub(super) fn settle(&mut self, rows: &[f64]) -> Result<()> {
        let row = self.row();
        // where all axes extend, they do so before the first fill
        if !rows.is_empty() && self.axes.iter().all(|a| a.extends) {
            for axis in 0..self.axes.len() {
                let places = || rows.chunks_exact(row).filter_map(|r| r.get(1 + axis).copied());
                self.grow(axis, places().fold(f64::INFINITY, f64::min))?;
                self.grow(axis, places().fold(f64::NEG_INFINITY, f64::max))?;
            }
        }
        self.pour(rows)
    }

    /// Fills one by one (`TH1::Fill`).
    ///
    /// # Errors
    /// `Invalid` when an axis would have to be extended that cannot be.
    pub(super) fn pour(&mut self, rows: &[f64]) -> Result<()> {
        self.poured |= !rows.is_empty();
        rows.chunks_exact(self.row()).try_for_each(|fill| self.fill(fill))
    }

    /// Extends an axis enough for a value (`TH1::ExtendAxis`).
    fn grow(&mut self, axis: usize, x: f64) -> Result<()> {
        let Some(a) = self.axes.get(axis).filter(|a| a.extends && (x < a.low || x >= a.high)) else { return Ok(()) };
        let Some((low, high)) = a.grown(x) else { return Ok(()) };
        if !a.edges.is_empty() || !a.names().is_empty() {
            return Err(Error::invalid("has fills in its buffer outside of an axis that cannot be extended")
                .with_remedy("call BufferEmpty before it is written, or omit it"));
        }
        let old = a.clone();
        let Some(a) = self.axes.get_mut(axis) else { return Ok(()) };
        (a.low, a.high) = (low, high);
        let to: Vec<usize> = (0..old.bins + 2).map(|bin| a.find(old.center(bin))).collect();
        let stride: usize = self.axes.iter().take(axis).map(|a| a.bins + 2).product();
        let cells = old.bins + 2;
        for kept in [&mut self.contents, &mut self.squares, &mut self.entries, &mut self.entry_squares] {
            let mut moved = vec![0.0; kept.len()];
            for (cell, value) in kept.iter().enumerate() {
                let bin = cell / stride % cells;
                // ROOT discards underflow and overflow
                if bin >= 1 && bin <= old.bins {
                    let place = cell - bin * stride + to.get(bin).copied().unwrap_or(0) * stride;
                    if let Some(sum) = moved.get_mut(place) {
                        *sum += value;
                    }
                } else if *value != 0.0 {
                    return Err(Error::invalid("has fills in its buffer, and entries below or above its limits")
                        .with_remedy("call BufferEmpty before it is written, or omit it"));
                }
            }
            *kept = moved;
        }
        Ok(())
    }

    /// One fill: `TH1::Fill` and its variants.
    fn fill(&mut self, fill: &[f64]) -> Result<()> {
        let Some((&w, place)) = fill.split_first() else { return Ok(()) };
        let n = self.axes.len();
        let value = if self.profile { place.get(n).copied().unwrap_or(0.0) } else { 1.0 };
        if self.profile && !self.takes(value) {
            return Ok(());
        }
        let (mut cell, mut stride, mut inside) = (0, 1, true);
        for (i, &x) in place.iter().take(n).enumerate() {
            self.grow(i, x)?;
            let Some(a) = self.axes.get(i) else { continue };
            let bin = a.find(x);
            inside &= bin >= 1 && bin <= a.bins;
            cell += bin * stride;
            stride *= a.bins + 2;
        }
        let add = |numbers: &mut Vec<f64>, value: f64| {
            if let Some(sum) = numbers.get_mut(cell) {
                *sum += value;
            }
        };
        let weighted = w != 1.0 && self.bits() & NO_WEIGHTS == 0;
        if self.profile {
            add(&mut self.contents, w * value);
            add(&mut self.squares, w * value * value);
            if weighted && self.entry_squares.is_empty() {
                self.entry_squares.clone_from(&self.entries);
            }
            add(&mut self.entry_squares, w * w);
            add(&mut self.entries, w);
        } else {
            if weighted && self.squares.is_empty() {
                self.squares = self.contents.iter().map(|c| c.abs()).collect();
            }
            add(&mut self.squares, w * w);
            if let Some(sum) = self.contents.get_mut(cell) {
                *sum = stored(self.item, *sum, w);
            }
        }
        let mut terms = [0.0; 14];
        terms[0] = 1.0;
        if inside || self.counts_outside() {
            let at = |i: usize| if i < n { place.get(i).copied().unwrap_or(0.0) } else { 0.0 };
            let (x, y, z) = (at(0), at(1), at(2));
            let inner =
                [w, w * w, w * x, w * x * x, w * y, w * y * y, w * x * y, w * z, w * z * z, w * x * z, w * y * z];
            terms[1..12].copy_from_slice(&inner);
            if let Some(pair) = self.averaged().and_then(|at| terms.get_mut(at)) {
                pair.copy_from_slice(&[w * value, w * value * value]);
            }
        }
        for (sum, term) in self.sums.iter_mut().zip(terms) {
            *sum = sum.map(|s| s + term);
        }
        Ok(())
    }

    /// Whether a profile accepts a value: those out of its range are ignored.
    fn takes(&self, value: f64) -> bool {
        let names = [(Name::Ymin, Name::Ymax), (Name::Zmin, Name::Zmax), (Name::Tmin, Name::Tmax)];
        let Some((low, high)) = names.get(self.axes.len().wrapping_sub(1)) else { return true };
        let number = |name| self.part.survey.number(self.part.node, name).unwrap_or(0.0);
        let (low, high) = (number(*low), number(*high));
        low == high || (low..=high).contains(&value)
    }

    /// The indices of a profile's sums of averaged values and of their squares in [`SUMS`].
    pub(super) fn averaged(&self) -> Option<std::ops::Range<usize>> {
        [5..7, 8..10, 12..14].get(self.axes.len().wrapping_sub(1)).filter(|_| self.profile).cloned()
    }

    /// Whether statistics include underflow and overflow (`TH1::kConsider`).
    pub(super) fn counts_outside(&self) -> bool {
        self.part.survey.integer(self.part.node, Name::StatOverflows) == Some(1)
    }
}

/// The sum as stored in a bin of a type.
fn stored(item: i32, sum: f64, w: f64) -> f64 {
    match (item, limits(item)) {
        (code::DOUBLE, _) => sum + w,
        (code::FLOAT | code::DOUBLE32, _) => f64::from(sum as f32 + w as f32),
        (_, (least, most)) => (sum as i64).saturating_add(w as i64).clamp(least, most) as f64,
    }
}
