use crate::grid::{CHUNK, Grid, Located};
use crate::hist::Axis;
use crate::label_sums::LabelSums;
use crate::moments::Moments;
use crate::part_bytes::{PartReader, PartWriter};
use crate::uhi;
use sapwood_span::{Error, Result};

/// What the error of a bin of a profile is: the option of TProfile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileError {
    /// Of the mean: the spread divided by the root of the number of entries (`prof`).
    #[default]
    Mean,
    /// The spread (`profs`).
    Spread,
    /// As `Mean`; where there is no spread, that of a whole number, 1/√12 (`profi`).
    Integer,
    /// Of values whose weights are 1/σ²: one over the root of the sum of weights (`profg`).
    Gauss,
}

/// The mean of a variable in the bins of one or two others, with ROOT's statistics: TProfile, TProfile2D.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    grid: Grid,
    error: ProfileError,
    /// Sums in each cell: of w·v, w·v², w.
    cells: Vec<[f64; 3]>,
    /// Sum of w²; none while all weights are 1.
    squared_weights: Option<Vec<f64>>,
    entries: u64,
    moments: Moments,
    /// Kept where an axis is of strings.
    label_sums: Option<LabelSums>,
}

impl Profile {
    /// An empty profile of one or two axes.
    ///
    /// # Errors
    /// `Invalid` for another number of axes, or more than 2^26 bins in all.
    pub fn new(axes: Vec<Axis>, error: ProfileError) -> Result<Self> {
        if !(1..=2).contains(&axes.len()) {
            return Err(Error::invalid(format!("a profile has one or two axes, not {}", axes.len())));
        }
        let grid = Grid::new(axes)?;
        let cells = vec![[0.0; 3]; grid.cells()];
        let moments = Moments::default();
        Ok(Self { grid, error, cells, squared_weights: None, entries: 0, moments, label_sums: None })
    }

    /// Says which axes are of strings, before anything is filled.
    pub(crate) fn expect_labels(&mut self, is_text: impl Iterator<Item = bool>) {
        self.label_sums = Some(LabelSums::new(is_text));
    }

    /// Adds one entry per row: one slice for each axis, x first, then the values to be averaged, and the weights, all of
    /// the same length.
    pub fn fill(&mut self, columns: &[&[f64]], weights: &[f64]) {
        let Some(values) = columns.last() else { return };
        let rows = columns.iter().map(|c| c.len()).fold(weights.len(), usize::min);
        let mut located = Located::new();
        for from in (0..rows).step_by(CHUNK) {
            let range = from..rows.min(from + CHUNK);
            let (v, w) = (&values[range.clone()], &weights[range.clone()]);
            self.grid.locate(columns.iter().map(|c| &c[range.clone()]), &mut located);
            if self.squared_weights.is_some() || w.iter().any(|w| *w != 1.0) {
                let squared = self.squared_weights.get_or_insert_with(|| self.cells.iter().map(|c| c[2]).collect());
                located.cells.iter().zip(w).for_each(|(&cell, w)| squared[cell as usize] += w * w);
            }
            for ((&cell, v), w) in located.cells.iter().zip(v).zip(w) {
                let [sum, square, count] = &mut self.cells[cell as usize];
                *sum += w * v;
                *square += w * v * v;
                *count += w;
            }
            let mut parts: [&[f64]; 3] = [&[]; 3];
            parts.iter_mut().zip(columns).for_each(|(part, c)| *part = &c[range.clone()]);
            let parts = &parts[..columns.len().min(3)];
            self.moments.add(parts, w, &located.inside[..w.len()]);
            if let Some(sums) = &mut self.label_sums {
                sums.add(&self.grid, &located, parts, w);
            }
            self.entries += w.len() as u64;
        }
    }

