use crate::column::Buffer;
use crate::error::{Missing, exception};
use crate::meter::Meter;
use crate::text::{Text, texts};
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::query::{
    AutoHist, Axis, BinCount, Binding, Entries, Expr, Hist1D, Reader, TextHist, bind_each, parse_target,
};
use sapwood::{Chain, ChainBatch, Error, ErrorKind, Result, ScanOptions, Values};
use std::sync::atomic::Ordering;

/// A histogram: axes of (number of bins, low, high, title) with x first, sums of weights and of squared weights with
/// underflow and overflow (the last axis runs fastest), how many values were filled, and what the bins stand for where
/// the values were strings.
pub type Drawn = (Vec<(usize, f64, f64, Text)>, Buffer, Buffer, u64, Option<Vec<Text>>);

/// The binning that was asked for.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    /// (number of bins, low, high) of each axis, x first.
    pub axes: Vec<(usize, f64, f64)>,
    /// The number of bins where the axis follows from the values.
    pub count: Option<usize>,
}

/// What is filled.
enum Sink {
    One(Hist1D),
    Auto(Box<AutoHist>),
    Texts(TextHist),
    Grid(Grid),
}

/// A histogram of several dimensions.
struct Grid {
    axes: Vec<Axis>,
    values: Vec<f64>,
    variances: Vec<f64>,
    entries: u64,
    labels: Option<Vec<String>>,
}

/// Bins of all dimensions together, at most: 1 GiB of sums.
const MOST_CELLS: usize = 1 << 26;

impl Grid {
    fn new(axes: Vec<Axis>) -> Result<Self> {
        let cells = axes.iter().try_fold(1usize, |n, a| n.checked_mul(a.bins() + 2).filter(|n| *n <= MOST_CELLS));
        let cells = cells.ok_or_else(|| Error::invalid(format!("more than {MOST_CELLS} bins in all")))?;
        Ok(Self { axes, values: vec![0.0; cells], variances: vec![0.0; cells], entries: 0, labels: None })
    }

    /// Adds rows; `columns` in the order of the axes.
    fn fill(&mut self, columns: &[&[f64]], weights: &[f64]) {
        for (row, w) in weights.iter().enumerate() {
            let cell = self.axes.iter().zip(columns).fold(0, |at, (axis, column)| {
                at * (axis.bins() + 2) + axis.index(column.get(row).copied().unwrap_or(f64::NAN))
            });
            self.values[cell] += w;
            self.variances[cell] += w * w;
        }
        self.entries += weights.len() as u64;
    }
}

impl Sink {
    fn new(dimensions: usize, axes: Vec<Axis>, auto: AutoHist) -> Result<Self> {
        match (dimensions, axes.as_slice()) {
            (1, []) => Ok(Sink::Auto(Box::new(auto))),
            (1, [axis]) => Ok(Sink::One(Hist1D::new(*axis))),
            (2..=3, given) if given.len() == dimensions => Grid::new(axes).map(Sink::Grid),
            (2..=3, given) => Err(Error::invalid(format!(
                "{dimensions} expressions make {dimensions} axes; {} were given",
                given.len()
            ))
            .with_remedy("give bins=(number, low, high) of each axis, x first")),
            (1, given) => Err(Error::invalid(format!("one expression makes one axis, {} were given", given.len()))),
            _ => Err(Error::invalid(format!("a histogram has 1 to 3 dimensions, not {dimensions}"))),
        }
    }

