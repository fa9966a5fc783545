use crate::column::Buffer;
use crate::error::{Missing, exception};
use crate::meter::Meter;
use crate::text::{Text, texts};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::query::{
    Axis, AxisBins, Binding, Bins, DrawOption, Entries, Expr, Histogram, Plot, Reader, bind_all, parse_target,
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

/// What is drawn: an expression in TTree::Draw's language, a condition or weight (empty for none), the binning, and
/// TTree::Draw's option.
pub type Drawing = (Text, Text, Vec<GivenBins>, Text);

/// Draws all of it in one reading: parses here, binds, scans and fills on a thread of its own. `entries` are counted through the
/// chain.
pub fn draw(
    py: Python<'_>,
    chain: &Chain,
    drawings: &[Drawing],
    entries: Entries,
    mut options: ScanOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Drawn>> {
    let fail = |e: Error| exception(py, &e, Missing::Key);
    let parsed = drawings.iter().map(Parsed::new).collect::<Result<Vec<_>>>().map_err(fail)?;
    let meter = Meter::attach(&mut options, progress);
    let cancel = options.cancel.clone();
    let chain = chain.clone();
    let filled = wait(py, |py| meter.tell(py), move || fill(parsed, &chain, entries, options));
    if filled.is_err() {
        cancel.store(true, Ordering::Relaxed);
    }
    let filled = filled?.map_err(fail)?;
    meter.tell(py)?;
    Ok(filled.into_iter().map(|(hist, titles)| drawn(&hist, titles)).collect())
}

/// A histogram as Python takes it; titles are those of the expressions, the last one is of x.
fn drawn(hist: &Histogram, mut titles: Vec<String>) -> Drawn {
    titles.reverse();
    let labels: Vec<Option<Vec<Text>>> =
        (0..titles.len()).map(|i| hist.labels(i).map(|names| texts(names.to_vec()))).collect();
    let axes = hist.axes().into_iter().zip(titles).zip(labels).map(|((a, title), labels)| {
        let edges = a.edges().map(|e| Buffer::new(Values::F64(e.to_vec())));
        (a.bins(), a.low(), a.high(), title.into(), edges, labels)
    });
    let cells = match hist {
        Histogram::One(h) => vec![h.values(true).to_vec(), h.variances(true).to_vec()],
        Histogram::Many(h) => vec![h.values(true), h.variances(true)],
        Histogram::Profile(p) => {
            let (weights, squared) = (p.sums_of_weights(), p.sums_of_squared_weights());
            vec![weights, squared, p.means(true), p.squared_deviations()]
        }
        Histogram::Rows(_) => Vec::new(),
    };
    let cells = cells.into_iter().map(|c| Buffer::new(Values::F64(c))).collect();
    (axes.collect(), cells, hist.entries())
}

/// What is drawn, before any tree is known.
struct Parsed {
    expressions: Vec<Expr>,
    cut: Option<Expr>,
    bins: Bins,
    option: DrawOption,
}

impl Parsed {
    fn new((expression, cut, given, option): &Drawing) -> Result<Self> {
        let (text, target) = parse_target(expression)?;
        let expressions = Expr::parse_list(&text)?;
        let cut = Expr::selection(cut)?;
        let given = bins(given.clone())?;
        let bins = if given.is_empty() { target.bins } else { given };
        let option: DrawOption = option.parse()?;
        if option.chart.is_some() {
            return Err(Error::unsupported("para and candle make a picture, not a histogram")
                .with_remedy("draw them with `sapwood draw`"));
        }
        Ok(Self { expressions, cut, bins, option })
    }
}

/// The histograms, and the titles of their expressions.
fn fill(
    drawings: Vec<Parsed>,
    chain: &Chain,
    entries: Entries,
    options: ScanOptions,
) -> Result<Vec<(Histogram, Vec<String>)>> {
    let (chain, first) = chain.first()?;
    let estimate = Reader::estimate(&chain, &first);
    let total = Reader::total(&chain, &first, drawings.iter().flat_map(|d| d.expressions.iter().chain(&d.cut)))?;
    let mut plots = Vec::new();
    for drawing in &drawings {
        let binding = Binding::new(&first, &drawing.expressions, drawing.cut.as_ref())?;
        let plot = Plot::new(&binding.query, &drawing.bins, &drawing.option, estimate)?;
        plots.push((plot, binding.query.titles().to_vec(), drawing.option.norm));
    }
    let bind = bind_all(drawings.into_iter().map(|d| (d.expressions, d.cut)).collect());
    let cancel = options.cancel.clone();
    for part in (Reader { chain, entries, total, options, bind }).read() {
        let ChainBatch { link, prepared, batch } = part?;
        for (binding, (plot, ..)) in prepared.bindings().zip(&mut plots) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted"));
            }
            let filled = binding
                .with_batch(&batch, &batch.columns, link.first_entry, total, |batch| plot.fill(&binding.query, batch));
            filled.map_err(|e| e.in_file(link.tree.file().url()))?;
        }
    }
    let finish = |(plot, titles, norm): (Plot, Vec<String>, bool)| {
        let mut hist = plot.finish()?;
        if norm {
            hist.normalize();
        }
        Ok((hist, titles))
    };
    plots.into_iter().map(finish).collect()
}
