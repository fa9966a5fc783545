//! Draws of a part of the entries, to be added elsewhere: in other processes, or on other machines.

use crate::draw::{Drawing, Drawn, Filled, Parsed, Part, drawn, fill, parsed, run};
use crate::entry_list::{Chosen, chosen};
use crate::error::{Missing, exception};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sapwood::query::{
    Batch, Binding, Entries, Histogram, Plot, Query, Reader, axes_of_ranges, bind_all, rows_that_decide,
};
use sapwood::{ChainBatch, Error, ErrorKind, Instances, Result, ScanOptions};
use std::sync::atomic::Ordering;

/// Of a draw whose values decide about an axis: rows, and for each variable, x first, the least and greatest value and
/// whether its values are whole numbers. Strings have no range.
pub(crate) type Ranges = Option<(u64, Vec<Option<(f64, f64)>>, Vec<bool>)>;

/// An axis: number of bins, limits, edges; nothing of one of strings.
type ChosenAxis = (Option<usize>, Option<(f64, f64)>, Option<Vec<f64>>);

/// The histograms as bytes, with all sums; their axes must not depend on the values.
pub(crate) fn draw_parts<'py>(
    py: Python<'py>,
    part: &Part,
    drawings: &[Drawing],
    (start, stop, selected): (u64, u64, Option<Chosen<'_>>),
    options: ScanOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (entries, instances) = chosen(start, stop, selected)?;
    let mut parsed = parsed(py, drawings)?;
    // the sum of all parts is scaled
    parsed.iter_mut().for_each(Parsed::leave_scale);
    let part = part.clone();
    let filled = run(py, options, progress, move |options| fill(parsed, &part, entries, &instances, options))?;
    let bytes = |one: Filled| match one {
        Filled::Histogram(hist, _) => hist.to_bytes(),
        Filled::List(_) => Err(Error::unsupported("a list of entries is not drawn in parts")),
    };
    let bytes: Result<Vec<Vec<u8>>> = filled.into_iter().map(bytes).collect();
    let bytes = bytes.map_err(|e| exception(py, &e, Missing::Key))?;
    Ok(bytes.iter().map(|b| PyBytes::new(py, b)).collect())
}

/// How many rows decide about automatic axes, and the ranges of the first `most` rows of each draw that has such an axis.
pub(crate) fn draw_ranges(
    py: Python<'_>,
    part: &Part,
    drawings: &[Drawing],
    (start, stop, selected): (u64, u64, Option<Chosen<'_>>),
    most: Vec<u64>,
    options: ScanOptions,
) -> PyResult<(u64, Vec<Ranges>)> {
    let (entries, instances) = chosen(start, stop, selected)?;
    let parsed = parsed(py, drawings)?;
    let part = part.clone();
    run(py, options, None, move |options| ranges(parsed, &part, entries, &instances, &most, options))
}

struct Tally {
    rows: u64,
    most: u64,
    ranges: Vec<Option<(f64, f64)>>,
    integer: Vec<bool>,
}

impl Tally {
    /// `columns` in the order of the expressions.
    fn add(&mut self, columns: &[Vec<f64>], weights: &[f64]) {
        let kept = usize::try_from(self.most - self.rows).unwrap_or(usize::MAX).min(weights.len());
        for (column, range) in columns.iter().rev().zip(&mut self.ranges) {
            let Some((min, max)) = range else { continue };
            // NaN decides nothing
            let kept = column.iter().take(kept);
            (*min, *max) = kept.fold((*min, *max), |(min, max), x| (min.min(*x), max.max(*x)));
        }
        self.rows += kept as u64;
    }

    /// Adds the rows of a batch.
    fn add_batch(&mut self, query: &Query, batch: &Batch<'_>) -> Result<()> {
        if self.ranges.iter().all(Option::is_some) {
            return query.visit(batch, |rows| {
                self.add(rows.values, rows.weights);
                Ok(())
            });
        }
        let rows = query.rows(batch)?;
        let variables = self.ranges.len();
        let values = |i: usize| if self.ranges[variables - 1 - i].is_some() { rows.values(i) } else { Vec::new() };
        let columns: Vec<Vec<f64>> = (0..variables).map(values).collect();
        self.add(&columns, &rows.weights);
        Ok(())
    }
}

fn ranges(
    drawings: Vec<Parsed>,
    part: &Part,
    entries: Entries,
    instances: &Instances,
    most: &[u64],
    options: ScanOptions,
) -> Result<(u64, Vec<Ranges>)> {
    let (chain, first, total) = part.opened(drawings.iter().flat_map(|d| d.expressions.iter().chain(&d.cut)))?;
    let estimate = Reader::estimate(&chain, &first);
    let mut tallies: Vec<Option<Tally>> = Vec::new();
    let mut open = Vec::new();
    for (i, drawing) in drawings.into_iter().enumerate() {
        let binding = Binding::new(&first, &drawing.expressions, drawing.cut.as_ref())?;
        let query = &binding.query;
        let variables = query.titles().len();
        let waits = variables > 0 && Plot::new(query, &drawing.bins, &drawing.option, estimate)?.has_open_axes();
        if !waits {
            tallies.push(None);
            continue;
        }
        let ranges = (0..variables).rev().map(|i| (!query.is_text(i)).then_some((f64::MAX, f64::MIN))).collect();
        let integer = (0..variables).rev().map(|i| query.is_integer(i)).collect();
        let most = most.get(i).copied().unwrap_or(u64::MAX);
        tallies.push(Some(Tally { rows: 0, most, ranges, integer }));
        open.push(drawing);
    }
    if !open.is_empty() {
        let bind = bind_all(open.into_iter().map(|d| (d.expressions, d.cut)).collect());
        let instances = Some(instances).filter(|instances| !instances.is_empty());
        let cancel = options.cancel.clone();
        for part in (Reader { chain, entries, total, options, bind }).read() {
            let ChainBatch { link, prepared, batch } = part?;
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "reading was interrupted"));
            }
            for (binding, tally) in prepared.bindings().zip(tallies.iter_mut().flatten()) {
                let add = |batch: &Batch<'_>| tally.add_batch(&binding.query, &batch.through(instances));
                let added = binding.with_batch(&batch, &batch.columns, link.first_entry, total, add);
                added.map_err(|e| e.in_file(link.tree.file().url()))?;
            }
            if tallies.iter().flatten().all(|t| t.rows >= t.most) {
                break;
            }
        }
    }
    let made = tallies.into_iter().map(|t| t.map(|t| (t.rows, t.ranges, t.integer))).collect();
    Ok((rows_that_decide(estimate) as u64, made))
}

