//! Pictures of a report: time lines, distributions, policies over a value that was changed.

use super::Report;
use crate::outcome::Outcome;
use crate::sweep::shown;
use crate::tally::Moment;
use sapwood_perf::text::{clean, units};
use sapwood_query::picture::{Anchor, Canvas, Color, Stroke, fit};

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 54.0;
const COLORS: [Color; 6] = [
    Color(0x2c, 0x6e, 0x49, 255),
    Color(0xb0, 0x52, 0x1c, 255),
    Color(0x2a, 0x5c, 0x9a, 255),
    Color(0x7a, 0x3f, 0x8a, 255),
    Color(0x8a, 0x7a, 0x1c, 255),
    Color(0x26, 0x2a, 0x2e, 255),
];

/// A curve with a name.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// An axis: its name, whether it is logarithmic, and how its values are written.
struct Scale {
    name: &'static str,
    log: bool,
    words: fn(f64) -> String,
}

const SECONDS: fn(f64) -> String = |v| super::text::time(v);
const BYTES: fn(f64) -> String = |v| units::bytes(v as u64);
const RATE: fn(f64) -> String = |v| format!("{}/s", units::bytes(v as u64));
const COUNT: fn(f64) -> String = |v| if v.fract() == 0.0 { units::count(v as u64) } else { format!("{v:.1}") };
const PERCENT: fn(f64) -> String = |v| format!("{v:.0} %");

/// What is shown over time: the file, the title, the axis, and the value.
type TimeLine = (&'static str, &'static str, fn(f64) -> String, fn(&Moment) -> f64);
const TIME_LINES: &[TimeLine] = &[
    ("running", "Jobs that run", COUNT, |m| m.running as f64),
    ("cores", "Cores in use", COUNT, |m| m.busy as f64),
    ("waiting", "Jobs that wait for a core or for files", COUNT, |m| (m.queued + m.waiting) as f64),
    ("network", "Bytes per second over all links, on average", RATE, |m| m.network),
    ("disk", "Bytes on disks and in caches", BYTES, |m| (m.disk + m.cached) as f64),
];

/// What is shown over a value that was changed.
type Swept = (&'static str, &'static str, fn(f64) -> String, fn(&Outcome) -> f64);
const SWEPT: &[Swept] = &[
    ("sweep-time", "Time to result, reached by 95 % of tasks", SECONDS, |o| o.p95),
    ("sweep-moved", "Bytes moved", BYTES, |o| o.moved_bytes as f64),
    ("sweep-cost", "Cost", |v| format!("{v:.0}"), |o| o.cost.iter().sum()),
];

/// The files of all pictures that a report may have.
pub const PICTURE_FILES: &[&str] = &[
    "distribution.svg",
    "running.svg",
    "cores.svg",
    "waiting.svg",
    "network.svg",
    "disk.svg",
    "sweep-time.svg",
    "sweep-moved.svg",
    "sweep-cost.svg",
];

pub(super) fn all(report: &Report) -> Vec<(&'static str, Canvas)> {
    let mut out = Vec::new();
    let curves = report.outcomes.iter().map(|o| {
        let n = o.distribution.len().saturating_sub(1).max(1) as f64;
        let points = o.distribution.iter().enumerate().map(|(i, &t)| (t, 100.0 * i as f64 / n));
        Curve { name: clean(&o.policy), points: points.collect() }
    });
    let x = Scale { name: "time to result", log: true, words: SECONDS };
    let y = Scale { name: "tasks", log: false, words: PERCENT };
    out.push((
        "distribution",
        chart("Tasks that had their result after some time", &x, &y, &curves.collect::<Vec<_>>()),
    ));
    for &(file, title, words, value) in TIME_LINES {
        let curves = report.outcomes.iter().map(|o| {
            let points = o.moments.iter().map(|m| (m.seconds, value(m)));
            Curve { name: clean(&o.policy), points: points.collect() }
        });
        let x = Scale { name: "time", log: false, words: SECONDS };
        let y = Scale { name: "", log: false, words };
        out.push((file, chart(title, &x, &y, &curves.collect::<Vec<_>>())));
    }
    let Some(axis) = report.axes.first() else { return out };
    for &(file, title, words, value) in SWEPT {
        // a curve for each policy and each combination of the other values
        let mut curves: Vec<Curve> = Vec::new();
        for p in &report.points {
            for o in &p.outcomes {
                let others = report.axes.iter().zip(&p.values).skip(1);
                let others: String = others.map(|(a, &v)| format!(", {} {}", a.key, shown(&a.key, v))).collect();
                let name = clean(&format!("{}{others}", o.policy));
                let point = (p.values.first().copied().unwrap_or(0.0), value(o));
                match curves.iter_mut().find(|c| c.name == name) {
                    Some(curve) => curve.points.push(point),
                    None => curves.push(Curve { name, points: vec![point] }),
                }
            }
        }
        let words_x: fn(f64) -> String = match axis.unit {
            crate::sweep::Unit::Bytes => BYTES,
            crate::sweep::Unit::Rate => RATE,
            crate::sweep::Unit::Seconds => SECONDS,
            crate::sweep::Unit::Number => COUNT,
        };
        let x = Scale { name: "", log: true, words: words_x };
        let y = Scale { name: "", log: false, words };
        out.push((file, chart(&clean(&format!("{title}, over {}", axis.key)), &x, &y, &curves)));
    }
    out
}

