//! Two axes and profiles in characters.

use crate::hist::Axis;
use crate::histogram::Histogram;
use crate::picture::format::{significant, statistics_of};
use crate::picture::surface::Surface;
use crate::picture::terminal::{axis, trim_end};

/// From little to much, and what replaces them without Unicode.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
const PLAIN: [char; 5] = ['.', ':', '+', '#', '@'];

fn statistics_line(hist: &Histogram, unicode: bool) -> String {
    let words: Vec<String> = statistics_of(hist).iter().map(|(n, v)| format!("{n} {v}")).collect();
    let mut line = words.join(if unicode { "  ·  " } else { "   " });
    line.push('\n');
    line
}

/// A frame of characters: `rows` from above, with labels of some of them on the left.
fn frame(out: &mut String, rows: &[String], labels: &[(usize, String)], x: (&Axis, usize), unicode: bool) {
    let margin = labels.iter().map(|(_, l)| l.chars().count()).max().unwrap_or(0) + 1;
    for (i, row) in rows.iter().enumerate() {
        let label = labels.iter().find(|(at, _)| *at == i).map_or("", |(_, l)| l);
        let wall = match (label.is_empty(), unicode) {
            (true, true) => '│',
            (false, true) => '┤',
            (true, false) => '|',
            (false, false) => '+',
        };
        out.push_str(&format!("{label:>margin$}{wall}{row}"));
        trim_end(out);
        out.push('\n');
    }
    let plotted = rows.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    axis(out, x.0, margin, plotted, x.1, unicode);
}

/// A histogram of two or three variables, or a profile of two axes: a character for each cell.
pub(super) fn cells(hist: &Histogram, width: usize, height: usize, unicode: bool) -> Option<String> {
    let axes = hist.axes();
    let rows = height.saturating_sub(3).max(4);
    let surface = Surface::new(hist, (width.saturating_sub(12).max(10), rows))?;
    let (low, high) = surface.range(matches!(hist, Histogram::Many(_)));
    let shades = if unicode { SHADES } else { PLAIN };
    let (nx, ny) = (surface.x.len() - 1, surface.y.len() - 1);
    let wide = (width.saturating_sub(12) / nx.max(1)).clamp(1, 4);
    let lines: Vec<String> = (0..ny)
        .rev()
        .map(|j| {
            let shade = |v: f64| shades[(((v - low) / (high - low) * 5.0) as usize).min(4)];
            let of = |i: usize| surface.value(i, j).map_or(' ', shade);
            (0..nx).flat_map(|i| std::iter::repeat_n(of(i), wide)).collect()
        })
        .collect();
    let every = (ny / 5).max(1);
    let name = |j: usize| match hist.labels(1) {
        Some(names) => sapwood_span::printable(names.get(j).map_or("", String::as_str)).chars().take(10).collect(),
        None => significant(surface.y[j], 4),
    };
    let labels: Vec<(usize, String)> = (0..ny).step_by(every).map(|j| (ny - 1 - j, name(j))).collect();
    let mut out = statistics_line(hist, unicode);
    let joined = (axes.first()?.bins()).div_ceil(nx.max(1)) * nx;
    frame(&mut out, &lines, &labels, (axes.first()?, joined), unicode);
    if let Some(names) = hist.labels(0) {
        let names: Vec<String> = names.iter().map(|n| sapwood_span::printable(n).into_owned()).collect();
        out.push_str(&format!("{}\n", names.join(" ").chars().take(width).collect::<String>()));
    }
    Some(out)
}

/// A profile of one axis: a point for each bin between the ends of its error.
pub(super) fn points(hist: &Histogram, width: usize, height: usize, unicode: bool) -> Option<String> {
    let Histogram::Profile(p) = hist else { return None };
    let [x] = p.axes() else { return None };
    let (means, errors, weights) = (p.means(false), p.errors(false), p.inner(&p.sums_of_weights()));
    let columns = width.saturating_sub(12).max(10);
    let group = x.bins().div_ceil(columns).max(1);
    let shown: Vec<Option<(f64, f64)>> = means
        .chunks(group)
        .zip(errors.chunks(group))
        .zip(weights.chunks(group))
        .map(|((m, e), w)| {
            let sum: f64 = w.iter().sum();
            let mean = m.iter().zip(w).map(|(m, w)| m * w).sum::<f64>() / sum;
            let error = e.iter().zip(w).map(|(e, w)| (e * w).powi(2)).sum::<f64>().sqrt() / sum.abs();
            (sum != 0.0 && mean.is_finite() && error.is_finite()).then_some((mean, error))
        })
        .collect();
    let ends = shown.iter().flatten().flat_map(|(m, e)| [m - e, m + e]);
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let (low, high) = match high - low {
        span if span > 0.0 && span.is_finite() => (low, high),
        0.0 if low.abs() < 1e15 => (low - 0.5, low + 0.5),
        _ => (0.0, 1.0),
    };
    let rows = height.saturating_sub(3).max(4);
    let row = |v: f64| (rows - 1) - (((v - low) / (high - low) * rows as f64) as usize).min(rows - 1);
    let wide = (columns / shown.len().max(1)).max(1);
    let (point, bar) = if unicode { ('●', '│') } else { ('o', '|') };
    let mut lines = vec![vec![' '; shown.len() * wide]; rows];
    for (i, shown) in shown.iter().enumerate() {
        let Some((mean, error)) = shown else { continue };
        let at = i * wide + wide / 2;
        for line in lines.iter_mut().take(row(mean - error) + 1).skip(row(mean + error)) {
            line[at] = bar;
        }
        lines[row(*mean)][at] = point;
    }
    let lines: Vec<String> = lines.into_iter().map(|l| l.into_iter().collect()).collect();
    let ticks = crate::picture::ticks::Ticks::new(low, high, (rows / 3).clamp(2, 8));
    let labels: Vec<(usize, String)> = ticks.at.iter().map(|v| (row(*v), significant(*v, 6))).collect();
    let mut out = statistics_line(hist, unicode);
    frame(&mut out, &lines, &labels, (x, shown.len() * group), unicode);
    Some(out)
}