/// Whether all axes of a draw are given, whatever its values are. False also where something is wrong with it: those who draw it
/// say what.
#[pyfunction]
pub(crate) fn are_axes_given(drawing: Drawing) -> bool {
    Parsed::new(&drawing).is_ok_and(|d| Plot::are_axes_given(d.expressions.len(), &d.bins, &d.option))
}

/// The axes of a draw whose deciding values have these ranges; see `Tree.draw_ranges`.
#[pyfunction]
pub(crate) fn draw_axes(
    py: Python<'_>,
    drawing: Drawing,
    rows: u64,
    ranges: Vec<Option<(f64, f64)>>,
    integer: Vec<bool>,
) -> PyResult<Vec<ChosenAxis>> {
    let numbers: Vec<(f64, f64)> = ranges.iter().map(|range| range.unwrap_or((0.0, 1.0))).collect();
    let axes = Parsed::new(&drawing)
        .and_then(|d| axes_of_ranges(&d.bins, &d.option, rows, &numbers, &integer))
        .map_err(|e| exception(py, &e, Missing::Key))?;
    let axis = |(a, range): (sapwood::query::Axis, Option<(f64, f64)>)| match (range, a.edges()) {
        // the strings decide
        (None, _) => (None, None, None),
        (_, Some(edges)) => (None, None, Some(edges.to_vec())),
        (_, None) => (Some(a.bins()), Some((a.low(), a.high())), None),
    };
    Ok(axes.into_iter().zip(ranges).map(axis).collect())
}

/// The sum of parts of a histogram, in the order in which they are given.
#[pyfunction]
pub(crate) fn add_parts<'py>(py: Python<'py>, first: &[u8], second: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let add = || {
        let mut sum = Histogram::from_bytes(first)?;
        sum.merge(&Histogram::from_bytes(second)?)?;
        sum.to_bytes()
    };
    let bytes = add().map_err(|e| exception(py, &e, Missing::Key))?;
    Ok(PyBytes::new(py, &bytes))
}

/// The histogram of all parts, as `Tree.draw` returns it.
#[pyfunction]
pub(crate) fn drawn_part(py: Python<'_>, drawing: Drawing, part: &[u8]) -> PyResult<Drawn> {
    let make = || {
        let parsed = Parsed::new(&drawing)?;
        let mut hist = Histogram::from_bytes(part)?;
        if parsed.option.norm {
            hist.normalize();
        }
        let titles: Vec<String> = parsed.expressions.iter().map(|e| e.text().to_owned()).collect();
        Ok((hist, titles))
    };
    let (hist, titles) = make().map_err(|e: Error| exception(py, &e, Missing::Key))?;
    if hist.variables() != titles.len() {
        return Err(exception(py, &Error::invalid("the part is of another draw"), Missing::Key));
    }
    Ok(drawn(&hist, titles))
}