    pub(crate) fn write_part(&self, out: &mut PartWriter) {
        self.grid.write_part(out);
        out.byte(match self.error {
            ProfileError::Mean => 0,
            ProfileError::Spread => 1,
            ProfileError::Integer => 2,
            ProfileError::Gauss => 3,
        });
        out.numbers(self.cells.as_flattened());
        out.optional(self.squared_weights.as_deref());
        out.count(self.entries);
        out.numbers(&self.moments.0);
        if let Some(sums) = &self.label_sums {
            sums.write_part(out);
        }
    }

    pub(crate) fn read_part(part: &mut PartReader<'_>) -> Result<Self> {
        let grid = Grid::read_part(part, 1..=2)?;
        let error = match part.byte()? {
            0 => ProfileError::Mean,
            1 => ProfileError::Spread,
            2 => ProfileError::Integer,
            _ => ProfileError::Gauss,
        };
        let cells = part.exactly(grid.cells() * 3)?.as_chunks::<3>().0.to_vec();
        let squared_weights = part.optional(grid.cells())?;
        let (entries, moments) = (part.count()?, Moments(part.array()?));
        let label_sums = LabelSums::read_part(part, &grid)?;
        Ok(Self { grid, error, cells, squared_weights, entries, moments, label_sums })
    }

    /// Adds what another worker filled.
    ///
    /// # Errors
    /// `Invalid` when the axes differ; those of strings may.
    pub fn merge(&mut self, other: &Profile) -> Result<()> {
        if self.grid.is_labelled() && other.grid.is_labelled() {
            return self.merge_labelled(other);
        }
        if self.grid != other.grid {
            return Err(Error::invalid("profiles of different binning cannot be added"));
        }
        if self.is_weighted() || other.is_weighted() {
            let mut squared = self.sums_of_squared_weights();
            squared.iter_mut().zip(other.sums_of_squared_weights()).for_each(|(a, b)| *a += b);
            self.squared_weights = Some(squared);
        }
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
        self.moments.merge(&other.moments);
        self.entries += other.entries;
        Ok(())
    }

    /// As [`HistND::merge`](crate::HistND::merge) does.
    fn merge_labelled(&mut self, other: &Profile) -> Result<()> {
        let union = self.grid.union(&other.grid)?;
        match (self.entries, other.entries) {
            (_, 0) => return Ok(()),
            (0, _) => {
                *self = other.clone();
                return Ok(());
            }
            _ => {}
        }
        let sum = |mine: Vec<f64>, theirs: Vec<f64>| union.add((&self.grid, &mine), (&other.grid, &theirs));
        if self.is_weighted() || other.is_weighted() {
            self.squared_weights = Some(sum(self.sums_of_squared_weights(), other.sums_of_squared_weights()));
        }
        let weights = sum(self.sums_of_weights(), other.sums_of_weights());
        let values = sum(self.sums_of_values(), other.sums_of_values());
        let squares = sum(self.sums_of_squares(), other.sums_of_squares());
        self.moments.merge(&other.moments);
        if let (Some(mine), Some(theirs)) = (&mut self.label_sums, &other.label_sums) {
            mine.merge(theirs, &union.places);
            self.moments = mine.moments(self.moments, &union.grid, &weights);
        }
        self.cells = values.into_iter().zip(squares).zip(weights).map(|((v, vv), w)| [v, vv, w]).collect();
        self.entries += other.entries;
        self.grid = union.grid;
        Ok(())
    }

    /// The axes, x first.
    pub fn axes(&self) -> &[Axis] {
        self.grid.axes()
    }

    /// What its errors are.
    pub fn error(&self) -> ProfileError {
        self.error
    }

    /// Sums of w·v, where v is averaged; with underflow and overflow, the last axis runs fastest.
    pub fn sums_of_values(&self) -> Vec<f64> {
        self.sums_in_cells(0)
    }

    /// Sums of w·v², as [`Profile::sums_of_values`].
    pub fn sums_of_squares(&self) -> Vec<f64> {
        self.sums_in_cells(1)
    }

    /// Sums of weights, as [`Profile::sums_of_values`].
    pub fn sums_of_weights(&self) -> Vec<f64> {
        self.sums_in_cells(2)
    }

