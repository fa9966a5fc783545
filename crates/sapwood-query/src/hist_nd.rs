use crate::grid::{CHUNK, Grid, Located};
use crate::hist::Axis;
use crate::label_sums::LabelSums;
use crate::moments::Moments;
use crate::part_bytes::{PartReader, PartWriter};
use crate::uhi;
use sapwood_span::{Error, Result};

/// A histogram of two or three variables: weighted counts, their variances, and ROOT's statistics.
///
/// The axes are in the order x, y, z; of cells, the last axis runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct HistND {
    grid: Grid,
    /// Sum of weights per cell, with underflow and overflow.
    values: Vec<f64>,
    /// Sum of squared weights per cell; none while all weights are 1 and it is the same as `values`.
    variances: Option<Vec<f64>>,
    entries: u64,
    moments: Moments,
    /// Kept where an axis is of strings.
    label_sums: Option<LabelSums>,
}

impl HistND {
    /// An empty histogram of two or three axes.
    ///
    /// # Errors
    /// `Invalid` for another number of axes, or more than 2^26 bins in all.
    pub fn new(axes: Vec<Axis>) -> Result<Self> {
        if !(2..=3).contains(&axes.len()) {
            return Err(Error::invalid(format!("a histogram has one to three axes, not {}", axes.len())));
        }
        let grid = Grid::new(axes)?;
        let values = vec![0.0; grid.cells()];
        Ok(Self { grid, values, variances: None, entries: 0, moments: Moments::default(), label_sums: None })
    }

    /// Says which axes are of strings, before anything is filled.
    pub(crate) fn expect_labels(&mut self, is_text: impl Iterator<Item = bool>) {
        self.label_sums = Some(LabelSums::new(is_text));
    }

