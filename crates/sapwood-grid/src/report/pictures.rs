//! Pictures of a report: time lines, distributions, policies over a value that was changed.

use super::Report;
use super::chart::{Curve, Marks, Scale, chart};
use crate::outcome::Outcome;
use crate::sweep::shown;
use crate::tally::Moment;
use sapwood_perf::text::{clean, units};
use sapwood_query::picture::Canvas;

const SECONDS: fn(f64) -> String = |v| super::text::time(v);
const BYTES: fn(f64) -> String = |v| units::bytes(v as u64);
const RATE: fn(f64) -> String = |v| format!("{}/s", units::bytes(v as u64));
/// What is given as a bandwidth is shown as one: in bits.
const BANDWIDTH: fn(f64) -> String = |v| units::bandwidth((v * 8.0).round() as u64);
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
        chart("Tasks that had their result after some time", &x, &y, &curves.collect::<Vec<_>>(), Marks::None),
    ));
    for &(file, title, words, value) in TIME_LINES {
        let curves = report.outcomes.iter().map(|o| {
            let points = o.moments.iter().map(|m| (m.seconds, value(m)));
            Curve { name: clean(&o.policy), points: points.collect() }
        });
        let x = Scale { name: "time", log: false, words: SECONDS };
        let y = Scale { name: "", log: false, words };
        out.push((file, chart(title, &x, &y, &curves.collect::<Vec<_>>(), Marks::None)));
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
            crate::sweep::Unit::Rate => BANDWIDTH,
            crate::sweep::Unit::Seconds => SECONDS,
            crate::sweep::Unit::Number => COUNT,
        };
        // 0 has no place on a logarithmic axis
        let x = Scale { name: "", log: axis.values.iter().all(|v| *v > 0.0), words: words_x };
        let y = Scale { name: "", log: false, words };
        out.push((file, chart(&clean(&format!("{title}, over {}", axis.key)), &x, &y, &curves, Marks::Shown)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Scenario};

    #[test]
    fn all_pictures_have_their_files() {
        let text = "[[site]]\nname = 'a'\ncores = 1\ndisk = '1 TB'\nproxy = '1 TB'\n[[dataset]]\nname = 'd'\nfiles = 1\nsite = 'a'\nfile_size = '1 MB'\nentries = 1\n[[workload]]\nname = 'w'\nsite = 'a'\nat = '0s'";
        let scenario = Scenario::parse("s", text, std::path::Path::new("")).unwrap();
        let report = Report::new(scenario, Axis::parse_list("disk=1TB|2TB").unwrap(), 1).unwrap();
        let names: Vec<String> = all(&report).iter().map(|(name, _)| format!("{name}.svg")).collect();
        assert_eq!(names, PICTURE_FILES);
        // a logarithmic axis has no place for 0: it begins there, and the next value is in the middle
        let report = Report::new(report.scenario, Axis::parse_list("proxy=0|1TB|2TB").unwrap(), 1).unwrap();
        let (_, canvas) = all(&report).pop().unwrap();
        let svg = canvas.to_svg();
        assert!(svg.contains(">0 B</text>") && svg.contains(">1.00 TB</text>"), "{svg}");
    }
}
