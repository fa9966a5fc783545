//! All variables side by side: parallel coordinates and candles.

use crate::draw_option::Chart;
use crate::histogram::ChartRows;
use crate::picture::canvas::{Anchor, Canvas, Color, Stroke, fit};
use crate::picture::format::{grouped, significant};
use crate::picture::histogram::{Labels, header};
use crate::picture::plane::{BOTTOM, HEIGHT, LEFT, TOP, WIDTH};

const RIGHT: f64 = 40.0;
/// Lines that a picture shows; of more rows, evenly chosen ones.
const MOST_LINES: usize = 4000;
const LINE: Color = Color(0x2c, 0x6e, 0x49, 40);

impl ChartRows {
    /// Of each variable: smallest value, lower quartile, median, upper quartile, largest value. NaN and infinite values are
    /// left out, and weights do not count.
    pub fn quantiles(&self) -> Vec<Option<[f64; 5]>> {
        let of = |column: &Vec<f64>| {
            let mut sorted: Vec<f64> = column.iter().copied().filter(|v| v.is_finite()).collect();
            sorted.sort_by(f64::total_cmp);
            let (first, last) = (*sorted.first()?, *sorted.last()?);
            let at = |part: f64| {
                let place = part * (sorted.len() - 1) as f64;
                let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
                if below == above { below } else { below + (above - below) * place.fract() }
            };
            Some([first, at(0.25), at(0.5), at(0.75), last])
        };
        self.columns.iter().map(of).collect()
    }
}

/// Draws an axis for each variable, with a line for each row across them or a box for each.
pub(super) fn chart(rows: &ChartRows, variables: &[&str], labels: &Labels<'_>) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, if labels.title.is_empty() { "chart" } else { labels.title });
    let (n, bottom) = (rows.columns.len().max(1), HEIGHT - BOTTOM);
    let step = (WIDTH - LEFT - RIGHT) / n as f64;
    let x = |i: usize| LEFT + (i as f64 + 0.5) * step;
    let quantiles = rows.quantiles();
    let range = |i: usize| match quantiles.get(i).copied().flatten() {
        Some([low, .., high]) if low < high && (high - low).is_finite() => (low, high),
        Some([low, ..]) if low.is_finite() => (low - 1.0, low + 1.0),
        _ => (0.0, 1.0),
    };
    let y = |i: usize, v: f64| {
        let (low, high) = range(i);
        bottom - ((v - low) / (high - low)).clamp(0.0, 1.0) * (bottom - TOP)
    };
    if rows.chart == Chart::Parallel {
        let all = rows.weights.len();
        for row in (0..all).step_by(all.div_ceil(MOST_LINES).max(1)) {
            let values = rows.columns.iter().enumerate().filter_map(|(i, c)| Some((i, *c.get(row)?)));
            let line: Vec<(f64, f64)> = values.filter(|(_, v)| v.is_finite()).map(|(i, v)| (x(i), y(i, v))).collect();
            canvas.line(&line, Stroke { color: LINE, width: 0.8 });
        }
    }
    let ink = Stroke { color: Color::INK, width: 1.2 };
    for i in 0..rows.columns.len() {
        let (low, high) = range(i);
        let name = variables.get(i).copied().unwrap_or_default();
        canvas.text((x(i), bottom + 40.0), 14.0, Anchor::Middle, Color::INK, &fit(name, 14.0, step - 8.0));
        for (value, at) in [(low, bottom + 18.0), (high, TOP - 6.0)] {
            canvas.text((x(i), at), 12.0, Anchor::Middle, Color::FAINT, &fit(&significant(value, 4), 12.0, step));
        }
        canvas.line(&[(x(i), TOP), (x(i), bottom)], ink);
        if let (Chart::Candle, Some([_, q1, median, q3, _])) = (rows.chart, quantiles.get(i).copied().flatten()) {
            let half = (0.25 * step).min(30.0);
            canvas.rectangle(x(i) - half, y(i, q3), 2.0 * half, y(i, q1) - y(i, q3), Color(0xcf, 0xdf, 0xd5, 255));
            let corners = [(-half, q1), (half, q1), (half, q3), (-half, q3), (-half, q1)];
            let outline: Vec<(f64, f64)> = corners.iter().map(|(dx, q)| (x(i) + dx, y(i, *q))).collect();
            canvas.line(&outline, ink);
            let middle = y(i, median);
            canvas.line(&[(x(i) - half, middle), (x(i) + half, middle)], Stroke { color: Color::LEAF, width: 2.4 });
        }
    }
    header(&mut canvas, &[("Entries", grouped(rows.entries))], labels);
    canvas
}

/// The quartiles of each variable as lines of text.
pub(super) fn in_characters(rows: &ChartRows, variables: &[&str]) -> String {
    let mut out = format!("Entries {}\n", grouped(rows.entries));
    let names: Vec<String> = (0..rows.columns.len())
        .map(|i| sapwood_span::printable(variables.get(i).copied().unwrap_or_default()).into_owned())
        .collect();
    let widest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    out.push_str(&format!("{:widest$} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "", "min", "25%", "median", "75%", "max"));
    for (name, q) in names.iter().zip(rows.quantiles()) {
        let cells = q.map_or_else(String::new, |q| q.iter().map(|v| format!(" {:>12}", significant(*v, 6))).collect());
        out.push_str(&format!("{name:widest$}{cells}\n"));
    }
    out
}
