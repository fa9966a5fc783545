use crate::part_bytes::{PartReader, PartWriter, damaged};
use crate::uhi;
use sapwood_span::{Error, Result};
use std::fmt::Write as _;
use std::sync::Arc;

/// Bins from `low` to `high`, of equal width or between given edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    bins: usize,
    low: f64,
    high: f64,
    /// Of bins of unequal width.
    edges: Option<Arc<[f64]>>,
}

/// Most bins an axis has: a mistyped number does not take all memory.
const MAX_BINS: usize = 100_000_000;
/// From here on doubles are whole numbers, whose lowest bits count up from 0.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// Values binned at a time.
const CHUNK: usize = 512;

impl Axis {
    /// `bins` bins from `low` to `high`.
    ///
    /// # Errors
    /// `Invalid` for no bin or more than 100 million, or edges that are not finite and rising.
    pub fn new(bins: usize, low: f64, high: f64) -> Result<Self> {
        if bins == 0 || bins > MAX_BINS {
            return Err(Error::invalid(format!("a histogram has 1 to {MAX_BINS} bins, not {bins}")));
        }
        if !(low < high && (high - low).is_finite()) {
            return Err(Error::invalid(format!("a histogram cannot range from {low} to {high}"))
                .with_remedy("specify the lower edge first"));
        }
        Ok(Self { bins, low, high, edges: None })
    }

    /// Bins between these edges.
    ///
    /// # Errors
    /// `Invalid` for fewer than two edges, too many, or edges that are not finite and rising.
    pub fn variable(edges: &[f64]) -> Result<Self> {
        let (Some(&low), Some(&high)) = (edges.first(), edges.last()) else {
            return Err(Error::invalid("an axis has at least two edges"));
        };
        if edges.len() < 2 {
            return Err(Error::invalid("an axis has at least two edges"));
        }
        let axis = Self::new(edges.len() - 1, low, high)?;
        if !edges.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(Error::invalid("the edges of bins must be increasing").with_remedy("sort them"));
        }
        Ok(Self { edges: Some(edges.into()), ..axis })
    }

    pub(crate) fn write_part(&self, out: &mut PartWriter) {
        out.count(self.bins as u64);
        out.numbers(&[self.low, self.high]);
        out.optional(self.edges());
    }

    pub(crate) fn read_part(part: &mut PartReader<'_>) -> Result<Self> {
        let bins = usize::try_from(part.count()?).map_err(|_| damaged())?;
        let [low, high] = part.array()?;
        let axis = if part.flag()? { Self::variable(&part.numbers()?)? } else { Self::new(bins, low, high)? };
        if axis.bins == bins { Ok(axis) } else { Err(damaged()) }
    }

    /// The edges of bins of unequal width, one more than there are bins.
    pub fn edges(&self) -> Option<&[f64]> {
        self.edges.as_deref()
    }

    /// Number of bins, without underflow and overflow.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Lower edge of the first bin.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Upper edge of the last bin.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// What UHI's schema says of it.
    pub(crate) fn described(&self) -> uhi::AxisBins<'_> {
        uhi::AxisBins { bins: self.bins, low: self.low, high: self.high, edges: self.edges() }
    }

    /// Edge number `i`, from 0 to the number of bins.
    pub fn edge(&self, i: usize) -> f64 {
        if let Some(edge) = self.edges.as_ref().and_then(|edges| edges.get(i)) {
            return *edge;
        }
        if i >= self.bins { self.high } else { self.low + i as f64 * self.width() }
    }

    fn width(&self) -> f64 {
        (self.high - self.low) / self.bins as f64
    }

    /// The bin of a value: 0 is the underflow, `bins + 1` the overflow (NaN goes there as in ROOT).
    /// A bin holds its lower edge and not its upper one, both as [`Axis::edge`] rounds them.
    pub fn index(&self, x: f64) -> usize {
        let mut out = [0];
        self.indices(&[x], &mut out);
        out[0] as usize
    }

    /// [`Axis::index`] of many values, without a branch where the bins are equal.
    pub(crate) fn indices(&self, x: &[f64], out: &mut [u32]) {
        if let Some(edges) = &self.edges {
            for (x, out) in x.iter().zip(out) {
                let bin = if x.is_nan() { edges.len() } else { edges.partition_point(|edge| edge <= x) };
                *out = bin as u32;
            }
            return;
        }
        let (bins, low, high, width) = (self.bins as f64, self.low, self.high, self.width());
        let last = bins - 1.0;
        for (x, out) in x.iter().zip(out) {
            let x = *x;
            // Division alone may miss by one at an edge; the edges decide, as in TAxis::FindBin of ROOT 6.40.
            let raw = bins * (x - low) / (high - low);
            let raw = if raw < last { raw } else { last };
            let raw = if raw > 0.0 { raw } else { 0.0 };
            // rounded down, in steps that a processor does for several values at once
            let near = (raw + WHOLE) - WHOLE;
            let bin = near - if near > raw { 1.0 } else { 0.0 };
            let below = if x < low + bin * width { 1.0 } else { 0.0 };
            let above = if bin < last && x >= low + (bin + 1.0) * width { 1.0 } else { 0.0 };
            let bin = bin - below + above + 1.0;
            let bin = if x < high { bin } else { bins + 1.0 };
            let bin = if x < low { 0.0 } else { bin };
            *out = (bin + WHOLE).to_bits() as u32;
        }
    }
}