fn chart(title: &str, x: &Scale, y: &Scale, curves: &[Curve]) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, title);
    canvas.text((LEFT, 30.0), 18.0, Anchor::Left, Color::INK, &fit(title, 18.0, WIDTH - LEFT - RIGHT));
    let values =
        |axis: usize| curves.iter().flat_map(move |c| c.points.iter().map(move |p| if axis == 0 { p.0 } else { p.1 }));
    let (xs, ys) = (range(values(0), x.log), range(values(1), y.log));
    let place = |v: f64, (low, high): (f64, f64), log: bool| {
        if log { libm::log(v.max(low) / low) / libm::log(high / low) } else { (v - low) / (high - low) }
    };
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let at = |p: (f64, f64)| {
        let (px, py) = (place(p.0, xs, x.log).clamp(0.0, 1.0), place(p.1, ys, y.log).clamp(0.0, 1.0));
        (LEFT + px * (right - LEFT), bottom - py * (bottom - TOP))
    };
    for tick in ticks(ys, y.log) {
        let (_, py) = at((xs.0, tick));
        canvas.line(&[(LEFT, py), (right, py)], Stroke { color: Color::GRID, width: 1.0 });
        canvas.text((LEFT - 8.0, py + 5.0), 13.0, Anchor::Right, Color::INK, &(y.words)(tick));
    }
    for tick in ticks(xs, x.log) {
        let (px, _) = at((tick, ys.0));
        canvas.line(&[(px, bottom), (px, bottom + 5.0)], Stroke { color: Color::INK, width: 1.2 });
        canvas.text((px, bottom + 20.0), 13.0, Anchor::Middle, Color::INK, &(x.words)(tick));
    }
    canvas.text((right, HEIGHT - 12.0), 14.0, Anchor::Right, Color::INK, x.name);
    canvas.text((LEFT, TOP - 10.0), 14.0, Anchor::Right, Color::INK, y.name);
    for (i, curve) in curves.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let points: Vec<(f64, f64)> = curve.points.iter().map(|&p| at(p)).collect();
        if points.len() > 1 {
            canvas.line(&points, Stroke { color, width: 2.0 });
        } else if let Some(p) = points.first() {
            canvas.rectangle(p.0 - 3.0, p.1 - 3.0, 6.0, 6.0, color);
        }
        // names in columns of five
        let (column, row) = (i / 5, i % 5);
        let left = right - 190.0 - 200.0 * column as f64;
        canvas.rectangle(left, TOP + 6.0 + 18.0 * row as f64, 12.0, 4.0, color);
        let name = fit(&curve.name, 13.0, 170.0);
        canvas.text((left + 18.0, TOP + 13.0 + 18.0 * row as f64), 13.0, Anchor::Left, Color::INK, &name);
    }
    canvas.line(&[(LEFT, TOP), (LEFT, bottom), (right, bottom)], Stroke { color: Color::INK, width: 1.2 });
    canvas
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
    use crate::{Axis, Scenario};

    #[test]
    fn all_pictures_have_their_files() {
        let text = "[[site]]\nname = 'a'\ncores = 1\ndisk = '1 TB'\n[[dataset]]\nname = 'd'\nfiles = 1\nsite = 'a'\nfile_size = '1 MB'\nentries = 1\n[[workload]]\nname = 'w'\nsite = 'a'\nat = '0s'";
        let scenario = Scenario::parse("s", text, std::path::Path::new("")).unwrap();
        let report = Report::new(scenario, Axis::parse_list("disk=1TB|2TB").unwrap(), 1).unwrap();
        let names: Vec<String> = all(&report).iter().map(|(name, _)| format!("{name}.svg")).collect();
        assert_eq!(names, PICTURE_FILES);
    }
}