    fn sums_in_cells(&self, which: usize) -> Vec<f64> {
        self.cells.iter().map(|cell| cell[which]).collect()
    }

    /// Sums of squared weights, as [`Profile::sums_of_values`].
    pub fn sums_of_squared_weights(&self) -> Vec<f64> {
        self.squared_weights.clone().unwrap_or_else(|| self.sums_of_weights())
    }

    /// Whether a weight other than 1 was filled.
    pub fn is_weighted(&self) -> bool {
        self.squared_weights.is_some()
    }

    /// The mean of each bin, 0 in an empty one; with `flow`, underflow and overflow are there.
    pub fn means(&self, flow: bool) -> Vec<f64> {
        let all = self.cells.iter().map(|[sum, _, weight]| if *weight == 0.0 { 0.0 } else { sum / weight });
        self.cut(all.collect(), flow)
    }

    /// The error of each bin, as TProfile::GetBinError has it.
    pub fn errors(&self, flow: bool) -> Vec<f64> {
        let of = |([sum, square, w], w2): (&[f64; 3], f64)| {
            let w = *w;
            if w == 0.0 {
                return 0.0;
            }
            let mean = sum / w;
            let spread = (square / w - mean * mean).abs().sqrt();
            let effective = w * w / w2;
            match self.error {
                ProfileError::Gauss => 1.0 / w.sqrt(),
                ProfileError::Integer if spread == 0.0 => 1.0 / (12.0 * effective).sqrt(),
                ProfileError::Spread => spread,
                ProfileError::Mean | ProfileError::Integer => spread / effective.sqrt(),
            }
        };
        self.cut(self.cells.iter().zip(self.sums_of_squared_weights()).map(of).collect(), flow)
    }

    /// Cells without underflow and overflow.
    pub(crate) fn inner(&self, cells: &[f64]) -> Vec<f64> {
        self.grid.inner(cells)
    }

    fn cut(&self, all: Vec<f64>, flow: bool) -> Vec<f64> {
        if flow { all } else { self.grid.inner(&all) }
    }

    /// How many rows were filled, those out of range included.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Sums over the rows inside the axes, in the order of TProfile::GetStats and TProfile2D::GetStats: 6 or 9.
    pub fn sums(&self) -> &[f64] {
        &self.moments.0[..if self.axes().len() == 1 { 6 } else { 9 }]
    }

    /// Weighted mean along an axis, or of the averaged values (behind the axes); 0 of nothing.
    pub fn mean(&self, dimension: usize) -> f64 {
        self.moments.mean_and_deviation(dimension).0
    }

    /// Standard deviation along an axis, or of the averaged values.
    pub fn std_dev(&self, dimension: usize) -> f64 {
        self.moments.mean_and_deviation(dimension).1
    }

    /// Multiplies the averaged values by a factor, as TProfile::Scale does: in the bins, not in the statistics.
    pub fn scale(&mut self, by: f64) {
        for [sum, square, _] in &mut self.cells {
            *sum *= by;
            *square *= by * by;
        }
    }

    /// In each bin, the sum of squared deviations from the mean, with their weights; with underflow and overflow.
    pub fn squared_deviations(&self) -> Vec<f64> {
        let deviations = |[s, ss, w]: &[f64; 3]| if *w == 0.0 { 0.0 } else { (ss - s * s / w).max(0.0) };
        self.cells.iter().map(deviations).collect()
    }

    /// The variance of the values of each bin, as boost-histogram's weighted mean has it: of the sample. 0 where there is
    /// one value or none.
    fn sample_variances(&self) -> Vec<f64> {
        let weights = self.sums_of_weights().into_iter().zip(self.sums_of_squared_weights());
        let bins = self.squared_deviations().into_iter().zip(weights);
        bins.map(|(deviations, (w, w2))| {
            let freedom = w - w2 / w;
            if freedom > 0.0 { deviations / freedom } else { 0.0 }
        })
        .collect()
    }

