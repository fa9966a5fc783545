//! Fills what a draw makes: chooses its axes when enough rows were seen, gives strings their bins.

use crate::auto::{AutoHist, BinCount, rows_that_decide};
use crate::batch::Batch;
use crate::bins::{Bins, widening};
use crate::draw_option::{Chart, DrawOption};
use crate::hist::{Axis, Hist1D};
use crate::hist_nd::HistND;
use crate::histogram::{ChartRows, Histogram};
use crate::plot_labels::LabelAxis;
use crate::profile::{Profile, ProfileError};
use crate::query::Query;
use crate::text::error_at;
use crate::text_hist::TextHist;
use sapwood_span::{Error, Result};

/// Values that a chart keeps, at most.
const MOST_VALUES: usize = 1 << 24;

/// A draw while it is filled.
#[derive(Clone, Debug)]
pub struct Plot {
    variables: usize,
    /// Of the variables that are strings, their bins; x first.
    labels: Vec<Option<LabelAxis>>,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Strings of one variable.
    Texts(TextHist),
    /// One variable whose values decide about the axis.
    Automatic(Box<AutoHist>),
    /// Several, likewise.
    Waiting(Box<Waiting>),
    Chart(ChartRows, usize),
    Filled(Box<Histogram>),
}

/// Rows that are kept until they are enough to choose the axes.
#[derive(Clone, Debug)]
struct Waiting {
    bins: Bins,
    profile: Option<ProfileError>,
    norm: bool,
    defaults: Vec<usize>,
    /// Of each axis, whether its values are whole numbers.
    integer: Vec<bool>,
    columns: Vec<Vec<f64>>,
    weights: Vec<f64>,
    /// How many rows decide.
    rows: usize,
    /// Whether the first values decide about an axis.
    open: bool,
}

/// Whether it is a profile, the numbers of bins where none are given, and the binning; none for too many variables.
fn wanted(
    variables: usize,
    bins: &Bins,
    option: &DrawOption,
) -> Option<(Option<ProfileError>, &'static [usize], Bins)> {
    // ROOT ignores it for one variable
    let profile = option.profile.filter(|_| variables > 1);
    let defaults = default_bins(variables, profile.is_some())?;
    let mut bins = bins.clone();
    if profile.is_some() && !bins.exactly && bins.axes.len() == variables {
        // ROOT takes a binning of what is averaged, and does not use it
        bins.axes.truncate(defaults.len());
    }
    Some((profile, defaults, bins))
}

impl Plot {
    /// What a query's expressions make with this binning and option. `estimate` is how many rows decide about automatic
    /// axes ([`crate::Reader::estimate`]).
    ///
    /// As in ROOT, the last expression is x: `y:x`, `z:y:x`. A profile averages the first.
    ///
    /// # Errors
    /// `Invalid` for a number of variables that has no histogram, and a binning that does not fit.
    pub fn new(query: &Query, bins: &Bins, option: &DrawOption, estimate: i64) -> Result<Self> {
        let variables = query.titles().len();
        let texts: Vec<bool> = (0..variables).rev().map(|i| query.is_text(i)).collect();
        let labels = texts.iter().map(|text| text.then(LabelAxis::new)).collect();
        let rows = rows_that_decide(estimate);
        if let Some(chart) = option.chart {
            let state = State::Chart(chart_rows(query, chart, bins, &texts)?, rows.min(MOST_VALUES / variables.max(1)));
            return Ok(Self { variables, labels: vec![None; variables], state });
        }
        let (profile, defaults, bins) = wanted(variables, bins, option).ok_or_else(|| too_many(query.titles()))?;
        let said = texts.iter().zip(&bins.axes).any(|(text, said)| *text && *said != Default::default());
        if said {
            return Err(Error::invalid("the binning is for numbers: each string has its own bin")
                .with_remedy("omit the binning of that axis"));
        }
        if let (Some(true), true) = (texts.last(), profile.is_some()) {
            return Err(Error::invalid("a profile averages numbers, not strings"));
        }
        let integer: Vec<bool> = (0..variables).rev().map(|i| query.is_integer(i)).collect();
        let state = match texts.iter().any(|t| *t) {
            true if variables == 1 => State::Texts(TextHist::new()),
            false if bins.given(defaults)?.is_some() => {
                let axes = bins.given(defaults)?.unwrap_or_default();
                State::Filled(Box::new(empty(axes, profile)?))
            }
            false if variables == 1 => {
                State::Automatic(Box::new(AutoHist::with_bins(integer[0], bin_count(&bins)?).estimate(estimate)))
            }
            _ => {
                let open = bins.wait_beside_texts(defaults, &texts)?;
                State::Waiting(Box::new(Waiting {
                    bins,
                    profile,
                    norm: option.norm,
                    defaults: defaults.to_vec(),
                    integer,
                    columns: vec![Vec::new(); variables],
                    weights: Vec::new(),
                    rows,
                    open,
                }))
            }
        };
        Ok(Self { variables, labels, state })
    }

