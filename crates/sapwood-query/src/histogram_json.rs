//! Histograms as JSON objects, as `sapwood draw --json` prints them.

use crate::{Axis, Histogram};
use serde_json::{Value, json};

/// A histogram with what it was drawn from: the name behind `>>`, all variables as they were written, each of them (x
/// first), and the selection. Numbers that JSON cannot say are `null`. Flow bins are left out, but for one variable.
pub fn histogram_json(
    hist: &Histogram,
    name: &str,
    expression: &str,
    variables: &[String],
    cut: Option<&str>,
) -> Value {
    let mut histogram = json!({ "name": name, "expression": expression, "cut": cut });
    let more = match hist {
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
                "axes": axes_of(hist, variables),
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
                "axes": axes_of(hist, variables),
                "means": nested(&p.means(false), &shape),
                "errors": nested(&p.errors(false), &shape),
                "entries": p.entries(),
                "mean": (0..=axes.len()).map(|i| p.mean(i)).collect::<Vec<_>>(),
                "std_dev": (0..=axes.len()).map(|i| p.std_dev(i)).collect::<Vec<_>>(),
            })
        }
        Histogram::Rows(rows) => json!({
            "variables": variables.iter().rev().collect::<Vec<_>>(),
            "quantiles": rows.quantiles(),
            "entries": rows.entries,
        }),
    };
    if let (Some(all), Value::Object(more)) = (histogram.as_object_mut(), more) {
        all.extend(more);
    }
    histogram
}

fn axes_of(hist: &Histogram, variables: &[String]) -> Vec<Value> {
    let axes = hist.axes();
    let of = |(i, a): (usize, &Axis)| {
        let mut axis = axis(a);
        axis["expression"] = variables.get(i).cloned().into();
        axis["labels"] = json!(hist.labels(i));
        axis
    };
    axes.iter().enumerate().map(of).collect()
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
