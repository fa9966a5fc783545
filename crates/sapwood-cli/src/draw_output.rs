//! Output of `sapwood draw`: terminal, files, JSON.

use crate::output::picture::{self, Kind, SCALE, shown};
use crate::output::{self, clean};
use sapwood::query::picture::{Labels, canvas};
use sapwood::query::{Axis, Histogram};
use sapwood::{Error, Result};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// What a file that is drawn into holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A picture, or numbers as JSON.
    Picture(Kind),
    /// The histogram as ROOT reads it.
    Root,
}

impl FileKind {
    /// Whether a list of entries can be written there.
    pub(crate) fn holds_lists(self) -> bool {
        matches!(self, Self::Root | Self::Picture(Kind::Json))
    }

    /// By the end of a file's name.
    ///
    /// # Errors
    /// The names that can be drawn into.
    pub(crate) fn of(path: &Path) -> Result<Self, String> {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("root")) {
            return Ok(Self::Root);
        }
        let wrong = |_| format!("-o {}: the file name must end with .png, .svg, .json or .root", shown(path));
        Kind::of(path).map(Self::Picture).map_err(wrong)
    }
}

/// What came out of one draw.
pub(crate) struct Drawn {
    /// What was filled.
    pub hist: Histogram,
    /// The name behind `>>`.
    pub name: String,
    /// All variables as they were written.
    pub expression: String,
    /// Each of them, x first.
    pub variables: Vec<String>,
    /// The selection.
    pub cut: Option<String>,
    /// Whether it is drawn into the picture of those before.
    pub same: bool,
    /// Whether errors are shown.
    pub errors: bool,
}

impl Drawn {
    /// Expression and selection, as ROOT titles its histograms.
    pub(crate) fn title(&self) -> String {
        match &self.cut {
            Some(cut) => format!("{} {{{cut}}}", self.expression),
            None => self.expression.clone(),
        }
    }

    /// What stands around the picture.
    fn labels(&self) -> Labels<'_> {
        let title = if self.name == "htemp" { &self.expression } else { &self.name };
        let variable = |i: usize| self.variables.get(i).map_or("", String::as_str);
        let y = if self.hist.variables() == 1 { "entries" } else { variable(1) };
        Labels { title, x: variable(0), y, note: self.cut.as_deref().unwrap_or_default() }
    }

    /// Writes a file that shows it; `below` is what it is drawn over.
    ///
    /// # Errors
    /// `Unsupported` for what such a file cannot hold; those of the disk.
    pub(crate) fn write(&self, path: &Path, kind: Kind, below: &[Drawn]) -> Result<()> {
        let variables: Vec<&str> = self.variables.iter().map(String::as_str).collect();
        let picture = || {
            let expressions: Vec<&str> = variables.iter().rev().copied().collect();
            let below: Vec<(&Histogram, String)> = below.iter().map(|d| (&d.hist, d.title())).collect();
            canvas(&self.hist, &self.labels(), &expressions, self.errors, &below)
        };
        let bytes = match kind {
            Kind::Png => picture().to_png(SCALE)?,
            Kind::Svg => picture().to_svg().into_bytes(),
            Kind::Json => {
                let json = self.hist.to_json(&self.name, &variables);
                json.ok_or_else(|| {
                    Error::unsupported("para and candle make a picture, not a histogram")
                        .with_remedy("write it to a .png or .svg file, or print the values with `sapwood scan`")
                })?
                .into_bytes()
            }
        };
        output::write_file(path, &bytes)
    }

    /// Shows it on the terminal.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) fn print(&self, out: &mut impl Write, below: &[Drawn]) -> std::io::Result<()> {
        for drawn in below.iter().chain(std::iter::once(self)) {
            writeln!(out, "{}", clean(&drawn.title()))?;
            let variables: Vec<&str> = drawn.variables.iter().rev().map(String::as_str).collect();
            write!(out, "{}", picture::terminal(&drawn.hist, &variables))?;
        }
        Ok(())
    }

    /// The same as JSON.
    ///
    /// # Errors
    /// `Unsupported` for a chart.
    pub(crate) fn to_json(&self) -> Result<Value> {
        let mut histogram = json!({ "name": self.name, "expression": self.expression, "cut": self.cut });
        let more = match &self.hist {
            Histogram::One(h) => {
                let values = h.values(true);
                json!({
                    "axis": axis(&h.axis()),
                    "labels": h.labels(),
                    "counts": numbers(h.values(false)),
                    "variances": numbers(h.variances(false)),
                    "underflow": values.first().copied().map(number),
                    "overflow": values.last().copied().map(number),
                    "entries": h.entries(),
                    "mean": h.mean(),
                    "std_dev": h.std_dev(),
                })
            }
            Histogram::Many(h) => {
                let axes = h.axes();
                let shape: Vec<usize> = axes.iter().map(Axis::bins).collect();
                json!({
                    "axes": self.axes(),
                    "counts": nested(&h.values(false), &shape),
                    "variances": nested(&h.variances(false), &shape),
                    "entries": h.entries(),
                    "mean": (0..axes.len()).map(|i| h.mean(i)).collect::<Vec<_>>(),
                    "std_dev": (0..axes.len()).map(|i| h.std_dev(i)).collect::<Vec<_>>(),
                })
            }
            Histogram::Profile(p) => {
                let axes = p.axes();
                let shape: Vec<usize> = axes.iter().map(Axis::bins).collect();
                json!({
                    "axes": self.axes(),
                    "means": nested(&p.means(false), &shape),
                    "errors": nested(&p.errors(false), &shape),
                    "entries": p.entries(),
                    "mean": (0..=axes.len()).map(|i| p.mean(i)).collect::<Vec<_>>(),
                    "std_dev": (0..=axes.len()).map(|i| p.std_dev(i)).collect::<Vec<_>>(),
                })
            }
            Histogram::Rows(rows) => json!({
                "variables": self.variables.iter().rev().collect::<Vec<_>>(),
                "quantiles": rows.quantiles(),
                "entries": rows.entries,
            }),
        };
        if let (Some(all), Value::Object(more)) = (histogram.as_object_mut(), more) {
            all.extend(more);
        }
        Ok(json!({ "histogram": histogram }))
    }

    fn axes(&self) -> Vec<Value> {
        let axes = self.hist.axes();
        let of = |(i, a): (usize, &Axis)| {
            let mut axis = axis(a);
            axis["expression"] = self.variables.get(i).cloned().into();
            axis["labels"] = json!(self.hist.labels(i));
            axis
        };
        axes.iter().enumerate().map(of).collect()
    }
}

fn axis(a: &Axis) -> Value {
    let mut axis = json!({ "bins": a.bins(), "low": a.low(), "high": a.high() });
    if let Some(edges) = a.edges() {
        axis["edges"] = json!(edges);
    }
    axis
}

/// Counts are whole numbers unless weights made them others: 3, not 3.0.
fn number(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 9007199254740992.0 { json!(x as i64) } else { json!(x) }
}

fn numbers(values: &[f64]) -> Value {
    values.iter().copied().map(number).collect()
}

/// Lists in lists; the last axis runs fastest.
fn nested(values: &[f64], shape: &[usize]) -> Value {
    match shape {
        [] | [_] => numbers(values),
        [_, inner @ ..] => {
            let size = inner.iter().product::<usize>().max(1);
            values.chunks(size).map(|part| nested(part, inner)).collect()
        }
    }
}