    /// Fills on what was drawn before, as `>>h` and `>>+h` do with a histogram that is there; `None` where it has another
    /// kind or number of variables, so that ROOT makes a new one.
    pub fn again(query: &Query, before: &Histogram, option: &DrawOption) -> Option<Self> {
        let variables = query.titles().len();
        let profile = option.profile.is_some() && variables > 1;
        let fits = match before {
            Histogram::Profile(_) => true,
            Histogram::Rows(_) => false,
            _ => !profile,
        };
        let labelled = (0..variables).any(|i| query.is_text(i) || before.labels(i).is_some());
        if !fits || labelled || option.chart.is_some() || before.variables() != variables {
            return None;
        }
        let state = State::Filled(Box::new(before.clone()));
        Some(Self { variables, labels: vec![None; variables], state })
    }

    /// Adds the rows of a batch; of later files, the query may be another one of the same expressions.
    ///
    /// # Errors
    /// `Invalid` when an expression gives strings here and gave numbers before, or the other way round; as [`Query::visit`].
    pub fn fill(&mut self, query: &Query, batch: &Batch<'_>) -> Result<()> {
        for (i, label) in self.labels.iter().rev().enumerate() {
            if query.is_text(i) != label.is_some() {
                let kind = if label.is_some() {
                    "not a string, but was one in earlier files"
                } else {
                    "a string, but was not one in earlier files"
                };
                let title = query.titles().get(i).map_or("", String::as_str);
                return Err(Error::invalid(format!("{title} is {kind}")));
            }
        }
        if self.labels.iter().all(Option::is_none) {
            return query.visit(batch, |rows| {
                let columns: Vec<&[f64]> = rows.values.iter().rev().map(Vec::as_slice).collect();
                self.fill_rows(&columns, rows.weights)
            });
        }
        let rows = query.rows(batch)?;
        if let State::Texts(h) = &mut self.state {
            return rows.columns.iter().try_for_each(|column| h.fill(column, &rows.weights));
        }
        let mut columns = Vec::new();
        for (i, label) in self.labels.iter_mut().rev().enumerate() {
            columns.push(match (label, rows.columns.get(i)) {
                (Some(label), Some(column)) => label.numbers(column)?,
                _ => rows.values(i),
            });
        }
        let columns: Vec<&[f64]> = columns.iter().rev().map(Vec::as_slice).collect();
        self.fill_rows(&columns, &rows.weights)
    }

