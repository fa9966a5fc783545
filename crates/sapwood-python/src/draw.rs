use crate::column::Buffer;
use crate::error::{Missing, exception};
use crate::meter::Meter;
use crate::wait::wait;
use pyo3::prelude::*;
use sapwood::{Error, Result, Scan, ScanOptions, Tree, Values};
use sapwood_query::{AutoHist, Axis, Batch, Binding, Expr, Hist1D, TextHist, parse_target};
use std::sync::atomic::Ordering;

/// A histogram: axes of (number of bins, low, high, title) with x first, sums of weights and of squared weights with
/// underflow and overflow (the last axis runs fastest), how many values were filled, and what the bins stand for where
/// the values were strings.
pub type Drawn = (Vec<(usize, f64, f64, String)>, Buffer, Buffer, u64, Option<Vec<String>>);

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
    fn new(dimensions: usize, axes: Vec<Axis>, count: Option<usize>, integer: bool) -> Result<Self> {
        match (dimensions, axes.as_slice()) {
            (1, []) => Ok(Sink::Auto(Box::new(AutoHist::with_bins(integer, count)))),
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
    fn fill(&mut self, columns: &[Vec<f64>], weights: &[f64]) {
        match self {
            Sink::One(h) => columns.iter().for_each(|c| h.fill(c, weights)),
            Sink::Auto(h) => columns.iter().for_each(|c| h.fill(c, weights)),
            Sink::Texts(_) => {}
            Sink::Grid(g) => {
                let columns: Vec<&[f64]> = columns.iter().rev().map(Vec::as_slice).collect();
                g.fill(&columns, weights);
            }
        }
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

/// Draws: parses and binds here, scans and fills on a thread of its own.
pub fn draw(
    py: Python<'_>,
    tree: &Tree,
    expression: &str,
    cut: &str,
    bins: &Bins,
    mut options: ScanOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Drawn> {
    let fail = |e: Error| exception(py, &e, Missing::Key);
    let (binding, sink) = prepare(tree, expression, cut, bins).map_err(fail)?;
    let mut titles = binding.query.titles().to_vec();
    titles.reverse();
    options.branches = binding.branches.clone();
    let meter = Meter::attach(&mut options, progress);
    let cancel = options.cancel.clone();
    let tree = tree.clone();
    let filled = wait(py, |py| meter.tell(py), move || fill(&tree, &binding, sink, &options));
    if filled.is_err() {
        cancel.store(true, Ordering::Relaxed);
    }
    let grid = filled?.map_err(fail)?;
    meter.tell(py)?;
    let axes = grid.axes.iter().zip(titles).map(|(a, t)| (a.bins(), a.low(), a.high(), t)).collect();
    let (values, variances) = (Buffer::new(Values::F64(grid.values)), Buffer::new(Values::F64(grid.variances)));
    Ok((axes, values, variances, grid.entries, grid.labels))
}

fn prepare(tree: &Tree, expression: &str, cut: &str, bins: &Bins) -> Result<(Binding, Sink)> {
    let (text, target) = parse_target(expression)?;
    let expressions = Expr::parse_list(&text)?;
    let cut = if cut.trim().is_empty() { None } else { Some(Expr::parse(cut)?) };
    let binding = Binding::new(tree, &expressions, cut.as_ref())?;
    let given = !bins.axes.is_empty() || bins.count.is_some();
    let axes = if given {
        bins.axes.iter().map(|&(n, low, high)| Axis::new(n, low, high)).collect::<Result<_>>()?
    } else {
        target.axes
    };
    let count = if given { bins.count } else { target.bins };
    if let Some(count) = count {
        Axis::new(count, 0.0, 1.0)?;
    }
    if expressions.len() == 1 && binding.query.is_text(0) {
        if !axes.is_empty() || count.is_some() {
            return Err(Error::invalid(format!("{text} is a string: it gets a bin for each of its values"))
                .with_remedy("leave the binning out"));
        }
        return Ok((binding, Sink::Texts(TextHist::new())));
    }
    let sink = Sink::new(expressions.len(), axes, count, binding.query.is_integer(0))?;
    Ok((binding, sink))
}

fn fill(tree: &Tree, binding: &Binding, mut sink: Sink, options: &ScanOptions) -> Result<Grid> {
    let total = tree.entries();
    let mut add = |first: u64, stop: u64, columns: &[sapwood::Array]| {
        let columns = binding.columns(columns)?;
        let batch = Batch {
            first_entry: first,
            first_local_entry: first,
            total_entries: total,
            entries: usize::try_from(stop - first).map_err(|_| Error::invalid("too many entries in a batch"))?,
            columns: columns.iter().map(AsRef::as_ref).collect(),
        };
        if let Sink::Texts(h) = &mut sink {
            let rows = binding.query.rows(&batch)?;
            return rows.columns.iter().try_for_each(|column| h.fill(column, &rows.weights));
        }
        binding.query.visit(&batch, |rows| {
            sink.fill(rows.values, rows.weights);
            Ok(())
        })
    };
    let entries = options.entries.clone().unwrap_or(0..total);
    if binding.branches.is_empty() {
        // an expression such as Entry$ reads nothing
        add(entries.start, entries.end, &[])?;
        return sink.finish();
    }
    let scan: Scan = tree.scan(options)?;
    for batch in scan {
        let batch = batch?;
        add(batch.entries.start, batch.entries.end, &batch.columns)?;
    }
    sink.finish()
}