/// A histogram of one variable: weighted counts, their variances, and ROOT's statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Hist1D {
    axis: Axis,
    /// Sum of weights per bin, underflow first and overflow last.
    values: Vec<f64>,
    /// Sum of squared weights per bin; none while all weights are 1 and it is the same as `values`.
    variances: Option<Vec<f64>>,
    entries: u64,
    /// Of the values inside the range: sum of w, w², w·x, w·x².
    sums: [f64; 4],
    /// What each bin stands for, where the values were strings.
    labels: Option<Vec<String>>,
}

impl Hist1D {
    /// An empty histogram.
    pub fn new(axis: Axis) -> Self {
        let n = axis.bins + 2;
        Self { axis, values: vec![0.0; n], variances: None, entries: 0, sums: [0.0; 4], labels: None }
    }

    /// Adds one entry per value and weight (to the shorter of the two slices).
    pub fn fill(&mut self, values: &[f64], weights: &[f64]) {
        let mut indices = [0u32; CHUNK];
        for (x, w) in values.chunks(CHUNK).zip(weights.chunks(CHUNK)) {
            let n = x.len().min(w.len());
            let (x, w, indices) = (&x[..n], &w[..n], &mut indices[..n]);
            self.axis.indices(x, indices);
            // Most selections are 0 or 1.
            if w.iter().all(|w| *w == 1.0) {
                self.fill_unweighted(x, indices);
            } else {
                self.fill_weighted(x, w, indices);
            }
            self.entries += n as u64;
        }
    }

    fn fill_unweighted(&mut self, x: &[f64], indices: &[u32]) {
        let Axis { low, high, .. } = &self.axis;
        let (low, high) = (*low, *high);
        let [mut count, _, mut wx, mut wxx] = [0.0; 4];
        for &x in x {
            let (one, x) = if x >= low && x < high { (1.0, x) } else { (0.0, 0.0) };
            count += one;
            wx += x;
            wxx += x * x;
        }
        for (sum, more) in self.sums.iter_mut().zip([count, count, wx, wxx]) {
            *sum += more;
        }
        for &i in indices {
            self.values[i as usize] += 1.0;
        }
        if let Some(variances) = &mut self.variances {
            for &i in indices {
                variances[i as usize] += 1.0;
            }
        }
    }

    fn fill_weighted(&mut self, x: &[f64], w: &[f64], indices: &[u32]) {
        let Axis { low, high, .. } = &self.axis;
        let (low, high) = (*low, *high);
        let variances = self.variances.get_or_insert_with(|| self.values.clone());
        for ((&x, &w), &i) in x.iter().zip(w).zip(indices) {
            self.values[i as usize] += w;
            variances[i as usize] += w * w;
            if x >= low && x < high {
                let [sw, sww, swx, swxx] = self.sums;
                self.sums = [sw + w, sww + w * w, swx + w * x, swxx + w * x * x];
            }
        }
    }

    /// Adds to one bin (by its number with underflow) without touching the statistics.
    pub(crate) fn add_bin(&mut self, i: usize, entries: u64, [w, ww]: [f64; 2]) {
        if w != ww {
            self.variances.get_or_insert_with(|| self.values.clone());
        }
        if let Some(value) = self.values.get_mut(i) {
            *value += w;
            self.entries += entries;
        }
        if let Some(variance) = self.variances.as_mut().and_then(|v| v.get_mut(i)) {
            *variance += ww;
        }
    }