    /// `columns` of the variables, x first.
    fn fill_rows(&mut self, columns: &[&[f64]], weights: &[f64]) -> Result<()> {
        match &mut self.state {
            State::Texts(_) => {}
            State::Automatic(h) => columns.iter().take(1).try_for_each(|c| h.fill(c, weights))?,
            State::Chart(rows, most) => {
                let kept = most.saturating_sub(rows.weights.len()).min(weights.len());
                // in the order of the expressions
                rows.columns.iter_mut().rev().zip(columns).for_each(|(all, c)| all.extend_from_slice(&c[..kept]));
                rows.weights.extend_from_slice(&weights[..kept]);
                rows.entries += weights.len() as u64;
            }
            State::Waiting(waiting) => {
                let kept = waiting.keep(columns, weights);
                if waiting.weights.len() < waiting.rows {
                    return Ok(());
                }
                self.state = State::Filled(Box::new(waiting.binned(&self.labels)?));
                let rest: Vec<&[f64]> = columns.iter().map(|c| &c[kept..]).collect();
                return self.fill_rows(&rest, &weights[kept..]);
            }
            State::Filled(h) => {
                make_room(h, &self.labels)?;
                h.fill(columns, weights);
            }
        }
        Ok(())
    }

    /// Whether all axes of so many variables are given, whatever their values are.
    pub fn are_axes_given(variables: usize, bins: &Bins, option: &DrawOption) -> bool {
        let given = |(_, defaults, bins): (_, &[usize], Bins)| bins.given(defaults).is_ok_and(|axes| axes.is_some());
        wanted(variables, bins, option).is_some_and(given)
    }

    /// Whether the first values decide about an axis.
    pub fn has_open_axes(&self) -> bool {
        match &self.state {
            State::Automatic(_) => true,
            State::Waiting(waiting) => waiting.open,
            _ => false,
        }
    }

    /// What was drawn.
    ///
    /// # Errors
    /// `Invalid` when no binning spans the values.
    pub fn finish(self) -> Result<Histogram> {
        let mut hist = match self.state {
            State::Texts(h) => Histogram::One(h.finish()?),
            State::Automatic(h) => Histogram::One(h.finish()?),
            State::Chart(rows, _) => Histogram::Rows(rows),
            State::Waiting(mut waiting) => waiting.binned(&self.labels)?,
            State::Filled(h) => *h,
        };
        for (i, label) in self.labels.into_iter().enumerate() {
            if let (Some(label), true) = (label, self.variables > 1) {
                let axis = label.axis()?;
                match &mut hist {
                    Histogram::Many(h) => h.label_axis(i, axis, label.names())?,
                    Histogram::Profile(p) => p.label_axis(i, axis, label.names())?,
                    _ => {}
                }
            }
        }
        Ok(hist)
    }
}

/// ROOT's numbers of bins of the axes.
fn default_bins(variables: usize, profile: bool) -> Option<&'static [usize]> {
    Some(match (variables, profile) {
        (1, _) | (2, true) => &[100],
        (2, false) => &[40; 2],
        (3, true) => &[100; 2],
        (3, false) => &[20; 3],
        _ => return None,
    })
}

/// Why no histogram has so many variables.
fn too_many(variables: &[String]) -> Error {
    let drawn = variables.iter().take(3).map(|v| v.len() + 1).sum();
    error_at(&variables.join(":"), drawn, &format!("{} variables: a histogram has at most 3", variables.len()))
        .with_remedy("draw more with the option para or candle, or print them with scan")
}

/// How many bins one axis has.
fn bin_count(bins: &Bins) -> Result<BinCount> {
    Ok(match bins.of_dimensions(1)?.first().and_then(|a| a.count) {
        None => BinCount::Automatic,
        Some(n) if bins.exactly => BinCount::Exactly(n),
        Some(n) => BinCount::Near(n),
    })
}

/// The axes that a [`Plot`] chooses when the values that decide have these ranges (x first; also of the variable that a
/// profile averages; anything where the values are strings). `integer` says of each whether its values are whole numbers, `rows` how many there are.
///
/// # Errors
/// `Invalid` when no binning spans the values.
pub fn axes_of_ranges(
    bins: &Bins,
    option: &DrawOption,
    rows: u64,
    ranges: &[(f64, f64)],
    integer: &[bool],
) -> Result<Vec<Axis>> {
    let variables = ranges.len();
    let defaults = default_bins(variables, option.profile.is_some() && variables > 1)
        .ok_or_else(|| Error::invalid(format!("{variables} variables: a histogram has at most 3")))?;
    match (variables, ranges, integer) {
        (1, [(min, max)], [integer]) if rows > 0 => Ok(vec![bin_count(bins)?.axis(*min, *max, *integer)?]),
        _ if rows > 0 => {
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            let wider = if option.profile.is_some() { 1 } else { widening(rows, option.norm) };
            bins.fitted(defaults, ranges, integer, wider)
        }
        _ => bins.unit(defaults),
    }
}

