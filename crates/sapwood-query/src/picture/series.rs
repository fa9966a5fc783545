//! Several histograms of one variable and profiles in one frame, with errors.

use crate::histogram::Histogram;
use crate::picture::canvas::{Anchor, Canvas, Color, Stroke, fit};
use crate::picture::format::statistics_of;
use crate::picture::histogram::{Labels, header};
use crate::picture::plane::{HEIGHT, LEFT, Plane, TOP, WIDTH};

const RIGHT: f64 = 26.0;
/// Colours one after another.
const COLORS: [Color; 5] = [
    Color::LEAF,
    Color(0xb0, 0x50, 0x2c, 255),
    Color(0x2a, 0x5c, 0x9c, 255),
    Color(0x7a, 0x3f, 0x8a, 255),
    Color(0x8a, 0x75, 0x1c, 255),
];
/// Points that can be distinguished.
const MOST_POINTS: usize = 2000;

/// One bin: edges, content, error.
struct Bin {
    low: f64,
    high: f64,
    value: f64,
    error: f64,
}

/// The bins that have something to show; of a histogram all of them.
fn bins(hist: &Histogram) -> Option<Vec<Bin>> {
    let axes = hist.axes();
    let [axis] = axes.as_slice() else { return None };
    let (values, errors, filled) = match hist {
        Histogram::One(h) => {
            let errors = h.variances(false).iter().map(|v| v.sqrt()).collect();
            (h.values(false).to_vec(), errors, vec![true; axis.bins()])
        }
        Histogram::Profile(p) => {
            let filled = p.inner(&p.sums_of_weights()).iter().map(|w| *w != 0.0).collect();
            (p.means(false), p.errors(false), filled)
        }
        _ => return None,
    };
    let all = values.into_iter().zip::<Vec<f64>>(errors).zip(filled).enumerate();
    let shown = all.filter(|(_, ((value, _), filled))| *filled && value.is_finite());
    let of = |(i, ((value, error), _)): (usize, ((f64, f64), bool))| Bin {
        low: axis.edge(i),
        high: axis.edge(i + 1),
        value,
        error: if f64::is_finite(error) { error } else { 0.0 },
    };
    Some(shown.map(of).collect())
}

/// Draws histograms as lines (with `errors` as points) and profiles as points with errors. The first has the axis of x;
/// the last one the statistics. `None` where one has two axes or more.
pub(super) fn series(all: &[(&Histogram, String)], labels: &Labels<'_>, errors: bool) -> Option<Canvas> {
    let drawn: Vec<Vec<Bin>> = all.iter().map(|(hist, _)| bins(hist)).collect::<Option<_>>()?;
    let (first, last) = (all.first()?.0, all.last()?.0);
    let counts = all.iter().any(|(hist, _)| matches!(hist, Histogram::One(_)));
    let profiles = all.iter().any(|(hist, _)| matches!(hist, Histogram::Profile(_)));
    let shown = errors || profiles;
    let ends = drawn.iter().flatten().flat_map(|b| {
        let error = if shown { b.error } else { 0.0 };
        [b.value - error, b.value + error]
    });
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let low = if counts { low.min(0.0) } else { low };
    let (low, high) = match high - low {
        span if span > 0.0 && span.is_finite() => (low, high),
        0.0 if low.abs() < 1e15 => (low, low + 1.0),
        _ => (0.0, 1.0),
    };
    let room = 0.06 * (high - low);
    let axis = first.axes().into_iter().next()?;
    let y = (if counts && low == 0.0 { 0.0 } else { low - room }, high + room);
    let plane = Plane { x: (axis.low(), axis.high()), y, right: RIGHT };
    let mut canvas = Canvas::new(WIDTH, HEIGHT, if labels.title.is_empty() { "histogram" } else { labels.title });
    for (i, ((hist, title), bins)) in all.iter().zip(&drawn).enumerate() {
        let color = COLORS[i % COLORS.len()];
        match hist {
            Histogram::One(_) if !errors => steps(&mut canvas, &plane, bins, color),
            _ => points(&mut canvas, &plane, bins, color),
        }
        if all.len() > 1 {
            let at = (WIDTH - RIGHT - 8.0, TOP + 16.0 * i as f64 + 8.0);
            canvas.text(at, 13.0, Anchor::Right, color, &fit(title, 13.0, WIDTH - LEFT - RIGHT - 20.0));
        }
    }
    plane.axes(&mut canvas, labels, [first.labels(0), None]);
    header(&mut canvas, &statistics_of(last), labels);
    Some(canvas)
}

/// Draws a profile or a histogram of one variable into a frame that is there.
pub(super) fn over(canvas: &mut Canvas, plane: &Plane, hist: &Histogram, color: Color) {
    match (hist, bins(hist)) {
        (Histogram::One(_), Some(bins)) => steps(canvas, plane, &bins, color),
        (_, Some(bins)) => points(canvas, plane, &bins, color),
        _ => {}
    }
}

fn steps(canvas: &mut Canvas, plane: &Plane, bins: &[Bin], color: Color) {
    let inside = |v: f64| v.clamp(plane.x.0, plane.x.1);
    let mut line = Vec::new();
    let Some((first, last)) = bins.first().zip(bins.last()) else { return };
    let base = plane.y(0.0f64.clamp(plane.y.0, plane.y.1));
    line.push((plane.x(inside(first.low)), base));
    for group in bins.chunks(bins.len().div_ceil(MOST_POINTS).max(1)) {
        let value = group.iter().map(|b| b.value).fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        let (low, high) = (group[0].low, group[group.len() - 1].high);
        let y = plane.y(value.clamp(plane.y.0, plane.y.1));
        line.push((plane.x(inside(low)), y));
        line.push((plane.x(inside(high)), y));
    }
    line.push((plane.x(inside(last.high)), base));
    line.dedup();
    canvas.line(&line, Stroke { color, width: 1.6 });
}

fn points(canvas: &mut Canvas, plane: &Plane, bins: &[Bin], color: Color) {
    let inside = |v: f64, range: (f64, f64)| v.clamp(range.0, range.1);
    let visible = |b: &&Bin| {
        let middle = (b.low + b.high) / 2.0;
        (plane.x.0..=plane.x.1).contains(&middle) && (plane.y.0..=plane.y.1).contains(&b.value)
    };
    let stroke = Stroke { color, width: 1.3 };
    for b in bins.iter().filter(visible).step_by(bins.len().div_ceil(MOST_POINTS).max(1)) {
        let (x, y) = (plane.x((b.low + b.high) / 2.0), plane.y(b.value));
        let (left, right) = (plane.x(inside(b.low, plane.x)), plane.x(inside(b.high, plane.x)));
        let ends = [b.value - b.error, b.value + b.error].map(|v| plane.y(inside(v, plane.y)));
        canvas.line(&[(left, y), (right, y)], stroke);
        canvas.line(&[(x, ends[0]), (x, ends[1])], stroke);
        canvas.rectangle(x - 2.0, y - 2.0, 4.0, 4.0, color);
    }
}
