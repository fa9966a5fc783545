use crate::column::Buffer;
use crate::error::{Missing, exception};
use crate::meter::Meter;
use crate::text::{Text, texts};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::query::{
    Axis, AxisBins, Binding, Bins, DrawOption, Entries, Expr, Histogram, Plot, Reader, bind_each, parse_target,
};
use sapwood::{Chain, ChainBatch, Error, ErrorKind, Result, ScanOptions, Values};
use std::sync::atomic::Ordering;

/// An axis: number of bins, low, high, title; its edges if they are not equally far apart; what its bins stand for if
/// the values were strings.
type DrawnAxis = (usize, f64, f64, Text, Option<Buffer>, Option<Vec<Text>>);

/// A histogram: its axes, x first; with underflow and overflow (the last axis runs fastest) sums of weights and of
/// squared weights, of a profile also means and sums of squared deviations from them; how many values were filled.
pub type Drawn = (Vec<DrawnAxis>, Vec<Buffer>, u64);

/// The binning of an axis that was asked for: number of bins, low and high, or the edges of all bins.
pub type GivenBins = (Option<usize>, Option<(f64, f64)>, Option<Vec<f64>>);

/// The binning that was asked for, x first.
pub fn bins(given: Vec<GivenBins>) -> Result<Bins> {
    let axis = |(count, limits, edges): GivenBins| -> Result<AxisBins> {
        let axis = edges.map(|e| Axis::variable(&e)).transpose()?;
        let (low, high) = limits.unwrap_or((0.0, 1.0));
        Axis::new(count.unwrap_or(1), low, high)?;
        Ok(AxisBins { count, limits, axis })
    };
    Ok(Bins { axes: given.into_iter().map(axis).collect::<Result<_>>()?, exactly: true })
}

/// What is drawn.
pub struct Drawing<'a> {
    /// In TTree::Draw's language.
    pub expression: &'a str,
    /// A condition or weight; empty for none.
    pub cut: &'a str,
    /// The binning.
    pub bins: Vec<GivenBins>,
    /// TTree::Draw's option.
    pub option: &'a str,
    /// Of which entries, counted through the chain.
    pub entries: Entries,
}

/// Draws: parses here, binds, scans and fills on a thread of its own.
pub fn draw(
    py: Python<'_>,
    chain: &Chain,
    drawing: Drawing<'_>,
    mut options: ScanOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Drawn> {
    let fail = |e: Error| exception(py, &e, Missing::Key);
    let parsed = Parsed::new(&drawing).map_err(fail)?;
    let meter = Meter::attach(&mut options, progress);
    let cancel = options.cancel.clone();
    let chain = chain.clone();
    let filled = wait(py, |py| meter.tell(py), move || parsed.fill(&chain, options));
    if filled.is_err() {
        cancel.store(true, Ordering::Relaxed);
    }
    let (hist, mut titles) = filled?.map_err(fail)?;
    titles.reverse();
    meter.tell(py)?;
    let labels: Vec<Option<Vec<Text>>> =
        (0..titles.len()).map(|i| hist.labels(i).map(|names| texts(names.to_vec()))).collect();
    let axes = hist.axes().into_iter().zip(titles).zip(labels).map(|((a, title), labels)| {
        let edges = a.edges().map(|e| Buffer::new(Values::F64(e.to_vec())));
        (a.bins(), a.low(), a.high(), title.into(), edges, labels)
    });
    let cells = match &hist {
        Histogram::One(h) => vec![h.values(true).to_vec(), h.variances(true).to_vec()],
        Histogram::Many(h) => vec![h.values(true), h.variances(true)],
        Histogram::Profile(p) => {
            let (weights, squared) = (p.sums_of_weights(), p.sums_of_squared_weights());
            vec![weights, squared, p.means(true), p.squared_deviations()]
        }
        Histogram::Rows(_) => Vec::new(),
    };
    let cells = cells.into_iter().map(|c| Buffer::new(Values::F64(c))).collect();
    Ok((axes.collect(), cells, hist.entries()))
}

/// What is drawn, before any tree is known.
struct Parsed {
    expressions: Vec<Expr>,
    cut: Option<Expr>,
    bins: Bins,
    option: DrawOption,
    entries: Entries,
}

impl Parsed {
    fn new(drawing: &Drawing<'_>) -> Result<Self> {
        let (text, target) = parse_target(drawing.expression)?;
        let expressions = Expr::parse_list(&text)?;
        let cut = Expr::selection(drawing.cut)?;
        let given = bins(drawing.bins.clone())?;
        let bins = if given.is_empty() { target.bins } else { given };
        let option: DrawOption = drawing.option.parse()?;
        if option.chart.is_some() {
            return Err(Error::unsupported("para and candle make a picture, not a histogram")
                .with_remedy("draw them with `sapwood draw`"));
        }
        Ok(Self { expressions, cut, bins, option, entries: drawing.entries.clone() })
    }

    /// The histogram, and the titles of the expressions.
    fn fill(self, chain: &Chain, options: ScanOptions) -> Result<(Histogram, Vec<String>)> {
        let (chain, first) = chain.first()?;
        let binding = Binding::new(&first, &self.expressions, self.cut.as_ref())?;
        let titles = binding.query.titles().to_vec();
        let mut plot = Plot::new(&binding.query, &self.bins, &self.option, Reader::estimate(&chain, &first))?;
        let total = Reader::total(&chain, &first, self.expressions.iter().chain(&self.cut))?;
        let bind = bind_each(self.expressions, self.cut, false);
        let cancel = options.cancel.clone();
        for part in (Reader { chain, entries: self.entries, total, options, bind }).read() {
            let ChainBatch { link, prepared, batch } = part?;
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted"));
            }
            let (binding, file) = (&prepared.binding, link.tree.file());
            let filled = binding
                .with_batch(&batch, &batch.columns, link.first_entry, total, |batch| plot.fill(&binding.query, batch));
            filled.map_err(|e| e.in_file(file.url()))?;
        }
        let mut hist = plot.finish()?;
        if self.option.norm {
            hist.normalize();
        }
        Ok((hist, titles))
    }
}