    /// Adds rows; `columns` in the order of the expressions, the last of which is x.
    fn fill(&mut self, columns: &[Vec<f64>], weights: &[f64]) -> Result<()> {
        match self {
            Sink::One(h) => columns.iter().for_each(|c| h.fill(c, weights)),
            Sink::Auto(h) => columns.iter().try_for_each(|c| h.fill(c, weights))?,
            Sink::Texts(_) => {}
            Sink::Grid(g) => {
                let columns: Vec<&[f64]> = columns.iter().rev().map(Vec::as_slice).collect();
                g.fill(&columns, weights);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Grid> {
        let h = match self {
            Sink::Grid(g) => return Ok(g),
            Sink::One(h) => h,
            Sink::Auto(h) => h.finish()?,
            Sink::Texts(h) => h.finish()?,
        };
        let labels = h.labels().map(<[String]>::to_vec);
        let (values, variances) = (h.values(true).to_vec(), h.variances(true).to_vec());
        Ok(Grid { axes: vec![h.axis()], values, variances, entries: h.entries(), labels })
    }
}

/// What is drawn.
pub struct Drawing<'a> {
    /// In TTree::Draw's language.
    pub expression: &'a str,
    /// A condition or weight; empty for none.
    pub cut: &'a str,
    /// The binning.
    pub bins: Bins,
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
    let (grid, mut titles) = filled?.map_err(fail)?;
    titles.reverse();
    meter.tell(py)?;
    let axes = grid.axes.iter().zip(titles).map(|(a, t)| (a.bins(), a.low(), a.high(), t.into())).collect();
    let (values, variances) = (Buffer::new(Values::F64(grid.values)), Buffer::new(Values::F64(grid.variances)));
    Ok((axes, values, variances, grid.entries, grid.labels.map(texts)))
}

/// What is drawn, before any tree is known.
struct Parsed {
    text: String,
    expressions: Vec<Expr>,
    cut: Option<Expr>,
    axes: Vec<Axis>,
    count: BinCount,
    entries: Entries,
}

impl Parsed {
    fn new(drawing: &Drawing<'_>) -> Result<Self> {
        let (text, target) = parse_target(drawing.expression)?;
        let expressions = Expr::parse_list(&text)?;
        let cut = Expr::selection(drawing.cut)?;
        let bins = &drawing.bins;
        let given = !bins.axes.is_empty() || bins.count.is_some();
        let axes = if given {
            bins.axes.iter().map(|&(n, low, high)| Axis::new(n, low, high)).collect::<Result<_>>()?
        } else {
            target.axes
        };
        let count = match (bins.count, target.bins) {
            (Some(count), _) => Axis::new(count, 0.0, 1.0).map(|a| BinCount::Exactly(a.bins()))?,
            (None, Some(count)) if !given => BinCount::Near(count),
            _ => BinCount::Automatic,
        };
        Ok(Self { text, expressions, cut, axes, count, entries: drawing.entries.clone() })
    }

    fn sink(&self, binding: &Binding, estimate: i64) -> Result<Sink> {
        if self.expressions.len() == 1 && binding.query.is_text(0) {
            if !self.axes.is_empty() || self.count != BinCount::Automatic {
                return Err(Error::invalid(format!("{} is a string: each of its values has its own bin", self.text))
                    .with_remedy("omit the binning"));
            }
            return Ok(Sink::Texts(TextHist::new()));
        }
        let auto = AutoHist::with_bins(binding.query.is_integer(0), self.count).estimate(estimate);
        Sink::new(self.expressions.len(), self.axes.clone(), auto)
    }

    /// The histogram, and the titles of the expressions.
    fn fill(self, chain: &Chain, options: ScanOptions) -> Result<(Grid, Vec<String>)> {
        let (chain, first) = chain.first()?;
        let binding = Binding::new(&first, &self.expressions, self.cut.as_ref())?;
        let titles = binding.query.titles().to_vec();
        let mut sink = self.sink(&binding, Reader::estimate(&chain, &first))?;
        let texts = matches!(sink, Sink::Texts(_));
        let total = Reader::total(&chain, &first, self.expressions.iter().chain(&self.cut))?;
        let bind = bind_each(self.expressions, self.cut, false);
        let cancel = options.cancel.clone();
        for part in (Reader { chain, entries: self.entries, total, options, bind }).read() {
            let ChainBatch { link, prepared, batch } = part?;
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted"));
            }
            let (binding, file) = (&prepared.binding, link.tree.file());
            if binding.query.is_text(0) != texts {
                let kind = if texts { "no string, as it is" } else { "a string, unlike" };
                return Err(Error::invalid(format!("{} is {kind} in the files before", self.text)).in_file(file.url()));
            }
            binding.with_batch(&batch, &batch.columns, link.first_entry, total, |batch| {
                if let Sink::Texts(h) = &mut sink {
                    let rows = binding.query.rows(batch)?;
                    return rows.columns.iter().try_for_each(|column| h.fill(column, &rows.weights));
                }
                binding.query.visit(batch, |rows| sink.fill(rows.values, rows.weights))
            })?;
        }
        Ok((sink.finish()?, titles))
    }
}