    pub(crate) fn set_sums(&mut self, sums: [f64; 4]) {
        self.sums = sums;
    }

    /// Adds what another worker filled.
    ///
    /// # Errors
    /// `Invalid` when the axes differ.
    pub fn merge(&mut self, other: &Hist1D) -> Result<()> {
        if self.axis != other.axis || self.labels != other.labels {
            return Err(Error::invalid("histograms of different binning cannot be added"));
        }
        if other.variances.is_some() {
            self.variances.get_or_insert_with(|| self.values.clone());
        }
        if let Some(variances) = &mut self.variances {
            variances.iter_mut().zip(other.variances(true)).for_each(|(a, b)| *a += b);
        }
        self.values.iter_mut().zip(&other.values).for_each(|(a, b)| *a += b);
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| *a += b);
        self.entries += other.entries;
        Ok(())
    }

    pub(crate) fn write_part(&self, out: &mut PartWriter) {
        self.axis.write_part(out);
        out.numbers(&self.values);
        out.optional(self.variances.as_deref());
        out.count(self.entries);
        out.numbers(&self.sums);
        out.texts(self.labels.as_deref());
    }

    pub(crate) fn read_part(part: &mut PartReader<'_>) -> Result<Self> {
        let axis = Axis::read_part(part)?;
        let cells = axis.bins + 2;
        let (values, variances) = (part.exactly(cells)?, part.optional(cells)?);
        let (entries, sums, labels) = (part.count()?, part.array()?, part.texts()?);
        if labels.as_ref().is_some_and(|l| l.len() != axis.bins) {
            return Err(Error::invalid("a histogram of strings has a bin for each"));
        }
        Ok(Self { axis, values, variances, entries, sums, labels })
    }

    /// What each bin stands for: the strings of a [`crate::TextHist`], in the order of the bins. The axis then counts them.
    pub fn labels(&self) -> Option<&[String]> {
        self.labels.as_deref()
    }

    pub(crate) fn set_labels(&mut self, labels: Vec<String>) {
        self.labels = Some(labels);
    }

    /// The axis.
    pub fn axis(&self) -> Axis {
        self.axis.clone()
    }

    /// Whether a weight other than 1 was filled: the variances are not the values.
    pub fn is_weighted(&self) -> bool {
        self.variances.is_some()
    }

    /// Multiplies all weights by a factor, as TH1::Scale does.
    pub fn scale(&mut self, by: f64) {
        let variances = self.variances.get_or_insert_with(|| self.values.clone());
        variances.iter_mut().for_each(|v| *v *= by * by);
        self.values.iter_mut().for_each(|v| *v *= by);
        let [w, ww, wx, wxx] = self.sums;
        self.sums = [w * by, ww * by * by, wx * by, wxx * by];
    }

    /// Sums of weights; with `flow`, underflow first and overflow last.
    pub fn values(&self, flow: bool) -> &[f64] {
        if flow { &self.values } else { &self.values[1..=self.axis.bins] }
    }

    /// Sums of squared weights, as [`Hist1D::values`].
    pub fn variances(&self, flow: bool) -> &[f64] {
        let all = self.variances.as_ref().unwrap_or(&self.values);
        if flow { all } else { &all[1..=self.axis.bins] }
    }

    /// How many values were filled, those out of range included.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Sums over the values inside the range: w, w², w·x, w·x² (TH1::GetStats).
    pub fn sums(&self) -> [f64; 4] {
        self.sums
    }

    /// Weighted mean of the values inside the range (of the values, not of bin centres); 0 of nothing.
    pub fn mean(&self) -> f64 {
        let [w, _, wx, _] = self.sums;
        if w == 0.0 { 0.0 } else { wx / w }
    }

    /// Standard deviation of the values inside the range, as ROOT's GetStdDev: of the population; 0 of nothing,
    /// and where negative weights make the variance negative.
    pub fn std_dev(&self) -> f64 {
        let [w, _, _, wxx] = self.sums;
        if w == 0.0 { 0.0 } else { (wxx / w - self.mean() * self.mean()).max(0.0).sqrt() }
    }

    /// The histogram in UHI's serialization schema, version 1 (boost-histogram, hist and uproot
    /// read it): a regular axis with flow bins, or one of strings, and weighted storage. `name` and `label` are metadata.
    pub fn to_json(&self, name: &str, label: &str) -> String {
        let mut out = String::new();
        let flow = self.labels.is_none();
        let axis = uhi::axis(self.axis.described(), self.labels.as_deref(), label);
        let [w, ww, wx, wxx] = self.sums.map(uhi::number);
        let _ = write!(
            out,
            "{{\"uhi_schema\":1,\"metadata\":{{\"name\":{},\"entries\":{},\"mean\":{},\"std_dev\":{},\
             \"sumw\":{w},\"sumw2\":{ww},\"sumwx\":{wx},\"sumwx2\":{wxx}}},\
             \"axes\":[{axis}],\
             \"storage\":{{\"type\":\"weighted\",\"values\":{},\"variances\":{}}}}}",
            uhi::string(name),
            self.entries,
            uhi::number(self.mean()),
            uhi::number(self.std_dev()),
            uhi::list(self.values(flow)),
            uhi::list(self.variances(flow)),
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_their_lower_edge() {
        let axis = Axis::new(10, 0.0, 1.0).unwrap();
        assert_eq!(axis.index(-0.1), 0);
        assert_eq!(axis.index(0.0), 1);
        assert_eq!(axis.index(0.95), 10);
        assert_eq!(axis.index(1.0), 11);
        assert_eq!(axis.index(f64::NAN), 11);
        assert_eq!((axis.edge(0), axis.edge(5), axis.edge(10)), (0.0, 0.5, 1.0));
        assert!(Axis::new(0, 0.0, 1.0).is_err());
        assert!(Axis::new(3, 1.0, 1.0).is_err());
        assert!(Axis::new(3, f64::NAN, 1.0).is_err());
    }

    #[test]
    fn bins_of_unequal_width() {
        let axis = Axis::variable(&[0.0, 1.0, 10.0]).unwrap();
        let of = |x: f64| axis.index(x);
        assert_eq!([-1.0, 0.0, 1.0, 9.9, 10.0, f64::NAN].map(of), [0, 1, 2, 2, 3, 3]);
        assert_eq!((axis.edge(1), axis.edge(2), axis.bins()), (1.0, 10.0, 2));
        for edges in [&[][..], &[1.0], &[1.0, 1.0], &[0.0, 2.0, 1.0, 3.0], &[0.0, f64::NAN, 1.0], &[0.0, f64::INFINITY]]
        {
            assert!(Axis::variable(edges).is_err(), "{edges:?}");
        }
    }

    #[test]
    fn merged_parts_equal_the_whole() {
        let axis = Axis::new(4, 0.0, 4.0).unwrap();
        let (x, w) = ([0.5, 1.5, 9.0, 2.5, -1.0], [1.0, 2.0, 1.0, 0.5, 1.0]);
        let mut whole = Hist1D::new(axis.clone());
        whole.fill(&x, &w);
        let (mut a, mut b) = (Hist1D::new(axis.clone()), Hist1D::new(axis));
        a.fill(&x[..2], &w[..2]);
        b.fill(&x[2..], &w[2..]);
        a.merge(&b).unwrap();
        assert_eq!(a, whole);
        assert_eq!(whole.values(true), [1.0, 1.0, 2.0, 0.5, 0.0, 1.0]);
        assert_eq!(whole.entries(), 5);
        assert!(a.merge(&Hist1D::new(Axis::new(5, 0.0, 4.0).unwrap())).is_err());
    }

    #[test]
    fn json_is_json_whatever_the_title() {
        let mut h = Hist1D::new(Axis::new(2, 0.0, 2.0).unwrap());
        h.fill(&[0.5, f64::NAN, 7.0], &[1.0, 1.0, 1.0]);
        let value: serde_json::Value = serde_json::from_str(&h.to_json("h", "p\"T\\\n")).unwrap();
        assert_eq!(value["storage"]["values"], serde_json::json!([0.0, 1.0, 0.0, 2.0].map(|x: f64| x as u64)));
        assert_eq!(value["axes"][0]["metadata"]["label"], "p\"T\\\n");
        assert_eq!(value["metadata"]["entries"], 3);
    }
}