impl Waiting {
    /// Keeps rows, as many as are needed; how many.
    fn keep(&mut self, columns: &[&[f64]], weights: &[f64]) -> usize {
        let kept = self.rows.saturating_sub(self.weights.len()).min(weights.len());
        self.columns.iter_mut().zip(columns).for_each(|(all, c)| all.extend_from_slice(&c[..kept]));
        self.weights.extend_from_slice(&weights[..kept]);
        kept
    }

    /// The histogram of what is kept, which decides about the axes.
    fn binned(&mut self, labels: &[Option<LabelAxis>]) -> Result<Histogram> {
        let range = |column: &Vec<f64>| {
            // NaN decides nothing
            let min = column.iter().copied().fold(f64::MAX, f64::min);
            let max = column.iter().copied().fold(f64::MIN, f64::max);
            if column.is_empty() { (0.0, 1.0) } else { (min, max) }
        };
        let ranges: Vec<(f64, f64)> = self.columns.iter().map(range).collect();
        let mut axes = if self.weights.is_empty() {
            self.bins.unit(&self.defaults)?
        } else {
            let wider = if self.profile.is_some() { 1 } else { widening(self.weights.len(), self.norm) };
            self.bins.fitted(&self.defaults, &ranges, &self.integer, wider)?
        };
        for (axis, label) in axes.iter_mut().zip(labels) {
            if let Some(label) = label {
                *axis = label.roomy_axis()?;
            }
        }
        let mut hist = empty(axes, self.profile)?;
        if labels.iter().any(Option::is_some) {
            let is_text = labels.iter().map(Option::is_some);
            match &mut hist {
                Histogram::Many(h) => h.expect_labels(is_text),
                Histogram::Profile(p) => p.expect_labels(is_text.take(self.defaults.len())),
                _ => {}
            }
        }
        let columns: Vec<&[f64]> = self.columns.iter().map(Vec::as_slice).collect();
        hist.fill(&columns, &self.weights);
        Ok(hist)
    }
}

/// An empty histogram of these axes.
fn empty(axes: Vec<Axis>, profile: Option<ProfileError>) -> Result<Histogram> {
    Ok(match (axes.as_slice(), profile) {
        (_, Some(error)) => Histogram::Profile(Profile::new(axes, error)?),
        ([axis], None) => Histogram::One(Hist1D::new(axis.clone())),
        _ => Histogram::Many(HistND::new(axes)?),
    })
}

/// Widens axes of strings that have become too short.
fn make_room(hist: &mut Histogram, labels: &[Option<LabelAxis>]) -> Result<()> {
    for (i, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        match hist {
            Histogram::Many(h) if label.is_beyond(&h.axes()[i]) => h.label_axis(i, label.roomy_axis()?, Vec::new())?,
            Histogram::Profile(p) if label.is_beyond(&p.axes()[i]) => {
                p.label_axis(i, label.roomy_axis()?, Vec::new())?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn chart_rows(query: &Query, chart: Chart, bins: &Bins, texts: &[bool]) -> Result<ChartRows> {
    if texts.iter().any(|t| *t) {
        return Err(Error::invalid("para and candle draw numbers, not strings"));
    }
    if !bins.is_empty() {
        return Err(Error::invalid("para and candle have no binning").with_remedy("omit the binning"));
    }
    let columns = vec![Vec::new(); query.titles().len()];
    Ok(ChartRows { chart, columns, weights: Vec::new(), entries: 0 })
}
