//! Curves over an axis, their names beside them.

use sapwood_query::picture::{Anchor, Canvas, Color, Stroke, fit};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 96.0;
/// Where the curves end. The names of the curves are to the right of it, never over a curve.
const RIGHT: f64 = 776.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 54.0;
/// From one name to the next.
const LINE: f64 = 18.0;
/// Names that have a place beside the curves.
const NAMES: usize = 17;

/// Six colors, then the same ones lighter.
const COLORS: [Color; 12] = [
    Color(0x2c, 0x6e, 0x49, 255),
    Color(0xb0, 0x52, 0x1c, 255),
    Color(0x2a, 0x5c, 0x9a, 255),
    Color(0x7a, 0x3f, 0x8a, 255),
    Color(0x8a, 0x7a, 0x1c, 255),
    Color(0x26, 0x2a, 0x2e, 255),
    Color(0x6f, 0xc4, 0x93, 255),
    Color(0xf0, 0x9a, 0x5f, 255),
    Color(0x7c, 0xb2, 0xee, 255),
    Color(0xcb, 0x8f, 0xdb, 255),
    Color(0xd9, 0xc6, 0x4f, 255),
    Color(0x9a, 0xa2, 0xaa, 255),
];

/// A curve with a name.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// An axis: its name, whether it is logarithmic, and how its values are written.
pub(super) struct Scale {
    pub(super) name: &'static str,
    pub(super) log: bool,
    pub(super) words: fn(f64) -> String,
}

/// Whether each point of a curve is marked. A curve of one point always is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    None,
    Shown,
}

pub(super) fn chart(title: &str, x: &Scale, y: &Scale, curves: &[Curve], marks: Marks) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, title);
    canvas.text((LEFT, 30.0), 18.0, Anchor::Left, Color::INK, &fit(title, 18.0, RIGHT - LEFT));
    let values =
        |axis: usize| curves.iter().flat_map(move |c| c.points.iter().map(move |p| if axis == 0 { p.0 } else { p.1 }));
    let (xs, ys) = (range(values(0), x.log), range(values(1), y.log));
    let place = |v: f64, (low, high): (f64, f64), log: bool| {
        if log { libm::log(v.max(low) / low) / libm::log(high / low) } else { (v - low) / (high - low) }
    };
    let bottom = HEIGHT - BOTTOM;
    let at = |p: (f64, f64)| {
        let (px, py) = (place(p.0, xs, x.log).clamp(0.0, 1.0), place(p.1, ys, y.log).clamp(0.0, 1.0));
        (LEFT + px * (RIGHT - LEFT), bottom - py * (bottom - TOP))
    };
    for tick in ticks(ys, y.log) {
        let (_, py) = at((xs.0, tick));
        canvas.line(&[(LEFT, py), (RIGHT, py)], Stroke { color: Color::GRID, width: 1.0 });
        canvas.text((LEFT - 8.0, py + 5.0), 13.0, Anchor::Right, Color::INK, &(y.words)(tick));
    }
    for tick in ticks(xs, x.log) {
        let (px, _) = at((tick, ys.0));
        canvas.line(&[(px, bottom), (px, bottom + 5.0)], Stroke { color: Color::INK, width: 1.2 });
        canvas.text((px, bottom + 20.0), 13.0, Anchor::Middle, Color::INK, &(x.words)(tick));
    }
    canvas.text((RIGHT, HEIGHT - 12.0), 14.0, Anchor::Right, Color::INK, x.name);
    canvas.text((LEFT, TOP - 10.0), 14.0, Anchor::Right, Color::INK, y.name);
    for (i, curve) in curves.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let points: Vec<(f64, f64)> = curve.points.iter().map(|&p| at(p)).collect();
        if points.len() > 1 {
            canvas.line(&points, Stroke { color, width: 2.0 });
        }
        if points.len() == 1 || marks == Marks::Shown {
            for p in &points {
                canvas.rectangle(p.0 - 3.0, p.1 - 3.0, 6.0, 6.0, color);
            }
        }
    }
    names(&mut canvas, curves);
    canvas.line(&[(LEFT, TOP), (LEFT, bottom), (RIGHT, bottom)], Stroke { color: Color::INK, width: 1.2 });
    canvas
}

/// The names of the curves, from the top, as many as have a place.
fn names(canvas: &mut Canvas, curves: &[Curve]) {
    let (left, room) = (RIGHT + 38.0, WIDTH - RIGHT - 46.0);
    let line = |i: usize| TOP + 5.0 + LINE * i as f64;
    let shown = if curves.len() > NAMES { NAMES - 1 } else { curves.len() };
    for (i, curve) in curves.iter().take(shown).enumerate() {
        canvas.rectangle(RIGHT + 20.0, line(i) - 6.0, 12.0, 4.0, COLORS[i % COLORS.len()]);
        canvas.text((left, line(i)), 13.0, Anchor::Left, Color::INK, &fit(&curve.name, 13.0, room));
    }
    if shown < curves.len() {
        let more = format!("and {} more", curves.len() - shown);
        canvas.text((left, line(shown)), 13.0, Anchor::Left, Color::INK, &more);
    }
}

/// The lowest and the highest value, not equal; from 0 where it is not logarithmic.
fn range(values: impl Iterator<Item = f64>, log: bool) -> (f64, f64) {
    let usable = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
    let (low, high) = usable.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    match (log, low.is_finite()) {
        (_, false) => (if log { 1.0 } else { 0.0 }, 10.0),
        (true, _) => (low / 1.1, high * 1.1),
        (false, _) => (0.0, if high > 0.0 { high * 1.04 } else { 1.0 }),
    }
}

/// Round values inside a range.
fn ticks((low, high): (f64, f64), log: bool) -> Vec<f64> {
    let power = |v: f64| libm::floor(libm::log10(v));
    if log {
        let steps: &[f64] = if high / low < 30.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let decades = power(low) as i32..=power(high) as i32;
        let all = decades.flat_map(|d| steps.iter().map(move |s| s * libm::pow(10.0, f64::from(d))));
        let all: Vec<f64> = all.filter(|v| (low..=high).contains(v)).collect();
        let every = all.len().div_ceil(8).max(1);
        return all.into_iter().step_by(every).collect();
    }
    let rough = (high - low) / 5.0;
    let scale = libm::pow(10.0, power(rough));
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * scale).find(|s| *s >= rough).unwrap_or(scale);
    (0..10).map(|i| low + f64::from(i) * step).take_while(|v| *v <= high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(curves: usize) -> String {
        let curve = |i: usize| Curve { name: format!("curve {i}"), points: vec![(0.0, 1.0), (10.0, i as f64)] };
        let axis = || Scale { name: "", log: false, words: |v| format!("{v}") };
        let curves: Vec<Curve> = (0..curves).map(curve).collect();
        chart("many", &axis(), &axis(), &curves, Marks::Shown).to_svg()
    }

    #[test]
    fn twelve_curves_have_colors_of_their_own() {
        let svg = drawn(12);
        for Color(r, g, b, _) in COLORS {
            // the line, its two marks and its name
            assert!(svg.matches(&format!("#{r:02x}{g:02x}{b:02x}\"")).count() >= 4, "{svg}");
        }
    }

    #[test]
    fn names_that_have_no_place_are_counted() {
        assert!(drawn(NAMES).contains(&format!("curve {}<", NAMES - 1)) && !drawn(NAMES).contains("more"));
        let svg = drawn(100);
        assert!(svg.contains("curve 15<") && !svg.contains("curve 16<") && svg.contains("and 84 more"), "{svg}");
    }
}
