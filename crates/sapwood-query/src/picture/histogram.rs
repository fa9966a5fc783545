use crate::hist::Hist1D;
use crate::picture::canvas::{Anchor, Canvas, Color, Stroke, fit, text_width};
use crate::picture::format::statistics;
use crate::picture::ticks::Ticks;

/// What is written around a histogram; empty words are left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels<'a> {
    /// Above.
    pub title: &'a str,
    /// Below: the variable and its unit.
    pub x: &'a str,
    /// On the left: what is counted.
    pub y: &'a str,
    /// Below the title: the selection, for example.
    pub note: &'a str,
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 82.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 82.0;
const BOTTOM: f64 = 62.0;
/// Steps that can be distinguished; more bins are joined for the picture by their largest value.
const MAX_STEPS: usize = 2000;

/// Where values lie on the canvas.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (value - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - TOP - BOTTOM)
    }
}

/// Draws a histogram: a step line with a light area, axes with round numbers, the statistics above.
pub fn histogram(hist: &Hist1D, labels: &Labels<'_>) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, if labels.title.is_empty() { "histogram" } else { labels.title });
    let steps = steps(hist);
    let finite = || steps.iter().map(|s| s.1).filter(|v| v.is_finite());
    let (lowest, highest) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    let room = if highest > lowest { 0.06 * (highest - lowest) } else { 1.0 };
    let frame = Frame {
        x: (hist.axis().low(), hist.axis().high()),
        y: (if lowest < 0.0 { lowest - room } else { 0.0 }, highest + room),
    };
    axes(&mut canvas, &frame, hist, labels);
    outline(&mut canvas, &frame, &steps);
    let line = Stroke { color: Color::INK, width: 1.2 };
    canvas.line(&[(LEFT, TOP - 8.0), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)], line);
    header(&mut canvas, &statistics(hist), labels);
    canvas
}

/// Lower edge and value of what is drawn as one step, with the upper edge at the end.
fn steps(hist: &Hist1D) -> Vec<(f64, f64)> {
    let (axis, values) = (hist.axis(), hist.values(false));
    let group = values.len().div_ceil(MAX_STEPS).max(1);
    let mut out: Vec<(f64, f64)> = values
        .chunks(group)
        .enumerate()
        .map(|(i, v)| {
            (axis.edge(i * group), v.iter().copied().fold(v[0], |a, b| if b.abs() > a.abs() { b } else { a }))
        })
        .collect();
    out.push((axis.high(), 0.0));
    out
}

fn outline(canvas: &mut Canvas, frame: &Frame, steps: &[(f64, f64)]) {
    let base = frame.y(0.0);
    let mut points = vec![(frame.x(frame.x.0), base)];
    for pair in steps.windows(2) {
        let y = if pair[0].1.is_finite() { frame.y(pair[0].1) } else { base };
        points.push((frame.x(pair[0].0), y));
        points.push((frame.x(pair[1].0), y));
    }
    points.push((frame.x(frame.x.1), base));
    points.dedup();
    canvas.area(&points, Color::SHADE);
    let width = if steps.len() > 300 { 1.0 } else { 1.6 };
    canvas.line(&points, Stroke { color: Color::LEAF, width });
}

fn axes(canvas: &mut Canvas, frame: &Frame, hist: &Hist1D, labels: &Labels<'_>) {
    let grid = Stroke { color: Color::GRID, width: 1.0 };
    let tick = Stroke { color: Color::INK, width: 1.2 };
    let bottom = HEIGHT - BOTTOM;
    let (xs, ys) = (Ticks::new(frame.x.0, frame.x.1, 9), Ticks::new(frame.y.0, frame.y.1, 7));
    for (at, label) in ys.at.iter().zip(&ys.labels) {
        let y = frame.y(*at);
        if (y - bottom).abs() > 0.5 {
            canvas.line(&[(LEFT, y), (WIDTH - RIGHT, y)], grid);
        }
        canvas.text((LEFT - 10.0, y + 5.0), 14.0, Anchor::Right, Color::INK, label);
    }
    if let Some(power) = ys.power_words() {
        canvas.text((LEFT - 10.0, TOP - 14.0), 13.0, Anchor::Right, Color::INK, &power);
    }
    let y_label = fit(labels.y, 16.0, HEIGHT - TOP - BOTTOM);
    canvas.text_upward((22.0, TOP), 16.0, Anchor::Right, Color::INK, &y_label);
    if let Some(names) = hist.labels() {
        // they take the room of the variable's name, which the title has
        crate::picture::labels::axis(canvas, names, |i| frame.x(i as f64 + 0.5), bottom, BOTTOM);
        return;
    }
    for (at, label) in xs.at.iter().zip(&xs.labels) {
        let x = frame.x(*at);
        canvas.line(&[(x, bottom), (x, bottom + 5.0)], tick);
        canvas.text((x, bottom + 22.0), 14.0, Anchor::Middle, Color::INK, label);
    }
    let mut x_label = labels.x.to_string();
    if let Some(power) = xs.power_words() {
        x_label = if x_label.is_empty() { power } else { format!("{x_label}  ({power})") };
    }
    let x_label = fit(&x_label, 16.0, WIDTH - LEFT - RIGHT);
    canvas.text((WIDTH - RIGHT, HEIGHT - 14.0), 16.0, Anchor::Right, Color::INK, &x_label);
}

/// Title on the left, statistics on the right, the note between title and picture.
pub(super) fn header(canvas: &mut Canvas, statistics: &[(&'static str, String)], labels: &Labels<'_>) {
    let mut right = WIDTH - RIGHT;
    for (name, value) in statistics.iter().rev() {
        let width = text_width(name, 12.0).max(text_width(value, 15.0));
        canvas.text((right, 28.0), 12.0, Anchor::Right, Color::FAINT, name);
        canvas.text((right, 48.0), 15.0, Anchor::Right, Color::INK, value);
        right -= width + 22.0;
    }
    let room = (right - LEFT).max(60.0);
    canvas.text((LEFT, 34.0), 20.0, Anchor::Left, Color::INK, &fit(labels.title, 20.0, room));
    canvas.text((LEFT, 58.0), 14.0, Anchor::Left, Color::FAINT, &fit(labels.note, 14.0, room));
}