    /// The profile in UHI's serialization schema, version 1; `labels` of the axes, x first.
    pub fn to_json(&self, name: &str, labels: &[&str]) -> String {
        format!(
            "{{\"uhi_schema\":1,\"metadata\":{{\"name\":{},\"entries\":{}}},\"axes\":[{}],\
             \"storage\":{{\"type\":\"weighted_mean\",\"sum_of_weights\":{},\"sum_of_weights_squared\":{},\
             \"values\":{},\"variances\":{}}}}}",
            uhi::string(name),
            self.entries,
            self.grid.json_axes(labels),
            self.grid.json_cells(&self.sums_of_weights()),
            self.grid.json_cells(&self.sums_of_squared_weights()),
            self.grid.json_cells(&self.means(true)),
            self.grid.json_cells(&self.sample_variances()),
        )
    }

    /// What the bins of an axis stand for, where its values were strings.
    pub fn labels(&self, axis: usize) -> Option<&[String]> {
        self.grid.labels(axis)
    }

    /// Another axis of strings in place of axis `i`.
    pub(crate) fn label_axis(&mut self, i: usize, axis: Axis, names: Vec<String>) -> Result<()> {
        let grid = self.grid.with_labels(i, axis, names)?;
        self.cells = self.grid.moved(&self.cells, &grid);
        self.squared_weights = self.squared_weights.as_ref().map(|v| self.grid.moved(v, &grid));
        if let (Some(sums), true) = (&mut self.label_sums, grid.labels(i).is_some()) {
            sums.fit(i, grid.axes()[i].bins());
        }
        self.grid = grid;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(error: ProfileError, weights: &[f64]) -> Profile {
        let mut p = Profile::new(vec![Axis::new(2, 0.0, 2.0).unwrap()], error).unwrap();
        p.fill(&[&[0.5, 0.5, 1.5, 5.0], &[1.0, 3.0, 4.0, 9.0]], weights);
        p
    }

    #[test]
    fn means_and_errors_of_each_kind() {
        let of = |error| filled(error, &[1.0; 4]).errors(false);
        assert_eq!(filled(ProfileError::Mean, &[1.0; 4]).means(true), [0.0, 2.0, 4.0, 9.0]);
        assert_eq!(of(ProfileError::Mean), [1.0 / 2f64.sqrt(), 0.0]);
        assert_eq!(of(ProfileError::Spread), [1.0, 0.0]);
        assert_eq!(of(ProfileError::Integer), [1.0 / 2f64.sqrt(), 1.0 / 12f64.sqrt()]);
        assert_eq!(of(ProfileError::Gauss), [1.0 / 2f64.sqrt(), 1.0]);
        let weighted = filled(ProfileError::Mean, &[1.0, 3.0, 2.0, 1.0]);
        assert_eq!(weighted.means(false), [2.5, 4.0]);
        assert_eq!(weighted.sums_of_squared_weights(), [0.0, 10.0, 4.0, 1.0]);
        assert_eq!(weighted.sums(), [6.0, 14.0, 5.0, 5.5, 18.0, 60.0]);
    }

    #[test]
    fn merged_parts_equal_the_whole() {
        let mut a = filled(ProfileError::Mean, &[1.0; 4]);
        a.merge(&filled(ProfileError::Mean, &[2.0; 4])).unwrap();
        let mut b = filled(ProfileError::Mean, &[2.0; 4]);
        b.merge(&filled(ProfileError::Mean, &[1.0; 4])).unwrap();
        assert_eq!(a, b);
        assert_eq!((a.entries(), a.sums_of_weights()[1], a.sums_of_squared_weights()[1]), (8, 6.0, 10.0));
        let json: serde_json::Value = serde_json::from_str(&a.to_json("p", &["x"])).unwrap();
        assert_eq!(json["storage"]["values"], serde_json::json!([0, 2, 4, 9]));
    }
}
