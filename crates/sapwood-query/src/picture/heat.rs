//! Two axes as a map of colours.

use crate::histogram::Histogram;
use crate::picture::canvas::{Anchor, Canvas, Color, Stroke};
use crate::picture::format::statistics_of;
use crate::picture::histogram::{Labels, header};
use crate::picture::plane::{BOTTOM, HEIGHT, Plane, TOP, WIDTH};
use crate::picture::surface::Surface;
use crate::picture::ticks::Ticks;

/// Cells that can be distinguished, along either axis.
const MOST: (usize, usize) = (160, 120);
/// Room on the right for the scale of colours.
const RIGHT: f64 = 104.0;
/// Colours that can be distinguished.
const SHADES: usize = 64;
/// From little to much: yellow, green, blue.
const STOPS: [(f64, f64, f64); 4] =
    [(246.0, 243.0, 205.0), (134.0, 190.0, 124.0), (44.0, 110.0, 92.0), (22.0, 34.0, 74.0)];

/// The colour of a value from 0 to 1.
fn shade(value: f64) -> Color {
    let at = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let i = (at.floor() as usize).min(STOPS.len() - 2);
    let part = at - i as f64;
    let mix = |a: f64, b: f64| (a + (b - a) * part).round() as u8;
    let (a, b) = (STOPS[i], STOPS[i + 1]);
    Color(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2), 255)
}

/// Draws a histogram of two or three variables, or a profile of two axes; cells without content stay white. Gives the
/// frame, to draw more into it.
pub(super) fn heat_map(hist: &Histogram, labels: &Labels<'_>) -> Option<(Canvas, Plane)> {
    let surface = Surface::new(hist, MOST)?;
    let mut canvas = Canvas::new(WIDTH, HEIGHT, if labels.title.is_empty() { "histogram" } else { labels.title });
    let ends = |edges: &[f64]| (edges.first().copied().unwrap_or(0.0), edges.last().copied().unwrap_or(1.0));
    let plane = Plane { x: ends(&surface.x), y: ends(&surface.y), right: RIGHT };
    let (low, high) = surface.range(matches!(hist, Histogram::Many(_)));
    let level = |v: f64| ((v - low) / (high - low) * SHADES as f64).floor().clamp(0.0, (SHADES - 1) as f64);
    for (i, x) in surface.x.windows(2).enumerate() {
        // cells of one colour on one another are one rectangle
        let mut run: Option<(f64, usize)> = None;
        let rows = surface.y.len() - 1;
        for j in 0..=rows {
            let next = if j < rows { surface.value(i, j).map(level) } else { None };
            if let Some((shown, from)) = run
                && next != Some(shown)
            {
                let (left, right) = (plane.x(x[0]), plane.x(x[1]));
                let (top, bottom) = (plane.y(surface.y[j]), plane.y(surface.y[from]));
                canvas.rectangle(left, top, right - left, bottom - top, shade((shown + 0.5) / SHADES as f64));
                run = None;
            }
            if run.is_none() {
                run = next.map(|level| (level, j));
            }
        }
    }
    let titled = Labels { y: labels.y, ..*labels };
    plane.axes(&mut canvas, &titled, [hist.labels(0), hist.labels(1)]);
    scale(&mut canvas, low, high);
    header(&mut canvas, &statistics_of(hist), labels);
    Some((canvas, plane))
}

/// Draws another histogram of two variables into the frame of one: boxes whose areas are the contents.
pub(super) fn boxes(canvas: &mut Canvas, plane: &Plane, hist: &Histogram, color: Color) {
    let Some(surface) = Surface::new(hist, (60, 45)) else { return };
    let most = surface.values.iter().flatten().fold(0.0, |a: f64, v| a.max(v.abs()));
    for (i, x) in surface.x.windows(2).enumerate() {
        for (j, y) in surface.y.windows(2).enumerate() {
            let Some(value) = surface.value(i, j) else { continue };
            let side = (value.abs() / most).sqrt();
            let (middle_x, middle_y) = ((x[0] + x[1]) / 2.0, (y[0] + y[1]) / 2.0);
            let inside = (plane.x.0..=plane.x.1).contains(&middle_x) && (plane.y.0..=plane.y.1).contains(&middle_y);
            if !inside || !side.is_finite() {
                continue;
            }
            let (width, height) = (side * (plane.x(x[1]) - plane.x(x[0])), side * (plane.y(y[0]) - plane.y(y[1])));
            let (left, top) = (plane.x(middle_x) - width / 2.0, plane.y(middle_y) - height / 2.0);
            let corners = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height), (0.0, 0.0)];
            let outline: Vec<(f64, f64)> = corners.iter().map(|(dx, dy)| (left + dx, top + dy)).collect();
            canvas.line(&outline, Stroke { color, width: 1.0 });
        }
    }
}

/// The colours and what they stand for, on the right.
fn scale(canvas: &mut Canvas, low: f64, high: f64) {
    let (left, bottom) = (WIDTH - RIGHT + 16.0, HEIGHT - BOTTOM);
    let height = (bottom - TOP) / SHADES as f64;
    for i in 0..SHADES {
        let top = bottom - (i + 1) as f64 * height;
        canvas.rectangle(left, top, 16.0, height + 0.2, shade((i as f64 + 0.5) / SHADES as f64));
    }
    let ticks = Ticks::new(low, high, 6);
    for (at, label) in ticks.at.iter().zip(&ticks.labels) {
        let y = bottom - (at - low) / (high - low) * (bottom - TOP);
        canvas.text((left + 22.0, y + 5.0), 13.0, Anchor::Left, Color::INK, label);
    }
    if let Some(power) = ticks.power_words() {
        canvas.text((left, TOP - 10.0), 13.0, Anchor::Left, Color::INK, &power);
    }
}