    /// Adds one entry per row: one slice for each axis, x first, and the weights, all of the same length.
    pub fn fill(&mut self, columns: &[&[f64]], weights: &[f64]) {
        let rows = columns.iter().map(|c| c.len()).fold(weights.len(), usize::min);
        let mut located = Located::new();
        for from in (0..rows).step_by(CHUNK) {
            let range = from..rows.min(from + CHUNK);
            let w = &weights[range.clone()];
            self.grid.locate(columns.iter().map(|c| &c[range.clone()]), &mut located);
            let cells = &located.cells[..w.len()];
            // Most selections are 0 or 1.
            if self.variances.is_none() && w.iter().all(|w| *w == 1.0) {
                cells.iter().for_each(|&cell| self.values[cell as usize] += 1.0);
            } else {
                let variances = self.variances.get_or_insert_with(|| self.values.clone());
                for (&cell, w) in cells.iter().zip(w) {
                    self.values[cell as usize] += w;
                    variances[cell as usize] += w * w;
                }
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
        out.numbers(&self.values);
        out.optional(self.variances.as_deref());
        out.count(self.entries);
        out.numbers(&self.moments.0);
        if let Some(sums) = &self.label_sums {
            sums.write_part(out);
        }
    }

    pub(crate) fn read_part(part: &mut PartReader<'_>) -> Result<Self> {
        let grid = Grid::read_part(part, 2..=3)?;
        let (values, variances) = (part.exactly(grid.cells())?, part.optional(grid.cells())?);
        let (entries, moments) = (part.count()?, Moments(part.array()?));
        let label_sums = LabelSums::read_part(part, &grid)?;
        Ok(Self { grid, values, variances, entries, moments, label_sums })
    }

    /// Adds what another worker filled.
    ///
    /// # Errors
    /// `Invalid` when the axes differ; those of strings may.
    pub fn merge(&mut self, other: &HistND) -> Result<()> {
        if self.grid.is_labelled() && other.grid.is_labelled() {
            return self.merge_labelled(other);
        }
        if self.grid != other.grid {
            return Err(Error::invalid("histograms of different binning cannot be added"));
        }
        if other.variances.is_some() {
            self.variances.get_or_insert_with(|| self.values.clone());
        }
        if let Some(variances) = &mut self.variances {
            let more = other.variances.as_ref().unwrap_or(&other.values);
            variances.iter_mut().zip(more).for_each(|(a, b)| *a += b);
        }
        self.values.iter_mut().zip(&other.values).for_each(|(a, b)| *a += b);
        self.moments.merge(&other.moments);
        self.entries += other.entries;
        Ok(())
    }

    /// The strings of the other one get the bins of the same strings here, and new ones get bins behind them.
    fn merge_labelled(&mut self, other: &HistND) -> Result<()> {
        let union = self.grid.union(&other.grid)?;
        match (self.entries, other.entries) {
            // what has no entries has a bin without a string
            (_, 0) => return Ok(()),
            (0, _) => {
                *self = other.clone();
                return Ok(());
            }
            _ => {}
        }
        let sum = |mine: &[f64], theirs: &[f64]| union.add((&self.grid, mine), (&other.grid, theirs));
        if self.is_weighted() || other.is_weighted() {
            self.variances = Some(sum(&self.variances(true), &other.variances(true)));
        }
        self.values = sum(&self.values, &other.values);
        self.moments.merge(&other.moments);
        if let (Some(mine), Some(theirs)) = (&mut self.label_sums, &other.label_sums) {
            mine.merge(theirs, &union.places);
            self.moments = mine.moments(self.moments, &union.grid, &self.values);
        }
        self.entries += other.entries;
        self.grid = union.grid;
        Ok(())
    }

    /// Multiplies all weights by a factor, as TH1::Scale does.
    pub fn scale(&mut self, by: f64) {
        let variances = self.variances.get_or_insert_with(|| self.values.clone());
        variances.iter_mut().for_each(|v| *v *= by * by);
        self.values.iter_mut().for_each(|v| *v *= by);
        self.moments.scale(by);
        if let Some(sums) = &mut self.label_sums {
            sums.scale(by);
        }
    }

    /// The axes, x first.
    pub fn axes(&self) -> &[Axis] {
        self.grid.axes()
    }

    /// Sums of weights; with `flow`, each axis begins with its underflow and ends with its overflow.
    pub fn values(&self, flow: bool) -> Vec<f64> {
        if flow { self.values.clone() } else { self.grid.inner(&self.values) }
    }

    /// Sums of squared weights, as [`HistND::values`].
    pub fn variances(&self, flow: bool) -> Vec<f64> {
        let all = self.variances.as_ref().unwrap_or(&self.values);
        if flow { all.clone() } else { self.grid.inner(all) }
    }

    /// Whether a weight other than 1 was filled: the variances are not the values.
    pub fn is_weighted(&self) -> bool {
        self.variances.is_some()
    }

    /// How many rows were filled, those out of range included.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Sums over the rows inside all axes, in the order of TH2::GetStats and TH3::GetStats: 7 or 11.
    pub fn sums(&self) -> &[f64] {
        &self.moments.0[..if self.axes().len() == 2 { 7 } else { 11 }]
    }

    /// Weighted mean along an axis of the rows inside all axes; 0 of nothing.
    pub fn mean(&self, axis: usize) -> f64 {
        self.moments.mean_and_deviation(axis).0
    }

    /// Standard deviation along an axis, as ROOT's GetStdDev: of the population.
    pub fn std_dev(&self, axis: usize) -> f64 {
        self.moments.mean_and_deviation(axis).1
    }

    /// The histogram in UHI's serialization schema, version 1; `labels` of the axes, x first.
    pub fn to_json(&self, name: &str, labels: &[&str]) -> String {
        format!(
            "{{\"uhi_schema\":1,\"metadata\":{{\"name\":{},\"entries\":{}}},\"axes\":[{}],\
             \"storage\":{{\"type\":\"weighted\",\"values\":{},\"variances\":{}}}}}",
            uhi::string(name),
            self.entries,
            self.grid.json_axes(labels),
            self.grid.json_cells(&self.values),
            self.grid.json_cells(self.variances.as_ref().unwrap_or(&self.values)),
        )
    }

    /// What the bins of an axis stand for, where its values were strings.
    pub fn labels(&self, axis: usize) -> Option<&[String]> {
        self.grid.labels(axis)
    }

    /// Another axis of strings in place of axis `i`.
    pub(crate) fn label_axis(&mut self, i: usize, axis: Axis, names: Vec<String>) -> Result<()> {
        let grid = self.grid.with_labels(i, axis, names)?;
        self.values = self.grid.moved(&self.values, &grid);
        self.variances = self.variances.as_ref().map(|v| self.grid.moved(v, &grid));
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

    fn axes() -> Vec<Axis> {
        vec![Axis::new(3, 0.0, 3.0).unwrap(), Axis::new(2, 0.0, 2.0).unwrap()]
    }

    #[test]
    fn merged_parts_equal_the_whole() {
        let (x, y, w) = ([0.5, 1.5, 9.0, 2.5, -1.0], [0.5, 1.5, 0.5, f64::NAN, 1.0], [1.0, 2.0, 1.0, 0.5, 1.0]);
        let mut whole = HistND::new(axes()).unwrap();
        whole.fill(&[&x, &y], &w);
        let (mut a, mut b) = (HistND::new(axes()).unwrap(), HistND::new(axes()).unwrap());
        a.fill(&[&x[..1], &y[..1]], &w[..1]);
        b.fill(&[&x[1..], &y[1..]], &w[1..]);
        a.merge(&b).unwrap();
        assert_eq!(a, whole);
        assert_eq!(whole.values(false), [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        assert_eq!(whole.variances(false), [1.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
        assert_eq!((whole.entries(), whole.values(true).iter().sum::<f64>()), (5, 5.5));
        // only two rows are inside both axes
        assert_eq!(whole.sums(), [3.0, 5.0, 3.5, 4.75, 3.5, 4.75, 4.75]);
        assert!(HistND::new(axes()[..1].to_vec()).is_err());
    }

    #[test]
    fn three_axes_have_eleven_sums() {
        let mut h = HistND::new([axes(), vec![Axis::new(1, 0.0, 10.0).unwrap()]].concat()).unwrap();
        h.fill(&[&[0.5, 2.5], &[1.5, 0.5], &[3.0, 11.0]], &[2.0, 1.0]);
        assert_eq!(h.sums(), [2.0, 4.0, 1.0, 0.5, 3.0, 4.5, 1.5, 6.0, 18.0, 3.0, 9.0]);
        assert_eq!((h.mean(2), h.std_dev(2), h.values(false)[1]), (3.0, 0.0, 2.0));
        let json: serde_json::Value = serde_json::from_str(&h.to_json("h", &["x", "y", "z"])).unwrap();
        assert_eq!(json["storage"]["values"][1][2], serde_json::json!([0, 2, 0]));
        assert_eq!(json["axes"][2]["metadata"]["label"], "z");
    }
}
