//! What a draw makes, of any number of variables.

use crate::draw_option::Chart;
use crate::hist::{Axis, Hist1D};
use crate::hist_nd::HistND;
use crate::profile::Profile;

/// The result of a draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Histogram {
    /// Of one variable.
    One(Hist1D),
    /// Of two or three variables.
    Many(HistND),
    /// Means in bins.
    Profile(Profile),
    /// Rows for a chart of all variables side by side.
    Rows(ChartRows),
}

/// Rows for a chart: those that are kept to choose an axis elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartRows {
    /// Which chart.
    pub chart: Chart,
    /// The values of each variable, in the order of the expressions.
    pub columns: Vec<Vec<f64>>,
    /// The weight of each row.
    pub weights: Vec<f64>,
    /// How many rows there were, those that were not kept included.
    pub entries: u64,
}

impl Histogram {
    /// The axes, x first; none of a chart.
    pub fn axes(&self) -> Vec<Axis> {
        match self {
            Self::One(h) => vec![h.axis()],
            Self::Many(h) => h.axes().to_vec(),
            Self::Profile(p) => p.axes().to_vec(),
            Self::Rows(_) => Vec::new(),
        }
    }

    /// How many rows were filled.
    pub fn entries(&self) -> u64 {
        match self {
            Self::One(h) => h.entries(),
            Self::Many(h) => h.entries(),
            Self::Profile(p) => p.entries(),
            Self::Rows(rows) => rows.entries,
        }
    }

    /// How many variables are drawn into it.
    pub fn variables(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(h) => h.axes().len(),
            Self::Profile(p) => p.axes().len() + 1,
            Self::Rows(rows) => rows.columns.len(),
        }
    }

    /// What the bins of an axis stand for, where its values were strings.
    pub fn labels(&self, axis: usize) -> Option<&[String]> {
        match self {
            Self::One(h) => h.labels(),
            Self::Many(h) => h.labels(axis),
            Self::Profile(p) => p.labels(axis),
            Self::Rows(_) => None,
        }
    }

    /// Divides by the sum of the contents, without underflow and overflow, as option `norm` of TTree::Draw does. Where
    /// that sum is 0 nothing changes.
    pub fn normalize(&mut self) {
        let sum: f64 = match self {
            Self::One(h) => h.values(false).iter().sum(),
            Self::Many(h) => h.values(false).iter().sum(),
            Self::Profile(p) => p.means(false).iter().sum(),
            Self::Rows(_) => 0.0,
        };
        if sum == 0.0 {
            return;
        }
        match self {
            Self::One(h) => h.scale(1.0 / sum),
            Self::Many(h) => h.scale(1.0 / sum),
            Self::Profile(p) => p.scale(1.0 / sum),
            Self::Rows(_) => {}
        }
    }

    /// The same without content: what `>>h` refills.
    ///
    /// # Errors
    /// None where the axes are those of a histogram.
    pub fn emptied(&self) -> sapwood_span::Result<Self> {
        Ok(match self {
            Self::One(h) => Self::One(Hist1D::new(h.axis())),
            Self::Many(h) => Self::Many(HistND::new(h.axes().to_vec())?),
            Self::Profile(p) => Self::Profile(Profile::new(p.axes().to_vec(), p.error())?),
            Self::Rows(rows) => Self::Rows(ChartRows {
                chart: rows.chart,
                columns: vec![Vec::new(); rows.columns.len()],
                weights: Vec::new(),
                entries: 0,
            }),
        })
    }

    /// UHI's serialization schema, version 1; `labels` of the variables, x first. A chart has none.
    pub fn to_json(&self, name: &str, labels: &[&str]) -> Option<String> {
        match self {
            Self::One(h) => Some(h.to_json(name, labels.first().copied().unwrap_or_default())),
            Self::Many(h) => Some(h.to_json(name, labels)),
            Self::Profile(p) => Some(p.to_json(name, labels)),
            Self::Rows(_) => None,
        }
    }

    /// Adds rows: a slice for each variable, x first.
    pub(crate) fn fill(&mut self, columns: &[&[f64]], weights: &[f64]) {
        match self {
            Self::One(h) => columns.iter().take(1).for_each(|c| h.fill(c, weights)),
            Self::Many(h) => h.fill(columns, weights),
            Self::Profile(p) => p.fill(columns, weights),
            Self::Rows(_) => {}
        }
    }
}
